# SPDX-License-Identifier: Apache-2.0
"""The files of deploy/prometheus, made for a test: their time runs some times as fast, and they speak to ports of this host. Thresholds stay."""
import http.server
import json
import re
import threading
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent.parent / "deploy/prometheus"
MILLISECONDS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def faster(text, times):
    """Every duration that is a word of its own becomes that much shorter."""
    return re.sub(r"(?<![\w.])(\d+)([smhd])\b", lambda found: f"{round(int(found[1]) * MILLISECONDS[found[2]] / times)}ms", text)


def rules_in(folder, times):
    """Paths of all rule files, which it writes into a folder that is there."""
    paths = []
    for path in sorted((DEPLOY / "rules").glob("*.yml")):
        paths.append(folder / path.name)
        paths[-1].write_text(faster(path.read_text(), times))
    return paths


def alertmanager_config(receiver, times):
    """The text of alertmanager.yml, whose receivers are paths of a port of this host."""
    return replaced(faster((DEPLOY / "alertmanager.yml").read_text(), times), {"http://127.0.0.1:9099/": f"http://127.0.0.1:{receiver}/"})


def prometheus_config(target, alertmanager):
    """The text of prometheus.yml, for one node on a port of this host that is scraped every second; it wants the rules in rules/ beside it."""
    return replaced((DEPLOY / "prometheus.yml").read_text(), {
        "global:\n": "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\n",
        '"node-a:9879", "node-b:9879"': f'"127.0.0.1:{target}"',
        '"127.0.0.1:9093"': f'"127.0.0.1:{alertmanager}"'})


def replaced(text, words):
    for old, new in words.items():
        if old not in text:
            raise RuntimeError(f"the example has no {old!r} any more")
        text = text.replace(old, new)
    return text


class WebServer(http.server.ThreadingHTTPServer):
    """Answers GET with `pages(path)`, keeps what is POSTed in `received`: (path, what the JSON says). A context manager, on a free port."""
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
