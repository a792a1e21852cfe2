#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what the page says of a port's sole owners exactly what was driven while each was alone?

    sole.py DEVICE DRIVEN PAGE

DRIVEN: lines "counter events tenant workload", the last two "- -" where nobody was alone; a counter may have many. For each counter: the
port has all of it, each tenant what is its own by method sole_owner and by no other, and nobody the rest. Prints what differs; exit status
1 then.
"""
import collections
import re
import sys

from exact import TABLE
from whose import samples


def main(device, driven, page):
    total, wanted = collections.Counter(), collections.defaultdict(collections.Counter)
    with open(driven, encoding="utf-8") as lines:
        for counter, events, *who in map(str.split, lines):
            family, labels, unit = TABLE[counter]
            key = (family, *re.findall(r'cause="([^"]*)"', labels))
            total[key] += int(events) * unit
            wanted[key][tuple(who)] += int(events) * unit
    port, nobody, tenants = {}, {}, collections.defaultdict(collections.Counter)
    for name, labels, value in samples(page):
        found = re.fullmatch(r"qpscope_(port_unattributed|port|tenant)_(\w+)_total", name)
        if not found or labels.get("device") != device:
            continue
        key = (found[2], labels["cause"]) if labels.get("cause") else (found[2],)
        if found[1] == "tenant":
            tenants[key][labels["tenant"], labels["workload"], labels["method"]] += value
        else:
            (port if found[1] == "port" else nobody)[key] = value
    wrong = []
    for key, events in total.items():
        what = "/".join(key)
        own = {(*who, "sole_owner"): value for who, value in wanted[key].items() if who[0] != "-"}
        got = {who: value for who, value in tenants[key].items() if value}
        if port.get(key) != events:
            wrong.append(f"{what}: the port {port.get(key)}, not {events}")
        if got != own:
            wrong.append(f"{what}: tenants {got}, not {own}")
        # Without any tenant there is no such series.
        if (tenants[key] or own) and nobody.get(key) != events - sum(own.values()):
            wrong.append(f"{what}: nobody {nobody.get(key)}, not {events - sum(own.values())}")
    print(f"{len(total)} families of {device}, {len(wrong)} wrong", *wrong, sep="\n")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
