#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exporters/METRICS.md is what --print-metrics prints, and every row keeps the rules for names and help. The second part, the kernel
counters of each driver, names families and labels of the first.

UPDATE_GOLDEN=1 in the environment writes the page instead of comparing it.
"""
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "exporters" / "METRICS.md"
# What comes from the host names its source in brackets at the end of the help.
FROM_THE_HOST = re.compile(r"qpscope_(device|port|hw_counter|qp|queue_pair)_")
ABOUT_OURSELVES = re.compile(r"qpscope_qp_table_")
TAKEN = {"job", "instance", "namespace", "pod", "container", "le", "quantile"}  # Prometheus owns these labels


def faults_of(name, kind, labels, text):
    if not re.fullmatch(r"(qpscope|process)_[a-z0-9_]+", name):
        yield "the name has no prefix qpscope_"
    if (kind == "counter") != name.endswith("_total"):
        yield "counters, and only they, end in _total"
    if kind not in ("counter", "gauge", "histogram"):
        yield f"the type {kind} is none"
    if not text.isascii() or not text.endswith("."):
        yield "the help is not one ASCII sentence"
    if FROM_THE_HOST.match(name) and not ABOUT_OURSELVES.match(name) and not text.endswith(")."):
        yield "the help does not end with its source in brackets"
    for label in labels:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", label) or label in TAKEN:
            yield f"the label {label} is not allowed"


def faults_of_counters(text, families):
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    for row in rows:
        if len(row) != 5:
            yield f"{row[0]}: not five columns"
            continue
        if not (fed := re.match(r"`(\w+)(?:\{(.*)\})?`", row[3])):
            continue
        more = re.findall(r'(\w+)="', fed[2] or "")
        if families.get(fed[1]) not in (["device", "port", *more], ["device", *more]):  # PCIe is the device's
            yield f"{row[0]}: no family {row[3]}"
    if len(rows) < 300:
        yield f"only {len(rows)} counters"


def main():
    printed = subprocess.run([os.environ["QPSCOPED"], "--print-metrics"], capture_output=True, text=True, check=True, timeout=50).stdout
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(printed)
    there = PAGE.read_text() if PAGE.exists() else ""
    out = list(difflib.unified_diff(there.splitlines(), printed.splitlines(), str(PAGE), "--print-metrics", lineterm=""))
    if out:
        out.append("METRICS.md is not fresh: UPDATE_GOLDEN=1, and review the diff.")
    metrics, _, counters = printed.partition("\n# Kernel counters\n")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", metrics, re.M)
    if len(rows) != metrics.count("\n| `"):
        out.append("a row of --print-metrics is no row")
    for name, kind, labels, text in rows:
        out += [f"{name}: {fault}" for fault in faults_of(name, kind, re.findall(r"`(\w+)`", labels), text)]
    out += faults_of_counters(counters, {name: re.findall(r"`(\w+)`", labels) for name, _, labels, _ in rows})
    return "\n".join(out) or None


sys.exit(main())
