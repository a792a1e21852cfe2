#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""qpscoped beside node_exporter --collector.infiniband, on the same made host at the same time: CPU, memory, series; and whether every
value that node_exporter has is on our page.

  tests/bench/node_exporter.py                        a scrape each second, for a minute
  tests/bench/node_exporter.py --scrape-interval 15   as Prometheus is set in the field

The host: mlx5 devices of one port with 51 counters each, of which eleven move each second. Both are scraped over a connection that is kept,
gzip accepted, as Prometheus does. qpscoped has its defaults: it samples each second, whether it is scraped or not, and writes its state file.
The floor (qpscope-bench-floor, where it is built) reads each second what qpscoped reads, and does nothing with it.
Exit code 1: a value is missing; 77: there is no node_exporter.
"""
import argparse
import contextlib
import pathlib
import statistics
import time

from exporter import Floor, node_exporter, qpscoped, series
from sysfs_tree import Traffic, Tree, memory_folder

PATIENCE = 20  # seconds, until the page has the last values
SETTLE = 3     # before anything is measured: the first samples and their pages are in it

# node_infiniband_<name>: what it is on our page, (family, labels beside device and port). Those not here are port counters by kernel name.
OURS = {
    "physical_state_id": ("qpscope_port_physical_state", {}),
    "state_id": ("qpscope_port_state", {}),
    "rate_bytes_per_second": ("qpscope_port_rate_bytes_per_second", {}),
    "port_data_received_bytes_total": ("qpscope_port_rx_bytes_total", {}),
    "port_data_transmitted_bytes_total": ("qpscope_port_tx_bytes_total", {}),
    "port_packets_received_total": ("qpscope_port_rx_packets_total", {}),
    "port_packets_transmitted_total": ("qpscope_port_tx_packets_total", {}),
}
KERNEL_NAMES = {
    "excessive_buffer_overrun_errors_total": "excessive_buffer_overrun_errors",
    "link_downed_total": "link_downed",
    "link_error_recovery_total": "link_error_recovery",
    "local_link_integrity_errors_total": "local_link_integrity_errors",
    "multicast_packets_received_total": "multicast_rcv_packets",
    "multicast_packets_transmitted_total": "multicast_xmit_packets",
    "port_constraint_errors_received_total": "port_rcv_constraint_errors",
    "port_constraint_errors_transmitted_total": "port_xmit_constraint_errors",
    "port_discards_transmitted_total": "port_xmit_discards",
    "port_errors_received_total": "port_rcv_errors",
    "port_receive_remote_physical_errors_total": "port_rcv_remote_physical_errors",
    "port_receive_switch_relay_errors_total": "port_rcv_switch_relay_errors",
    "port_transmit_wait_total": "port_xmit_wait",
    "symbol_error_total": "symbol_error",
    "unicast_packets_received_total": "unicast_rcv_packets",
    "unicast_packets_transmitted_total": "unicast_xmit_packets",
    "vl15_dropped_total": "VL15_dropped",
}
# Labels of node_infiniband_info and ours of qpscope_device_info. hca_type is not on our page: the PCI address and the board tell it.
INFO = {"board_id": "board_id", "firmware_version": "fw_ver"}


def missing(theirs, ours):
    """What of node_exporter's page is not on ours, as lines; and how many values were looked for."""
    facts = {labels["device"]: labels for family, pairs in ours if family == "qpscope_device_info" for labels in [dict(pairs)]}
    out, looked = [], 0
    for (family, pairs), value in theirs.items():
        if not family.startswith("node_infiniband_"):
            continue  # of itself
        name, labels = family.removeprefix("node_infiniband_"), dict(pairs)
        if name == "info":
            device = facts.get(labels["device"], {})
            found = {theirs: device.get(mine) for theirs, mine in INFO.items()}
            wanted = {theirs: labels[theirs] for theirs in INFO}
        elif name in OURS or name in KERNEL_NAMES:
            family, more = OURS.get(name) or ("qpscope_port_counters_total", {"counter": KERNEL_NAMES[name]})
            found, wanted = ours.get((family, tuple(sorted({**labels, **more}.items())))), value
        else:
            found, wanted = "no such family", value
        looked += 1
        if found != wanted:
            out.append(f"node_infiniband_{name}{labels}: {wanted}, ours {found}")
    return out, looked


def compare(ours, theirs):
    """After the traffic has ended, until ours has sampled the last of it."""
    end = time.monotonic() + PATIENCE
    while True:
        lines, looked = missing(series(theirs.scrape()[1]), series(ours.scrape()[1]))
        if not lines or time.monotonic() > end:
            return lines, looked
        time.sleep(0.2)


def measure(exporters, interval, scrapes):
    """CPU seconds a second of each, over so many intervals."""
    before, began = [one.cpu() for one in exporters], time.monotonic()
    for i in range(scrapes):
        for n, one in enumerate(exporters):
            # In turn within the interval: neither has the other's work on its processor.
            time.sleep(max(0, began + interval * (i + n / len(exporters)) - time.monotonic()))
            one.scrape()
    time.sleep(max(0, began + interval * scrapes - time.monotonic()))
    took = time.monotonic() - began
    return [(one.cpu() - then) / took for one, then in zip(exporters, before)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin/qpscoped"), metavar="QPSCOPED", help="default: %(default)s")
    parser.add_argument("--devices", type=int, default=8, help="of one port each; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=60, help="how long each is measured; default: %(default)s")
    parser.add_argument("--scrape-interval", type=float, default=1, metavar="SECONDS", help="default: %(default)s")
    options = parser.parse_args()
    # The machine's other work changes by the second, and both feel it: each window has its ratio, and the median counts.
    scrapes = max(1, round(options.seconds / options.scrape_interval))
    windows = max(1, min(12, scrapes // 2))

    with memory_folder() as folder:
        tree = Tree(folder)
        tree.add_devices(options.devices, 1)
        floor_binary = options.bin.with_name("qpscope-bench-floor")
        with contextlib.ExitStack() as all_of_them:
            theirs, ours = [all_of_them.enter_context(one) for one in (node_exporter(folder), qpscoped(options.bin, folder))]
            floor = [all_of_them.enter_context(Floor(floor_binary, folder))] if floor_binary.exists() else []
            with Traffic(tree):
                time.sleep(SETTLE)
                cpu = [measure([theirs, ours, *floor], options.scrape_interval, scrapes // windows) for _ in range(windows)]
            memory = [one.memory() for one in (theirs, ours)]
            lines, looked = compare(ours, theirs)
            count = [len(series(one.scrape()[1])) for one in (theirs, ours)]

    print(f"{options.devices} ports, {options.seconds:g} s in {windows} windows, a scrape every {options.scrape_interval:g} s\n")
    print("| | CPU, ms a second: median (least) | a scrape, ms | % of a core | resident, at most, MB | series |\n|---|---|---|---|---|---|")
    for n, name in enumerate(("node_exporter", "qpscoped")):
        spent = [window[n] for window in cpu]
        middle = statistics.median(spent)
        print(f"| {name} | {middle * 1000:.2f} ({min(spent) * 1000:.2f}) | {middle * options.scrape_interval * 1000:.2f} | {middle * 100:.3f} | {memory[n][0]:.1f}, {memory[n][1]:.1f} "
              f"| {count[n]} |")
    for one in floor:
        spent = [window[2] for window in cpu]
        print(f"| floor, {one.files} files a second | {statistics.median(spent) * 1000:.2f} ({min(spent) * 1000:.2f}) | | {statistics.median(spent) * 100:.3f} | | |")
    ratios = sorted(window[1] / window[0] for window in cpu)
    print(f"| ours over theirs | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | | | {memory[1][0] / memory[0][0]:.2f} | |\n")
    print(f"{looked - len(lines)} of {looked} values of node_exporter are on our page")
    print("\n".join(lines))
    return 1 if lines or not looked else 0


if __name__ == "__main__":
    raise SystemExit(main())
