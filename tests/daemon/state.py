# SPDX-License-Identifier: Apache-2.0
"""/run/qpscope/state: totals go on over a restart, and a file that is not good harms nobody."""
import threading
import time

from counter_host import CNP, DEVICE, LOST, PORT, RAW, feed, new_root, put, shows
from harness import FAST, NO_CAPABILITIES, Daemon, expect, main, needs_root, run, series, total, wait_for, write

STATE = "run/qpscope/state"
ERRORS = "qpscope_read_errors_total"


def test_once_keeps_no_state():
    root = new_root()
    code, out, err = run("--root", root, "--once", "--samples", "3", "--interval", "0.1")
    expect(code == 0 and total(out, *RAW) == 7 and total(out, "qpscope_counters_resets_total") == 0, "three equal samples are a reset", code, err)
    expect(not (root / "run/qpscope").exists() and total(out, "qpscope_state_saved") is None, "--once keeps state")


def test_restart_goes_on():
    root = new_root()
    put(root, LOST, 4294967290)
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (4294967290, 4294967290), (5, 2**32 + 5), (4294967295, 2**33 - 1), (7, 2**33 + 7))
        put(root, CNP, 4)
        shows(daemon, 1, "qpscope_counters_resets_total")
        expect(total(daemon.page(), "qpscope_state_saved") == 1, "not saved", daemon.log())
        daemon.process.kill()
        daemon.process.wait()
        killed = time.monotonic()
    expect((root / STATE).stat().st_mode & 0o777 == 0o600, "others may read the state")
    for after in (9, 9, 12):  # with and without something new
        put(root, LOST, after)
        with Daemon(root=root, config=FAST) as daemon:
            first = daemon.page()
            expect(total(first, *RAW) == 2**33 + after, f"the total is {total(first, *RAW)} after a restart", daemon.log())
            expect(total(first, "qpscope_port_tx_cnp_packets_total") == 1e12, "another total jumps")
            expect(total(first, "qpscope_counters_resets_total") == 1, "a restart counts as a reset, or forgets one")
            # Unless this machine is so busy that 2^31 events might have come meanwhile.
            expect(total(first, "qpscope_counters_gaps_total") == 0 or time.monotonic() - killed > 3, "a quick restart is a gap")
            daemon.process.kill()
            daemon.process.wait()
            killed = time.monotonic()


def test_killed_at_any_moment():
    """What a page has shown is never taken back, nor counted twice, while the counter runs."""
    root = new_root()
    counted, done = 4294966800, threading.Event()
    put(root, LOST, counted)

    def kernel():
        nonlocal counted
        while not done.wait(0.003):
            counted += 7
            put(root, LOST, counted % 2**32)  # wraps soon

    thread = threading.Thread(target=kernel)
    shown = 0
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, counted, *RAW)
        thread.start()
        daemon.process.kill()
    try:
        for _ in range(8):
            with Daemon(root=root, config=FAST) as daemon:
                for _ in range(5):
                    page, before = total(daemon.page(), *RAW), shown
                    shown = page or shown
                    expect(before <= shown <= counted, "the total fell, or ran ahead", before, shown, counted)
                daemon.process.kill()
    finally:
        done.set()
        thread.join()
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, counted, *RAW)
        expect(counted > 2**32, "no wrap was tried", counted)


def own_totals(page):
    """Our own counters and parts of histograms: what must never fall."""
    counts = ("_total", "_count", "_bucket", "_sum")
    return {k: v for k, v in series(page).items() if k.startswith("qpscope_") and k.split("{")[0].endswith(counts)}


def must_not_fall(before, after, when):
    fallen = {k: (v, after.get(k)) for k, v in before.items() if k in after and after[k] < v}
    expect(not fallen, f"fell {when}", *fallen.items())


def test_own_totals_go_on():
    root = new_root()
    (root / PORT / "counters/symbol_error").mkdir()  # opens, and every read fails
    shown = {}
    for errors in (2, 3, 4, 5):
        with Daemon(root=root, config=FAST) as daemon:
            page = own_totals(daemon.page())
            must_not_fall(shown, page, "over SIGKILL")
            expect(set(shown) <= set(page), "gone over SIGKILL", *(set(shown) - set(page)))
            wait_for(lambda: (total(daemon.page(), ERRORS) or 0) >= errors, "failures are not counted on")
            shown = own_totals(daemon.page())
            daemon.process.kill()
            daemon.process.wait()
    write(root / "proc/sys/kernel/random/boot_id", "another\n")
    with Daemon(root=root, config=FAST) as daemon:
        expect(total(daemon.page(), ERRORS) < 5, "another boot goes on from this one", daemon.page())
        daemon.healthy()


def test_device_that_returns_has_its_errors():
    root = new_root()
    (root / PORT / "counters/symbol_error").mkdir()
    with Daemon(root=root, config=FAST) as daemon:
        wait_for(lambda: (total(daemon.page(), ERRORS) or 0) >= 3, "failures are not counted")
        shown = own_totals(daemon.page())
        (root / DEVICE).rename(root / "aside")
        wait_for(lambda: total(daemon.page(), ERRORS) is None, "the device does not go")
        (root / "aside").rename(root / DEVICE)
        wait_for(lambda: total(daemon.page(), ERRORS) is not None, "the device does not return")
        must_not_fall(shown, own_totals(daemon.page()), "with the device")
        wait_for(lambda: total(daemon.page(), ERRORS) > shown[next(k for k in shown if k.startswith(ERRORS))], "it counts no further")
        daemon.healthy()


def test_state_of_an_older_version():
    root = new_root()
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (50, 50))
        daemon.stop()
    lines = (root / STATE).read_text().splitlines(keepends=True)
    kinds = {line.split()[0] for line in lines}
    expect({"own", "observed", "counter"} <= kinds, "not the lines of this version", *kinds)
    text = "".join(line for line in lines if line.split()[0] not in ("own", "own_histogram", "observed", "histogram", "end"))
    check = 0xCBF29CE484222325
    for byte in text.encode():
        check = (check ^ byte) * 0x100000001B3 % 2**64
    write(root / STATE, f"{text}end {check:x}\n")
    put(root, LOST, 3)
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, 1, "qpscope_counters_resets_total")
        expect(total(daemon.page(), *RAW) == 50, "totals of an older version are lost", daemon.log())
        daemon.healthy()
        expect(not daemon.worse_than_info(), "an older version is worth a warning", daemon.log())


def test_another_boot():
    root = new_root()
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (50, 50))
        daemon.stop()
    write(root / "proc/sys/kernel/random/boot_id", "another\n")
    put(root, LOST, 3)
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, 3, *RAW)
        expect(daemon.log().count("of another boot") == 1 and not daemon.worse_than_info(), "not said once", daemon.log())
        daemon.healthy()


def test_no_boot_id():
    root = new_root()
    (root / "proc/sys/kernel/random/boot_id").unlink()
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, 0, "qpscope_state_saved")
        daemon.healthy()
        expect(not (root / STATE).exists(), "a state without a boot")


def test_damaged_state():
    root = new_root()
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (50, 50))
        daemon.stop()
    good = (root / STATE).read_bytes()
    put(root, LOST, 3)
    for bad in (b"", b"\0" * 100, good[: len(good) // 2], good.replace(b"qpscope-state 1", b"qpscope-state 9"), good.replace(b" 32 ", b" 33 "), b"x" * (9 << 20)):
        write(root / STATE, bad)
        with Daemon(root=root, config=FAST) as daemon:
            shows(daemon, 3, *RAW)
            shows(daemon, 1, "qpscope_state_saved")
            expect(len(daemon.worse_than_info()) == 1 and "run/qpscope/state is ignored" in daemon.worse_than_info()[0], "not said once", daemon.log())
            daemon.process.kill()
            daemon.process.wait()


def test_run_cannot_be_written():
    needs_root()
    root = new_root()
    (root / "run/qpscope").mkdir(mode=0o555)
    with Daemon(root=root, config=FAST, wrapper=NO_CAPABILITIES) as daemon:
        shows(daemon, 0, "qpscope_state_saved")
        feed(daemon, root, LOST, (8, 8), (9, 9))
        warnings = daemon.worse_than_info()
        expect(len(warnings) == 2 and all("Permission denied" in line for line in warnings), "file and socket are not each said once", daemon.log())
        expect("api.sock" in warnings[0] and "totals are not kept" in warnings[1], "not the file and the socket", daemon.log())
        (root / "run/qpscope").chmod(0o755)
        shows(daemon, 1, "qpscope_state_saved")
        daemon.healthy()


main(globals())
