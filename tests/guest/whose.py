#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what the page says of tenants exactly what the look-alike's queue pairs counted?

    whose.py DEVICE LEDGER OWNERS PAGE [shared]

LEDGER: the look-alike's own, lines "serial qpn pid port state counter total in_no_set", dead queue pairs too. OWNERS: lines
"pid tenant workload". For each port and Q counter: what the tenants have and what nobody has are the port's total and what was driven; what
nobody has is what was counted in no set; and each tenant has what its own queue pairs counted in sets, unless sets are "shared", when some
of it is other/other's. No counter of a set that two queue pairs share is shown as one's. Prints what differs; exit status 1 then.
"""
import collections
import re
import sys

from exact import TABLE


def samples(page):
    with open(page, encoding="utf-8") as lines:
        for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", lines.read(), re.M):
            yield name, dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)


def main(device, ledger, owners, page, shared=""):
    with open(owners, encoding="utf-8") as lines:
        owner = {pid: (tenant, workload) for pid, tenant, workload in map(str.split, lines)}
    driven, in_no_set, of_tenant = collections.Counter(), collections.Counter(), collections.Counter()
    with open(ledger, encoding="utf-8") as lines:
        for _, qpn, pid, port, _, counter, total, none in map(str.split, lines):
            if not total.isdigit() or counter not in TABLE:
                continue
            driven[port, counter] += int(total)
            in_no_set[port, counter] += int(none)
            of_tenant[port, counter, owner.get(pid, (f"pid {pid}", f"QP {qpn}"))] += int(total) - int(none)

    shown, given, nobodys, port_total = collections.Counter(), collections.Counter(), {}, {}
    for name, labels, value in samples(page):
        if labels.get("device") != device:
            continue
        key = re.sub(r"^qpscope_(tenant|port_unattributed|port)_", "", name)
        key = (labels.get("port"), key, labels.get("cause", ""), labels.get("role", ""), labels.get("kind", ""))
        if name.startswith("qpscope_tenant_") and labels.get("method") == "set":
            shown[key, (labels["tenant"], labels["workload"])] += value
            given[key] += value
        elif name.startswith("qpscope_port_unattributed_"):
            nobodys[key] = value
        elif name.startswith("qpscope_port_"):
            port_total[key] = value

    wrong, checked = [], 0

    def check(what, got, want):
        nonlocal checked
        checked += 1
        if got != want:
            wrong.append(f"{what}: {got:.0f}, not {want:.0f}" if got is not None else f"{what}: missing, not {want:.0f}")

    for (port, counter), events in sorted(driven.items()):
        family, labels, _ = TABLE[counter]
        words = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        key = (port, f"{family}_total", words.get("cause", ""), words.get("role", ""), words.get("kind", ""))
        what = f"port {port} {counter}"
        check(f"{what}: the port", port_total.get(key), events)
        check(f"{what}: nobody's", nobodys.get(key), in_no_set[port, counter])
        check(f"{what}: tenants and nobody", given[key] + nobodys.get(key, 0), events)
        if shared:
            continue
        for (at, name, who), counted in sorted(of_tenant.items()):
            if (at, name) == (port, counter) and counted:
                check(f"{what}: {'/'.join(who)}", shown.get((key, who)), counted)
        check(f"{what}: other/other", shown.get((key, ("other", "other")), 0), 0)
    print(f"{checked} numbers of {device}, {len(wrong)} wrong", *wrong, sep="\n")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
