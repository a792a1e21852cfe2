# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes what it is told to, every second, and a real Alertmanager."""
import http.client
import json
import re
import shutil
import subprocess
import time
import urllib.parse


def port_of(server, line):
    """The port that the log of a server names once it listens."""
    deadline = time.monotonic() + server.patience
    while not (found := re.search(line, server.log.read_text())):
        if server.process.poll() is not None or time.monotonic() > deadline:
            server.__exit__()
            raise RuntimeError("it does not start\n" + server.log.read_text())
        time.sleep(0.02)
    return int(found[1])


class Alertmanager:
    """A context manager. `config` is the text of its configuration."""

    def __init__(self, folder, config, patience=20):
        self.patience = patience
        (folder / "alertmanager.yml").write_text(config)
        self.log = folder / "alertmanager.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["prometheus-alertmanager", "--config.file", folder / "alertmanager.yml", "--storage.path", folder / "alertmanager",
                                             "--web.listen-address", "127.0.0.1:0", "--cluster.listen-address", ""], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @staticmethod
    def installed():
        return shutil.which("prometheus-alertmanager") is not None

    def __enter__(self):
        self.port = port_of(self, r'msg="Listening on" address=127\.0\.0\.1:(\d+)')
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def alerts(self):
        """What it has, as its API tells: labels, annotations, and in status who inhibits it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        try:
            connection.request("GET", "/api/v2/alerts")
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


class Prometheus:
    """A context manager. `scrape_configs` is that part of its configuration, in JSON's terms; `rules`: paths of rule files;
    `alertmanager`: the port of one on this host."""

    def __init__(self, folder, scrape_configs, rules=(), alertmanager=None, patience=20):
        self.patience = patience
        config = folder / "prometheus.yml"
        everything = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(rule) for rule in rules], "scrape_configs": scrape_configs}
        if alertmanager:
            everything["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]}
        config.write_text(json.dumps(everything))  # which is YAML, too
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["prometheus", "--config.file", config, "--storage.tsdb.path", folder / "data", "--web.listen-address", "127.0.0.1:0"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @staticmethod
    def installed():
        return shutil.which("prometheus") is not None

    def __enter__(self):
        self.port = port_of(self, r'msg="Listening on" address=127\.0\.0\.1:(\d+)')
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
