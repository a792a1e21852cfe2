# SPDX-License-Identifier: Apache-2.0
"""A server that looks to the status page like a daemon, with answers that the test makes: the page itself and its headers are the daemon's own."""
import json
import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

POINTS, INTERVAL = 150, 2


class PageApi:
    """A context manager. answers: {"status": data of the envelope | (HTTP status, message) | a function of the query that gives one of these}."""

    def __init__(self, page, headers, answers):
        self.page, self.headers, self.answers, self.asked, self.port = page, headers, answers, [], 0

    def start(self):
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                api.asked.append(self.path)
                if url.path == "/":
                    return self.send(200, api.page, {k: v for k, v in api.headers.items() if k not in ("Content-Length", "Content-Encoding", "Connection", "Date")})
                name = url.path.removeprefix("/api/v1/")
                answer = api.answers.get(name, (404, "no such page"))
                answer = answer(parse_qs(url.query)) if callable(answer) else answer
                status, body = 200, {"schema": 1, "time": time.time(), "age_seconds": 0.4, "data": answer}
                if isinstance(answer, tuple):
                    status, body = answer[0], {"error": {"code": "x", "message": answer[1]}}
                self.send(status, json.dumps(body).encode(), {"Content-Type": "application/json"})

            def send(self, status, body, headers):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": len(body)}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


def wave(level, swing, phase=0.0):
    return [round(max(0.0, level + swing * (math.sin(n / 9 + phase) + 0.4 * math.sin(n / 2.3))), 1) for n in range(POINTS)]


def burst(first, last, level):
    return [float(level * (0.6 + 0.4 * math.sin(n))) if first <= n < last else 0.0 for n in range(POINTS)]


def port(device, number=1, **more):
    flat = [0.0] * POINTS
    return {
        "device": device, "port": number, "driver": "mlx5_core", "function": "pf", "link_layer": "Ethernet", "netdev": device.replace("mlx5_", "ens") + "np0",
        "state": "ACTIVE", "physical_state": "LinkUp", "rate_bytes_per_second": 50e9, "mtu_bytes": 4200, "queue_pairs": 400, "last_sample_timestamp_seconds": time.time(),
        "totals": {"rx_bytes": "81604378624000", "tx_bytes": "79122334455667", "retransmits": "1204", "retransmits_by_cause": {"packet_sequence_error": "1201", "timeout": "3"},
                   "rx_cnp_packets": "88123", "rx_pause_seconds": "12.25", "link_downs": "0"},
        "history": {"rx_bytes": wave(3.1e10, 4e9), "tx_bytes": wave(2.8e10, 5e9, 1.5), "retransmits": flat, "rx_cnp_packets": flat, "rx_ecn_marked_packets": flat, "rx_pause_seconds": flat},
        **more,
    }


def queue_pair(number, **more):
    now = time.time()
    return {
        "device": f"mlx5_{number % 2}", "port": 1, "qpn": 0x1000 + number, "generation": "0", "type": "RC", "state": "RTS", "tenant": "research", "workload": f"job {4700 + number % 7}",
        "kind": "slurm", "pid": 20000 + number // 8, "tid": 20000 + number // 8, "uid": 1000, "comm": "python3", "cgroup": "/system.slice/slurmstepd.scope/job_4711/step_0",
        "remote_qpn": 0x2000 + number, "local_gid": "::ffff:10.7.0.11", "remote_gid": f"::ffff:10.7.0.{12 + number % 40}", "path_mtu": 4096, "timeout": 14, "retry_cnt": 7,
        "created_timestamp_seconds": now - 3600 - number, "state_change_timestamp_seconds": now - 3590 - number, "source": "bpf", "serial": str(number + 1),
        "older_than_daemon": False, "in_netlink": True, **more,
    }


def tenant(name, workload, queue_pairs, broken=0, **more):
    states = {"RTS": queue_pairs - broken, **({"ERR": broken} if broken else {})}
    return {"tenant": name, "workload": workload, "kind": "slurm", "queue_pairs": queue_pairs, "by_state": states, "devices": ["mlx5_0", "mlx5_1"], "ports": [], **more}


def event(number, kind, severity, message, ago, **more):
    return {"id": str(number), "timestamp_seconds": time.time() - ago, "kind": kind, "severity": severity, "message": message, **more}


def answers(ports=(), queue_pairs=(), tenants=(), events=(), **status):
    """A machine on which all is well, but for what is given."""
    began = time.time() - 93784
    broken = sum(qp.get("state") == "ERR" for qp in queue_pairs)
    by_state = {"RTS": len(queue_pairs) - broken, **({"ERR": broken} if broken else {})}

    def status_now(_):
        up = time.time() - began
        return {"version": "0.9", "host": "node17", "kernel": "6.12.1", "ready": True, "uptime_seconds": up, "devices": {"found": len(ports), "expected": len(ports)},
                "queue_pairs": {"total": len(queue_pairs), "by_state": by_state}, "tenants": len(tenants), "series": 1212, "bpf": {"on": True, "events": "8123", "lost": "0"},
                "cost": {"cpu_seconds": round(up * 0.0018, 3), "resident_bytes": 13800000, "bpf_seconds": 0.2, "firmware_commands": str(int(up * 6.2))}, "troubles": [], **status}

    def pairs(query):
        wanted = [qp for qp in queue_pairs if "state" not in query or qp.get("state") in query["state"]]
        first, limit = int(query.get("cursor", ["0"])[0]), int(query.get("limit", ["1000"])[0])
        return {"qps": wanted[first : first + limit], **({"next": str(first + limit)} if first + limit < len(wanted) else {})}

    def port_list(query):
        wanted = [one for one in ports if "device" not in query or one["device"] in query["device"]]
        return {"interval_seconds": INTERVAL, "ports": [{k: v for k, v in one.items() if k != "history"} if query.get("history") == ["no"] else one for one in wanted]}

    def event_list(query):
        after = int(query.get("after", ["0"])[0])
        return {"events": [one for one in events if int(one["id"]) > after], "next": events[-1]["id"] if events else "0", "dropped": "0"}

    probes = [{"probe": name, "feature": "qp", "how": "fentry", "attached": True, "runs": "8123", "run_seconds": 0.013, "missed": "0"} for name in ("qp_create", "qp_modify", "qp_destroy")]
    probes.append({"probe": "devx_create", "feature": "devx", "how": "kprobe", "attached": False, "reason": "no mlx5_ib in this kernel"})
    return {
        "status": status_now, "ports": port_list, "qps": pairs, "tenants": {"tenants": list(tenants)}, "events": event_list,
        "probes": {"bpf": {"on": True}, "probes": probes, "events": {"received": {"qp_created": "5000", "qp_modified": "3123"}, "lost": {"full": "0"}}},
    }


def busy_night():
    """What a screenshot should show: one sender that loses, one port down, one job with dead queue pairs."""
    ports = [port("mlx5_0"), port("mlx5_1"), port("mlx5_2", state="DOWN", physical_state="Polling", queue_pairs=0), port("mlx5_3", link_layer="InfiniBand")]
    ports[1]["history"].update(retransmits=burst(95, 150, 340), rx_cnp_packets=wave(900, 700), rx_ecn_marked_packets=wave(300, 200, 2), rx_pause_seconds=burst(60, 100, 0.4))
    ports[2]["totals"] = {"rx_bytes": "0", "tx_bytes": "0"}
    ports[2]["history"] = {name: [None] * 70 + [0.0] * 80 for name in ("rx_bytes", "tx_bytes")}
    ports[3]["history"]["rx_bytes"] = [None] * 40 + ports[3]["history"]["rx_bytes"][40:]
    ports[3]["history"]["tx_bytes"][80:90] = [None] * 10
    now = time.time()
    qps = [queue_pair(n) for n in range(812)]
    for n in range(12):
        qps[n * 40].update(state="ERR", workload="job 4711", comm="train.py", state_change_timestamp_seconds=now - 80 - n, device="mlx5_1", qpn=0x1000 + n * 40)
    events = [event(1, "daemon", "info", "the daemon started; totals went on", 93784), event(2, "device_added", "info", "device mlx5_3 appeared", 5000, device="mlx5_3"),
              event(3, "port_state", "warning", "port went from ACTIVE to DOWN", 150, device="mlx5_2", port=1)]
    for n in reversed(range(12)):
        qp = qps[n * 40]
        events.append(event(15 - n, "queue_pair_error", "error", f"queue pair {qp['qpn']} to {qp['remote_gid']} moved to ERR, and not by its owner: transport retry counter exceeded is likely",
                            80 + n, device="mlx5_1", port=1, qpn=qp["qpn"], tenant="research", workload="job 4711", pid=qp["pid"], comm="train.py"))
    ports_of = [{"device": "mlx5_1", "port": 1, "method": "set", "totals": {"rx_bytes": "8160437862400", "tx_bytes": "7912233445566", "retransmits": "1201", "rx_cnp_packets": "88001"}}]
    tenants = [tenant("research", "job 4711", 116, 12, ports=ports_of), *(tenant("research", f"job {n}", 116) for n in range(4700, 4704)), tenant("storage", "nvmf-target", 232, kind="systemd")]
    trouble = {"severity": "warning", "device": "mlx5_3", "what": "hw_counters: cannot read rx_icrc_encapsulated: Input/output error"}
    return answers(ports, qps, tenants, events, troubles=[trouble])
