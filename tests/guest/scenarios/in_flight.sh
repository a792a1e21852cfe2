#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 120
# The maker of a queue pair ends, and its cgroup is removed, before the daemon reads the event: comm, pid, cgroup and workload are
# known all the same.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"

start_daemon
# One queue pair whose owner netlink confirms: until then owners are withheld.
start_churner witness rxe1 21 60
wait_for 30 'all_held 1' 'the witness holds queue pairs'
wait_for 30 'metric qpscope_queue_pairs "workload=\"witness\"" >/dev/null' 'owners are verified'

kill -STOP "$DAEMON_PID"
mkdir -p /sys/fs/cgroup/ghost /sys/fs/cgroup/keeper
(
    echo "$BASHPID" >/sys/fs/cgroup/ghost/cgroup.procs
    echo "$BASHPID" >"$STATE/ghost.pid"
    exec "$QPSCOPE_BIN/qpscope-qp-churn" rxe0 22 80 /sys/fs/cgroup/keeper/cgroup.procs
) >"$STATE/ghost.out" 2>&1
keeper=$(sed -n 2p "$STATE/ghost.out")
wait_for 10 'grep -q "populated 0" /sys/fs/cgroup/ghost/cgroup.events' 'the maker has ended'
rmdir /sys/fs/cgroup/ghost
kill -CONT "$DAEMON_PID"

live=$(sed -n 's/^held \([0-9]*\).*/\1/p' "$STATE/ghost.out")
wait_for 20 '[[ $(metric qpscope_queue_pairs "workload=\"ghost\"") -eq '"$live"' ]]' "all $live queue pairs of the ghost have its workload"
named=$(page /metrics/qps | grep -c "workload=\"ghost\".*pid=\"$(<"$STATE/ghost.pid")\",comm=\"qpscope-qp-chur\"") || true
[[ $named -eq $live ]] || die "$named of $live queue pairs have the maker's pid and comm"
kill -TERM "$keeper"
wait_for 20 '! metric qpscope_queue_pairs "workload=\"ghost\"" >/dev/null' 'they are gone with the last holder'
end_churner witness TERM
