#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 240
# Queue pairs older than the daemon are seen with their owner, and from then on like any other; a daemon that was killed leaves
# nothing in the kernel and its successor knows everything again.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"

ours() { bpftool prog show | grep -cE ' name (qp_|cgroup_(mkdir|rename|rmdir))' || true; }

[[ $(ours) -eq 0 ]] || die "programs of somebody before us are loaded"
start_churner old-a rxe0 11 300
start_churner old-b rxe1 12 300
wait_for 60 'all_held 1' 'two processes hold queue pairs'
start_daemon
must_agree "queue pairs older than the daemon"
for name in old-a old-b; do
    live=$(grep '^held' "$STATE/$name.out" | tail -n 1 | cut -d' ' -f2)
    page=$(metric qpscope_queue_pairs "workload=\"$name\"") || page=none
    [[ $page == "$live" ]] || die "$name holds $live queue pairs, the page says $page"
done

signal_churners USR1
wait_for 60 'all_held 2' 'old queue pairs moved and destroyed, new ones made'
must_agree "old and new together"

stop_daemon KILL
wait_for 10 '[[ $(ours) -eq 0 ]]' 'a killed daemon leaves no BPF program'
start_daemon
must_agree "a new daemon after kill -9"
start=$(date +%s%N)
stop_daemon TERM
took=$((($(date +%s%N) - start) / 1000000))
[[ $DAEMON_STATUS -eq 0 ]] || die "SIGTERM ended with $DAEMON_STATUS"
[[ $took -lt 3000 ]] || die "SIGTERM took $took ms"
[[ $(ours) -eq 0 ]] || die "a stopped daemon left BPF programs"
end_churner old-a TERM
end_churner old-b TERM
