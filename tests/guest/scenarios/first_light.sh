#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 180
# The main job: with 3 % loss, both jobs' queue pairs, retransmissions at the sender and gaps at the receiver are on the page,
# and the page says what the rdma tool says.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

loss 3
start_daemon
start_jobs
for job in train-a train-b; do
    wait_for 60 "metric qpscope_queue_pairs 'state=\"RTS\",workload=\"$job\"' >/dev/null" "$job has queue pairs in RTS on the page"
done
wait_for 60 '[[ $(metric qpscope_port_retransmits_total "device=\"rxe0\"") -gt 0 ]]' 'rxe0 retransmits'
wait_for 60 '[[ $(metric qpscope_port_rx_out_of_sequence_packets_total "device=\"rxe1\"") -gt 0 ]]' 'rxe1 receives out of sequence'
keep_page

"$GUEST_DIR/jobs.sh" wait
keep_page
"$GUEST_DIR/jobs.sh" freeze
"$GUEST_DIR/take.sh" "http://127.0.0.1:$PORT" "$OUT/taken" || die "no one moment of page and rdma"
"$GUEST_DIR/jobs.sh" thaw
for job in train-a train-b; do
    grep -q "workload=\"$job\"" "$OUT/taken/metrics_qps.txt" || die "no queue pair of $job was compared"
done
"$GUEST_DIR/agree.py" "$OUT/taken" || die "page and rdma disagree"
for file in metrics metrics_qps; do
    complaints=$(promtool check metrics <"$OUT/taken/$file.txt" 2>&1) || true
    [[ -z $complaints ]] || die "promtool on $file: $complaints"
done
metric qpscope_queue_pairs 'tenant="kernel",workload="ib_core"' >/dev/null || die "the kernel's own queue pairs have no owner"
[[ $(metric qpscope_bpf_events_lost_total) -eq 0 ]] || die "events were lost"

# Both ports hand out the same numbers at the same time; each has its own record.
same=$(grep -o 'qpscope_qp_info{device="[^"]*",port="[^"]*",qpn="[^"]*"' "$OUT/taken/metrics_qps.txt" | sort | uniq -d)
[[ -z $same ]] || die "one queue pair twice: $same"
# But for probes that this kernel cannot have (5.10), which are named once.
loud=$(grep '<[0-5]>' "$OUT/daemon.log" | grep -v '<4>probe .*: off: ' | head -n 1) || true
[[ -z $loud ]] || die "the log is not quiet: $loud"
keep_page
stop_jobs
wait_for 30 '! page /metrics/qps | grep -q "workload=\"train-"' 'the queue pairs of the jobs are gone from the page'
