#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has a real Prometheus find the peer of each queue pair on the pages of two nodes, and compares with who connected whom.

usage: peers.py DIR

DIR has rdma-qp.json of the moment, connections.txt with the two processes of each connection on a line, and a folder for each node, named as
the instance, with metrics.txt, metrics_qps.txt and `device`, the name of the one device that the node has. Exit status 1 if any peer is
wrong, missing, or found where it cannot be known. (The numbers alone would not tell: QP 17 of one device may well talk to QP 17 of another.)
"""

import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from peer_join import JOIN, PageServer, scrape_configs  # noqa: E402  (the path comes first)
from prometheus_server import Prometheus  # noqa: E402

RULES = HERE.parent.parent / "deploy/prometheus/rules/peers.yml"
PATIENCE = 120  # seconds: a guest is emulated


def connections(folder):
    """{(device, qpn): device of its peer}"""
    of_pid = {qp["pid"]: (qp["ifname"], qp["lqpn"]) for qp in json.loads((folder / "rdma-qp.json").read_text()) if qp.get("pid")}
    found = {}
    for line in (folder / "connections.txt").read_text().splitlines():
        one, other = (of_pid[int(pid)] for pid in line.split())
        found[one], found[other] = other[0], one[0]
    return found


def joined(pages):
    """{(instance, device, qpn): {(peer, device, port)}} as Prometheus finds it."""
    with tempfile.TemporaryDirectory() as folder, PageServer(pages) as server, \
            Prometheus(pathlib.Path(folder), scrape_configs(server, "/metrics", "/metrics/qps"), rules=[RULES], patience=PATIENCE) as prometheus:
        deadline = time.monotonic() + PATIENCE
        wanted = {(instance, path) for instance in pages for path in ("/metrics", "/metrics/qps")}
        # Every page scraped, and the rule evaluated over them.
        while ({(labels["instance"], labels["job"]) for labels, _ in prometheus.query("up == 1")} != wanted or
               {labels["peer"] for labels, _ in prometheus.query("qpscope:gid_peer")} != set(pages)):
            if time.monotonic() > deadline:
                sys.exit("peers: Prometheus does not scrape the pages\n" + prometheus.log.read_text())
            time.sleep(0.2)
        found = {}
        for labels, _ in prometheus.query(JOIN.replace("qpscope_qp_info", 'qpscope_qp_info{job="/metrics/qps"}')):
            found.setdefault((labels["instance"], labels["device"], int(labels["qpn"])), set()).add((labels["peer"], labels["peer_device"], labels["peer_port"]))
        return found


def compare(found, true, node_of):
    """Disagreements; `node_of`: {device: instance} of the nodes that were scraped."""
    for (device, qpn), peer in sorted(true.items()):
        if device not in node_of:
            continue
        got = found.get((node_of[device], device, qpn), set())
        wanted = {(node_of[peer], peer, "1")} if peer in node_of else set()
        if got != wanted:
            yield f"{device} qp {qpn}: peer is {sorted(wanted)}, {sorted(got)} by Prometheus"
    for instance, device, qpn in sorted(found):
        if (device, qpn) not in true or node_of.get(device) != instance:
            yield f"{instance} {device} qp {qpn}: Prometheus has a peer, but it is not connected"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    nodes = [file.parent for file in sorted(folder.glob("*/device"))]
    pages = {node.name: {"/metrics": (node / "metrics.txt").read_text(), "/metrics/qps": (node / "metrics_qps.txt").read_text()} for node in nodes}
    node_of = {(node / "device").read_text().strip(): node.name for node in nodes}
    true = connections(folder)
    across = sum(device != peer for (device, _), peer in true.items())
    problems = [] if 0 < across < len(true) else [f"not connections of both kinds: {true}"]
    problems += compare(joined(pages), true, node_of)
    # The other node is not scraped: peers on it are not known, the others are.
    alone = nodes[0].name
    problems += compare(joined({alone: pages[alone]}), true, {device: node for device, node in node_of.items() if node == alone})
    for problem in problems:
        print(problem)
    print(f"peers: {len(true)} connected queue pairs, {across} of them across, {len(problems)} disagreements")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
