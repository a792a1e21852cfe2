#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 360
# The daemon over the look-alike of mlx5: totals equal what was set through wraps, SIGKILL, errors, hangs and a device that goes and
# comes back; a device that hangs takes only itself away, with its queue pairs, and a new daemon starts while the old one's thread is
# still stuck.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

hw_total() { metric qpscope_hw_counters_total "device=\"$1\",counter=\"$2\""; }
# total_is DEVICE COUNTER VALUE: within 10 s, and then exactly.
total_is() { wait_for 10 "[[ \$(hw_total $1 $2) == $3 ]]" "$1 $2 is $3 on the page"; }
# A batch of scrapes, which spans some 30 snapshots: median, p99 and worst in ms.
scrapes() { "$GUEST_DIR/scrape_times.py" "http://127.0.0.1:$PORT/metrics" --count 300 --every 0.02; }
# The smallest median and the smallest p99 of the batches in a file.
least() { awk 'NR == 1 || $1 < median { median = $1 } NR == 1 || $2 < p99 { p99 = $2 } END { print median, p99 }' "$OUT/$1"; }
no_slower() { awk -v calm="$(least calm)" -v hanging="$(least hanging)" 'BEGIN { split(calm, c); split(hanging, h); exit !(h[1] <= c[1] + 2 && h[2] <= c[2] + 2) }'; }

sim load devices=2 ports=1 || die 'mlx5sim does not load'
DAEMON_YAML='sampling: {interval: 200ms, slow_interval: 1s, stale_after: 3s}'
start_daemon
KEEP_STATE=yes

say '-- exact, over two wraps and SIGKILL between them'
truth=4294967290
sim count mlx5_0/1 packet_seq_err $truth
total_is mlx5_0 packet_seq_err $truth
# A rise within 32 bits may be of any size; a wrap only as far as a port can have counted since the last sample.
for step in 16 4194967290 100000000 100; do
    truth=$((truth + step))
    sim count mlx5_0/1 packet_seq_err $truth
    total_is mlx5_0 packet_seq_err $truth
done
[[ $(metric qpscope_port_retransmits_total 'device="mlx5_0",cause="sequence_nak"') == "$truth" ]] || die 'the canonical family differs from the raw one'
stop_daemon KILL
truth=$((truth + 30))
sim count mlx5_0/1 packet_seq_err $truth
start_daemon
total_is mlx5_0 packet_seq_err $truth
[[ $(metric qpscope_counters_resets_total 'device="mlx5_0"') -eq 0 ]] || die 'a restart was taken for a reset'

say '-- errors: that device loses its samples, once in the log, and they come back'
lines=$(grep -c 'mlx5_0: hw_counters' "$OUT/daemon.log" || true)
sim fail mlx5_0 5 hw_counters
wait_for 10 '! hw_total mlx5_0 packet_seq_err >/dev/null' 'no sample that cannot be read'
wait_for 10 '[[ $(metric qpscope_read_errors_total "device=\"mlx5_0\",error=\"EIO\"") -gt 0 ]]' 'the failures are counted'
hw_total mlx5_1 packet_seq_err >/dev/null || die 'the other device lost its samples too'
sim fail mlx5_0 0 hw_counters
wait_for 20 '[[ $(hw_total mlx5_0 packet_seq_err) == '$truth' ]]' 'they are back, unchanged'
[[ $(grep -c 'mlx5_0: hw_counters' "$OUT/daemon.log") -le $((lines + 2)) ]] || die 'the log was flooded'

say '-- a device that hangs takes only itself away'
# Without and with, by turns: what the machine does besides only ever makes a scrape longer, while what a hang costs would be in every
# batch, so the quietest batches are compared. Three turns at least; more where the machine was not quiet.
for turn in 1 2 3 4 5 6 7 8; do
    scrapes >>"$OUT/calm"
    sim hang mlx5_0 uninterruptible hw_counters
    wait_for 10 'grep -q "^State:.*D" /proc/$DAEMON_PID/task/*/status' 'a thread is stuck in the kernel'
    scrapes >>"$OUT/hanging"
    wait_for 15 '! hw_total mlx5_0 packet_seq_err >/dev/null' 'the samples of the device that hangs are gone'
    say "300 scrapes, median, p99 and worst in ms: $(tail -n 1 "$OUT/calm") without, $(tail -n 1 "$OUT/hanging") during the hang"
    if [[ $turn -ge 3 ]] && no_slower; then break; fi
    sim hang mlx5_0 no hw_counters
    [[ $turn -lt 8 ]] || die "scrapes got slower, least median and p99 in ms: $(least calm) without, $(least hanging) during the hang"
    total_is mlx5_0 packet_seq_err $truth
done
metric qpscope_collector_last_success_timestamp_seconds 'device="mlx5_0",collector="hw_counters"' >/dev/null || die 'its last success is gone too'
sim count mlx5_1/1 packet_seq_err 77
total_is mlx5_1 packet_seq_err 77

say '-- SIGKILL and a new daemon, while the thread of the old one is still in the kernel'
old=$DAEMON_PID
kill -KILL "$old"
DAEMON_PID=
wait_for 10 '! (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null' 'nobody listens: the stuck thread does not hold the port'
# Whatever the new one asks of that device hangs too, netlink's questions for queue pairs among them.
sim hang mlx5_0 uninterruptible hw_counters port_counters query_port query_qp
"$QPSCOPE_BIN/qpscope-qp-hold" mlx5_1 20 >"$STATE/held" 2>&1 &
holder=$!
wait_for 30 'grep -q ^held "$STATE/held"' '20 queue pairs of the other device, from before the daemon'
start_daemon
grep -q '^State:.*[DZ]' "/proc/$old/status" || die "the old daemon is not stuck: $(grep State "/proc/$old/status")"
total_is mlx5_1 packet_seq_err 77
wait_for 10 '[[ $(metric qpscope_queue_pairs "device=\"mlx5_1\",type=\"RC\",state=\"RTS\"") -eq 20 ]]' 'netlink has told of them'
! metric qpscope_queue_pairs 'device="mlx5_0"' >/dev/null || die 'the device that hangs has answered'
sim set mlx5_1 qp_silent_error "$(cut -d' ' -f10 "$STATE/held")"
sim count mlx5_1/1 req_transport_retries_exceeded 1
wait_for 10 '[[ $(metric qpscope_queue_pairs_found_in_err_total "device=\"mlx5_1\"") -eq 1 ]]' 'the one that died silently is found'

say '-- SIGTERM while a thread is stuck in netlink: it is named'
older=$DAEMON_PID
kill -TERM "$older"
wait_for 10 'grep -q "mlx5_0: its netlink reader is stuck" "$OUT/daemon.log"' 'the log names the thread that is left behind'
DAEMON_PID=
wait_for 10 '! (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null' 'nobody listens'
start_daemon
sim hang mlx5_0 no
wait_for 20 'hw_total mlx5_0 packet_seq_err >/dev/null' 'the device is read again'
total_is mlx5_0 packet_seq_err $truth
wait_for 20 'metric qpscope_queue_pairs "device=\"mlx5_0\"" >/dev/null' 'and its queue pairs are known'
wait "$old" "$older" 2>/dev/null || true
kill "$holder"
wait "$holder" || true

say '-- a device goes and comes back: its totals go on'
sim remove mlx5_0
wait_for 10 '[[ $(metric qpscope_devices_found) -eq $(($(ls /sys/class/infiniband | wc -l))) ]] && ! hw_total mlx5_0 packet_seq_err >/dev/null' 'the device is gone from the page'
sim add mlx5_0
wait_for 20 '[[ $(hw_total mlx5_0 packet_seq_err) == '$truth' ]]' 'it is back with its totals'
stop_daemon
[[ $DAEMON_STATUS -eq 0 ]] || die "SIGTERM ended with $DAEMON_STATUS"
sim unload
