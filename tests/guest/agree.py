#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what qpscoped and the rdma tool said at one moment.

usage: agree.py DIR                  with the files of take.sh
       agree.py --queue-pairs DIR    with metrics_qps.txt and rdma-qp.json alone

Every queue pair of `rdma -j resource show qp` must be on the page with the same device, number, type, state, remote
number and pid, and the other way round; every qpscope_hw_counters_total must lie between the values that
`rdma -j statistic show` gave before and after the page. Prints each disagreement; exit status 1 if there is any.
"""

import json
import pathlib
import re
import sys

STATES = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"]
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
SAMPLE = re.compile(r"^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)(?: \d+)?$")


def samples(path, family):
    """The samples of one family as (labels, value)."""
    for line in path.read_text().splitlines():
        match = SAMPLE.match(line)
        if match and match[1] == family:
            yield dict(LABEL.findall(match[2] or "")), float(match[3])


def page_queue_pairs(path):
    states = {(s["device"], s["qpn"], s["generation"]): STATES[int(v)] for s, v in samples(path, "qpscope_qp_state")}
    found, twice = {}, []
    for info, _ in samples(path, "qpscope_qp_info"):
        key = (info["device"], int(info["qpn"]))
        if key in found:
            twice.append(f"{key[0]} qp {key[1]}: on the page more than once")
        found[key] = {
            "type": info["type"],
            "state": states.get((info["device"], info["qpn"], info["generation"]), "(no qpscope_qp_state)"),
            "remote_qpn": int(info["remote_qpn"] or 0),
            "pid": info["pid"],
        }
    return found, twice


def tool_queue_pairs(path):
    # A kernel's queue pair has no pid; one that is not connected has no rqpn, or 0.
    return {
        (qp["ifname"], qp["lqpn"]): {
            "type": qp["type"],
            "state": qp["state"],
            "remote_qpn": qp.get("rqpn", 0),
            "pid": str(qp.get("pid", "")),
        }
        for qp in json.loads(path.read_text() or "[]")
        if "lqpn" in qp
    }


def compare_queue_pairs(page, tool):
    for key in sorted(page.keys() | tool.keys()):
        name = f"{key[0]} qp {key[1]}"
        if key not in page:
            yield f"{name}: rdma has it ({tool[key]['type']} {tool[key]['state']}), the page has not"
        elif key not in tool:
            yield f"{name}: the page has it ({page[key]['type']} {page[key]['state']}), rdma has not"
        else:
            for field, value in tool[key].items():
                if page[key][field] != value:
                    yield f"{name}: {field} is {value!r} for rdma, {page[key][field]!r} on the page"


def tool_counters(path):
    return {
        (port["ifname"], str(port["port"]), name): value
        for port in json.loads(path.read_text() or "[]")
        for name, value in port.items()
        if name not in ("ifindex", "ifname", "port") and isinstance(value, int)
    }


def compare_counters(page, before, after):
    for key, value in sorted(page.items()):
        name = f"{key[0]}/{key[1]} {key[2]}"
        if key not in before or key not in after:
            yield f"{name}: on the page, but not in rdma statistic show"
        elif not before[key] <= value <= after[key]:
            yield f"{name}: {value:.0f} on the page is not within {before[key]} and {after[key]}"
    for key in sorted((before.keys() & after.keys()) - page.keys()):
        yield f"{key[0]}/{key[1]} {key[2]}: in rdma statistic show, but not on the page"


def main():
    arguments = sys.argv[1:]
    queue_pairs_only = arguments[:1] == ["--queue-pairs"]
    arguments = arguments[queue_pairs_only:]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(arguments[0])
    page, problems = page_queue_pairs(folder / "metrics_qps.txt")
    problems += compare_queue_pairs(page, tool_queue_pairs(folder / "rdma-qp.json"))
    compared = f"{len(page)} queue pairs"
    if not page:
        problems.append("no queue pair to compare")
    if not queue_pairs_only:
        counters = {
            (s["device"], s["port"], s["counter"]): v for s, v in samples(folder / "metrics.txt", "qpscope_hw_counters_total")
        }
        before = tool_counters(folder / "rdma-statistic-before.json")
        after = tool_counters(folder / "rdma-statistic-after.json")
        problems += compare_counters(counters, before, after)
        compared += f", {len(counters)} counters"
        if not counters:
            problems.append("no counter to compare")
    for problem in problems:
        print(problem)
    print(f"agree: {compared}, {len(problems)} disagreements")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"agree: {error}")
