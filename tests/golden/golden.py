#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py FIXTURE: the page of qpscoped --root FIXTURE --once against FIXTURE.prom beside this file.

UPDATE_GOLDEN=1 in the environment writes the file instead: its diff is the review.
"""
import difflib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from qpscoped import environment, lint  # noqa: E402  (after the path to it)


def words_of(path):
    return {line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")}


def family_of(line):
    """The family a line of the page belongs to."""
    name = line.split()[2] if line.startswith("#") else line.split("{")[0].split(" ")[0]
    return name


def main():
    fixture = HERE.parent / "fixtures" / sys.argv[1]
    golden = HERE / (fixture.name + ".prom")
    done = subprocess.run(
        [os.environ["QPSCOPED"], "--root", str(fixture), "--once"], env=environment(fixture), capture_output=True, timeout=50
    )
    log = done.stderr.decode()
    if done.returncode != 0:
        return f"qpscoped --once ended with {done.returncode}:\n{log}"
    page = done.stdout.decode("utf-8")
    dropped = words_of(HERE / "volatile.txt")
    kept = [line for line in page.splitlines(keepends=True) if family_of(line) not in dropped]

    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text("".join(kept))
        print(f"wrote {golden}")
    expected = golden.read_text().splitlines(keepends=True) if golden.exists() else []
    diff = "".join(difflib.unified_diff(expected, kept, str(golden), "qpscoped --once"))
    complaints = lint(page)
    if diff:
        return f"{diff}\nThe page differs from the golden. If it is right now: UPDATE_GOLDEN=1, and review the diff.\n{complaints}"
    return f"promtool check metrics:\n{complaints}" if complaints else None


sys.exit(main())
