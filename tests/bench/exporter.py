# SPDX-License-Identifier: Apache-2.0
"""An exporter as Prometheus and the kernel see it: scraped over one connection, gzip accepted; its CPU time and its memory."""
import gzip
import http.client
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

SKIPPED = 77  # ctest's


def cpu_of(pid):
    """User and system seconds of all its threads, to the nanosecond (MAKE_PROCESS_CPUCLOCK of the kernel)."""
    return time.clock_gettime((~pid << 3) | 2)


class Exporter:
    """A process that serves /metrics; a context manager. `ready`: the line on standard error that names its port."""

    def __init__(self, name, command, ready):
        self.name, self.ready, self.log = name, ready, []
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            del self.log[1000:]

    def port(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            for line in list(self.log):
                if found := re.search(self.ready, line):
                    return int(found[1])
            time.sleep(0.02)
        raise SystemExit(f"{self.name} does not serve:\n{''.join(self.log)}")

    def __enter__(self):
        try:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port(60), timeout=30)
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.connection.close()

    def ask(self, compressed):
        self.connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip" if compressed else "identity"})
        return self.connection.getresponse()

    def scrape(self, compressed=True):
        """(seconds until the last byte, page)"""
        began = time.perf_counter()
        try:
            answer = self.ask(compressed)
        except http.client.RemoteDisconnected:  # it closes a connection that idles, and Prometheus asks again too
            answer = self.ask(compressed)
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            raise SystemExit(f"{self.name} answers {answer.status}: {body[:200]}")
        return took, (gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body).decode()

    def cpu(self):
        return cpu_of(self.process.pid)

    def memory(self):
        """(now, at most) resident, in MB (of 1024 x 1024 bytes)."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return tuple(int(re.search(rf"{word}:\s+(\d+) kB", status)[1]) / 1024 for word in ("VmRSS", "VmHWM"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


def qpscoped(binary, root, settings=""):
    """With the defaults, but for a free port and what `settings` (YAML) say."""
    if not os.access(binary, os.X_OK):
        raise SystemExit(f"no {binary}: build it, or say where it is with --bin")
    config = tempfile.NamedTemporaryFile("w", suffix=".yaml")
    config.write('exporters: {prometheus: {listen: "127.0.0.1:0"}}\n' + settings)
    config.flush()
    out = Exporter("qpscoped", [binary, "--root", root, "--config", config.name], r"ready on port (\d+)")
    out.config = config  # removed with it
    return out


def node_exporter(root):
    binary = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
    if not binary:
        print("SKIP: no node_exporter (deploy/packages/test.txt)")
        raise SystemExit(SKIPPED)
    return Exporter("node_exporter", [binary, "--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={root}/sys", "--web.listen-address=127.0.0.1:0"],
                    r'msg="Listening on" address=127\.0\.0\.1:(\d+)')


class Floor:
    """qpscope-bench-floor, the least that sampling costs; a context manager."""

    def __init__(self, binary, root):
        self.process = subprocess.Popen([binary, root], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.files = int(self.process.stdout.readline().split()[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def cpu(self):
        return cpu_of(self.process.pid)

    def scrape(self):
        pass


def series(page):
    """{(family, labels): value} of a page, labels as a sorted tuple of pairs."""
    out = {}
    for line in page.splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            family, _, labels = name.partition("{")
            out[family, tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))] = float(value)
    return out
