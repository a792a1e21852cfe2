# SPDX-License-Identifier: Apache-2.0
"""What we observe of a link ourselves: bursts and flaps shorter than a scrape, also over a restart."""
import signal

from counter_host import PORT, new_root, put, shows
from harness import FAST, Daemon, expect, main, series, total, wait_for, write

BYTES = PORT + "/counters/port_rcv_data"
RATIO = "qpscope_port_rx_utilization_ratio"
CARRIER = "sys/class/net/eth0/carrier_down_count"
DOWNS = "qpscope_port_link_downs_total"


def line_of(root, rate="8 Gb/sec (1X SDR)"):
    write(root / PORT / "rate", rate + "\n")
    write(root / PORT / "counters/unicast_rcv_packets", "0\n")  # as cards with 64-bit counters have
    return root


def passes(daemon, number=3):
    """Waits until so many passes of the fast clock have begun and ended."""
    for _ in range(number):
        before = total(daemon.page(), "qpscope_collector_last_success_timestamp_seconds", 'collector="port_traffic"')
        wait_for(lambda: total(daemon.page(), "qpscope_collector_last_success_timestamp_seconds", 'collector="port_traffic"') != before, "no pass")


def observed(daemon):
    """(all, those up to 1 %, those above the line rate)"""
    page = daemon.page()
    count = total(page, RATIO + "_count") or 0
    return count, total(page, RATIO + "_bucket", 'le="0.01"') or 0, count - (total(page, RATIO + "_bucket", 'le="1"') or 0)


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


def at_once(daemon, root, files):
    """As the kernel does: nobody sees one without the other."""
    daemon.process.send_signal(signal.SIGSTOP)
    for file, value in files.items():
        put(root, file, value)
    daemon.process.send_signal(signal.SIGCONT)


def test_burst():
    root = line_of(new_root())
    with Daemon(root=root, config=FAST) as daemon:
        wait_for(lambda: observed(daemon)[0] >= 3, "nothing is observed")
        count, idle, above = observed(daemon)
        expect(count == idle and above == 0, "an idle line is in use", daemon.page())
        put(root, BYTES, 10**9)
        wait_for(lambda: observed(daemon)[2] == 1, "the burst is not seen")
        passes(daemon)
        count, idle, above = observed(daemon)
        expect(above == 1 and idle == count - 1, "one burst is not one observation", count, idle, above)
        expect(total(daemon.page(), RATIO + "_sum") > 1, "it has no size")
        kill(daemon)
    put(root, BYTES, 2 * 10**9)
    with Daemon(root=root, config=FAST) as daemon:
        first = observed(daemon)
        expect(first[0] >= count and first[2] == 1, "a restart falls, or counts what came between as a burst", first, count)
        wait_for(lambda: observed(daemon)[0] > first[0], "nothing more is observed")
        expect(total(daemon.page(), "qpscope_port_rx_bytes_total") == 8 * 10**9, "the bytes are not the total's")
        daemon.healthy()


def test_no_rate_no_ratio():
    for rate in ("0 Gb/sec (1X SDR)", "fast"):
        root = line_of(new_root(), rate)
        with Daemon(root=root, config=FAST) as daemon:
            passes(daemon)
            expect(observed(daemon)[0] == 0 and total(daemon.page(), RATIO + "_sum") is None, "a ratio to nothing", rate, daemon.page())
            write(root / PORT / "rate", "100 Gb/sec (4X EDR)\n")
            wait_for(lambda: observed(daemon)[0] > 0, "nothing is observed with a rate")
            write(root / PORT / "rate", rate + "\n")
            wait_for(lambda: not total(daemon.page(), "qpscope_port_rate_bytes_per_second"), "the rate stays")
            count = observed(daemon)[0]
            passes(daemon)
            expect(observed(daemon)[0] == count, "a ratio to what was once", rate)
            daemon.healthy()


def test_flap_on_ethernet():
    root = new_root()
    write(root / PORT / "link_layer", "Ethernet\n")
    write(root / PORT / "gid_attrs/ndevs/0", "eth0\n")
    write(root / CARRIER, "3\n")
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, 3, DOWNS)
        put(root, CARRIER, 5)  # two that nobody else saw
        shows(daemon, 5, DOWNS)
        passes(daemon)
        at_once(daemon, root, {CARRIER: 6, PORT + "/state": "1: DOWN"})
        shows(daemon, 1, "qpscope_port_state")
        passes(daemon)
        expect(total(daemon.page(), DOWNS) == 6, "one that both saw is not one", total(daemon.page(), DOWNS))
        put(root, PORT + "/state", "4: ACTIVE")
        shows(daemon, 4, "qpscope_port_state")
        kill(daemon)
    put(root, CARRIER, 8)
    with Daemon(root=root, config=FAST) as daemon:
        expect(total(daemon.page(), DOWNS) == 8, "those of the time between are lost", total(daemon.page(), DOWNS))
        daemon.healthy()


def test_flap_on_infiniband():
    root = new_root()  # link_downed is 254
    write(root / PORT / "link_layer", "InfiniBand\n")
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, 254, DOWNS)
        put(root, PORT + "/counters/link_downed", 255)
        shows(daemon, 255, DOWNS)
        passes(daemon)
        for downs in (256, 257):  # that the hardware has no room for
            put(root, PORT + "/state", "1: DOWN")
            shows(daemon, downs, DOWNS)
            put(root, PORT + "/state", "4: ACTIVE")
            shows(daemon, 4, "qpscope_port_state")
        kill(daemon)
    with Daemon(root=root, config=FAST) as daemon:
        expect(total(daemon.page(), DOWNS) == 257, "a restart forgets what only we saw", total(daemon.page(), DOWNS))
        daemon.healthy()


def test_flap_without_hardware():
    root = new_root()
    with Daemon(root=root, config=FAST) as daemon:
        shows(daemon, 0, DOWNS)
        put(root, PORT + "/state", "1: DOWN")
        shows(daemon, 1, DOWNS)
        # The device goes and comes back.
        (root / PORT).parent.parent.rename(root / "aside")
        wait_for(lambda: not any(DOWNS in key for key in series(daemon.page())), "it does not go")
        (root / "aside").rename((root / PORT).parent.parent)
        shows(daemon, 1, DOWNS)
        daemon.healthy()


main(globals())
