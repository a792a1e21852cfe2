# SPDX-License-Identifier: Apache-2.0
"""The rules and the routes of deploy/prometheus in a real Prometheus and Alertmanager, with two hundred made nodes and one spine that fails.

Time runs sixty times as fast: each minute of the rules and of Alertmanager is a second, and scrapes are a second apart."""
import http.server
import json
import re
import threading
import time

from harness import REPOSITORY, expect, main, skip, temp_folder, wait_for
from prometheus_server import Alertmanager, Prometheus  # of tests/support

DEPLOY = REPOSITORY / "deploy/prometheus"
NODES = [f"node-{n:03}" for n in range(200)]
BEHIND_THE_SPINE = NODES[:120]
MILLISECONDS = {"s": 1000 / 60, "m": 1000, "h": 60_000, "d": 1_440_000}


def fast(text):
    """A minute becomes a second, in every duration that is a word of its own."""
    return re.sub(r"(?<![\w.])(\d+)([smhd])\b", lambda found: f"{round(int(found[1]) * MILLISECONDS[found[2]])}ms", text)


class Server(http.server.ThreadingHTTPServer):
    """Answers GET with `pages(path)`, keeps what is POSTed in `received`."""
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, pages=None):
        self.pages, self.received = pages, []
        super().__init__(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # a scraper that is gone


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body=b""):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # noqa: N802
        self.answer(self.server.pages(self.path).encode())

    def do_POST(self):  # noqa: N802
        self.server.received.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.answer()

    def log_message(self, *_):
        pass


class Fabric:
    """The pages of all nodes. While the spine fails, the nodes behind it lose packets and ACKs, and some of their queue pairs die."""

    def __init__(self):
        self.began, self.failed, self.cured = time.monotonic(), None, None

    def page(self, path):
        node, now = path.strip("/"), time.monotonic()
        there = node in BEHIND_THE_SPINE
        failing = 0 if not there or self.failed is None else (self.cured or now) - self.failed
        dead = 3 if failing and not self.cured and node in BEHIND_THE_SPINE[:20] else 0
        seconds, port = now - self.began, 'device="mlx5_0",port="1"'
        return "".join(f"{line}\n" for line in (
            'qpscope_build_info{version="1"} 1', "qpscope_devices_found 1", "qpscope_devices_expected 1",
            f"qpscope_port_state{{{port}}} 4", f"qpscope_port_link_downs_total{{{port}}} 1",
            f'qpscope_port_retransmits_total{{{port},cause="sequence_nak"}} {seconds + 500 * failing:.0f}',
            f'qpscope_port_retransmits_total{{{port},cause="ack_timeout"}} {50 * failing:.0f}',
            f"qpscope_port_tx_packets_total{{{port}}} {1e5 * seconds:.0f}",
            f"qpscope_port_rx_packets_total{{{port}}} {1e5 * seconds:.0f}",
            f"qpscope_port_tx_bytes_total{{{port}}} {1e8 * seconds:.0f}",
            f"qpscope_port_rx_bytes_total{{{port}}} {1e8 * seconds:.0f}",
            f'qpscope_queue_pairs{{{port},type="RC",state="RTS",tenant="physics",workload="train"}} 64',
            f'qpscope_queue_pairs{{{port},type="RC",state="ERR",tenant="physics",workload="train"}} {dead}',
            f"qpscope_queue_pairs_found_in_err_total{{{port}}} {3 if node in BEHIND_THE_SPINE[:20] and failing else 0}"))


def firing(prometheus, name):
    return len(prometheus.query(f'ALERTS{{alertname="{name}",alertstate="firing"}}'))


def test_spine_failure():
    """The spine that 120 of 200 nodes need fails, and is mended: three notifications at most, and all of it is over in the end."""
    if not (Prometheus.installed() and Alertmanager.installed()):
        skip("no prometheus or no prometheus-alertmanager (deploy/packages/test.txt)")
    folder, fabric = temp_folder(), Fabric()
    rules = []
    for path in (DEPLOY / "rules").glob("*.yml"):
        rules.append(folder / path.name)
        rules[-1].write_text(fast(path.read_text()))
    with Server() as webhook, Server(fabric.page) as nodes:
        config = (DEPLOY / "alertmanager.yml").read_text()
        expect("http://127.0.0.1:9099/" in config, "the example has other receivers")
        config = fast(config).replace("127.0.0.1:9099", f"127.0.0.1:{webhook.server_port}")
        targets = [{"targets": [f"127.0.0.1:{nodes.server_port}"], "labels": {"instance": node, "cluster": "x", "__metrics_path__": f"/{node}"}} for node in NODES]
        scrape = [{"job_name": "any", "static_configs": targets}]
        with Alertmanager(folder, config) as alertmanager, Prometheus(folder, scrape, rules, alertmanager.port) as prometheus:
            run(fabric, prometheus, alertmanager, webhook.received)


def run(fabric, prometheus, alertmanager, received):
    wait_for(lambda: len(prometheus.query("avg_over_time(port:qpscope_port_retransmits:rate5m[6m] offset 16s) >= 0")) == 200, "no past of 200 nodes", 60)
    expect(not prometheus.query("ALERTS"), "alerts while all is well", prometheus.query("ALERTS"))

    fabric.failed = time.monotonic()
    wait_for(lambda: received, "no notification", 60)
    for name, count in (("QpscopeRetransmitSpike", 120), ("QpscopeAckTimeouts", 120), ("QpscopeChronicLoss", 120), ("QpscopeQueuePairsDead", 20), ("QpscopeFabricLoss", 1)):
        wait_for(lambda: firing(prometheus, name) == count, lambda: f"{firing(prometheus, name)} {name}, not {count}", 60)
    held_back = lambda: [alert for alert in alertmanager.alerts() if alert["labels"].get("scope") == "network" and alert["status"]["inhibitedBy"]]  # noqa: E731
    wait_for(lambda: len(held_back()) == 380, lambda: f"{len(held_back())} alerts are held back, not 380", 60)
    path, first = received[0]
    expect(path == "/page" and first["groupLabels"] == {"alertname": "QpscopeFabricLoss", "cluster": "x"}, "another alert was first", path, first["groupLabels"])
    for alert in alertmanager.alerts():
        texts = alert["annotations"]
        expect("tenant" not in alert["labels"] and "workload" not in alert["labels"], "an alert of a tenant", alert)
        expect(not re.search(r"error|no value|\{\{", str(texts)), "a template fails", texts)
        expect(alert["labels"]["alertname"] == "QpscopeFabricLoss" or "physics/train" in texts["workloads"], "whose it is is not said", texts)

    fabric.cured = time.monotonic()
    wait_for(lambda: not prometheus.query('ALERTS{alertstate="firing"}'), lambda: f"not over: {prometheus.query('count by (alertname) (ALERTS)')}", 120)
    wait_for(lambda: received[-1][1]["status"] == "resolved", lambda: f"not resolved: {received[-1]}", 60)
    expect(len(received) <= 3, f"{len(received)} notifications", [(path, one["status"], one["groupLabels"], len(one["alerts"])) for path, one in received])


main(globals())
