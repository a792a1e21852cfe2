# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the daemon over wraps of the kernel's counters and over a SIGKILL: nothing resets, nothing falls, no rate is too high."""
import http.client
import json
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse

from counter_host import put
from harness import FAST, PATIENCE, Daemon, expect, main, root_of, skip, temp_folder, total, wait_for, write

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


class Prometheus:
    def __init__(self, target):
        program = shutil.which("prometheus") or skip("no prometheus (deploy/packages/test.txt)")
        folder = temp_folder()
        config = write(folder / "prometheus.yml", "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: qpscope\n  static_configs:\n"
                       f'  - targets: ["127.0.0.1:{target}"]\n')
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([program, "--config.file", config, "--storage.tsdb.path", folder / "data", "--web.listen-address", "127.0.0.1:0"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        found = wait_for(lambda: re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', self.log.read_text()), lambda: self.log.read_text())
        self.port = int(found[1])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def query(self, expression):
        """[(labels, value)], or [(labels, [(time, value)])] of a range."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status == 503:  # it is not ready
            return []
        expect(answer.status == 200, f"{expression}: status {answer.status}", body)
        result = json.loads(body)["data"]["result"]
        number = lambda pair: (pair[0], float(pair[1]))  # noqa: E731
        return [(one["metric"], [number(pair) for pair in one["values"]] if "values" in one else float(one["value"][1])) for one in result]


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
        with daemon, Prometheus(daemon.port) as prometheus:
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


main(globals())
