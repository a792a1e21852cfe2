#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to count queue pairs by tenant (counters.qp_mode: tenant): the daemon for each queue pair that it binds, the card, and the
program whose queue pair it is. On the look-alike of mlx5, which answers a firmware command at once.

In the guest, whose clock goes by instructions with --icount, so that what else the host does is not measured:
  tests/guest/boot.sh 6.12 --icount --out DIR -- tests/bench/bind_cost.py $PWD/build/release/bin
Pairs of runs, with and without tenant mode in turn. In each the daemon runs, a program makes so many queue pairs up to RTS, all at once,
and destroys them when all of them are bound. There is no budget, so that everything happens at the same time: the worst case.
The floor is the rdma tool, which binds the same number from one batch file.
"""
import argparse
import collections
import pathlib
import re
import resource
import signal
import statistics
import subprocess
import time
import urllib.error
import urllib.request

from probe_cost import median_interval, out

CTL = pathlib.Path(__file__).resolve().parents[1] / "guest" / "mlx5sim" / "ctl.sh"
SETS = pathlib.Path("/sys/kernel/debug/mlx5sim/mlx5_0/sets")
TRACING = pathlib.Path("/sys/kernel/tracing")
STEPS = ("create", "INIT", "RTR", "RTS", "destroy")
STRETCH = 6  # seconds, in which the daemon's CPU time is counted


def sim(*words):
    return out(CTL, *map(str, words))


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def bound():
    return sum(int(line.split()[2]) for line in SETS.read_text().splitlines()[1:])


class Holder:
    """Queue pairs, from their RTS to the end of the block; then what each of their calls took, ns."""

    def __init__(self, options, count):
        self.command = [options.bin / "qpscope-qp-hold", "mlx5_0", str(count), "1", "timed"]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.qpns = self.process.stdout.readline().split()[1:]
        if not self.qpns:
            raise SystemExit("qpscope-qp-hold made nothing")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.took = [[int(ns) for ns in line.split()[1:]] for line in self.process.communicate()[0].splitlines()]


class Daemon:
    def __init__(self, options, mode):
        self.options, self.mode = options, mode

    def __enter__(self):
        config = pathlib.Path("/run/bind_cost.yaml")
        config.write_text('exporters: {prometheus: {listen: "127.0.0.1:9879"}}\nbudget: {firmware_commands_per_second: 0}\n'
                          f"counters: {{qp_mode: {self.mode}}}\n")
        self.process = subprocess.Popen([self.options.bin / "qpscoped", "--config", config], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_for(self.ready, "the daemon is ready")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait():
            raise SystemExit(f"qpscoped ended with {self.process.returncode}")

    @staticmethod
    def ready():
        try:
            return urllib.request.urlopen("http://127.0.0.1:9879/readyz", timeout=5).status == 200
        except (urllib.error.URLError, OSError):
            return False

    def cpu_ns(self):
        return sum(int(task.read_text().split()[0]) for task in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat"))

    def cpu_of_stretch(self, began, before):
        time.sleep(max(0, began + STRETCH - time.monotonic()))
        return self.cpu_ns() - before


def run(options, mode):
    """One run: the daemon's CPU time for the queue pairs, its asks, the program's times. Of mode tenant also when all were bound."""
    with Daemon(options, mode) as daemon, Holder(options, 1):
        if mode == "tenant":
            wait_for(lambda: bound() == 1, "the first queue pair is bound")  # from here on all are, as soon as they have a port
        time.sleep(1)
        idle = daemon.cpu_of_stretch(time.monotonic(), daemon.cpu_ns())
        sim("forget", "mlx5_0")
        before, began = daemon.cpu_ns(), time.monotonic()
        with Holder(options, options.queue_pairs) as holder:
            made = time.monotonic()
            if mode == "tenant":
                wait_for(lambda: bound() == options.queue_pairs + 1, "all queue pairs are bound", STRETCH - (made - began))
            until_bound = time.monotonic() - made
            cpu = daemon.cpu_of_stretch(began, before) - idle
            asked = collections.Counter({kind: int(n) for kind, n in map(str.split, sim("asked", "mlx5_0").splitlines())})
        asked["set_unbind, destroyed"] = int(sim("asked", "mlx5_0", "set_unbind")) - asked["set_unbind"]
        return cpu / options.queue_pairs, asked, holder.took, until_bound


class Traced:
    """How long each call of a kernel function took, us (ftrace)."""

    def __init__(self, function):
        self.function = function

    def __enter__(self):
        (TRACING / "set_ftrace_filter").write_text(self.function)
        (TRACING / "current_tracer").write_text("function_graph")
        return self

    def __exit__(self, *_):
        self.took = [float(us) for us in re.findall(r"([\d.]+) us .*" + self.function, (TRACING / "trace").read_text())]
        (TRACING / "current_tracer").write_text("nop")
        (TRACING / "set_ftrace_filter").write_text("")


def floor(options):
    """The rdma tool: its CPU time for a bind, us, and what each call took in the kernel."""
    with Holder(options, options.queue_pairs) as holder:
        batch = pathlib.Path("/run/bind_cost.batch")
        first, *rest = holder.qpns
        out(*"rdma statistic qp bind link mlx5_0/1 lqpn".split(), first)
        batch.write_text("".join(f"statistic qp bind link mlx5_0/1 lqpn {qpn} cntn 1\n" for qpn in rest))
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Traced("nldev_stat_set_doit") as traced:
            out("rdma", "-b", batch)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        if bound() != options.queue_pairs:
            raise SystemExit("the rdma tool did not bind all")
    return 1e6 * (spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime) / len(rest), traced.took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--queue-pairs", type=int, default=800)
    options = parser.parse_args()
    if options.pairs < 6:
        parser.error("an interval at 95 % needs 6 pairs")
    options.bin = options.bin.resolve()
    sim("load", "devices=1", "ports=1")
    wait_for(lambda: not out("ip", "-6", "address", "show", "dev", "sim0p1", "tentative"), "the address is there")

    runs = collections.defaultdict(list)
    for i in range(options.pairs):
        for mode in ("tenant", "leave") if i % 2 else ("leave", "tenant"):
            runs[mode].append(run(options, mode))
    with Daemon(options, "tenant"), Traced("nldev_stat_set_doit") as traced, Holder(options, options.queue_pairs):
        wait_for(lambda: bound() == options.queue_pairs, "all are bound")
    floor_cpu, floor_calls = floor(options)

    def told(what, with_, without, unit):
        differences = [a - b for a, b in zip(with_, without)]
        low, high = median_interval(differences)
        print(f"{what}: {statistics.median(without):.1f} {unit} without, {statistics.median(with_):.1f} with; "
              f"pairs differ by {statistics.median(differences):+.1f}, interval {low:+.1f} to {high:+.1f}")

    print(f"{options.pairs} pairs of {options.queue_pairs} queue pairs; all were bound {statistics.median(one[3] for one in runs['tenant']):.2f} s after the last was in RTS")
    told("daemon, CPU for each queue pair", *[[one[0] / 1000 for one in runs[mode]] for mode in ("tenant", "leave")], "us")
    print(f"netlink call of a bind, in the kernel: median {statistics.median(traced.took):.1f} us of {len(traced.took)}; "
          f"the rdma tool's {statistics.median(floor_calls):.1f} us of {len(floor_calls)}, and {floor_cpu:.1f} us of CPU with all that the tool does")
    for kind in ("set_alloc", "set_bind", "set_unbind", "set_unbind, destroyed"):
        print(f"asked for each queue pair, {kind}: {statistics.median(one[1][kind] for one in runs['tenant']) / options.queue_pairs:.2f}")
    print(f"asked while it lasted, set_read: {statistics.median(one[1]['set_read'] for one in runs['tenant']):.0f} in {STRETCH} s, whatever the number of queue pairs")
    for i, step in enumerate(STEPS):
        told(f"the program's {step}, median", *[[statistics.median(took[i] for took in one[2]) / 1000 for one in runs[mode]] for mode in ("tenant", "leave")], "us")
    told("create to RTS, mean", *[[statistics.mean(sum(took[:4]) for took in one[2]) / 1000 for one in runs[mode]] for mode in ("tenant", "leave")], "us")
    told("create to RTS, longest", *[[max(sum(took[:4]) for took in one[2]) / 1000 for one in runs[mode]] for mode in ("tenant", "leave")], "us")
    sim("unload")


if __name__ == "__main__":
    main()
