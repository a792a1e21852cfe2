# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes what it is told to, every second, and a real Alertmanager."""
import http.client
import json
import re
import shutil
import subprocess
import time
import urllib.parse


class Server:
    """A context manager: a program that listens on a free port of this host, and names it in its log."""
    PROGRAM = None
    LISTENS = r'msg="Listening on" address=127\.0\.0\.1:(\d+)'

    def __init__(self, log, arguments, patience):
        self.patience, self.log = patience, log
        with open(log, "wb") as out:
            self.process = subprocess.Popen([self.PROGRAM, *arguments, "--web.listen-address", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    @classmethod
    def installed(cls):
        return shutil.which(cls.PROGRAM) is not None

    def __enter__(self):
        deadline = time.monotonic() + self.patience
        while not (found := re.search(self.LISTENS, self.log.read_text())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError("it does not start\n" + self.log.read_text())
            time.sleep(0.02)
        self.port = int(found[1])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def get(self, path):
        """(status, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Alertmanager(Server):
    """`config` is the text of its configuration."""
    PROGRAM = "prometheus-alertmanager"

    def __init__(self, folder, config, patience=20):
        (folder / "alertmanager.yml").write_text(config)
        super().__init__(folder / "alertmanager.log",
                         ["--config.file", folder / "alertmanager.yml", "--storage.path", folder / "alertmanager", "--cluster.listen-address", ""], patience)

    def alerts(self):
        """What it has, as its API tells: labels, annotations, and in status who inhibits it."""
        return json.loads(self.get("/api/v2/alerts")[1])


class Prometheus(Server):
    """`scrape_configs` is that part of its configuration, in JSON's terms; `rules`: paths of rule files; `alertmanager`: the port of one
    on this host. Or `text`: the whole of a configuration."""
    PROGRAM = "prometheus"

    def __init__(self, folder, scrape_configs=(), rules=(), alertmanager=None, patience=20, text=None):
        config = folder / "prometheus.yml"
        everything = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(rule) for rule in rules], "scrape_configs": scrape_configs}
        if alertmanager:
            everything["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]}
        config.write_text(text or json.dumps(everything))  # which is YAML, too
        super().__init__(folder / "log", ["--config.file", config, "--storage.tsdb.path", folder / "data"], patience)

    def query(self, expression):
        """[(labels, value)], or [(labels, [(time, value)])] of a range."""
        status, body = self.get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        if status == 503:  # it is not ready
            return []
        if status != 200:
            raise RuntimeError(f"{expression}: status {status}: {body.decode(errors='replace')}")
        result = json.loads(body)["data"]["result"]
        number = lambda pair: (pair[0], float(pair[1]))  # noqa: E731
        return [(one["metric"], [number(pair) for pair in one["values"]] if "values" in one else float(one["value"][1])) for one in result]

    def rules(self):
        """All of them, as its API tells: name, query, health, lastError."""
        return [rule for group in json.loads(self.get("/api/v1/rules")[1])["data"]["groups"] for rule in group["rules"]]
