# SPDX-License-Identifier: Apache-2.0
"""The rules and the routes of deploy/prometheus in a real Prometheus and Alertmanager, with two hundred made nodes and one spine that fails.

Time runs sixty times as fast: each minute of the rules and of Alertmanager is a second, and scrapes are a second apart."""
import re
import time

from harness import expect, main, skip, temp_folder, wait_for
from alerting import WebServer, alertmanager_config, rules_in  # of tests/support
from prometheus_server import Alertmanager, Prometheus

NODES = [f"node-{n:03}" for n in range(200)]
BEHIND_THE_SPINE = NODES[:120]
TIMES = 60  # as fast


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
    rules = rules_in(folder, TIMES)
    with WebServer() as webhook, WebServer(fabric.page) as nodes:
        targets = [{"targets": [f"127.0.0.1:{nodes.server_port}"], "labels": {"instance": node, "cluster": "x", "__metrics_path__": f"/{node}"}} for node in NODES]
        scrape = [{"job_name": "any", "static_configs": targets}]
        with Alertmanager(folder, alertmanager_config(webhook.server_port, TIMES)) as alertmanager, Prometheus(folder, scrape, rules, alertmanager.port) as prometheus:
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
