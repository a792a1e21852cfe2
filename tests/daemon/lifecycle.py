# SPDX-License-Identifier: Apache-2.0
"""From start to end: ready, pages, log, signals, what systemd is told."""
import signal
import socket
import time

from harness import ANY_PORT, FIXTURES, PATIENCE, Daemon, expect, lint, main, series, temp_folder, total, wait_for

ROCE = FIXTURES / "01-mlx5-pf-roce-cx7"


def quick_stop(number):
    # The promise is 1 s. A machine that builds and boots guests meanwhile may delay one of three.
    took = []
    for _ in range(3):
        with Daemon(root=ROCE) as daemon:
            took.append(daemon.stop(number))
            expect("stopping on " + number.name in daemon.log(), "the log does not say why it stops", daemon.log())
        if took[-1] <= 1:
            return
    expect(False, f"stopping took {took} s")


def test_sigterm():
    quick_stop(signal.SIGTERM)


def test_sigint():
    quick_stop(signal.SIGINT)


def test_sigterm_while_starting():
    daemon = Daemon(root=ROCE)
    try:
        wait_for(lambda: daemon.lines, "no log at all")
        daemon.stop()
    finally:
        daemon.process.kill()


def test_pages():
    with Daemon(root=ROCE) as daemon:
        expect(daemon.page("/healthz") == "ok\n", "/healthz is not ok")
        expect(daemon.page("/readyz") == "ready\n", "/readyz is not ready")
        # Ready means that the first samples are on the page: a scrape at once finds them.
        expect(total(daemon.page(), "qpscope_port_rx_bytes_total", '"mlx5_0"') == 922159499729932, "the bytes are not on the page")
        for path in ("/metrics", "/metrics/qps"):
            status, headers, body = daemon.request(path)
            expect(status == 200, f"{path} answers {status}")
            expect(headers["Content-Type"].startswith("text/plain; version=0.0.4"), f"{path} is no Prometheus text", headers)
            expect(lint(body) == "", f"promtool complains about {path}", lint(body))
        expect("/metrics/qps" in daemon.page("/"), "/ does not name the pages")
        daemon.healthy()


def newest_stamp(daemon):
    return max(v for k, v in series(daemon.page()).items() if "last_success_timestamp" in k)


def test_page_moves_on():
    with Daemon(root=ROCE) as daemon:
        first = newest_stamp(daemon)
        wait_for(lambda: newest_stamp(daemon) > first + 0.5, "the page stands still", seconds=4)  # sampling.interval is 1 s


def test_series_count():
    with Daemon(root=ROCE) as daemon:
        page = daemon.page()
        lines = [line for line in page.splitlines() if line and not line.startswith("#")]
        expect(total(page, "qpscope_series") == len(lines), "qpscope_series is not the number of series", len(lines))
        expect(len({line.rsplit(" ", 1)[0] for line in lines}) == len(lines), "a series is there twice")


def test_log_prefixes():
    with Daemon(root=ROCE, config=ANY_PORT + "log: {level: debug}\n") as daemon:
        daemon.stop()
        bad = [line for line in daemon.lines if line[:3] not in ("<3>", "<4>", "<6>", "<7>")]
        expect(daemon.lines and not bad, "log lines without a journal prefix", *bad)
        expect(not daemon.worse_than_info(), "a quiet host is worth a warning", *daemon.worse_than_info())


def test_log_level():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    config = 'exporters: {prometheus: {listen: "127.0.0.1:%d"}}\nlog: {level: warning}\n' % port
    daemon = Daemon(root=ROCE, config=config)
    try:
        daemon.port = port
        wait_for(lambda: answers(daemon), daemon.log)
        daemon.stop()
        expect(daemon.lines == [], "lines below the level", daemon.log())
    finally:
        daemon.process.kill()


def answers(daemon):
    try:
        return daemon.request("/readyz")[0] == 200
    except OSError:
        return False


def test_notify():
    path = str(temp_folder() / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(PATIENCE)
        said = []

        def heard(text):
            deadline = time.monotonic() + PATIENCE
            while not any(text in message for message in said):
                expect(time.monotonic() < deadline, f"{text} was not said", *said)
                said.append(manager.recv(4096).decode())

        with Daemon(root=ROCE, NOTIFY_SOCKET=path, config=ANY_PORT + "sampling: {interval: 100ms}\n") as daemon:
            heard("READY=1\nSTATUS=2 devices")
            expect(not any("STATUS" in message and "READY" not in message for message in said), "a status before it is ready", *said)
            said.clear()
            heard("WATCHDOG=1")
            heard("STATUS=2 devices, 0 queue pairs")
            daemon.stop()
            heard("STOPPING=1")


main(globals())
