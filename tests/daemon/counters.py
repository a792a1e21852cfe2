# SPDX-License-Identifier: Apache-2.0
"""Totals are ours: wraps add, resets do not, a counter that is full says so, and a file that fails is left in peace."""
import time

from counter_host import CNP, LOST, PORT, RAW, feed, new_root, put, shows
from harness import FAST, Daemon, expect, main, run, series, total, wait_for, write


def test_wrap():
    root = new_root()
    put(root, LOST, 4294967290)
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (4294967290, 4294967290), (5, 4294967301), (6, 4294967302))
        expect(total(daemon.page(), "qpscope_port_rx_out_of_sequence_packets_total") == 4294967302, "the canonical family has another total")
        expect(total(daemon.page(), "qpscope_counters_resets_total") == 0, "a wrap is no reset")
        # A sum of such counters: one summand wraps.
        feed(daemon, root, LOST, (5000000000, 9294967296), (5000000010 - 2**32, 9294967306))
        expect(total(daemon.page(), "qpscope_counters_resets_total") == 0, "a summand's wrap is no reset")
        daemon.healthy()


def test_reset():
    root = new_root()
    with Daemon(root=root, config=FAST) as daemon:
        feed(daemon, root, LOST, (4000, 4000))
        put(root, LOST, 3)
        put(root, CNP, 0)
        shows(daemon, 2, "qpscope_counters_resets_total", 'device="mlx5_0"', 'port="1"')
        shows(daemon, 1000000000000, "qpscope_port_tx_cnp_packets_total")
        feed(daemon, root, LOST, (3, 4000), (13, 4010))
        put(root, CNP, 50)
        shows(daemon, 1000000000050, "qpscope_port_tx_cnp_packets_total")
        daemon.healthy()


def test_saturation():
    root = new_root()
    flag = ("qpscope_port_counters_saturated", 'counter="link_downed"')
    with Daemon(root=root, config=FAST) as daemon:
        expect(total(daemon.page(), flag[0]) is None, "saturated at 254 of 255")
        put(root, PORT + "/counters/link_downed", 255)
        shows(daemon, 1, *flag)
        expect(total(daemon.page(), "qpscope_port_counters_total", 'counter="link_downed"') == 255, "not what it shows")
        put(root, PORT + "/counters/link_downed", 2)
        shows(daemon, None, *flag)
        put(root, PORT + "/counters/port_rcv_data", 2**32 - 1)  # no extended counters here: 32 bits
        shows(daemon, 1, flag[0], 'counter="port_rcv_data"')
        put(root, PORT + "/counters/port_rcv_data", 2**32 + 10)
        shows(daemon, None, flag[0])
        expect(total(daemon.page(), "qpscope_port_rx_bytes_total") == 4 * (2**32 + 10), "bytes are not words times four")
        daemon.healthy()


def test_beyond_64_bits():
    root = new_root()
    put(root, PORT + "/counters/port_rcv_data", 2**64 - 1)
    put(root, LOST, 2**64 - 1)
    code, out, err = run("--root", root, "--once")
    # As doubles: the next one to 2^64 - 1 is 2^64.
    expect(code == 0 and total(out, "qpscope_port_rx_bytes_total") == 4.0 * 2**64, "words of 64 bits times four", out, err)
    expect(total(out, *RAW) == 2.0**64, "the greatest value of a sum", out)


def test_names_stay_apart():
    root = new_root()
    names = {"a b": 1, "a_b": 2, "a,b": 3, 'a"b': 4, "a\\b": 5, "a\nb": 6, "a?b": 7}
    for name, value in names.items():
        write(root / PORT / "hw_counters" / name, f"{value}\n")
    with Daemon(root=root, config=FAST) as daemon:
        found = sorted(v for k, v in series(daemon.page()).items() if k.startswith("qpscope_hw_counters_total") and v in names.values())
        expect(found == sorted([*names.values(), 7]), "names that look alike are mixed up", daemon.page())
        daemon.process.kill()
        daemon.process.wait()
    with Daemon(root=root, config=FAST) as daemon:
        expect(not daemon.worse_than_info(), "odd names damage the state file", daemon.log())
        daemon.healthy()


def test_failing_file_backs_off():
    root = new_root()
    # A folder opens, and every read of it fails.
    (root / PORT / "counters/symbol_error").mkdir()
    errors = ("qpscope_read_errors_total", '"EISDIR"')
    with Daemon(root=root, config=FAST) as daemon:
        began = time.monotonic()
        wait_for(lambda: total(daemon.page(), *errors) >= 3, "it is not tried again")
        expect(time.monotonic() - began > 1.5, "tried again too soon")
        feed(daemon, root, LOST, (8, 8), (9, 9))
        waited = time.monotonic() - began
        expect(total(daemon.page(), *errors) <= 3 + waited / 3, "tried on every pass", waited, daemon.page())
        expect(len(daemon.worse_than_info()) == 1 and "can be read again" not in daemon.log(), "not logged exactly once", daemon.log())
        (root / PORT / "counters/symbol_error").rmdir()
        write(root / PORT / "counters/symbol_error", "5\n")
        shows(daemon, 5, "qpscope_port_counters_total", 'counter="symbol_error"')
        wait_for(lambda: "everything can be read again" in daemon.log(), "recovery is not logged")
        daemon.healthy()


main(globals())
