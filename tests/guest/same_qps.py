#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares qps.json (`qpscope qps --json`) with metrics_qps.txt of one moment: what a queue pair's labels say, its JSON says too.

usage: same_qps.py DIR
"""

import json
import pathlib
import sys

from agree import STATES, samples

LABELS = ("port", "type", "tenant", "workload", "local_gid", "remote_gid", "remote_lid", "remote_qpn", "traffic_class", "path_mtu", "pid", "comm")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    states = {(s["device"], s["qpn"], s["generation"]): STATES[int(value)] for s, value in samples(folder / "metrics_qps.txt", "qpscope_qp_state")}
    page = {(s["device"], s["qpn"], s["generation"]): s for s, _ in samples(folder / "metrics_qps.txt", "qpscope_qp_info")}
    answer = {(qp["device"], str(qp["qpn"]), qp["generation"]): qp for qp in json.loads((folder / "qps.json").read_text())["data"]["qps"]}
    problems = [f"{key}: on {'the page' if key in page else 'the API'} alone" for key in sorted(page.keys() ^ answer.keys())]
    for key in sorted(page.keys() & answer.keys()):
        said = {**{label: str(answer[key].get(label, "")) for label in LABELS}, "state": answer[key].get("state")}
        shown = {**{label: page[key][label].replace("\\\\", "\\") for label in LABELS}, "state": states.get(key)}
        problems += [f"{key}: {name} is {shown[name]!r} on the page, {said[name]!r} in the API" for name in said if said[name] != shown[name]]
    for problem in problems:
        print(problem)
    print(f"same: {len(page)} queue pairs, {len(problems)} differences")
    sys.exit(1 if problems or not page else 0)


if __name__ == "__main__":
    main()
