#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# Hundreds of queue pairs are made, moved, refused, killed and destroyed by several processes; at every quiet point the table
# equals netlink, the books balance with what the processes did, and nothing is lost.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"

start_daemon
count=4
# A kernel that does not preempt has as many kretprobe instances as processors (kernel/kprobes.c register_kretprobe, before 6.12):
# more verbs that sleep at once than that, and returns are really missed.
if metric qpscope_probe_attached 'probe="qp_modify",how="kprobe"' >/dev/null && [[ $(uname -v) != *PREEMPT* ]]; then count=$(nproc); fi
[[ $count -ge 2 ]] || skip "one processor: no two processes at once without missed returns"
for ((i = 1; i <= count; i++)); do start_churner "churn-$i" "rxe$((i % 2))" "$i" 400; done
for round in 1 2 3; do
    wait_for 60 "all_held $round" "round $round: all processes hold still"
    must_agree "round $round"
    keep_page
    [[ $round -eq 3 ]] || signal_churners USR1
done

made=$(metric qpscope_queue_pairs_created_total) ended=$(metric qpscope_queue_pairs_destroyed_total)
[[ $made -eq $(told 3) ]] || die "the processes created $(told 3), the page says $made"
[[ $ended -eq $(told 4) ]] || die "the processes destroyed $(told 4), the page says $ended"
refused=$(metric qpscope_queue_pair_call_failures_total 'call="modify",error="EINVAL"')
[[ $refused -eq $(told 5) ]] || die "the kernel refused $(told 5) calls, the page says $refused"
for ((i = 1; i <= count; i++)); do
    live=$(grep '^held' "$STATE/churn-$i.out" | tail -n 1 | cut -d' ' -f2)
    page=$(metric qpscope_queue_pairs "tenant=\"unknown\",workload=\"churn-$i\"")
    [[ $page -eq $live ]] || die "churn-$i holds $live queue pairs, the page says $page"
done

end_churner churn-1 KILL
end_churner churn-2 USR2
wait_for 30 '! metric qpscope_queue_pairs "workload=\"churn-1\"" >/dev/null' 'kill -9 leaves no queue pair behind'
wait_for 30 '! metric qpscope_queue_pairs "workload=\"churn-2\"" >/dev/null' 'exit without destroy leaves no queue pair behind'
must_agree "after kill -9 and exit"
for ((i = 3; i <= count; i++)); do end_churner "churn-$i" TERM; done
must_agree "at the end"
[[ $(metric qpscope_queue_pairs_created_total) -eq $(metric qpscope_queue_pairs_destroyed_total) ]] || die "created and destroyed differ at the end"
