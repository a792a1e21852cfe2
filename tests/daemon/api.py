# SPDX-License-Identifier: Apache-2.0
"""The JSON API, who may ask, and the unix socket."""
import json
import os
import shutil
import signal
import socket
import stat
import time
from pathlib import Path

from harness import ANY_PORT, FAST, FIXTURES, Daemon, config_file, expect, main, needs_root, private_run, refused, root_of, skip, temp_folder, total, wait_for, write

STRANGER = "127.0.0.2"
GUARDED = ("/metrics/qps", "/api/v1/qps", "/api/v1/status", "/api/v1/ports", "/api/v1/tenants", "/api/v1/events", "/api/v1/probes")
OPEN = ("/metrics", "/healthz", "/readyz", "/")
MOST_BODY = 65536


def new_root():
    root = root_of("01-mlx5-pf-roce-cx7")
    (root / "run").mkdir()
    return root


def socket_of(root):
    return root / "run/qpscope/api.sock"


def ask(path, request, seconds=20):
    """(status, headers and body) of a whole request over the unix socket; (0, what came) without an answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(str(path))
        answer = b""
        try:
            connection.sendall(request)
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionError:
            pass  # hung up on us
    status = int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0
    return status, answer


def get(path, what, host=b"localhost"):
    return ask(path, b"GET " + what.encode() + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")


def post(path, body, headers=b"", what=b"/api/v1/focus", length=None):
    size = b"Content-Length: %d\r\n" % (len(body) if length is None else length)
    return ask(path, b"POST " + what + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + size + headers + b"\r\n" + body)


def error_of(body):
    error = json.loads(body)["error"]
    expect(set(error) == {"code", "message"} and all(error.values()), "an error has a code and a message", body)
    return error


def test_answer():
    with Daemon(root=new_root()) as daemon:
        status, headers, body = daemon.request("/api/v1/qps?state=RTS&limit=5")
        expect(status == 200 and headers["Content-Type"] == "application/json", f"status {status}", headers)
        answer = json.loads(body)
        expect(answer["schema"] == 1 and answer["data"] == {"qps": []} and 0 <= answer["age_seconds"] < 20 and answer["time"] > 1e9, "not the envelope", body)
        expect(daemon.request("/api/v1/qps", method="HEAD")[::2] == (200, b""), "HEAD is not a GET without a body")
        daemon.healthy()


def data_of(daemon, path):
    status, headers, body = daemon.request(path)
    expect(status == 200 and headers["Content-Type"] == "application/json", f"{path} is {status}", body)
    answer = json.loads(body)
    expect(answer["schema"] == 1 and set(answer) == {"schema", "time", "age_seconds", "data"}, "not the envelope", body)
    return answer["data"]


def test_status():
    root = new_root()
    write(root / "proc/sys/kernel/hostname", "node17\n")
    write(root / "proc/sys/kernel/osrelease", "6.12.1\n")
    write(root / "proc/sys/kernel/random/boot_id", "3f0c\n")
    with Daemon(root=root, config=FAST) as daemon:
        status = wait_for(lambda: (d := data_of(daemon, "/api/v1/status")) and not d["troubles"] and d, lambda: "troubles: " + str(data_of(daemon, "/api/v1/status")))
        expect((status["host"], status["kernel"], status["ready"]) == ("node17", "6.12.1", True), "whose status", status)
        expect(status["devices"] == {"found": 2, "expected": 2} and status["uptime_seconds"] > 0, "devices", status)
        expect(status["bpf"]["on"] is False and status["bpf"]["reason"] and "queue_pairs" not in status and "tenants" not in status, "a root without netlink and BPF", status)
        cost = status["cost"]
        expect(cost["cpu_seconds"] > 0 and cost["resident_bytes"] > 1e6 and int(cost["firmware_commands"]) > 0 and "bpf_seconds" not in cost, "cost", cost)
        lines = [line for line in daemon.page().splitlines() if not line.startswith("#")]
        series = data_of(daemon, "/api/v1/status")["series"]
        expect(abs(series - len(lines)) < 100, "series", series, len(lines))
        shutil.rmtree(root / "sys/class/infiniband/mlx5_1/ports/1/hw_counters")
        (root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_packets").write_text("none")
        trouble = wait_for(lambda: data_of(daemon, "/api/v1/status")["troubles"], "no trouble though a counter is none")[0]
        expect(trouble["severity"] in ("warning", "error") and trouble["device"].startswith("mlx5_") and trouble["what"], "trouble", trouble)
        daemon.healthy()


def test_probes():
    with Daemon(root=new_root()) as daemon:
        data = data_of(daemon, "/api/v1/probes")
        expect(data["bpf"]["on"] is False and data["bpf"]["reason"] and data["probes"] == [] and set(data["events"]) == {"received", "lost"}, "a root without BPF", data)
        daemon.healthy()


def test_ports():
    root = new_root()
    received = root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data"
    before = int(received.read_text())
    with Daemon(root=root, config=FAST) as daemon:
        data = data_of(daemon, "/api/v1/ports?device=mlx5_0&history=no")
        expect(data["interval_seconds"] == 2 and [port["device"] for port in data["ports"]] == ["mlx5_0"], "one port", data)
        port = data["ports"][0]
        page = daemon.page()
        for key, family in (("rx_bytes", "rx_bytes"), ("retransmits", "retransmits"), ("completion_errors", "completion_errors"), ("link_downs", "link_downs")):
            wanted = total(page, f"qpscope_port_{family}_total", 'device="mlx5_0"')
            expect(int(port["totals"][key]) == wanted, key, port, wanted)
        expect((port["state"], port["physical_state"], port["link_layer"], port["netdev"], port["function"]) == ("ACTIVE", "LinkUp", "Ethernet", "ens1f0np0", "pf"), "facts", port)
        expect("history" not in port and "queue_pairs" not in port and abs(port["last_sample_timestamp_seconds"] - time.time()) < 60, "facts", port)
        # Bytes that come are a rate a step later.
        seen = []

        def rates():
            received.write_text(str(before + (len(seen) + 1) * 1_000_000))
            history = data_of(daemon, "/api/v1/ports?device=mlx5_0")["ports"][0].get("history", {})
            seen.append(history)
            return {len(rates) for rates in history.values()} == {len(history.get("rx_bytes", []))} and any(history["rx_bytes"]) and history

        history = wait_for(rates, lambda: f"no rate: {seen[-1]}")
        expect(history["rx_bytes"][0] is None and {"tx_bytes", "retransmits"} <= set(history), "history", history)
        expect(data_of(daemon, "/api/v1/ports?port=7") == {"interval_seconds": 2, "ports": []}, "a port that is not there")
        daemon.healthy()


def test_events():
    root = new_root()
    state = root / "sys/class/infiniband/mlx5_0/ports/1/state"
    with Daemon(root=root, config=FAST) as daemon:
        data = data_of(daemon, "/api/v1/events")
        kinds = [event["kind"] for event in data["events"]]
        expect(kinds.count("device_added") == 2 and kinds.count("daemon") == 1 and data["dropped"] == "0", "the start", data)
        began = data["next"]
        expect(data_of(daemon, "/api/v1/events?after=" + began)["events"] == [], "nothing came since")
        wait_for(lambda: total(daemon.page(), "qpscope_port_state", 'device="mlx5_0"') == 4, "no state")
        state.write_text("1: DOWN\n")
        event = wait_for(lambda: data_of(daemon, f"/api/v1/events?after={began}&kind=port_state&device=mlx5_0")["events"], "no event")[0]
        expect((event["severity"], event["device"], event["port"]) == ("error", "mlx5_0", 1) and "ACTIVE to DOWN" in event["message"], "event", event)
        expect(int(event["id"]) > int(began) and abs(event["timestamp_seconds"] - time.time()) < 60, "event", event)
        (root / "sys/class/infiniband/mlx5_1").unlink()
        removed = wait_for(lambda: data_of(daemon, "/api/v1/events?kind=device_removed")["events"], "no event of a device that went")
        expect([one["device"] for one in removed] == ["mlx5_1"], "removed", removed)
        page = daemon.page()
        for kind, count in (("port_state", 1), ("device_added", 2), ("device_removed", 1), ("daemon", 1)):
            expect(total(page, "qpscope_events_total", f'kind="{kind}"') == count, kind, page)
            expect(total(page, "qpscope_events_dropped_total", f'kind="{kind}"') == 0, kind, page)
        last = data_of(daemon, "/api/v1/events?limit=1")
        expect([one["kind"] for one in last["events"]] == ["device_removed"] and last["next"] == last["events"][0]["id"], "the newest", last)
        daemon.stop()
    # Ids go on over a restart: whoever asks with an old one sees the new events.
    with Daemon(root=root, config=FAST) as daemon:
        expect([one["kind"] for one in data_of(daemon, "/api/v1/events?after=" + last["next"])["events"]].count("daemon") == 1, "the restart is not seen")
        daemon.healthy()


def test_tenants():
    with Daemon(root=new_root()) as daemon:
        expect(data_of(daemon, "/api/v1/tenants") == {"tenants": []}, "a root without queue pairs")
        daemon.healthy()


def test_bad_parameters():
    with Daemon(root=new_root()) as daemon:
        for query, word in (("colour=red", "colour"), ("qpn=x", "qpn"), ("limit=10001", "limit"), ("cursor=1-0", "cursor"), ("state=%zz", "state"), ("a%0ab=1", "\\x0a")):
            status, _, body = daemon.request("/api/v1/qps?" + query)
            expect(status == 400 and word in error_of(body)["message"], f"{query}: {status}", body)
        for query in ("status?x=1", "tenants?x=1", "probes?x=1", "ports?x=1", "ports?port=x", "events?x=1", "events?kind=x", "events?after=x", "events?limit=0", "events?after=1&after=1"):
            status, _, body = daemon.request("/api/v1/" + query)
            expect(status == 400 and error_of(body)["code"] == "invalid", f"{query}: {status}", body)
        for name in ("status", "ports", "tenants", "events"):
            status, headers, body = daemon.request("/api/v1/" + name, method="POST")
            expect(status == 405 and headers["Allow"] == "GET, HEAD" and error_of(body)["code"] == "method_not_allowed", f"POST {name} is {status}", body)
            expect(daemon.request("/api/v1/" + name, method="HEAD")[::2] == (200, b""), f"HEAD {name} is not a GET without a body")
        status, _, body = daemon.request("/api/v2/qps")
        expect(status == 404 and error_of(body)["code"] == "not_found", f"an unknown path is {status}", body)
        expect(daemon.request("/api/v1/qps?" + "qpn=1&" * 300)[0] == 200, "many values are too many")
        daemon.healthy()


def test_host_header():
    """A page of somebody else's in a browser on this machine: it reaches the port, under the name that it was loaded by."""
    config = ANY_PORT + 'api: {hosts: ["monitor.example.org", "*.cluster.example"]}\n'
    own = socket.gethostname()
    good = ["localhost", "127.0.0.1", "[::1]", "192.0.2.7", own, own.split(".")[0], own.upper(), "monitor.example.org", "node7.cluster.example"]
    bad = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "cluster.example", "x" + own, ""]
    with Daemon(root=new_root(), config=config) as daemon:
        for host in good + [name + ":9879" for name in good]:
            for path in GUARDED + OPEN:
                status, _, body = daemon.request(path, headers={"Host": host})
                expect(status == 200, f"{path} as {host!r} is {status}", body[:200])
        for host in bad + [name + ":9879" for name in bad]:
            for path in GUARDED:
                status, _, body = daemon.request(path, headers={"Host": host})
                expect(status == 403 and b"api.hosts" in body, f"{path} as {host!r} is {status}", body[:200])
            for path in OPEN:
                expect(daemon.request(path, headers={"Host": host})[0] == 200, f"{path} as {host!r} is refused")
        for request, wanted in ((b"GET /api/v1/qps HTTP/1.0\r\n\r\n", b"200"), (b"GET /api/v1/qps HTTP/1.0\r\nHost: evil.example\r\n\r\n", b"403")):
            with daemon.connect() as connection:
                connection.sendall(request)
                expect(connection.recv(12) == b"HTTP/1.1 " + wanted, "an old client", request)
        daemon.healthy()


def test_allow_list():
    with Daemon(root=new_root(), config=ANY_PORT + 'api: {allow: ["127.0.0.1"]}\n') as daemon:
        for path in GUARDED:
            expect(daemon.request(path)[0] == 200, f"an allowed peer may not read {path}")
            status, _, body = daemon.request(path, source=STRANGER)
            expect(status == 403 and b"api.allow" in body, f"a stranger gets {status} for {path}", body[:100])
        for path in OPEN:
            expect(daemon.request(path, source=STRANGER)[0] == 200, f"a stranger may not read {path}")
        error_of(daemon.request("/api/v1/qps", source=STRANGER)[2])
        daemon.healthy()


def test_bad_host_name():
    refused("--root", new_root(), "--config", config_file(ANY_PORT + 'api: {hosts: ["http://node7"]}\nlog: {level: warning}\n'), words=["http://node7", "api.hosts"])


def test_socket():
    root = new_root()
    path = socket_of(root)
    old_mask = os.umask(0o077)  # must not matter
    try:
        with Daemon(root=root, config=ANY_PORT + "api: {allow: []}\n") as daemon:
            info = path.lstat()
            expect(stat.S_ISSOCK(info.st_mode) and stat.S_IMODE(info.st_mode) == 0o660, "mode", oct(info.st_mode))
            expect((info.st_uid, info.st_gid) == (os.geteuid(), os.getegid()), "owner", info)
            expect(daemon.request("/api/v1/qps")[0] == 403, "nobody is allowed by TCP")
            for host in (b"localhost", b"evil.example"):
                for page in GUARDED + OPEN:
                    expect(get(path, page, host)[0] == 200, f"{page} on the socket", get(path, page, host))
            daemon.healthy()
            expect(not daemon.worse_than_info(), "the socket is worth a warning", daemon.log())
    finally:
        os.umask(old_mask)
    expect(not path.exists(), "the socket outlives its daemon")


def test_many_on_the_socket():
    root = new_root()
    with Daemon(root=root) as daemon:
        idle = []
        for _ in range(40):  # more than it serves at once
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(socket_of(root)))
            idle.append(connection)
        expect(daemon.request("/metrics", seconds=5)[0] == 200, "the port waits for the socket")
        for connection in idle:
            connection.close()
        wait_for(lambda: get(socket_of(root), "/healthz")[0] == 200, "the socket does not answer any more")
        daemon.healthy()


def test_leftover_is_replaced():
    root = new_root()
    path = socket_of(root)
    with Daemon(root=root) as daemon:
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
    expect(path.exists(), "SIGKILL leaves the file")
    with Daemon(root=root) as daemon:
        expect(get(path, "/healthz")[0] == 200 and not daemon.worse_than_info(), "the leftover is in the way", daemon.log())
        daemon.stop()
    expect(not path.exists(), "the socket outlives its daemon")


def test_anothers_is_not_stolen():
    root = new_root()
    path = socket_of(root)
    with Daemon(root=root) as first:
        inode = path.stat().st_ino
        with Daemon(root=root) as second:
            expect(path.stat().st_ino == inode, "it is another's now")
            warnings = second.worse_than_info()
            expect(len(warnings) == 1 and "another qpscoped serves /run/qpscope/api.sock" in warnings[0], "not said once", second.log())
            expect(second.request("/api/v1/qps")[0] == 200, "TCP does not go on")
            second.healthy()
        expect(path.stat().st_ino == inode and get(path, "/healthz")[0] == 200, "it took the other's with it")
        first.healthy()


def test_a_new_daemons_is_not_removed():
    root = new_root()
    path = socket_of(root)
    with Daemon(root=root) as first:
        path.unlink()  # by somebody who cleans up
        with Daemon(root=root) as second:
            first.stop()
            expect(get(path, "/healthz")[0] == 200, "the first took the second's with it")
            second.healthy()
    expect(not path.exists(), "the socket outlives its daemon")


def test_a_full_queue_is_somebodys():
    root = new_root()
    path = socket_of(root)
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(path))
        busy.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(str(path))
        with Daemon(root=root) as daemon:
            expect("another qpscoped" in daemon.log(), "a daemon that does not answer is not there", daemon.log())
            daemon.healthy()
        for one in waiting:
            one.close()


def test_what_is_no_socket_stays():
    for make in (lambda p: p.write_text("mine"), lambda p: p.mkdir(), lambda p: p.symlink_to("/etc/passwd")):
        root = new_root()
        path = socket_of(root)
        path.parent.mkdir()
        make(path)
        before = path.lstat()
        with Daemon(root=root) as daemon:
            expect(any("is no socket" in line for line in daemon.worse_than_info()), "not said", daemon.log())
            daemon.healthy()
        expect(path.lstat().st_ino == before.st_ino, "it was replaced")


def test_a_link_stays_inside():
    root, elsewhere = new_root(), temp_folder()
    (root / "run/qpscope").symlink_to(elsewhere)
    with Daemon(root=root) as daemon:
        expect(not os.listdir(elsewhere), "the socket is outside of the root", os.listdir(elsewhere))
        daemon.healthy()


def test_a_long_path():
    root = temp_folder() / ("x" * 150) / "root"
    shutil.copytree(FIXTURES / "18-no-rdma-host", root, symlinks=True)
    (root / "run").mkdir()
    with Daemon(root=root) as daemon:
        expect(stat.S_ISSOCK(socket_of(root).lstat().st_mode) and not daemon.worse_than_info(), "no socket below a long path", daemon.log())
        daemon.healthy()


def test_nothing_without_run():
    with Daemon(root=root_of("01-mlx5-pf-roce-cx7")) as daemon:
        expect(not daemon.worse_than_info(), "a root without /run is worth a warning", daemon.log())
        daemon.healthy()


def test_post_bounds():
    root = new_root()
    path = socket_of(root)
    with Daemon(root=root) as daemon:
        def says(answer, status, word):
            body = answer[1].split(b"\r\n\r\n", 1)[-1]
            expect(answer[0] == status and word in error_of(body)["message"], f"{answer[0]}, not {status}", body)
        says(post(path, b'{"device": "mlx5_0", "qpn": 7, "seconds": 60}'), 501, "focus")
        says(post(path, b'{"device": "mlx5_0"}'), 400, "qpn")
        says(post(path, b" " * MOST_BODY), 400, "JSON")
        says(post(path, b"", length=MOST_BODY + 1), 413, str(MOST_BODY))
        says(post(path, b"x" * 1000, length=10**15), 413, str(MOST_BODY))
        says(post(path, b"", what=b"/api/v1/qps"), 405, "GET")
        # In chunks nobody announces the length: the daemon hangs up.
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        status, answer = ask(path, b"POST /api/v1/focus HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 100)
        expect(status == 0, "six megabytes are a request", answer[:200])
        for method, where in (("POST", "/api/v1/focus"), ("POST", "/api/v1/probes"), ("POST", "/metrics")):
            status, _, _ = daemon.request(where, method=method)
            expect(status == (405 if where == "/metrics" else 403), f"{method} {where} by TCP is {status}")
        expect(total(daemon.page(), "process_resident_memory_bytes") is not None, "no page")
        daemon.healthy()


def sockets_of(task):
    """The inodes of the sockets that a thread holds."""
    links = [os.readlink(f"{task}/fd/{fd}") for fd in os.listdir(f"{task}/fd")]
    return {int(link[8:-1]) for link in links if link.startswith("socket:")}


def test_live():
    """/run/qpscope of this machine, in a mount namespace of the daemon's own. A thread that may get stuck holds neither the port nor the socket."""
    needs_root()
    if not private_run():
        skip("needs unshare -m and a tmpfs")
    with Daemon(config=ANY_PORT + "bpf: {enabled: false}\n") as daemon:
        path = socket_of(Path(f"/proc/{daemon.process.pid}/root"))
        info = os.lstat(path)
        expect(stat.S_ISSOCK(info.st_mode) and (stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid) == (0o660, 0, 0), "mode and owner", info)
        expect(get(path, "/api/v1/qps")[0] == 200, "no answer on the socket")
        unix = [int(line.split()[6]) for line in open("/proc/net/unix", encoding="utf-8") if line.endswith(" /run/qpscope/api.sock\n")]
        tcp = [int(line.split()[9]) for line in open("/proc/net/tcp", encoding="utf-8") if line.split()[1].endswith(":%04X" % daemon.port)]
        threads = [sockets_of(f"/proc/{daemon.process.pid}/task/{task}") for task in os.listdir(f"/proc/{daemon.process.pid}/task")]
        holders = [held for held in threads if held & {*tcp}]
        expect(len(holders) >= 4 and all(held & {*unix} for held in holders), "who serves holds both", threads)
        expect(len(threads) - len(holders) >= 2, "no thread has let go", threads)
        expect(not any(held & {*unix} for held in threads if not held & {*tcp}), "a thread that let go of the port holds the socket", threads)
        daemon.stop()


main(globals())
