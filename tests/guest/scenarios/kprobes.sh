#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 240
# With CAP_BPF and CAP_PERFMON alone there are no trampolines in modules: kprobes see the same.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"

# Debian's kernels start with 3, which wants CAP_SYS_ADMIN for every perf event, kprobes included.
sysctl -q kernel.perf_event_paranoid=2
DAEMON_PREFIX=(setpriv --reuid 65534 --regid 65534 --clear-groups '--inh-caps=-all,+bpf,+perfmon' '--ambient-caps=-all,+bpf,+perfmon')
start_daemon
[[ $(metric qpscope_probe_attached 'probe="qp_create",how="kprobe"') -eq 1 ]] || die "$(page | grep probe_attached)"
for i in 1 2; do start_churner "churn-$i" "rxe$((i % 2))" "$i" 400; done
for round in 1 2; do
    wait_for 60 "all_held $round" "round $round: two processes hold still"
    must_agree "round $round"
    [[ $round -eq 2 ]] || signal_churners USR1
done
[[ $(metric qpscope_queue_pairs_created_total) -eq $(told 3) ]] || die "created: the processes say $(told 3)"
[[ $(metric qpscope_queue_pair_call_failures_total 'call="modify"') -eq $(told 5) ]] || die "refused: the processes say $(told 5)"
end_churner churn-1 KILL
end_churner churn-2 TERM
must_agree "at the end"
