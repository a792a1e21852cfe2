# SPDX-License-Identifier: Apache-2.0
"""Packets are lost in the guest, and somebody is paged: qpscoped in a guest of its own, a real Prometheus and Alertmanager on the host.

The files of deploy/prometheus as they are, but thirty times as fast: each minute of theirs is two seconds, and scrapes are a second apart.
Within 45 seconds of loss it has to be told: after that the loss is part of the past which the rule compares with."""
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "daemon"))
from harness import BINARY, expect, main, needs_root, skip, temp_folder, wait_for  # noqa: E402  (the path comes first)
from alerting import WebServer, alertmanager_config, prometheus_config, rules_in  # noqa: E402  (of tests/support)
from prometheus_server import Alertmanager, Prometheus  # noqa: E402

HERE = Path(__file__).resolve().parent
TIMES = 30
LOSS = 10  # percent: 30 to 80 sequence NAKs a second, in a guest that shares two processors with others; the rule wants 10
PAGE = "QpscopeRetransmitSpike"
BEGAN = time.monotonic()
PORT = 'device="rxe0",port="1"'


class Guest:
    """demo.sh in a guest without loss: two jobs and qpscoped, which answers on `port` of this host. A context manager."""

    def __init__(self, out):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.out = out
        out.mkdir(parents=True, exist_ok=True)
        (out / "request").unlink(missing_ok=True)
        folder = str(Path(BINARY).parent)
        with open(out / "boot.log", "wb") as log:
            self.process = subprocess.Popen(  # which ends with this process, however that ends
                ["setpriv", "--pdeathsig", "TERM", HERE / "boot.sh", "6.12", "--out", out, "--forward", f"{self.port}:{self.port}", "--timeout", "300", "--", HERE / "demo.sh", folder, str(self.port), "0"],
                env={**os.environ, "GUEST_KEEP": folder}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()  # it ends the guest
        self.process.wait()

    def says(self, words):
        """Whether it has printed that."""
        log = (self.out / "boot.log").read_text(errors="replace")
        expect(self.process.poll() is None, "the guest ended by itself", log)
        return words in log

    def ask(self, request):
        new = self.out / "request.new"
        new.write_text(request + "\n")
        new.rename(self.out / "request")

    def end(self):
        self.ask("end")
        expect(self.process.wait(timeout=60) == 0, "the guest failed", (self.out / "boot.log").read_text(errors="replace"))


def progress(text):
    print(f"{time.monotonic() - BEGAN:5.0f} s  {text}", flush=True)


def test_loss():
    """Loss in the guest is a page of our rules, which names port and workload; and it is over when the loss is."""
    needs_root()
    if not (Prometheus.installed() and Alertmanager.installed()):
        skip("no prometheus or no prometheus-alertmanager (deploy/packages/test.txt)")
    folder = temp_folder()
    (folder / "rules").mkdir()
    rules_in(folder / "rules", TIMES)
    with Guest(Path(os.environ["QPSCOPE_BUILD"]) / "tests/guest/paging") as guest, WebServer() as webhook:
        wait_for(lambda: guest.says("move data"), "no jobs in the guest", 800)
        progress("jobs move data")
        with Alertmanager(folder, alertmanager_config(webhook.server_port, TIMES)) as alertmanager, \
                Prometheus(folder, text=prometheus_config(guest.port, alertmanager.port)) as prometheus:
            run(guest, prometheus, webhook.received)
        guest.end()


def run(guest, prometheus, received):
    pages = lambda: [alert for path, told in received if path == "/page" for alert in told["alerts"]]  # noqa: E731
    rate = lambda: prometheus.query(f"port:qpscope_port_retransmits:rate5m{{{PORT}}}")  # noqa: E731
    history = lambda: prometheus.query(f"port:qpscope_port_retransmits:rate5m{{{PORT}}}[3m]")  # noqa: E731

    # Half a minute that the rule compares with: what was before the last 15 minutes of its own.
    past = f"count_over_time(port:qpscope_port_retransmits:rate5m{{{PORT}}}[12m] offset 30s) >= 30"
    wait_for(lambda: prometheus.query(past), lambda: f"no past of rxe0: {prometheus.query('up')}", 120)
    expect(not pages(), "a page while nothing is lost", pages())
    expect(all(most < 1 for _, most in prometheus.query(f"max_over_time(port:qpscope_port_retransmits:rate5m{{{PORT}}}[1m])")), "the guest loses packets by itself", rate())
    labels = {name for one, _ in prometheus.query('{__name__=~".+"}') for name in one}
    expect({"instance", "job", "device", "port", "tenant", "workload", "qpn"} <= labels, "not the labels of both pages", labels)
    expect(not [name for name in labels if name.startswith("exported_")], "a label of ours is Prometheus's, too", labels)

    guest.ask(f"loss {LOSS}")
    progress(f"a past without loss; now {LOSS} %")
    wait_for(pages, lambda: f"nobody is paged: {history()}, {prometheus.query('ALERTS')}", 90)
    progress(f"paged, at {rate()[0][1]:.0f} NAKs a second")
    told = pages()[0]
    expect(told["status"] == "firing" and told["labels"].items() >= {"alertname": PAGE, "severity": "page", "device": "rxe0", "port": "1", "instance": "127.0.0.1", "cluster": "example"}.items(),
           "another page", told)
    # Either job: the text is of one moment, in which the other may be between two rounds and have no queue pair.
    expect("/train-" in told["annotations"]["workloads"], "whose it is is not said", told)
    expect(not re.search(r"error|no value|\{\{", str(told["annotations"])), "a template fails", told)

    guest.ask("loss 0")
    wait_for(lambda: pages()[-1]["status"] == "resolved", lambda: f"not resolved: {rate()} a second, {pages()}", 90)
    progress("resolved")
    expect(all(alert["labels"]["alertname"] == PAGE and alert["labels"]["device"] == "rxe0" for alert in pages()), "another page", pages())
    failing = [rule for rule in prometheus.rules() if rule["health"] != "ok"]
    expect(not failing, "rules that cannot be evaluated", failing)


main(globals())
