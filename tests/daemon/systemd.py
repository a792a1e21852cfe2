# SPDX-License-Identifier: Apache-2.0
"""The unit as it is installed."""
import os
import re
import shutil
import subprocess

from harness import expect, main, run, skip, temp_folder

EXPOSURE = 40  # in tenths of systemd's level, at most: 3.8 when this was written, most of it for BPF's rights


def installed():
    """cmake --install into a folder of its own; the unit's path, with its program where it really is."""
    if not shutil.which("systemd-analyze"):
        skip("no systemd-analyze (deploy/packages/test.txt)")
    prefix = temp_folder()
    done = subprocess.run(["cmake", "--install", os.environ["QPSCOPE_BUILD"], "--prefix", prefix], capture_output=True, text=True, timeout=50)
    expect(done.returncode == 0, "cmake --install fails", done.stdout[-2000:], done.stderr)
    unit = prefix / "lib/systemd/system/qpscoped.service"
    program = next(prefix.glob("*bin/qpscoped"))
    # The unit names the prefix that was configured.
    text = re.sub(r"^ExecStart=\S+/qpscoped", f"ExecStart={program}", unit.read_text(), flags=re.M)
    unit.write_text(text)
    expect(f"ExecStart={program}" in text and not re.search(r"@[A-Z_]+@", text), "the unit is not configured", text)
    return unit, program


def analyze(*arguments):
    done = subprocess.run(["systemd-analyze", *map(str, arguments)], capture_output=True, text=True, timeout=50)
    return done.returncode, done.stdout + done.stderr


def test_verify():
    unit, program = installed()
    code, said = analyze("verify", "--man=no", unit)
    mine = [line for line in said.splitlines() if "qpscoped" in line]
    expect(code == 0 and not mine, "systemd-analyze verify complains", said)
    expect(subprocess.run([program, "--version"], capture_output=True, timeout=20).stdout, "the installed program does not run")


def test_driver_restart():
    """qpscoped goes before the driver's service is stopped, and comes after it."""
    unit, _ = installed()
    given = next(unit.parents[3].glob("share/doc/**/driver-restart.conf"))
    folder = unit.with_name("qpscoped.service.d")
    folder.mkdir()
    shutil.copy(given, folder)
    unit.with_name("openibd.service").write_text("[Service]\nType=oneshot\nExecStart=/bin/true\n")
    code, said = analyze("verify", "--man=no", unit)
    mine = [line for line in said.splitlines() if "qpscoped" in line or "driver" in line]
    expect(code == 0 and not mine, "systemd-analyze verify complains", said)
    expect({"PartOf=openibd.service", "After=openibd.service", "WantedBy=openibd.service"} <= set(given.read_text().splitlines()), "not what it is for", given.read_text())


def test_exposure():
    unit, _ = installed()
    code, said = analyze("security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE}", unit)
    expect(code == 0, f"the unit is more exposed than {EXPOSURE / 10}", said[-600:])


def test_unit_agrees():
    """What the unit grants is what the program asks for."""
    unit, _ = installed()
    text = unit.read_text()
    granted = set(re.search(r"^CapabilityBoundingSet=(.*)", text, re.M)[1].split())
    wanted = set(re.findall(r"^capability (CAP_\w+)", run("--check")[1], re.M))
    expect(wanted and wanted <= granted, "capabilities that --check looks for, but the unit takes away", wanted - granted)
    expect("Type=notify" in text and "WatchdogSec=" in text, "no watchdog", text)


main(globals())
