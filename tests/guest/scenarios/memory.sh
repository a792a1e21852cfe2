#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# Registered memory of three tenants, registered before and after the daemon came: each has its own regions and bytes and no others, also beside
# one that registers and deregisters as fast as it can, for which the daemon takes no events; what was killed is gone; a new daemon knows all again.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

declare -A PIDS
hold() { # WORKLOAD ARG...: in a cgroup of that name
    mkdir -p "/sys/fs/cgroup/system.slice/$1.service"
    (
        echo "$BASHPID" >"/sys/fs/cgroup/system.slice/$1.service/cgroup.procs"
        ulimit -l unlimited
        exec "$QPSCOPE_BIN/qpscope-mr-hold" "${@:2}"
    ) >"$STATE/$1.out" 2>&1 &
    PIDS[$1]=$!
    wait_for 60 "grep -q ^held $STATE/$1.out" "$1 holds memory"
}
# has WORKLOAD DEVICE REGIONS BYTES
has() {
    [[ $(metric qpscope_tenant_memory_regions "tenant=system.slice,workload=$1.service,device=$2,memory=pinned") == "$3" &&
        $(metric qpscope_tenant_memory_region_bytes "tenant=system.slice,workload=$1.service,device=$2,memory=pinned") == "$4" ]]
}
has_none() { ! metric qpscope_tenant_memory_regions "workload=$1.service" >/dev/null; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$DAEMON_PID/status"; }

DAEMON_YAML='sampling: {slow_interval: 2s}'
hold old rxe0 3 1000000
start_daemon
wait_for 20 'has old rxe0 3 3000000' 'memory older than the daemon is its tenant'\''s'
hold new rxe0 500 4096
hold other rxe1 2 70000
wait_for 20 'has new rxe0 500 2048000' 'one tenant'
wait_for 20 'has other rxe1 2 140000' 'another, on another device'
has old rxe0 3 3000000 || die 'the first tenant changed with the others'
metric qpscope_tenant_info workload=other.service >/dev/null || die 'no info on a tenant that has memory alone'
[[ $(rdma resource show mr | grep -c 'comm qpscope-mr-hol') -eq 505 ]] || die "the kernel has others: $(rdma resource show mr | wc -l)"

before=$(resident) events=$(metric qpscope_bpf_events_total) lost=$(metric qpscope_bpf_events_lost_total)
hold storm rxe0 50 4096 churn
for _ in $(seq 8); do
    sleep 1
    has old rxe0 3 3000000 || die 'a tenant beside the storm changed'
    has new rxe0 500 2048000 || die 'another tenant beside the storm changed'
done
regions=$(metric qpscope_tenant_memory_regions workload=storm.service) || die 'the storm has no memory'
[[ $regions -ge 40 && $regions -le 200 ]] || die "the storm has $regions regions, about 50 are there"
kill -TERM "${PIDS[storm]}"
wait "${PIDS[storm]}" || die 'the storm did not end well'
say "the storm: $(tail -n 1 "$STATE/storm.out"), $regions shown; resident $before -> $(resident) KiB"
wait_for 20 'has_none storm' 'the storm is gone'
[[ $(($(resident) - before)) -lt 4096 ]] || die 'the daemon grew with the storm'
[[ $(metric qpscope_bpf_events_lost_total) == "$lost" ]] || die 'events were lost'
[[ $(($(metric qpscope_bpf_events_total) - events)) -lt 100 ]] || die 'memory regions made events'

kill -KILL "${PIDS[new]}"
wait_for 20 'has_none new' 'what was killed is gone'
has old rxe0 3 3000000 || die 'a tenant changed when another was killed'

stop_daemon KILL
start_daemon
wait_for 20 'has old rxe0 3 3000000 && has other rxe1 2 140000' 'a new daemon knows all again'
keep_page

# Whose thread has ended before it was seen is nobody's that is known: no tenant gets another's.
hold gone rxe1 1 50000 thread
wait_for 20 '[[ $(metric qpscope_tenant_memory_region_bytes tenant=unknown,device=rxe1) == 50000 ]]' 'memory of a thread that ended is nobody'\''s'
has other rxe1 2 140000 || die 'a tenant got the memory of a thread that ended'
for name in old other gone; do kill -TERM "${PIDS[$name]}"; done
wait_for 20 '! metric qpscope_tenant_memory_regions >/dev/null' 'nobody has memory'
