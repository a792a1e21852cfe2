# SPDX-License-Identifier: Apache-2.0
"""Devices that come, go, change their name or what they are, faster than anybody looks: nothing leaks, no total falls, the end is right."""
import os
import random
import re
import shutil
import subprocess
import time

from counter_host import CNP, LOST, RAW, feed, new_root, put, shows
from harness import BINARY, FAST, FIXTURES, Daemon, config_file, environment, expect, main, root_of, series, skip, temp_folder, total, wait_for, write

CLASS = "sys/class/infiniband"
SMALL_QUARANTINE = {"ASAN_OPTIONS": "quarantine_size_mb=1"}  # what was freed counts as resident otherwise
CYCLES = 1000


def held(daemon):
    """How many threads and descriptors it has at most: the device threads have tables of their own."""
    tasks = os.listdir(f"/proc/{daemon.process.pid}/task")
    try:
        return len(tasks), sum(len(os.listdir(f"/proc/{daemon.process.pid}/task/{task}/fd")) for task in tasks)
    except FileNotFoundError:  # a thread ended meanwhile
        return len(tasks), 1 << 20


def at_rest(daemon):
    """Without what is open for a moment: the least of many looks."""
    return min(held(daemon) for _ in range(200))


def no_more(now, before):
    """A file that failed while its device was away is closed until it is tried again; a leak would be one a cycle."""
    return now[0] == before[0] and abs(now[1] - before[1]) <= 3


def is_total(key):
    return key.startswith("qpscope_") and re.search(r"_total(\{|$)", key)


class Totals:
    """What pages have shown of the totals; none may fall, also not while its device is away."""

    def __init__(self):
        self.shown = {}

    def look(self, page):
        for key, value in series(page).items():
            if is_total(key):
                expect(value >= self.shown.get(key, 0), f"{key} fell from {self.shown.get(key)} to {value}")
                self.shown[key] = value
        return page


def test_cycles():
    root = new_root()
    device, aside = root / CLASS / "mlx5_0", root / "aside"
    shutil.copytree(device, root / CLASS / "steady_0", symlinks=True)
    write(root / CLASS / "steady_0/node_guid", "0c42:a103:0065:ffff\n")
    chance, totals, lost = random.Random(1), Totals(), 7
    with Daemon(root=root, config=FAST, **SMALL_QUARANTINE) as daemon:
        for cycle in range(CYCLES + 1):
            if cycle in (CYCLES // 5, CYCLES):  # at rest: after the start's first allocations, and at the end
                shows(daemon, lost, *RAW, '"mlx5_0"')
                wait_for(lambda: total(daemon.page(), "qpscope_devices_found") == 2, "not two devices")
                before = at_rest(daemon) if cycle != CYCLES else before
                wait_for(lambda: no_more(at_rest(daemon), before), lambda: f"threads and descriptors: {at_rest(daemon)}, not {before}")
                memory = total(daemon.page(), "process_resident_memory_bytes")
                memory_before = memory if cycle != CYCLES else memory_before
            device.rename(aside)
            time.sleep(chance.uniform(0, 0.01))  # the daemon looks every 0.1 s: it sees some of this, at any moment of it
            lost += 1
            put(aside, "ports/1/hw_counters/out_of_sequence", lost)
            aside.rename(device)
            time.sleep(chance.uniform(0, 0.01))
            if cycle % 10 == 0:
                page = totals.look(daemon.page())
                expect(total(page, "qpscope_port_state", '"steady_0"') == 4, "another device suffers", page)
        totals.look(daemon.page())
        expect(daemon.log().count("device mlx5_0 found") > 10 and "mlx5_0 is gone" in daemon.log(), "it was never seen to go", daemon.log())
        expect(memory < memory_before + (16 << 20), "memory grows", memory_before, memory)
        expect(total(daemon.page(), "qpscope_counters_resets_total", '"steady_0"') == 0, "resets where there were none")
        daemon.healthy()
        # It may have gone for a moment while a pass was under way.
        strange = [line for line in daemon.worse_than_info() if not line.endswith(("No such file or directory", "device mlx5_0 is gone"))]
        expect(not strange, "more than files that are gone", *strange)


def test_renamed():
    root = new_root()
    totals = Totals()
    with Daemon(root=root, config=FAST) as daemon:
        put(root, LOST, 2**32 - 5)
        feed(daemon, root, LOST, (2**32 - 5, 2**32 - 5), (5, 2**32 + 5))
        for name in ("rocep1s0", "mlx5_0"):
            totals.look(daemon.page())
            next((root / CLASS).iterdir()).rename(root / CLASS / name)
            shows(daemon, 2**32 + 5, *RAW, f'device="{name}"')
            wait_for(lambda: total(daemon.page(), "qpscope_devices_found") == 1, "the old name stays")
        feed(daemon, root, LOST, (6, 2**32 + 6))
        totals.look(daemon.page())
        expect(total(daemon.page(), "qpscope_counters_resets_total") == 0, "a new name is a reset")
        daemon.healthy()


def test_virtual_function_appears():
    root = root_of("03-mlx5-vf-sriov")
    vf = next((root / CLASS).glob("*v1"))
    link = os.readlink(vf)
    vf.unlink()
    with Daemon(root=root, config=FAST) as daemon:
        def others():
            return {k: v for k, v in series(daemon.page()).items()
                    if 'device="' in k and f'device="{vf.name}"' not in k and not re.search("collector|utilization|firmware|sampling_interval", k)}
        wait_for(lambda: total(daemon.page(), "qpscope_devices_found") == 3, "not three devices")
        before = others()
        vf.symlink_to(link)
        wait_for(lambda: total(daemon.page(), "qpscope_device_vf_info", f'device="{vf.name}"', 'vf="1"') == 1, "the VF is not told as one")
        wait_for(lambda: total(daemon.page(), "qpscope_hw_counters_total", f'device="{vf.name}"') is not None, "its counters do not appear")
        expect(others() == before, "the others change", set(others().items()) ^ set(before.items()))
        daemon.healthy()


def test_driver_reload():
    """The same name comes back as something else, and then as itself: these are two counters, whose totals do not mix."""
    root = new_root()
    device = root / CLASS / "mlx5_0"
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (100, 100))
        device.rename(root / "old")
        wait_for(lambda: total(daemon.page(), "qpscope_devices_found") == 0, "the device does not go")
        for file, content in {"node_guid": "0c42:a103:0065:9999", "ports/1/state": "4: ACTIVE", "ports/1/hw_counters/out_of_sequence": "3",
                              "ports/1/hw_counters/new_one": "5"}.items():
            write(root / "new" / file, content + "\n")
        (root / "new").rename(device)
        shows(daemon, 3, *RAW)
        shows(daemon, 5, "qpscope_hw_counters_total", 'counter="new_one"')
        expect(total(daemon.page(), "qpscope_port_tx_cnp_packets_total") is None, "a counter stays that is gone")
        wait_for(lambda: total(daemon.page(), "qpscope_device_info", 'node_guid="0c42:a103:0065:9999"') == 1, "its GUID is the old one")
        device.rename(root / "new")
        wait_for(lambda: total(daemon.page(), "qpscope_devices_found") == 0, "the device does not go")
        (root / "old").rename(device)
        put(root, CNP, 1000000000001)
        shows(daemon, 1000000000001, "qpscope_port_tx_cnp_packets_total")
        feed(daemon, root, LOST, (101, 101))
        expect(total(daemon.page(), "qpscope_counters_resets_total") == 0, "counters of another device are a reset")
        daemon.healthy()


def test_listed_but_gone():
    root = new_root()
    device = root / CLASS / "mlx5_0"
    device.rename(root / "elsewhere")
    device.symlink_to("../../../elsewhere")
    (root / CLASS / "ghost").symlink_to("../../../nowhere")
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (8, 8))
        for _ in range(3):
            (root / "elsewhere").rename(root / "nowhere")
            wait_for(lambda: total(daemon.page(), *RAW, 'device="ghost"'), "the device is not read where it is now")
            (root / "nowhere").rename(root / "elsewhere")
            wait_for(lambda: total(daemon.page(), *RAW, 'device="mlx5_0"'), "the device is not read where it is again")
        expect(total(daemon.page(), "qpscope_devices_found") == 2, "what is listed is not a device")
        daemon.healthy()
        expect(not daemon.worse_than_info(), "a device that is not there is worth a warning", *daemon.worse_than_info())


def test_class_cannot_be_listed():
    root = new_root()
    folder, aside = root / CLASS, root / "aside"
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (8, 8))
        folder.rename(aside)
        folder.symlink_to(folder.name)
        wait_for(lambda: "devices cannot be listed" in daemon.log(), "not said")
        expect(total(daemon.page(), "qpscope_devices_found") == 1, "a device that cannot be listed is taken for gone", daemon.log())
        expect("is gone" not in daemon.log(), "a device that cannot be listed is taken for gone", daemon.log())
        folder.unlink()
        aside.rename(folder)
        feed(daemon, root, LOST, (9, 9))
        daemon.healthy()
        expect(daemon.log().count("devices cannot be listed") == 1, "not said once", *daemon.worse_than_info())


def test_excluded_is_not_touched():
    """Another driver's device may hang whoever looks: what is excluded is not opened, listed or looked at."""
    strace = shutil.which("strace") or skip("no strace (deploy/packages/test.txt)")
    trace = temp_folder() / "trace"
    config = config_file(FAST + 'devices: {exclude: ["*v?"]}\n')
    # LeakSanitizer cannot work in a process that is traced.
    done = subprocess.run(
        [strace, "-f", "-y", "-e", "trace=%file,%desc", "-o", trace,
         BINARY, "--config", config, "--root", FIXTURES / "03-mlx5-vf-sriov", "--once", "--samples", "2", "--interval", "0.1"],
        env=environment(ASAN_OPTIONS="detect_leaks=0"), capture_output=True, timeout=50)
    expect(done.returncode == 0, "fails under strace", done.stderr)
    calls = trace.read_text(errors="replace").splitlines()
    expect(sum("infiniband/rocep94s0f0/" in call for call in calls) > 50, "the trace does not show what is read")
    touched = [call for call in calls if re.search(r"infiniband/rocep94s0f0v\d", call)]
    expect(not touched, "an excluded device is touched", *touched[:5])


main(globals())
