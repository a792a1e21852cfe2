#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the books of the queue pair table on a /metrics page.

usage: balance.py PAGE

For each device and type, seeded + created - destroyed must be present; nothing may be lost, evicted or drifted. That holds for a daemon
that started without a state file: created and destroyed go on over a restart, seeded does not.
Exit status 1 and a line for each that is not so.
"""

import collections
import pathlib
import sys

from agree import samples

NAMES = {"seeded": "qpscope_queue_pairs_seeded", "created": "qpscope_queue_pairs_created_total", "destroyed": "qpscope_queue_pairs_destroyed_total"}
NOTHING = ("qpscope_bpf_events_lost_total", "qpscope_qp_table_drift_total", "qpscope_qp_table_evicted_total")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[1])
    books = collections.defaultdict(lambda: collections.Counter())
    for word, family in NAMES.items():
        for labels, value in samples(page, family):
            books[labels["device"], labels["type"]][word] += int(value)
    for labels, value in samples(page, "qpscope_queue_pairs"):
        books[labels["device"], labels["type"]]["present"] += int(value)
    problems = []
    for (device, kind), book in sorted(books.items()):
        if book["seeded"] + book["created"] - book["destroyed"] != book["present"]:
            problems.append(f"{device} {kind}: seeded {book['seeded']} + created {book['created']} - destroyed {book['destroyed']} is not present {book['present']}")
    for family in NOTHING:
        problems += [f"{family}{labels} is {value:.0f}" for labels, value in samples(page, family) if value != 0]
    for problem in problems:
        print(problem)
    total = sum((book for book in books.values()), collections.Counter())
    print(f"books: {total['seeded']} seeded, {total['created']} created, {total['destroyed']} destroyed, {total['present']} present, {len(problems)} problems")
    sys.exit(1 if problems or not books else 0)


if __name__ == "__main__":
    main()
