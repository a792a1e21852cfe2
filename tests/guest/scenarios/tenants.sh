#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 150
# Queue pairs of a Slurm job, a pod, a system service and a user, in real cgroups: the page names each, forgets the job when it
# ends, and a name that a user made up below its own cgroup gains nothing.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

id=4c6a8e0f2b1d3c5e7f9a0b2d4c6e8f1a3b5d7c9e0f2a4b6d8c1e3f5a7b9d0c2e
uid=0b51b7bf-1f0c-4c52-9d0e-6b8f4f6f2a11
pids=()

start_maker() { # CGROUP SEED
    mkdir -p "/sys/fs/cgroup$1"
    (
        echo "$BASHPID" >"/sys/fs/cgroup$1/cgroup.procs"
        ulimit -l unlimited
        exec "$QPSCOPE_BIN/qpscope-qp-churn" rxe1 "$2" 20
    ) >"$STATE/$2.out" 2>&1 &
    pids+=("$!")
    wait_for 30 "grep -q ^held $STATE/$2.out" "$1 holds queue pairs"
}
named() { # LABELS of qpscope_queue_pairs
    wait_for 20 "metric qpscope_queue_pairs '$1' >/dev/null" "$1"
}

mkdir -p "/var/log/pods/ml_trainer-0_$uid/main"
start_maker /system.slice/train.service 1  # before the daemon: known from netlink
start_daemon
start_maker /system.slice/slurmstepd.scope/job_7/step_0/user/task_0 2
start_maker "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-$id.scope" 3
start_maker /user.slice/user-4711.slice/user@4711.service/slurm/uid_0/job_8/step_0 4

named tenant=system.slice,workload=train.service
named tenant=root,workload=7
named tenant=ml,workload=trainer
named tenant=4711,workload=user@4711.service
metric qpscope_tenant_info kind=slurm,slurm_job=7,slurm_user=root,workload=7 >/dev/null || die 'no info on the job'
metric qpscope_tenant_member_info k8s_pod=trainer-0,k8s_container=main,tenant=ml >/dev/null || die 'no info on the pod'
! metric qpscope_tenant_info slurm_job=8 >/dev/null || die 'a name inside of a user became a job'
doubles=$(page | grep '^qpscope_tenant_info' | sed 's/,kind=.*//' | sort | uniq -d)
[[ -z $doubles ]] || die "two infos on one pair: $doubles"

kill -TERM "${pids[1]}"
wait "${pids[1]}" || true
wait_for 5 '! metric qpscope_tenant_info slurm_job=7 >/dev/null' 'the job is forgotten with its last queue pair'
# Names that come late: another pod, whose folder is not there yet.
start_maker /kubepods/besteffort/pod11111111-2222-3333-4444-555555555555/$id 5
named tenant=unknown,workload=pod11111111-2222-3333-4444-555555555555
mkdir -p /var/log/pods/late_web-5d4f8c7b9-x2x7k_11111111-2222-3333-4444-555555555555/main
named tenant=late,workload=web
kill -TERM "${pids[0]}" "${pids[@]:2}"
