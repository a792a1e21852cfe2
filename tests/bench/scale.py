#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What qpscoped costs on hosts of any size: is it linear in devices and in virtual functions?

  tests/bench/scale.py devices                  1, 10, 30 and 100 devices of 16 ports
  tests/bench/scale.py vfs                      a physical function and 1, 30, 100 and 300 virtual ones
  tests/bench/scale.py devices --sizes 100 --scrapes 300     the page at the series limit, p99

Made hosts of mlx5 devices on which traffic flows, and qpscoped with its defaults (--settings for others). CPU is that of sampling,
publishing and saving alone, without a scrape, and with what is asked of the kernel. A scrape is timed by its client, over HTTP and gzipped: once when the snapshot is new, so that
the page has to be rendered, then again. The exponent is that of the CPU time from row to row: 1 is linear.
"""
import argparse
import math
import pathlib
import statistics
import time

from exporter import qpscoped, series
from sysfs_tree import Traffic, Tree, memory_folder


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(len(values) * share) - 1)]


def publishes(page):
    """What tells one snapshot from the next."""
    return series(page)["process_cpu_seconds_total", ()]


def scrapes(daemon, count):
    """(of a new snapshot, of the same again), seconds each. A scrape that meets a snapshot rendered before is not one of a new."""
    new, again, last = [], [], None
    while len(new) < count:
        took, page = daemon.scrape()
        if publishes(page) == last:
            time.sleep(0.1)
            continue
        new.append(took)
        took, page = daemon.scrape()
        last = publishes(page)
        again.append(took)
        time.sleep(0.9)
    return new, again


def cpu_of(daemon, seconds):
    """CPU seconds a second."""
    began, before = time.monotonic(), daemon.cpu()
    time.sleep(seconds)
    return (daemon.cpu() - before) / (time.monotonic() - began)


def measure(options, size):
    with memory_folder() as folder:
        tree = Tree(folder)
        if options.what == "devices":
            tree.add_devices(size, options.ports)
        else:
            tree.add_virtual_functions(size)
        with qpscoped(options.bin, folder, options.settings) as daemon, Traffic(tree):
            time.sleep(options.settle)
            cpu = min(cpu_of(daemon, options.seconds) for _ in range(options.windows))
            memory = daemon.memory()[0]
            new, again = scrapes(daemon, options.scrapes)
            page = series(daemon.scrape()[1])
            dropped = sorted({dict(labels)["family"].removeprefix("qpscope_") for family, labels in page if family == "qpscope_series_dropped_total"})
            return {"size": size, "ports": len(tree.ports), "cpu": cpu, "memory": memory, "memory_after": daemon.memory()[0], "threads": daemon.threads(),
                    "new": new, "again": again, "series": len(page), "dropped": dropped,
                    "interval": max(v for (family, _), v in page.items() if family == "qpscope_sampling_interval_seconds")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("devices", "vfs"))
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin/qpscoped"), metavar="QPSCOPED", help="default: %(default)s")
    parser.add_argument("--sizes", type=int, nargs="+", help="default: 1 10 30 100 devices, or 1 30 100 300 virtual functions")
    parser.add_argument("--ports", type=int, default=16, help="of each device; default: %(default)s")
    parser.add_argument("--settle", type=float, default=12, metavar="SECONDS", help="first; a young device's folders are listed each second; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=15, help="over which CPU time is counted, in whole rounds of the slow clock; default: %(default)s")
    parser.add_argument("--windows", type=int, default=3, help="so many times; the least counts, as what else the machine does only adds; default: %(default)s")
    parser.add_argument("--scrapes", type=int, default=10, help="of new snapshots, each followed by one of the same; default: %(default)s")
    parser.add_argument("--settings", default="", metavar="YAML", help='for example "budget: {firmware_commands_per_second: 100000}"')
    options = parser.parse_args()

    print("| " + options.what + " | ports | CPU, ms a second | a port, µs | exponent | resident, after scrapes, MB | threads | series | interval, s "
          "| scrape of a new page: median, p99, ms | rendered: median, p99 |\n" + "|---" * 11 + "|")
    last = None
    for size in options.sizes or ([1, 10, 30, 100] if options.what == "devices" else [1, 30, 100, 300]):
        one = measure(options, size)
        measurable = last and min(one["cpu"], last["cpu"]) > 0  # the clock of a process that did next to nothing may not have moved
        exponent = f"{math.log(one['cpu'] / last['cpu']) / math.log(one['ports'] / last['ports']):.2f}" if measurable else ""
        times = " | ".join(f"{statistics.median(t) * 1000:.1f}, {percentile(t, 0.99) * 1000:.1f}" for t in (one["new"], one["again"]))
        print(f"| {size} | {one['ports']} | {one['cpu'] * 1000:.1f} | {one['cpu'] * 1e6 / one['ports']:.0f} | {exponent} | {one['memory']:.1f}, {one['memory_after']:.1f} "
              f"| {one['threads']} | {one['series']} | {one['interval']:.2g} | {times} |", flush=True)
        if one["dropped"]:
            print(f"  left out at the series limit: {', '.join(one['dropped'])}")
        last = one


if __name__ == "__main__":
    main()
