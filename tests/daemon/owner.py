# SPDX-License-Identifier: Apache-2.0
"""--owner PID: who a process is, from files that a tenant may have named."""
import json
import os
import unicodedata

from harness import config_file, expect, main, needs_root, refused, root_of, run, write

ID = "4c6a8e0f2b1d3c5e7f9a0b2d4c6e8f1a3b5d7c9e0f2a4b6d8c1e3f5a7b9d0c2e"
OTHER_ID = "9" * 64
UID = "0b51b7bf-1f0c-4c52-9d0e-6b8f4f6f2a11"
UID_ = UID.replace("-", "_")
STATIC_UID = "3f2a4b6d8c1e3f5a7b9d0c2e4c6a8e0f"
BURSTABLE = f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID_}.slice"
USER = "/user.slice/user-1000.slice"


def make_task(root, pid, comm, cgroup, tgid=None, uid=1000, environ=b""):
    """/proc/PID as the kernel prints it: comm raw in stat, its newlines and backslashes escaped in status."""
    after = b" S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0" + b" 0" * 28
    write(root / f"proc/{pid}/stat", b"%d (%b)%b\n" % (pid, comm, after))
    name = comm.replace(b"\\", b"\\\\").replace(b"\n", b"\\n")
    write(root / f"proc/{pid}/status", b"Name:\t%b\nTgid:\t%d\nPid:\t%d\nUid:\t%d\t%d\t%d\t%d\n" % (name, tgid or pid, pid, *[uid] * 4))
    write(root / f"proc/{pid}/cgroup", cgroup if cgroup.endswith(b"\n") else b"0::%b\n" % cgroup)
    write(root / f"proc/{pid}/environ", environ)


def host():
    """A node with names for everything."""
    root = root_of("18-no-rdma-host")
    write(root / "etc/passwd", "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n")
    for namespace, pod, uid, container in (("ml", "trainer-0", UID, "main"), ("kube-system", "etcd-node1", STATIC_UID, "etcd")):
        write(root / f"var/log/pods/{namespace}_{pod}_{uid}/{container}/0.log", "")
    os.makedirs(root / "var/log/containers")
    os.symlink("/nowhere", root / f"var/log/containers/trainer-0_ml_main-{ID}.log")
    write(root / f"var/lib/docker/containers/{ID}/config.v2.json", json.dumps({"Config": {"Labels": {"Name": "/evil"}}, "Name": "/trainer"}))
    write(root / "var/lib/containers/storage/overlay-containers/containers.json", json.dumps([{"id": ID, "names": ["podtrainer"]}]))
    return root


def owner(root, pid, config=None):
    more = ["--config", config_file(config)] if config else []
    code, out, err = run("--root", root, "--owner", pid, *more)
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


def expect_words(cases, root, **more):
    for path, words in cases.items():
        make_task(root, 4000, b"app", path.encode() if isinstance(path, str) else path, **more)
        who = owner(root, 4000)
        got = " ".join((who["kind"], who["tenant"], who["workload"]))
        expect(got == words, f"{path}: {got}, not {words}", who)


def test_slurm():
    root = host()
    expect_words({
        "/slurm/uid_1000/job_123/step_0/task_0": "slurm alice 123",
        "/slurm_node1/uid_1000/job_123/step_batch": "slurm alice 123",
        "/slurm/uid_4711/job_9/step_extern/task_0": "slurm 4711 9",
        "/system.slice/slurmstepd.scope/job_123/step_0/user/task_0": "slurm alice 123",
        "/system.slice/slurmstepd.scope/job_123/step_batch/user/task_0": "slurm alice 123",
        "/system.slice/slurmstepd.scope/job_123/step_interactive/user/task_0": "slurm alice 123",
        "/system.slice/node1_slurmstepd.scope/job_123/step_extern/user/task_special": "slurm alice 123",
        f"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0/docker/{ID}": "slurm alice 123",
        b"4:memory:/slurm/uid_1000/job_7/step_0\n9:pids:/slurm/uid_1000/job_123/step_0\n0::/system.slice/slurmd.service\n": "slurm alice 123",
        b"4:memory:/slurm/uid_1000/job_7/step_0\n0::/system.slice/slurmd.service\n": "slurm alice 7",
    }, root)


def test_kubernetes():
    root = host()
    pod = "kubernetes ml trainer"
    expect_words({
        f"{BURSTABLE}/cri-containerd-{ID}.scope": pod,
        f"{BURSTABLE}/crio-{ID}.scope": pod,
        f"{BURSTABLE}/crio-conmon-{ID}.scope": pod,
        f"{BURSTABLE}/docker-{ID}.scope/any": pod,
        f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UID_}.slice/cri-containerd-{ID}.scope": pod,
        f"/kubepods.slice/kubepods-pod{UID_}.slice/cri-containerd-{ID}.scope": pod,
        f"/kubepods/burstable/pod{UID}/{ID}": pod,
        f"/kubepods/besteffort/pod{UID}/{ID}": pod,
        f"/kubepods/pod{UID}/{ID}": pod,
        f"/kubelet/kubepods/burstable/pod{UID}/{ID}": pod,
        f"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{UID_}.slice/cri-containerd-{ID}.scope": pod,
        f"/system.slice/k3s.service/kubepods/burstable/pod{UID}/{ID}": pod,
        f"/system.slice/containerd.service/kubepods-burstable-pod{UID_}.slice:cri-containerd:{ID}": pod,
        f"/../../kubepods-burstable-pod{UID_}.slice/cri-containerd-{ID}.scope": pod,
        f"/kubepods/burstable/pod{STATIC_UID}/{OTHER_ID}": "kubernetes kube-system etcd",
        "/kubepods/burstable/pod11111111-2222-3333-4444-555555555555/" + OTHER_ID: "kubernetes unknown pod11111111-2222-3333-4444-555555555555",
    }, root, uid=0)
    make_task(root, 4000, b"app", f"{BURSTABLE}/cri-containerd-{ID}.scope".encode())
    who = owner(root, 4000)
    expect((who["k8s_namespace"], who["k8s_pod"], who["k8s_container"]) == ("ml", "trainer-0", "main"), "the pod's names", who)


def test_containers_and_units():
    root = host()
    expect_words({
        f"/docker/{ID}": "docker container trainer",
        f"/system.slice/docker-{ID}.scope": "docker container trainer",
        f"/system.slice/docker-{OTHER_ID}.scope": "docker container " + OTHER_ID[:12],
        f"/docker/{ID}/kubepods/burstable/pod{UID}/{OTHER_ID}": "docker container trainer",
        f"/machine.slice/libpod-{ID}.scope/container": "podman container podtrainer",
        f"/machine.slice/libpod-conmon-{ID}.scope": "podman container podtrainer",
        f"{USER}/user@1000.service/user.slice/libpod-{ID}.scope": f"systemd alice libpod-{ID}.scope",
        "/lxc.payload.c1/init.scope": "lxc container c1",
        "/machine.slice/machine-web.scope/payload": "nspawn container web",
        "/system.slice/train.service": "systemd system.slice train.service",
        "/system.slice/system-train.slice/train@1.service": "systemd system-train.slice train@1.service",
        "/batch.slice/batch-gpu.slice/run-7.scope": "systemd batch-gpu.slice run-7.scope",
        f"{USER}/session-3.scope": "systemd alice session-3.scope",
        f"{USER}/user@1000.service/app.slice/app-x.scope": "systemd alice app-x.scope",
        "/user.slice/user-4711.slice/session-1.scope": "systemd 4711 session-1.scope",
        "/init.scope": "systemd -.slice init.scope",
        "/": "unknown unknown /",
        "/mine": "unknown unknown mine",
    }, root)


def test_names_inside_gain_nothing():
    root = host()
    inside = ["/slurm/uid_0/job_1/step_0", "/system.slice/slurmstepd.scope/job_1/step_0/user/task_0", f"/kubepods/pod{UID}/{ID}",
              f"/kubepods.slice/kubepods-pod{UID_}.slice/cri-containerd-{ID}.scope", f"/docker/{ID}", f"/docker-{ID}.scope", f"/machine.slice/libpod-{ID}.scope"]
    for path in inside:
        make_task(root, 4000, b"slurmstepd", (USER + "/user@1000.service" + path).encode(), environ=b"SLURM_JOB_ID=1\0SLURM_JOB_ACCOUNT=victim\0")
        who = owner(root, 4000)
        expect((who["kind"], who["tenant"], who["slurm_job"], who["k8s_pod"]) == ("systemd", "alice", "", ""), f"{path} gains something", who)
    expect_words({f"/system.slice/mine.service{path}": "systemd system.slice mine.service" for path in inside}, root)
    expect_words({f"/lxc.payload.c1{path}": "lxc container c1" for path in inside}, root)


def test_environment_gains_nothing():
    root = host()
    job = b"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0"
    for environ in (b"SLURM_JOB_ID=999\0SLURM_JOB_ACCOUNT=victim\0", b"SLURM_JOB_ID=123\0SLURM_JOB_ACCOUNT=victim\0SLURM_JOB_USER=root\0"):
        make_task(root, 4000, b"root", job, environ=environ)
        who = owner(root, 4000)
        expect((who["tenant"], who["workload"], who["slurm_user"]) == ("alice", "123", "alice"), f"{environ} gains something", who)
    trust = "tenants: {slurm_account_from_environment: true}\n"
    expect(owner(root, 4000, trust)["tenant"] == "victim", "a site that says so is not believed")
    make_task(root, 4000, b"root", job, environ=b"SLURM_JOB_ID=999\0SLURM_JOB_ACCOUNT=victim\0")
    expect(owner(root, 4000, trust)["tenant"] == "alice", "another job's account is believed")


def test_rules():
    root = host()
    rules = r"""
tenants:
  rules:
    - {tenant: lab-\1, workload: run \2, cgroup: '^/batch/([a-z]+)/([0-9]+)$'}
    - {tenant: named, user: '^alice$', comm: '^train'}
    - {tenant: env, workload: e, environment: '^PROJECT=blue$'}
"""
    for comm, cgroup, environ, words in (
        (b"x", b"/batch/phys/7", b"", "rule lab-phys run 7"),
        (b"x", b"/batch/phys/7x", b"", "unknown unknown 7x"),
        (b"train", b"/slurm/uid_1000/job_5/step_0", b"", "rule named 5"),
        (b"xtrain", b"/slurm/uid_1000/job_5/step_0", b"", "slurm alice 5"),
        (b"x", b"/mine", b"A=1\0PROJECT=blue\0", "rule env e"),
        (b"x", b"/mine", b"A=1\0PROJECT=blueish\0", "unknown unknown mine"),
    ):
        make_task(root, 4000, comm, cgroup, environ=environ)
        who = owner(root, 4000, rules)
        got = " ".join((who["kind"], who["tenant"], who["workload"]))
        expect(got == words, f"{cgroup}: {got}, not {words}", who)


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
