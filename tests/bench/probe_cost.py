#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the probes cost a program that makes queue pairs, brings them to RTS and destroys them (soft-RoCE, one process).

In the guest, whose clock goes by instructions with --icount, so that what else the host does is not measured:
  tests/guest/boot.sh 6.12 --icount --out DIR -- tests/bench/probe_cost.py $PWD/build/release/bin [--kprobes | --bpftrace PROGRAM]
The folder has qpscope-probe-dump and qpscope-qp-play. Two answers that need not agree:
- the kernel's own account (kernel.bpf_stats_enabled): time in our programs over the time of the loop;
- what the loop feels: pairs of runs, with and without the probes in turn within one boot, so that what drifts bears on
  both. The median of the pairs' ratios and its interval at 95 % or a little more.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

FABRIC = pathlib.Path(__file__).resolve().parents[1] / "guest" / "fabric.sh"


def out(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Watcher:
    """A program that watches, from its "ready" to its end. Ours must have lost nothing."""

    def __init__(self, arguments, ours):
        self.arguments, self.ours = arguments, ours

    def __enter__(self):
        self.said = pathlib.Path(tempfile.mkstemp(dir="/run")[1])
        self.process = subprocess.Popen(self.arguments, stdout=self.said.open("w"))
        while not re.search("^ready$", self.said.read_text(), re.M):
            if self.process.poll() is not None:
                raise SystemExit(f"{self.arguments[0]} ended: {self.said.read_text()}")
            time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        said = self.said.read_text().splitlines()
        self.said.unlink()
        if self.ours and not said[-1].startswith("losses ring_full=0 recursion=0 kretprobe_missed=0 decode=0"):
            raise SystemExit(f"lost: {said[-1]}")


def median_interval(values):
    """Order statistics: the smallest symmetric pair of ranks that covers the median with at least 95 %."""
    n, values = len(values), sorted(values)
    rank, outside = 0, 0.0
    while 2 * (outside + math.comb(n, rank) / 2**n) <= 0.05:
        outside += math.comb(n, rank) / 2**n
        rank += 1
    return values[rank - 1], values[n - rank]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--kprobes", action="store_true")
    parser.add_argument("--bpftrace", help="watch with this program and probe_cost.bt instead of our probes")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--lives", type=int, default=300)
    options = parser.parse_args()
    if options.pairs < 6:
        parser.error("an interval at 95 % needs 6 pairs")

    def loop_ns():
        return int(out(options.bin / "qpscope-qp-play", "rxe0", "churn", str(options.lives)).split("loop_ns=")[1])

    if options.bpftrace:
        probes = Watcher([options.bpftrace, pathlib.Path(__file__).with_suffix(".bt")], ours=False)
    else:
        probes = Watcher([options.bin / "qpscope-probe-dump", "--quiet"] + ["--kprobes"] * options.kprobes, ours=True)
    out(FABRIC, "up", "0")
    loop_ns()  # whatever is loaded once
    with probes:
        out("sysctl", "-qw", "kernel.bpf_stats_enabled=1")
        took = loop_ns()
        out("sysctl", "-qw", "kernel.bpf_stats_enabled=0")
        programs = [p for p in json.loads(out("bpftool", "-j", "prog", "show")) if p.get("run_cnt", 0) >= options.lives]
    for p in programs:
        print(f"{p['name']:16} {p['run_cnt'] / options.lives:4.1f} runs a life, {p['run_time_ns'] / p['run_cnt'] / 1000:6.2f} us each")
    inside = sum(p["run_time_ns"] for p in programs)
    print(f"in programs: {inside / options.lives / 1000:.1f} us of {took / options.lives / 1000:.0f} us a life, {100 * inside / took:.2f} %")

    pairs = []
    for i in range(options.pairs):
        # In turn also within the pairs: a drift of the machine must not always hit the same one.
        without = loop_ns() if i % 2 else None
        with probes:
            within = loop_ns()
        pairs.append((within, without or loop_ns()))
    ratios = [100 * (a / b - 1) for a, b in pairs]
    low, high = median_interval(ratios)
    print(f"loop with the probes against without, {options.pairs} pairs: median {statistics.median(ratios):+.1f} %, interval {low:+.1f} to {high:+.1f} %")
    print(f"median life: {statistics.median(a for a, _ in pairs) / options.lives / 1000:.0f} us with, "
          f"{statistics.median(b for _, b in pairs) / options.lives / 1000:.0f} us without")


if __name__ == "__main__":
    main()
