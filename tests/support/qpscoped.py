# SPDX-License-Identifier: Apache-2.0
"""What every test of the binary needs: its environment, and what promtool thinks of a page."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def skip(reason):
    print("SKIP: " + reason)
    sys.exit(77)


def environment(fixture=None, **more):
    """The environment for qpscoped. A fixture with an errors.txt has its reads fail."""
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **more}
    errors = fixture / "errors.txt" if fixture else None
    if errors and errors.exists():
        env["QPSCOPE_TEST_ERRORS"] = str(errors)
        env["LD_PRELOAD"] = os.environ["QPSCOPE_ERRNO_SHIM"]
        # The shim has to come before the sanitizer's library, which insists on being first.
        env["ASAN_OPTIONS"] = "verify_asan_link_order=0"
    return env


def lint(page):
    """The complaints of promtool check metrics about a page, "" when there are none."""
    promtool = shutil.which("promtool") or skip("no promtool (deploy/packages/test.txt)")
    data = page if isinstance(page, bytes) else page.encode()
    done = subprocess.run([promtool, "check", "metrics"], input=data, capture_output=True, timeout=30)
    said = (done.stdout + done.stderr).decode(errors="replace").strip()
    return said or (f"exit code {done.returncode}" if done.returncode else "")
