# SPDX-License-Identifier: Apache-2.0
"""The benchmarks that need no guest, short, on small hosts: they run, and what they find is right. Times are nobody's business here."""
import re
import subprocess
import sys

from harness import BINARY, PATIENCE, TESTS, expect, main, skip


def bench(script, *arguments):
    done = subprocess.run([sys.executable, "-B", TESTS / "bench" / script, "--bin", BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE * 2)
    if done.returncode == 77:
        skip(done.stdout.removeprefix("SKIP: ").strip())
    expect(done.returncode == 0, f"{script}: exit code {done.returncode}", done.stdout, done.stderr)
    return done.stdout


def test_every_value_of_node_exporter():
    said = bench("node_exporter.py", "--devices", "2", "--seconds", "2")
    found = re.search(r"^(\d+) of (\d+) values", said, re.M)
    expect(found and found[1] == found[2] and int(found[1]) == 2 * 25, "not 25 values for each port", said)


def test_scale():
    said = bench("scale.py", "devices", "--sizes", "1", "2", "--ports", "2", "--settle", "1", "--seconds", "1", "--windows", "1", "--scrapes", "1")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()[2:]]
    expect([row[:2] for row in rows] == [["1", "2"], ["2", "4"]], "not a row for each size", said)


main(globals())
