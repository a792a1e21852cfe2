# SPDX-License-Identifier: Apache-2.0
"""A server on a unix socket in the daemon's place, and made hosts for it: any number of ports and queue pairs.

By itself (made_api.py SOCKET QPS [PORTS]) it serves one until it is killed, to look at the command with one's own eyes."""
import http.server
import json
import socketserver
import sys
import threading
import urllib.parse
from pathlib import Path

TIME = 1796051798.5


class Made:
    """Answers as it is told: `answer(method, path, query, body)` gives (status, body). What was asked is in `asked`."""

    def __init__(self, path, answer):
        self.path, self.asked = Path(path), []
        made = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def reply(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                path, _, query = self.path.partition("?")
                made.asked.append((self.command, path, urllib.parse.parse_qsl(query), body))
                status, text = answer(*made.asked[-1])
                data = text if isinstance(text, bytes) else json.dumps(text).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = reply  # noqa: N815

            def address_string(self):
                return ""

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a reader that is gone

        self.server = Server(str(self.path), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def envelope(data, time=TIME, age=0.25):
    return {"schema": 1, "time": time, "age_seconds": age, "data": data}


def queue_pair(n):
    tenant, workload = (("läb", "train"), ("research", "job 4711"), ("ml-platform-production", "deployment/llm-pretraining-70b"))[n % 3]
    return {"device": f"mlx5_{n // 3 % 2}", "port": 1, "qpn": 100 + n, "generation": "3", "type": "RC", "state": "ERR" if n % 800 == 1 else "RTS", "tenant": tenant,
            "workload": workload, "pid": 4001 + n, "comm": "python3", "remote_qpn": 7000 + n, "remote_gid": "0000:0000:0000:0000:0000:ffff:c000:0207",
            "state_change_timestamp_seconds": TIME - 60 * n}


def port(device, number, quiet=False, **more):
    def seconds(value):
        return [None, *[value] * 149]
    history = {"rx_bytes": seconds(0 if quiet else 23.4e9), "tx_bytes": seconds(0 if quiet else 1.1e9), "retransmits": seconds(0 if quiet else 12.5),
               "rx_cnp_packets": seconds(0 if quiet else 40.2), "rx_ecn_marked_packets": seconds(0), "rx_pause_seconds": seconds(0 if quiet else 0.153)}
    return {"device": device, "port": number, "driver": "mlx5_core", "function": "pf", "link_layer": "Ethernet", "netdev": f"ens{number}f0np0", "state": "ACTIVE",
            "physical_state": "LinkUp", "rate_bytes_per_second": 50e9, "mtu_bytes": 4200, "queue_pairs": 0 if quiet else 406,
            "totals": {"rx_bytes": "123456789012", "tx_bytes": "23456789", "retransmits": "18446744073709551615", "rx_discards": "3", "completion_errors": "12"},
            "history": history, **more}


def event(n, **more):
    return {"id": str(n), "timestamp_seconds": TIME - 100 + n, "kind": "queue_pair_error", "severity": "error", "device": "mlx5_0", "port": 1, "qpn": 4711,
            "tenant": "research", "workload": "job 4711", "message": f"queue pair 4711 of mlx5_0 moved to ERR ({n})", **more}


class Host:
    """The whole API of a made host; attributes are there to be changed."""

    def __init__(self, queue_pairs=3, ports=2):
        self.queue_pairs = [queue_pair(n) for n in range(queue_pairs)]
        self.ports = [port(f"mlx5_{n}", 1, quiet=n > 0 or not queue_pairs) for n in range(ports)]
        self.events = [event(1), event(2, kind="port_state", severity="warning", message="port 1 of mlx5_0 is DOWN"), event(3, kind="daemon", severity="info", message="started")]
        self.troubles = []
        self.rounds = 0  # of /tenants: its totals grow
        self.dropped, self.age = 0, 0.25

    def status(self):
        states = {}
        for qp in self.queue_pairs:
            states[qp["state"]] = states.get(qp["state"], 0) + 1
        return {"version": "0.9.1", "host": "node17", "kernel": "6.12.1", "ready": True, "uptime_seconds": 360000, "devices": {"found": 2, "expected": 2},
                "queue_pairs": {"total": len(self.queue_pairs), "by_state": states}, "tenants": 3, "series": 1212, "bpf": {"on": True, "events": "8123", "lost": "0"},
                "cost": {"cpu_seconds": 112.3, "resident_bytes": 13800000, "firmware_commands": "627"}, "troubles": self.troubles}

    def tenants(self):
        self.rounds += 1
        counted = {"rx_bytes": str(10**12 + self.rounds * 10**9), "tx_bytes": str(10**9), "retransmits": str(100 + 7 * self.rounds)}
        one = {"tenant": "research", "workload": "job 4711", "kind": "slurm", "queue_pairs": 12, "by_state": {"RTS": 11, "ERR": 1}, "devices": ["mlx5_0"],
               "ports": [{"device": "mlx5_0", "port": 1, "method": "set", "totals": counted}]}
        other = {"tenant": "läb", "workload": "train", "kind": "rule", "queue_pairs": 3, "by_state": {"RTS": 3}, "devices": ["mlx5_0", "mlx5_1"], "ports": []}
        return [one, other] if self.queue_pairs else []

    def answer(self, method, path, query, _body):
        asked = dict(query)
        known = {"/api/v1/qps": {"cursor", "limit", "device", "port", "qpn", "type", "state", "tenant", "workload", "remote_gid", "pid"},
                 "/api/v1/ports": {"device", "port", "history"}, "/api/v1/events": {"after", "limit", "kind", "device"}}
        if unknown := asked.keys() - known.get(path, set()):
            return 400, {"error": {"code": "invalid", "message": f"unknown parameter: {unknown}"}}
        if path == "/api/v1/qps":
            start, limit = int(asked.get("cursor", 0)), int(asked.get("limit", 1000))
            wanted = [qp for qp in self.queue_pairs if all(str(qp.get(key)) in [v for k, v in query if k == key] for key in asked.keys() - {"cursor", "limit"})]
            more = {"next": str(start + limit)} if start + limit < len(wanted) else {}
            return 200, envelope({"qps": wanted[start:start + limit], **more}, age=self.age)
        if path == "/api/v1/events":
            after = int(asked.get("after", 0))
            wanted = [one for one in self.events if int(one["id"]) > after and asked.get("kind", one["kind"]) == one["kind"]]
            return 200, envelope({"events": wanted, "next": self.events[-1]["id"] if self.events else "0", "dropped": str(self.dropped)})
        data = {
            "/api/v1/status": self.status,
            "/api/v1/ports": lambda: {"interval_seconds": 2, "ports": self.ports},
            "/api/v1/tenants": lambda: {"tenants": self.tenants()},
            "/api/v1/probes": lambda: {"bpf": {"on": True}, "events": {"received": {"qp_created": "12"}, "lost": {"ring_full": "0"}}, "probes": [
                {"probe": "qp_create", "feature": "qp", "how": "fentry", "attached": True, "runs": "123", "run_seconds": 0.0001, "missed": "0"},
                {"probe": "devx_create", "feature": "devx", "how": "kprobe", "attached": False, "reason": "no such function: mlx5_ib is not loaded"}]},
            "/api/v1/focus": lambda: {"message": "watching"},
        }.get(path)
        if not data:
            return 404, {"error": {"code": "not_found", "message": "no such page"}}
        time = TIME + 2 * self.rounds if path == "/api/v1/tenants" else TIME
        return 200, envelope(data(), time=time, age=self.age)


if __name__ == "__main__":
    with Made(sys.argv[1], Host(*map(int, sys.argv[2:])).answer):
        threading.Event().wait()
