#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 400
# ethtool statistics of the look-alike of mlx5: each in its family; PFC moved between priorities while everything counts leaves every number
# where it belongs and resets none; a pass that is slow is made less often; one that hangs leaves other devices, pages and the end alone.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

# A pass that takes long makes the next one wait for a hundred times as long.
PATIENCE=60
# is FAMILY LABELS VALUE: of mlx5_0, and then exactly.
is() { wait_for $PATIENCE "[[ \$(metric qpscope_$1 device=mlx5_0$2) == $3 ]]" "$1${2/,/ } is $3"; }
# has FAMILY LABELS VALUE: the page that was taken.
has() { [[ $(metric -f "$STATE/page" "qpscope_$1" "device=mlx5_0$2") == "$3" ]] || die "$1${2/,/ } is $(metric -f "$STATE/page" "qpscope_$1" "device=mlx5_0$2" || echo missing), not $3"; }
take() { page >"$STATE/page"; }
resets() { metric qpscope_counters_resets_total device=mlx5_0; }
pfc_frames() { metric -f "$STATE/page" qpscope_port_rx_pfc_frames_total "device=mlx5_0,priority=$1"; }

passed() { metric qpscope_collector_last_success_timestamp_seconds device=mlx5_0,collector=netdev_statistics; }
# Waits for the end of a pass.
pass() {
    LAST=$(passed)
    wait_for $PATIENCE '[[ $(passed) != "$LAST" ]]' 'another pass has ended'
}

sim load devices=2 || die 'mlx5sim does not load'
DAEMON_YAML=$'sampling: {interval: 200ms, slow_interval: 1s}\nbudget: {firmware_commands_per_second: 1000}'
sim pfc mlx5_0/1 0x08
value=1000
for name in rx_prio3_pause tx_prio3_pause rx_prio3_pause_transition rx_discards_phy rx_prio3_discards rx_prio0_buf_discard rx_prio3_buf_discard rx_err_lane_2_phy \
    link_down_events_phy rx_pci_signal_integrity rx_vport_rdma_unicast_bytes rx_vport_rdma_multicast_bytes; do
    sim count mlx5_0/1 $name $((value += 11))
done
sim count mlx5_0/1 rx_prio3_pause_duration 2500000
sim count mlx5_0/1 outbound_pci_stalled_wr 25
start_daemon

say '-- each in its family'
is port_rx_pfc_frames_total ,port=1,priority=3 1011
take
has port_tx_pfc_frames_total ,port=1,priority=3 1022
has port_rx_pfc_transitions_total ,port=1,priority=3 1033
has port_rx_pfc_pause_seconds_total ,port=1,priority=3 2.5
has port_rx_discards_total ,port=1,kind=buffer 1044
has port_rx_priority_discards_total ,port=1,priority=3 1055
has port_rx_discards_total ,port=1,kind=host_buffer $((1066 + 1077))
has port_phy_lane_corrected_bit_errors_total ,port=1,lane=2 1088
has port_phy_link_down_events_total ,port=1 1099
has device_pcie_rx_signal_integrity_errors_total '' 1110
has device_pcie_write_stalled_ratio '' 0.25
has port_vport_rdma_rx_bytes_total ,port=1 $((1121 + 1132))
has port_pfc_enabled ,port=1,priority=3 1
has port_pfc_enabled ,port=1,priority=4 0
keep_page
[[ $(grep -c '^qpscope_port_rx_pfc_frames_total{device="mlx5_0"' "$STATE/page") -eq 1 ]] || die 'PFC of a priority that is off'
[[ $(metric -f "$STATE/page" qpscope_port_netdev_info device=mlx5_0,netdev=sim0p1,driver=mlx5_core,flavour=physical) -eq 1 ]] || die 'no netdev'
! grep -q 'pause_frames_total{device="mlx5_0"' "$STATE/page" || die '802.3x pause while it is off'

say '-- 802.3x instead of PFC'
sim count mlx5_0/1 tx_global_pause 5
sim count mlx5_0/1 tx_global_pause_duration 1500000
sim pfc mlx5_0/1 0
sim set mlx5_0/1 global_pause 1
is port_tx_pause_frames_total ,port=1 5
take
has port_tx_pause_seconds_total ,port=1 1.5
! metric -f "$STATE/page" qpscope_port_rx_pfc_frames_total device=mlx5_0 >/dev/null || die 'PFC while it is off'
keep_page
sim set mlx5_0/1 global_pause 0

say '-- PFC moves between priorities 3 and 4, whose counts are far apart, between names and values too'
sim count mlx5_0/1 rx_prio4_pause 1000000000000
sim rate mlx5_0/1 rx_prio3_pause 1000
sim rate mlx5_0/1 rx_prio4_pause 100000
sim set mlx5_0 fault_kinds ethtool
sim set mlx5_0 delay_ms 5
passes=0 before='' mask=0x08
deadline=$((SECONDS + 120))
while [[ $passes -lt 4 ]]; do
    [[ $SECONDS -lt $deadline ]] || die "only $passes passes had PFC"
    for ((move = 0; move < 20; move++)); do
        mask=$((mask == 0x08 ? 0x10 : 0x08))
        sim pfc mlx5_0/1 $mask
        sleep 0.01
    done
    sleep 1 # long enough for a pass without a move
    take
    for priority in 3 4; do
        frames=$(pfc_frames $priority) || continue
        if [[ $priority -eq 3 ]]; then [[ $frames -lt 1000000 ]]; else [[ $frames -ge 1000000000000 ]]; fi || die "priority $priority: $frames"
        [[ $frames == "$before" ]] || passes=$((passes + 1))
        before=$frames
    done
done
sim stop mlx5_0
sim set mlx5_0 delay_ms 0
for mask in 0x10 0x08; do
    priority=$((mask == 0x10 ? 4 : 3))
    sim pfc mlx5_0/1 $mask
    is port_rx_pfc_frames_total ,port=1,priority=$priority "$(sim count mlx5_0/1 rx_prio${priority}_pause)"
done
[[ $(resets) -eq 0 ]] || die "resets: $(resets)"
keep_page
say "passes that met a move: $(metric qpscope_read_errors_total device=mlx5_0,source=ethtool,error=EAGAIN || echo none)"

say '-- both at once, and a restart while one is off'
sim pfc mlx5_0/1 0x18
is port_rx_pfc_frames_total ,port=1,priority=4 "$(sim count mlx5_0/1 rx_prio4_pause)"
is port_rx_pfc_frames_total ,port=1,priority=3 "$(sim count mlx5_0/1 rx_prio3_pause)"
sim pfc mlx5_0/1 0x10
wait_for $PATIENCE '! metric qpscope_port_rx_pfc_frames_total device=mlx5_0,priority=3 >/dev/null' 'priority 3 is gone'
stop_daemon
sim count mlx5_0/1 rx_prio3_pause $(($(sim count mlx5_0/1 rx_prio3_pause) + 17))
KEEP_STATE=yes start_daemon
sim pfc mlx5_0/1 0x08
is port_rx_pfc_frames_total ,port=1,priority=3 "$(sim count mlx5_0/1 rx_prio3_pause)"
[[ $(resets) -eq 0 ]] || die "resets: $(resets)"

say '-- a reset of the card is one'
sim reset mlx5_0
# One pass may have begun before; of the others the second confirms what the first saw.
for _ in 1 2 3; do pass; done
[[ $(resets) -gt 0 ]] || die 'no reset is counted'
is port_rx_discards_total ,port=1,kind=buffer 1044
sim count mlx5_0/1 rx_discards_phy 6
is port_rx_discards_total ,port=1,kind=buffer 1050
sim count mlx5_0/1 rx_discards_phy 9
is port_rx_discards_total ,port=1,kind=buffer 1053

say '-- a slow pass'
sim set mlx5_0 delay_ms 300
wait_for $PATIENCE '[[ $(metric qpscope_collector_interval_seconds device=mlx5_0,collector=netdev_statistics | cut -d. -f1) -ge 30 ]]' 'others have rtnl for 99 % of the time'
keep_page
stop_daemon
sim set mlx5_0 delay_ms 0
start_daemon

say '-- a pass that hangs, with the lock of all netdevs held'
is port_rx_discards_total ,port=1,kind=buffer 9
sim hang mlx5_0 uninterruptible ethtool
wait_for $PATIENCE 'grep -q "^State:.*D" /proc/$DAEMON_PID/task/*/status' 'a thread is stuck in the kernel'
for count in 1 2 3; do
    sim count mlx5_1/1 packet_seq_err $count
    wait_for 5 "[[ \$(metric qpscope_hw_counters_total device=mlx5_1,counter=packet_seq_err) == $count ]]" 'the other device is sampled'
done
wait_for $PATIENCE '[[ $(metric qpscope_read_errors_total device=mlx5_1,source=ethtool,error=EBUSY) -gt 0 ]]' 'but its netdev is not asked'
# Drivers that ask the netdev for its speed, as rxe does, answer no question about a port meanwhile (core/verbs.c ib_get_eth_speed).
for task in /proc/"$DAEMON_PID"/task/*; do
    grep -q '^State:.*D' "$task/status" || continue
    stack=$(<"$task/stack")
    say "stuck: $(awk '{ print $2 }' <<<"$stack" | head -n 8 | tr '\n' ' ')"
    [[ $stack == *sim_ask* || $stack == *ib_get_eth_speed* ]] || die 'another thread is stuck'
done
kill -TERM "$DAEMON_PID"
wait_for 10 '! (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null' 'nobody listens'
wait_for 10 'grep -q "mlx5_0" <(grep stuck "$OUT/daemon.log")' 'the log names the device that is left behind'
sim hang mlx5_0 no
wait "$DAEMON_PID" || die "SIGTERM ended with $?"
DAEMON_PID=
sim unload || die 'mlx5sim does not unload'
