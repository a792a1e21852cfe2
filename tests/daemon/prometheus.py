# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the daemon over wraps of the kernel's counters and over a SIGKILL: nothing resets, nothing falls, no rate is too high. And it
joins the pages of several nodes."""
import re
import signal
import threading
import time

from counter_host import put
from harness import FAST, PATIENCE, REPOSITORY, Daemon, expect, main, root_of, skip, temp_folder, total, wait_for, write
from peer_join import JOIN, PageServer, scrape_configs  # of tests/support
from prometheus_server import Prometheus

PORT = "sys/class/infiniband/mlx5_0/ports/1"
WINDOW = 8  # seconds, of the rates that are asked for

# The kernel's counters: (bits, first value, events per second). 32 bits at this rate wrap after 4 s, and every 17 s from then on.
FILES = {
    "hw_counters/out_of_sequence": (32, 2**32 - 10**9, 250_000_000),
    "hw_counters/np_cnp_sent": (64, 10**12, 1000),
    "counters/port_xmit_data": (64, 10**15, 1_000_000),
    "counters/port_xmit_packets": (64, 10**9, 5000),
}
# What they are on the page: (series, file, unit).
SERIES = (
    ('qpscope_hw_counters_total{device="mlx5_0",counter="out_of_sequence"}', "hw_counters/out_of_sequence", 1),
    ('qpscope_port_rx_out_of_sequence_packets_total{device="mlx5_0"}', "hw_counters/out_of_sequence", 1),
    ('qpscope_port_tx_cnp_packets_total{device="mlx5_0"}', "hw_counters/np_cnp_sent", 1),
    ('qpscope_port_tx_bytes_total{device="mlx5_0"}', "counters/port_xmit_data", 4),
    ('qpscope_port_tx_packets_total{device="mlx5_0"}', "counters/port_xmit_packets", 1),
)


class Kernel:
    """Moves the counters until it is stopped."""

    def __init__(self, root):
        self.root, self.began, self.done = root, time.time(), threading.Event()
        self.longest_pause = 0
        self.thread = threading.Thread(target=self.run)

    def count(self, file):
        """Events up to now; `value` is what the kernel would show if its counters were wide enough."""
        _, first, rate = FILES[file]
        return first + int(rate * (time.time() - self.began))

    def move(self):
        self.value = {file: self.count(file) for file in FILES}
        for file, value in self.value.items():
            put(self.root, f"{PORT}/{file}", value % 2 ** FILES[file][0])

    def run(self):
        last = time.time()
        while not self.done.wait(0.02):
            self.move()
            self.longest_pause, last = max(self.longest_pause, time.time() - last), time.time()

    def wraps(self):
        return self.value["hw_counters/out_of_sequence"] >> 32

    def __enter__(self):
        self.move()
        self.thread.start()
        return self

    def stop(self):
        self.done.set()
        self.thread.join()

    __exit__ = lambda self, *_: self.stop()  # noqa: E731


def prometheus_of(port):
    if not Prometheus.installed():
        skip("no prometheus (deploy/packages/test.txt)")
    return Prometheus(temp_folder(), [{"job_name": "qpscope", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}], patience=PATIENCE)


def totals_of(page):
    """Every series name of a page that may only grow."""
    names = []
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", page, re.M):
        names += {"counter": [name], "histogram": [f"{name}_bucket", f"{name}_sum", f"{name}_count"]}.get(kind, [])
    return [name for name in names if not name.startswith("process_")]  # those are the process's own, and start with it


def test_over_wraps_and_a_kill():
    root = root_of("01-mlx5-pf-roce-cx7")
    write(root / "proc/sys/kernel/random/boot_id", "7c3a9d5e-0000-4000-8000-123456789abc\n")
    (root / "run").mkdir()
    (root / PORT / "counters/symbol_error").write_text("N/A (no PMA)\n")  # so that there are read errors to count
    with Kernel(root) as kernel:
        daemon = Daemon(root=root, config=FAST)
        with daemon, prometheus_of(daemon.port) as prometheus:
            port = daemon.port
            wait_for(lambda: prometheus.query("up == 1"), "Prometheus does not scrape", 2 * PATIENCE)
            wait_for(lambda: kernel.wraps() >= 2, "no two wraps", 2 * PATIENCE)
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait()
            killed = time.time()
            with Daemon(root=root, config=FAST.replace("127.0.0.1:0", f"127.0.0.1:{port}")) as daemon:
                back = time.time()
                wait_for(lambda: time.time() > back + WINDOW, "the clock stands still")
                kernel.stop()
                page = daemon.page()
                expect(total(page, "qpscope_counters_resets_total") == 0, "resets where there were none", page)
                gaps = total(page, "qpscope_counters_gaps_total")
                expect(gaps == 0 or back - killed > 3, "a quick restart is a gap", page)  # this machine may be so busy that a wrap can be missed
                for series, file, unit in SERIES if gaps == 0 else ():
                    exact = float(kernel.value[file] * unit)
                    wait_for(lambda: [v for _, v in prometheus.query(series)] == [exact], lambda: f"{series} is {prometheus.query(series)}, not {exact}")
                judge(prometheus, page, kernel, killed, back)


def judge(prometheus, page, kernel, killed, back):
    names = totals_of(page)
    expect(len(names) > 20 and "qpscope_counters_resets_total" in names, "not the totals of the page", names)
    for name in names:
        expect(all(value == 0 for _, value in prometheus.query(f"resets({name}[5m])")), f"{name} starts again", prometheus.query(f"{name}[5m]"))
    samples = prometheus.query('{job="qpscope"}[5m]')
    for labels, values in samples:
        expect(not [label for label in labels if label.startswith("exported_")], "a label of ours is one of Prometheus' own", labels)
        falls = [(a, b) for (_, a), (_, b) in zip(values, values[1:]) if b < a]
        expect(labels["__name__"] not in names or not falls, "a total falls", labels, falls)
    down = [at for at, value in prometheus.query("up[5m]")[0][1] if value == 0]
    expect(all(killed - 1 < at < back + 1 for at in down), "down, but not around the kill", killed, back, down)

    # How far from its time stamp a sample may be: the page is older, the pass that read it and the scrape take their time, and the counters
    # move in steps, too.
    def of_passes(name):
        return [(at, value) for labels, values in samples for at, value in values if labels["__name__"] == "qpscope_collector_" + name]
    jitter = (max(at - value for at, value in of_passes("last_success_timestamp_seconds")) + max(value for _, value in of_passes("duration_seconds")) +
              max(value for _, value in prometheus.query("scrape_duration_seconds[5m]")[0][1]) + kernel.longest_pause)
    for series, file, unit in SERIES:
        true = FILES[file][2] * unit
        rates = [rate for _, values in prometheus.query(f"rate({series}[{WINDOW}s])[5m:1s]") for _, rate in values]
        expect(len(rates) > WINDOW and max(rates) > true / 2, "no rates", series, rates)
        most = true * (1 + jitter / (WINDOW - 3))  # a window lacks its ends, and a scrape or two around the kill
        full = rates[WINDOW:]
        expect(max(full) <= most, f"{series} rises by more than the counter: {max(full)}, at most {most}", full)


GIDS = {"a": "fe80:0000:0000:0000:0000:0000:0000:00aa", "b": "fe80:0000:0000:0000:0000:0000:0000:00bb", "both": "0000:0000:0000:0000:0000:ffff:c0a8:0001",
        "nobody": "fe80:0000:0000:0000:0000:0000:0000:00ff"}


def made_page(device, gids, peers):
    """Two ports of a node, of which the second has the given GIDs, and queue pairs 1, 2, … with these peers."""
    lines = ["# TYPE qpscope_port_gid_info gauge", f'qpscope_port_gid_info{{device="{device}",port="1",gid="fe80::{device}"}} 1']
    lines += [f'qpscope_port_gid_info{{device="{device}",port="2",gid="{GIDS[gid]}"}} 1' for gid in gids]
    lines += ["# TYPE qpscope_qp_info gauge"]
    lines += [f'qpscope_qp_info{{device="{device}",port="2",qpn="{n + 1}",remote_gid="{GIDS.get(peer, "")}"}} 1' for n, peer in enumerate(peers)]
    lines += ["# TYPE qpscope_qp_state gauge"]
    lines += [f'qpscope_qp_state{{device="{device}",port="2",qpn="{n + 1}"}} {6 if n == 0 else 3}' for n in range(len(peers))]
    return "\n".join(lines) + "\n"


def test_peer_join():
    """The queries of exporters/README.md: the peer of each queue pair, and nothing where it is not known, or could be two."""
    if not Prometheus.installed():
        skip("no prometheus (deploy/packages/test.txt)")
    readme = (REPOSITORY / "exporters/README.md").read_text()
    expect(f"```\n{JOIN}\n```" in readme, "the README has another query", JOIN)
    broken = re.search(r"```\n(count by .*?)```", readme, re.S)[1]
    pages = {"node-a": {"/metrics": made_page("mlx5_0", ["a", "both"], ["b", "nobody", "both", "", "a"])},
             "node-b": {"/metrics": made_page("mlx5_7", ["b", "both"], ["a", "b"])}}
    with PageServer(pages) as server, Prometheus(temp_folder(), scrape_configs(server, "/metrics"), rules=[REPOSITORY / "deploy/prometheus/rules/peers.yml"]) as prometheus:
        wait_for(lambda: len(prometheus.query("qpscope:gid_peer")) == 4, lambda: f"no map of GIDs: {prometheus.query('qpscope:gid_peer')}")
        got = {(labels["instance"], labels["qpn"]): (labels["peer"], labels["peer_device"], labels["peer_port"]) for labels, _ in prometheus.query(JOIN)}
        a, b = ("node-a", "mlx5_0", "2"), ("node-b", "mlx5_7", "2")
        expect(got == {("node-a", "1"): b, ("node-a", "5"): a, ("node-b", "1"): a, ("node-b", "2"): b}, "not the peers", got)
        got = {(labels["peer"], labels["peer_device"]): value for labels, value in prometheus.query(broken)}
        expect(got == {a[:2]: 1, b[:2]: 1}, "not the peers of the queue pairs in ERR", got)


main(globals())
