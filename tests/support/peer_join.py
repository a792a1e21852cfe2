# SPDX-License-Identifier: Apache-2.0
"""The query that finds the peer of each queue pair, and pages of several nodes for a Prometheus to join."""
import http.server
import threading

# As exporters/README.md has it; with the rule of deploy/prometheus/rules/peers.yml.
JOIN = "qpscope_qp_info * on (cluster, remote_gid) group_left (peer, peer_device, peer_port) qpscope:gid_peer"


class PageServer:
    """Serves pages[instance][path], a text or what makes one, from a port for each instance; a context manager."""

    def __init__(self, pages):
        self.ports, self.servers = {}, []
        for instance, texts in pages.items():
            class Handler(http.server.BaseHTTPRequestHandler):
                own = texts

                def do_GET(self):  # noqa: N802
                    text = self.own.get(self.path)
                    text = text() if callable(text) else text
                    self.send_response(404 if text is None else 200)
                    self.send_header("Content-Type", "text/plain; version=0.0.4")
                    self.end_headers()
                    self.wfile.write((text or "").encode())

                def log_message(self, *_):
                    pass

            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            server.handle_error = lambda *_: None  # a scraper that is gone
            self.ports[instance] = server.server_address[1]
            self.servers.append(server)

    def __enter__(self):
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.shutdown()
            server.server_close()


def scrape_configs(server, *paths):
    """A job for each path, over all instances."""
    targets = [{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": instance}} for instance, port in server.ports.items()]
    return [{"job_name": path, "metrics_path": path, "static_configs": targets} for path in paths]
