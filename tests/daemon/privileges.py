# SPDX-License-Identifier: Apache-2.0
"""This machine itself, with all rights and with none: poorer, not dead."""
import os
import re

from harness import ANY_PORT, NO_CAPABILITIES, Daemon, config_file, expect, main, needs_root, refused, run, skip, temp_folder, total, wait_for

CAP_PERFMON, CAP_BPF = 38, 39


def needs_bpf():
    needs_root()
    with open("/proc/self/status", encoding="utf-8") as status:
        effective = int(re.search(r"^CapEff:\s*(\w+)", status.read(), re.M)[1], 16)
    if not effective >> CAP_PERFMON & effective >> CAP_BPF & 1:
        skip("needs CAP_BPF and CAP_PERFMON, which root does not have here (a container?)")


def needs_no_rdma():
    if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
        skip("this machine has RDMA devices: the quiet page and log are of one that has none")


def test_live():
    needs_bpf()
    needs_no_rdma()
    with Daemon(config=ANY_PORT + "sampling: {interval: 100ms}\n") as daemon:
        page = daemon.page()
        expect(total(page, "qpscope_devices_found") == 0, "devices where there are none", page)
        expect(total(page, "qpscope_series") < 150, "the page of a machine without RDMA is not small", page)
        expect(total(page, "qpscope_probe_attached", 'probe="cgroup_mkdir"') == 1, "the cgroup probes are not attached", page, daemon.log())
        # Something happens: the probes see it.
        os.rmdir(make_cgroup())
        wait_for(lambda: total(daemon.page(), "qpscope_bpf_events_total", '"cgroup_changed"') >= 2, "a new cgroup is not seen")
        daemon.healthy()
        expect(not daemon.worse_than_info(), "a quiet machine is worth a warning", *daemon.worse_than_info())
        for what in ("no RDMA device here", "ib_core is not loaded"):
            expect(what in daemon.log(), "the log does not say what is missing", what, daemon.log())


def make_cgroup():
    # In the hierarchy that owners are looked up in: of v1 pids, else memory; else v2.
    for base in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(base + "/cgroup.procs"):
            path = f"{base}/qpscope-test-{os.getpid()}"
            try:
                os.mkdir(path)
            except OSError as error:
                skip(f"no cgroup can be made: {error}")
            return path
    return skip("no cgroup hierarchy is mounted")


def test_live_check():
    needs_bpf()
    needs_no_rdma()
    code, out, err = run("--check")
    expect(code == 0 and err == "", f"exit code {code}", out, err)
    expect(re.search(r"^probe cgroup_mkdir +ok ", out, re.M), "no probe attaches", out)
    expect(re.search(r"^probe qp_create +- ", out, re.M), "what waits for ib_core is not told apart from what is broken", out)


def test_bpf_off():
    with Daemon(config=ANY_PORT + "bpf: {enabled: false}\n") as daemon:
        expect(total(daemon.page(), "qpscope_probe_attached", 'how="off"') == 0, "the page does not say that BPF is off", daemon.page())
        daemon.healthy()
        expect(not daemon.worse_than_info(), "what was asked for is worth a warning", *daemon.worse_than_info())


def test_no_capabilities():
    needs_root()
    with Daemon(wrapper=NO_CAPABILITIES, config=ANY_PORT + "sampling: {interval: 100ms}\n") as daemon:
        page = daemon.page()
        expect(total(page, "qpscope_probe_attached") == 0, "a probe is attached without the right to", page)
        expect(total(page, "qpscope_devices_found") is not None, "the page is not there", page)
        # Several passes later it has still been said once.
        stamp = total(page, "process_cpu_seconds_total")
        wait_for(lambda: total(daemon.page(), "process_cpu_seconds_total") > stamp, "the page stands still")
        daemon.healthy()
        warnings = daemon.worse_than_info()
        expect(len(warnings) == 1 and warnings[0].startswith("<4>"), "not said exactly once", daemon.log())
        expect("BPF" in warnings[0] and "CAP_" in warnings[0], "it does not say which right is missing", warnings[0])


def test_no_capabilities_check():
    needs_root()
    code, out, err = run("--check", wrapper=NO_CAPABILITIES)
    expect(code == 1 and err == "", f"exit code {code}, not 1", out, err)
    expect(re.search(r"^capability CAP_BPF +- +missing", out, re.M) and "DEGRADED" in out, "the table does not say what is missing", out)
    expect(re.search(r"^counter sets +- +only read", out, re.M), "sets that nobody wants to bind are a fault", out)
    code, out, err = run("--check", "--config", config_file("counters: {qp_mode: tenant}\n"), wrapper=NO_CAPABILITIES)
    expect(code == 1 and err == "", f"exit code {code}, not 1", out, err)
    expect(re.search(r"^counter sets +DEGRADED .*CAP_NET_ADMIN", out, re.M), "the table does not say that sets cannot be bound", out)


def test_unreadable_root():
    needs_root()
    root = temp_folder()
    root.chmod(0)
    refused("--root", root, wrapper=NO_CAPABILITIES, words=[str(root), "Permission denied"])


main(globals())
