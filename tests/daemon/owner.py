# SPDX-License-Identifier: Apache-2.0
"""--owner PID: who a process is, from files that a tenant may have named."""
import json
import os
import unicodedata

from harness import expect, main, needs_root, refused, root_of, run, write


def make_task(root, pid, comm, cgroup, tgid=None):
    """/proc/PID as the kernel prints it: comm raw in stat, its newlines and backslashes escaped in status."""
    after = b" S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0" + b" 0" * 28
    write(root / f"proc/{pid}/stat", b"%d (%b)%b\n" % (pid, comm, after))
    name = comm.replace(b"\\", b"\\\\").replace(b"\n", b"\\n")
    write(root / f"proc/{pid}/status", b"Name:\t%b\nTgid:\t%d\nPid:\t%d\nUid:\t1000\t1000\t1000\t1000\n" % (name, tgid or pid, pid))
    write(root / f"proc/{pid}/cgroup", b"0::%b\n" % cgroup)


def owner(root, pid):
    code, out, err = run("--root", root, "--owner", pid)
    expect(code == 0 and err == "", f"exit code {code}", err)
    expect(not [c for c in out if unicodedata.category(c) == "Cc" and c != "\n"], "control characters in the output", repr(out))
    return json.loads(out)


def test_fixture():
    root = root_of("18-no-rdma-host")
    make_task(root, 4000, b"python3", b"/system.slice/train.service")
    who = owner(root, 4000)
    expect(who["pid"] == 4000 and who["comm"] == "python3", "not this process", who)
    expect(who["cgroup"] == "/system.slice/train.service" and who["workload"] == "train.service", "not its cgroup", who)


def test_thread():
    root = root_of("18-no-rdma-host")
    make_task(root, 4001, b"worker", b"/job", tgid=4000)
    who = owner(root, 4001)
    expect((who["pid"], who["tid"]) == (4000, 4001), "a thread's process is not named", who)


def test_hostile_comm():
    root = root_of("18-no-rdma-host")
    for comm in (b"a) R 1 (b", b'"}\n{"pid":1', b"x\x1b[31m\x07", b"caf\xc3", b"\\n", b"", b")"):
        make_task(root, 4000, comm, b"/job")
        who = owner(root, 4000)
        expect(who["pid"] == 4000 and who["workload"] == "job", f"comm {comm!r} changes who it is", who)


def test_hostile_cgroup():
    root = root_of("18-no-rdma-host")
    for path in (b'/a"b\\c', b"/x:y:z", b"/caf\xc3", b"/\x1b[2J", b"/" + b"n" * 255, b"/../../etc", b"/ "):
        make_task(root, 4000, b"app", path)
        who = owner(root, 4000)
        expect(who["pid"] == 4000 and who["tenant"] == "unknown", f"cgroup {path!r} changes who it is", who)
        expect(len(who["workload"].encode()) <= 128, "a name is longer than its bound", who)
    make_task(root, 4000, b"app", b"/" + b"n" * 254 + b"1")
    one = owner(root, 4000)["workload"]
    make_task(root, 4000, b"app", b"/" + b"n" * 254 + b"2")
    expect(one != owner(root, 4000)["workload"], "two long names that differ became one", one)


def test_no_such_process():
    refused("--root", root_of("18-no-rdma-host"), "--owner", 4000, words=["4000", "No such file"])


def test_no_process_files():
    root = root_of("18-no-rdma-host")
    write(root / "proc/4000/stat", "garbage")
    refused("--root", root, "--owner", 4000, words=["stat"])


def test_live():
    needs_root()
    who = owner("/", os.getpid())
    with open("/proc/self/comm", encoding="utf-8") as comm:
        expect((who["pid"], who["comm"]) == (os.getpid(), comm.read().strip()), "not this process", who)
    with open("/proc/self/cgroup", encoding="utf-8") as lines:
        expect(who["cgroup"] in lines.read(), "not its cgroup", who)


main(globals())
