#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 120
# The test bed itself: with 3 % loss both jobs move data, rxe0 has to send again and rxe1 sees the gaps. No daemon.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

loss 3
start_jobs
for job in train-a train-b; do
    grep -q 'populated 1' "/sys/fs/cgroup/$job/cgroup.events" || die "$job has no process in its cgroup"
done
wait_for 60 '[[ $(hw_counter rxe0 rcvd_seq_err) -gt 0 ]]' 'rxe0 was told to send again (rcvd_seq_err)'
wait_for 60 '[[ $(hw_counter rxe1 out_of_seq_request) -gt 0 ]]' 'rxe1 received out of sequence (out_of_seq_request)'
before=$(hw_counter rxe0 sent_pkts)
wait_for 30 '[[ $(hw_counter rxe0 sent_pkts) -gt $((before + 1000)) ]]' 'rxe0 sends a thousand packets more'
wire=$(</sys/class/net/v0/statistics/tx_packets)
[[ $wire -gt 1000 ]] || die "the packets do not cross the wire: v0 sent $wire"
stop_jobs
wait_for 10 '! rdma resource show qp | grep -q " pid "' 'no queue pair is left'
