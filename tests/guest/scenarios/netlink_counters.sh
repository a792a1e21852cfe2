#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 200
# hw_counters by netlink on the look-alike of mlx5: every value is that of sysfs, a sample asks the card once for each port, switchdev mode
# falls back to the files, and totals stay exact while queue pairs move into counter sets, count there and take them away.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

class=/sys/class/infiniband/mlx5_0
# A pass over a port with two sets in use is some 80 commands, and a rise counts at the second pass: within the default budget that is 8 s
# and more, and this is about what is counted, not about what it may cost.
DAEMON_YAML=$'sampling: {interval: 100ms, slow_interval: 1s}\nbudget: {firmware_commands_per_second: 1000}'
hw_total() { metric qpscope_hw_counters_total "device=mlx5_0,port=$1,counter=$2"; }
resets() { metric qpscope_counters_resets_total device=mlx5_0; }
# total_is NAME VALUE: of port 1, within 10 s, and then exactly.
total_is() { wait_for 10 "[[ \$(hw_total 1 $1) == $2 ]]" "$1 is $2 on the page"; }

rm -f /run/qpscope/state
sim load devices=1 ports=2 || die 'mlx5sim does not load'

say '-- every value, and the optional counters that no file has'
value=1000
for port in 1 2; do
    for file in "$class/ports/$port/hw_counters/"*; do
        [[ $file == */lifespan ]] || sim count "mlx5_0/$port" "${file##*/}" $((value += 11))
    done
done
rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts
sim count mlx5_0/1 cc_rx_ce_pkts 9
start_daemon
total_is cc_rx_ce_pkts 9
page >"$STATE/page"
awk -F'[{"} ]' '$1 == "qpscope_hw_counters_total" && $3 == "mlx5_0" { print $5 "/" $7, $NF }' "$STATE/page" | sort >"$STATE/shown"
{
    grep -H '' "$class"/ports/*/hw_counters/* | grep -v /lifespan: | sed -E 's|.*/ports/(.*)/hw_counters/(.*):|\1/\2 |'
    echo '1/cc_rx_ce_pkts 9'
} | sort >"$STATE/files"
diff "$STATE/files" "$STATE/shown" || die 'netlink and sysfs differ (< is sysfs)'
[[ $(wc -l <"$STATE/files") -eq 63 ]] || die "counters of two ports: $(wc -l <"$STATE/files")"
metric -f "$STATE/page" qpscope_hw_counters_lifespan_seconds device=mlx5_0,port=1 >/dev/null || die 'no lifespan'
rdma statistic unset link mlx5_0/1 optional-counters
wait_for 10 '! hw_total 1 cc_rx_ce_pkts >/dev/null' 'an optional counter that is off is gone'

say '-- what it asks'
stop_daemon
sim forget mlx5_0
"$QPSCOPE_BIN/qpscoped" --once --samples 5 --interval 0.2 >"$STATE/once"
[[ $(sim asked mlx5_0 hw_counters) -eq 10 ]] || die "5 samples of 2 ports asked $(sim asked mlx5_0 hw_counters) times for hw_counters"
# A sample of a port: its state once; on the slow clock, which --once runs with it, lid, state and rate, and its netdev.
[[ $(sim asked mlx5_0 query_port) -eq 50 ]] || die "5 samples of 2 ports queried it $(sim asked mlx5_0 query_port) times"

say '-- the card fails, and comes back'
start_daemon
total_is out_of_buffer "$(cat $class/ports/1/hw_counters/out_of_buffer)"
sim fail mlx5_0 5 hw_counters
wait_for 10 '! hw_total 1 out_of_buffer >/dev/null' 'no sample that cannot be read'
wait_for 10 '[[ $(metric qpscope_read_errors_total device=mlx5_0,error=EIO) -gt 0 ]]' 'counted by the errno that only the files tell'
sim fail mlx5_0 0 hw_counters
# Each file that failed was a question to the firmware: the budget makes good for them first.
wait_for 40 'hw_total 1 out_of_buffer >/dev/null' 'the samples are back'
total_is out_of_buffer "$(cat $class/ports/1/hw_counters/out_of_buffer)"
stop_daemon
sim forget mlx5_0
start_daemon
sim count mlx5_0/1 out_of_buffer 1000000
total_is out_of_buffer 1000000

say '-- counter sets: bound, counting, wrapping, released'
"$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 8 >"$STATE/holder" 2>&1 &
holder=$!
wait_for 10 "grep -q ^held '$STATE/holder'" 'a process holds QPs 100 to 107'
sim count mlx5_0/1 packet_seq_err 4294967000
total_is packet_seq_err 4294967000
rdma statistic qp bind link mlx5_0/1 lqpn 100
rdma statistic qp bind link mlx5_0/1 lqpn 101 cntn 1
rdma statistic qp bind link mlx5_0/1 lqpn 102
[[ $(sim show mlx5_0 sets | wc -l) -eq 3 ]] || die 'no sets'
sim traffic mlx5_0 100 packet_seq_err add 500 # what is shown is above 2^32 now
sim traffic mlx5_0 102 packet_seq_err add 70
total_is packet_seq_err 4294967570
sim traffic mlx5_0 103 packet_seq_err add 400 # in no set: the default set wraps
total_is packet_seq_err 4294967970
sim traffic mlx5_0 101 packet_seq_err add 1000
rdma statistic qp unbind link mlx5_0/1 cntn 2 lqpn 102
total_is packet_seq_err 4294968970
rdma statistic qp unbind link mlx5_0/1 cntn 1 lqpn 100
rdma statistic qp unbind link mlx5_0/1 cntn 1 lqpn 101
total_is packet_seq_err 4294968970
[[ $(sim show mlx5_0 sets | wc -l) -eq 1 ]] || die 'a set was left'

say '-- many sets, coming and going under traffic while they are read'
# A set that is read while it is released is counted twice. Slow reads make that likely; numbers are given out lowest first.
qpns=(100 101 102 103 104 105 106 107)
q_counters=$(sim show mlx5_0/1 truth | awk 'NR > 1 { print $1 }')
for qpn in "${qpns[@]}"; do for name in $q_counters; do sim traffic mlx5_0 "$qpn" "$name" rate 500; done; done
sim set mlx5_0 fault_kinds set_read
sim set mlx5_0 delay_ms 1
for i in "${!qpns[@]}"; do echo "statistic qp bind link mlx5_0/1 lqpn ${qpns[i]}"; done >"$STATE/bind"
for i in "${!qpns[@]}"; do echo "statistic qp unbind link mlx5_0/1 cntn $((i + 1)) lqpn ${qpns[i]}"; done >"$STATE/unbind"
for ((round = 0; round < 30; round++)); do
    rdma -b "$STATE/bind" || die 'bind'
    sleep 0.2 # what they count is what can be counted twice
    rdma -b "$STATE/unbind" || die 'unbind'
done
[[ $(sim asked mlx5_0 set_alloc) -ge 240 ]] || die "only $(sim asked mlx5_0 set_alloc) sets were made"
sim set mlx5_0 delay_ms 0
kill -TERM "$holder"
wait "$holder" || die 'qp-hold failed'
sim stop mlx5_0
sim show mlx5_0/1 truth | awk 'NR > 1 { print $1, $4 }' | sort >"$STATE/truth"
shown() { page | awk -F'[{"} ]' '$1 == "qpscope_hw_counters_total" && $3 == "mlx5_0" && $5 == 1 { print $7, $NF }' | sort | join - "$STATE/truth"; }
wait_for 10 '[[ $(shown | awk "\$2 != \$3" | wc -l) -eq 0 && $(shown | wc -l) -eq 26 ]]' 'every Q counter is what its queue pairs counted'
[[ $(resets) -eq 0 ]] || die "resets: $(resets)"
stop_daemon
sim unload || die 'mlx5sim does not unload'

say '-- switchdev mode: the files of the device'
sim load switchdev=1 || die 'mlx5sim does not load again'
start_daemon
sim count mlx5_0/1 out_of_buffer 77
wait_for 10 '[[ $(metric qpscope_device_hw_counters_total device=mlx5_0,counter=out_of_buffer) == 77 ]]' 'a counter of the device'
! hw_total 1 out_of_buffer >/dev/null || die 'a counter of a port'
! metric qpscope_read_errors_total device=mlx5_0 >/dev/null || die "errors: $(page | grep qpscope_read_errors_total)"
stop_daemon
sim unload || die 'mlx5sim does not unload'
