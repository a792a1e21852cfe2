#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# Hardware counters by tenant (counters.qp_mode: tenant) on two look-alike devices: a Slurm job, a pod, a service and a nested container
# at known different rates, some running before the daemon, killed and replaced under traffic with their numbers reused at once, the daemon
# killed and started again. At every quiet point the tenants, other and nobody are the port and what was driven, exactly; nobody is what was
# counted in no set. What was found is left: modes, sets and members of others too, also after SIGKILL.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

id=4c6a8e0f2b1d3c5e7f9a0b2d4c6e8f1a3b5d7c9e0f2a4b6d8c1e3f5a7b9d0c2e
uid=0b51b7bf-1f0c-4c52-9d0e-6b8f4f6f2a11
declare -A cgroup=(
    ['root 7']=/system.slice/slurmstepd.scope/job_7/step_0/user/task_0
    ['ml trainer']=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-$id.scope
    ['system.slice train.service']=/system.slice/train.service
    ['ml trainer nested']=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-$id.scope/docker/inner
)
declare -A pid_of=() device_of=()
counters=(packet_seq_err local_ack_timeout_err out_of_sequence rnr_nak_retry_err duplicate_request out_of_buffer)
rate=1000
: >"$STATE/owners"

# hold NAME TENANT DEVICE COUNT: a process of this tenant with so many queue pairs, which count from their RTS on, each at its own rate.
hold() {
    local name=$1 who=$2 device=$3 count=$4
    mkdir -p "/sys/fs/cgroup${cgroup[$who]}"
    (
        echo "$BASHPID" >"/sys/fs/cgroup${cgroup[$who]}/cgroup.procs"
        exec "$QPSCOPE_BIN/qpscope-qp-hold" "$device" "$count" 1
    ) >"$STATE/$name" 2>&1 &
    pid_of[$name]=$! device_of[$name]=$device
    echo "$! ${who% nested}" >>"$STATE/owners"
    until grep -q ^held "$STATE/$name"; do
        kill -0 "${pid_of[$name]}" 2>/dev/null || die "$name: $(cat "$STATE/$name")"
        sleep 0.05
    done
    drive "$name"
}
drive() { # NAME
    local qpn counter qpns
    read -ra qpns <<<"$(sed 's/^held //' "$STATE/$1")"
    for qpn in "${qpns[@]}"; do
        counter=${counters[$((rate % ${#counters[@]}))]}
        sim traffic "${device_of[$1]}" "$qpn" "$counter" rate "$rate"
        rate=$((rate + 137))
    done
}
drive_all() { for name in "${!pid_of[@]}"; do drive "$name"; done; }
drop() { # NAME: killed under traffic
    kill -KILL "${pid_of[$1]}"
    wait "${pid_of[$1]}" || true
    unset "pid_of[$1]"
}
exact() { # shared|""
    local device
    page >"$STATE/page" || return 1
    for device in mlx5_0 mlx5_1; do
        sim show $device ledger >"$STATE/ledger.$device"
        "$GUEST_DIR/whose.py" $device "$STATE/ledger.$device" "$STATE/owners" "$STATE/page" "$1" >"$STATE/whose.$device" || return 1
    done
}
quiet() { # WHEN [shared]
    local start=$SECONDS
    sim stop mlx5_0
    sim stop mlx5_1
    until exact "${2:-}"; do
        [[ $((SECONDS - start)) -lt 40 ]] || die "$1: $(head -n 15 "$STATE"/whose.mlx5_[01])"
        sleep 0.3
    done
    say "exact after $((SECONDS - start)) s: $1: $(head -qn 1 "$STATE"/whose.mlx5_[01] | paste -sd' ')"
    # A set that two share says nothing of one of them.
    page /metrics/qps >"$STATE/qps"
    ! grep -q '^qpscope_qp_hw_counters_total' "$STATE/qps" || die "counters of one queue pair: $(grep -m 3 '^qpscope_qp_hw' "$STATE/qps")"
}
counted() { # DEVICE: every queue pair is in a set
    wait_for 20 "[[ \$(metric qpscope_port_counted_qps_ratio device=$1,port=1) == 1 ]]" "$1: every queue pair counts in a set"
}
as_found() { # WHEN
    local device
    for device in mlx5_0 mlx5_1; do
        [[ $(sim show $device sets | wc -l) -eq 1 ]] || die "$1: sets are left on $device: $(sim show $device sets)"
        [[ $("$QPSCOPE_BIN/qpscope-nldev-stat" mode $device 1) == 'none 0' ]] || die "$1: the mode of $device is another"
    done
}

sim load devices=2 ports=1 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show dev sim0p1 tentative)$(ip -6 address show dev sim1p1 tentative) ]]' 'the addresses are not tentative any more'
mkdir -p "/var/log/pods/ml_trainer-0_$uid/main"
DAEMON_YAML='counters: {qp_mode: tenant}'

say '-- some run before the daemon'
hold a1 'root 7' mlx5_0 6
hold b1 'system.slice train.service' mlx5_1 4
start_daemon
wait_for 20 'metric qpscope_counter_sets_status device=mlx5_0,status=counting >/dev/null' 'the ports are ours'
counted mlx5_0
counted mlx5_1
hold c1 'ml trainer' mlx5_0 3
hold c2 'ml trainer nested' mlx5_0 2
hold a2 'root 7' mlx5_1 3
hold b2 'system.slice train.service' mlx5_0 5
counted mlx5_0
counted mlx5_1
quiet 'three tenants, two devices'
keep_page
[[ $(metric qpscope_counter_sets device=mlx5_0,by=self) -eq 3 ]] || die 'not one set for each tenant'
[[ $(metric qpscope_counter_sets device=mlx5_1,by=self) -eq 2 ]] || die 'not one set for each tenant'

say '-- killed under traffic, numbers used again at once'
drive_all
for round in 1 2 3; do
    for name in a2 c1 b2; do
        device=${device_of[$name]}
        drop $name
        case $name in
            a2) hold $name 'ml trainer' "$device" 3 ;;
            c1) hold $name 'system.slice train.service' "$device" 3 ;;
            b2) if ((round % 2)); then hold $name 'root 7' "$device" 5; else hold $name 'ml trainer' "$device" 5; fi ;;
        esac
    done
done
# The same pid and the same numbers, another tenant.
old=${pid_of[c1]}
drop c1
echo $((old - 1)) >/proc/sys/kernel/ns_last_pid
hold c1 'root 7' mlx5_0 3
say "pid $old, then ${pid_of[c1]}"
counted mlx5_0
counted mlx5_1
quiet 'killed and replaced'
keep_page

say '-- the daemon killed under traffic'
drive_all
sleep 1.3
sets=$(sim show mlx5_0 sets | cut -d' ' -f-3)
stop_daemon KILL
hold d1 'ml trainer' mlx5_1 2
KEEP_STATE=yes start_daemon
hold d2 'root 7' mlx5_0 2
counted mlx5_0
counted mlx5_1
quiet 'SIGKILL, and on'
keep_page
[[ $(sim show mlx5_0 sets | cut -d' ' -f-2) == "$(cut -d' ' -f-2 <<<"$sets")" ]] || die "not the sets of before: $(sim show mlx5_0 sets)"

say '-- given back at the end'
drive_all
stop_daemon
as_found 'after its end'
sim stop mlx5_0
sim stop mlx5_1
KEEP_STATE=yes start_daemon
quiet 'started again'
counted mlx5_0

say '-- given back after SIGKILL and a start that is not to count'
stop_daemon KILL
DAEMON_YAML='' KEEP_STATE=yes start_daemon
wait_for 20 '[[ $(sim show mlx5_0 sets | wc -l)$(sim show mlx5_1 sets | wc -l) == 11 ]]' 'every set is given back'
stop_daemon
as_found 'after SIGKILL and a start without sets'

say '-- fewer sets than tenants'
DAEMON_YAML='counters: {qp_mode: tenant, max_sets: 2}' KEEP_STATE=yes start_daemon
counted mlx5_0
drive_all
metric qpscope_counter_sets device=mlx5_0,by=self
[[ $(metric qpscope_counter_sets device=mlx5_0,by=self) -eq 2 ]] || die 'more sets than are allowed'
sleep 1.2
quiet 'some share a set' shared
[[ $(metric qpscope_tenant_retransmits_total device=mlx5_0,tenant=other,workload=other) -gt 0 ]] || die 'other has nothing'
stop_daemon
as_found 'after two sets'

say '-- what others set up stays'
rdma statistic qp set link mlx5_0/1 auto type on
hold e1 'root 7' mlx5_0 2
qpn=$(cut -d' ' -f2 "$STATE/b1")
rdma statistic qp bind link mlx5_1/1 lqpn "$qpn"
before=$({ sim show mlx5_0 sets; sim show mlx5_1 sets; } | cut -d' ' -f-3)
DAEMON_YAML='counters: {qp_mode: tenant}' KEEP_STATE=yes start_daemon
wait_for 20 'metric qpscope_counter_sets_status device=mlx5_0,status=automatic >/dev/null' 'an automatic mode is told'
wait_for 20 'metric qpscope_counter_sets_status device=mlx5_1,status=others >/dev/null' 'sets of others are told'
stop_daemon
[[ $({ sim show mlx5_0 sets; sim show mlx5_1 sets; } | cut -d' ' -f-3) == "$before" ]] || die 'sets of others changed'
[[ $("$QPSCOPE_BIN/qpscope-nldev-stat" mode mlx5_0 1) == 'auto 1' ]] || die 'the mode of others changed'
for name in "${!pid_of[@]}"; do drop "$name"; done
rdma statistic qp set link mlx5_0/1 auto off
sim unload || die 'mlx5sim does not unload'
