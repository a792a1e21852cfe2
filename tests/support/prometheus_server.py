# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes what it is told to, every second."""
import http.client
import json
import re
import shutil
import subprocess
import time
import urllib.parse


class Prometheus:
    """A context manager. `scrape_configs` is that part of its configuration, in JSON's terms; `rules`: paths of rule files."""

    def __init__(self, folder, scrape_configs, rules=(), patience=20):
        self.patience = patience
        config = folder / "prometheus.yml"
        everything = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(rule) for rule in rules], "scrape_configs": scrape_configs}
        config.write_text(json.dumps(everything))  # which is YAML, too
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["prometheus", "--config.file", config, "--storage.tsdb.path", folder / "data", "--web.listen-address", "127.0.0.1:0"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @staticmethod
    def installed():
        return shutil.which("prometheus") is not None

    def __enter__(self):
        deadline = time.monotonic() + self.patience
        while not (found := re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', self.log.read_text())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError("Prometheus does not start\n" + self.log.read_text())
            time.sleep(0.02)
        self.port = int(found[1])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def query(self, expression):
        """[(labels, value)], or [(labels, [(time, value)])] of a range."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        try:
            connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status == 503:  # it is not ready
            return []
        if answer.status != 200:
            raise RuntimeError(f"{expression}: status {answer.status}: {body.decode(errors='replace')}")
        result = json.loads(body)["data"]["result"]
        number = lambda pair: (pair[0], float(pair[1]))  # noqa: E731
        return [(one["metric"], [number(pair) for pair in one["values"]] if "values" in one else float(one["value"][1])) for one in result]
