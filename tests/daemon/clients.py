# SPDX-License-Identifier: Apache-2.0
"""Clients that are slow, odd or hostile: /metrics goes on answering the others."""
import gzip
import os
import socket
import struct

from harness import ANY_PORT, FIXTURES, Daemon, expect, main, total

ROCE = FIXTURES / "01-mlx5-pf-roce-cx7"
STRANGER = "127.0.0.2"  # another peer than the scraper, who is 127.0.0.1
PROMPT = 5  # seconds; a request that waits for a stranger's time-out takes 10


def prompt_page(daemon):
    status, _, body = daemon.request("/metrics", seconds=PROMPT)
    expect(status == 200 and b"qpscope_devices_found 2" in body, f"/metrics answers {status}", body[:200])


def raw(daemon, data, source=None):
    """What the server says to these bytes, to the end of the connection."""
    with daemon.connect(source) as connection:
        connection.settimeout(1)  # it may go on waiting for the rest of the nonsense
        answer = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                answer += piece
        except (ConnectionError, OSError):
            pass  # the server may hang up on nonsense at any time
        return answer


def test_half_open():
    with Daemon(root=ROCE) as daemon:
        idle = [daemon.connect(STRANGER) for _ in range(25)]
        for number, connection in enumerate(idle):
            connection.sendall((b"", b"GET", b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")[number % 3])
        for _ in range(20):
            prompt_page(daemon)
        for connection in idle:
            connection.close()
        daemon.healthy()


def test_more_than_allowed():
    # More than one peer may hold, and more than a stranger can queue up before the scraper: those beyond are refused.
    with Daemon(root=ROCE) as daemon:
        many = [daemon.connect(STRANGER) for _ in range(120)]
        for _ in range(20):
            prompt_page(daemon)
        for connection in many:
            connection.close()
        daemon.healthy()


def test_slow_reader():
    with Daemon(root=ROCE) as daemon:
        slow = []
        for _ in range(10):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.bind((STRANGER, 0))
            connection.connect(("127.0.0.1", daemon.port))
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
            slow.append(connection)
        for _ in range(20):
            prompt_page(daemon)
        for connection in slow:
            connection.close()
        daemon.healthy()


def test_hang_up():
    with Daemon(root=ROCE) as daemon:
        for _ in range(50):
            connection = daemon.connect(STRANGER)
            # Linger of 0: close() resets the connection while the server writes.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            connection.close()
        prompt_page(daemon)
        daemon.healthy()


def test_huge_requests():
    with Daemon(root=ROCE) as daemon:
        for request in (
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n",
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 100_000 + b"\r\n",
            b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"a" * 1_000_000,
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ):
            answer = raw(daemon, request, STRANGER)
            expect(not answer.startswith(b"HTTP/1.1 200"), "a huge request is answered with 200", request[:60], answer[:100])
            prompt_page(daemon)
        daemon.healthy()


def test_no_http():
    with Daemon(root=ROCE) as daemon:
        for request in (b"\x16\x03\x01\x02\x00\x01\x00", b"\r\n\r\n\r\n", b"\x00" * 5000, os.urandom(5000), b"GET", b"GET / HTTP/9.9\r\n\r\n"):
            answer = raw(daemon, request, STRANGER)
            expect(not answer.startswith(b"HTTP/1.1 200"), "nonsense is answered with 200", request[:60], answer[:100])
            prompt_page(daemon)
        daemon.healthy()
        expect(not daemon.worse_than_info(), "strangers fill the log", *daemon.worse_than_info()[:3])


def test_odd_paths():
    with Daemon(root=ROCE) as daemon:
        for path in ("/metrics/", "/metrics/../../etc/passwd", "/..", "//metrics", "/%2e%2e/metrics", "/METRICS", "/x" * 1000, "/\xff"):
            answer = raw(daemon, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode("latin-1"))
            expect(answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400")), f"{path[:40]!r} is not refused", answer[:200])
            expect(b"root:" not in answer, "a file of the host")
        expect(daemon.request("/metrics?name=value#x")[0] == 200, "a query string hides the page")
        daemon.healthy()


def test_methods():
    with Daemon(root=ROCE) as daemon:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
            for path in ("/metrics", "/api/v1/qps"):
                status, headers, _ = daemon.request(path, method=method)
                expect(status == 405 and headers["Allow"] == "GET, HEAD", f"{method} {path} is answered with {status}", headers)
        status, headers, body = daemon.request("/metrics", method="HEAD")
        expect((status, body) == (200, b"") and int(headers["Content-Length"]) > 0, "HEAD is not a GET without a body", status, headers, body[:50])
        daemon.healthy()


def test_gzip():
    with Daemon(root=ROCE) as daemon:
        _, headers, body = daemon.request("/metrics", headers={"Accept-Encoding": "gzip"})
        expect(headers["Content-Encoding"] == "gzip", "not compressed when asked", headers)
        expect(total(gzip.decompress(body).decode(), "qpscope_devices_found") == 2, "not the page")
        _, headers, _ = daemon.request("/metrics", headers={"Accept-Encoding": "gzip;q=0"})
        expect(headers["Content-Encoding"] is None, "compressed although refused", headers)


def test_keep_alive():
    with Daemon(root=ROCE) as daemon:
        with daemon.connect() as connection:
            connection.settimeout(PROMPT)
            reader = connection.makefile("rb")
            for _ in range(5):
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                expect(reader.readline().startswith(b"HTTP/1.1 200"), "the connection does not serve a second request")
                while reader.readline() != b"\r\n":
                    pass
                expect(reader.read(3) == b"ok\n", "not the page")
        daemon.healthy()


def test_qps_for_allowed_only():
    with Daemon(root=ROCE, config=ANY_PORT + 'api: {allow: ["127.0.0.1"]}\n') as daemon:
        expect(daemon.request("/metrics/qps")[0] == 200, "an allowed peer is refused")
        status, _, body = daemon.request("/metrics/qps", source=STRANGER)
        expect(status == 403 and b"api.allow" in body, f"a stranger gets {status}", body[:100])
        expect(daemon.request("/metrics", source=STRANGER)[0] == 200, "a stranger may not read /metrics")


def test_every_address():
    with Daemon(root=ROCE, config='exporters: {prometheus: {listen: ":0"}}\n') as daemon:
        prompt_page(daemon)
        if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
            return
        with socket.create_connection(("::1", daemon.port), timeout=PROMPT) as connection:
            connection.sendall(b"GET /metrics/qps HTTP/1.0\r\n\r\n")
            expect(connection.recv(15) == b"HTTP/1.1 200 OK", "no answer on IPv6 loopback")


main(globals())
