#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 180
# KERNELS: 6.12
# Optional counters that an operator switched on, on the look-alike: of a port they are shown by their names. Where counter sets have them too
# (on a card from Linux 6.15 on), CNP, CE marks and RDMA bytes of each tenant are exact, nothing of the port's is credited twice, and
# tenants and nobody together are the port.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

# What a card counts twice: by flow rules for the set, in the firmware for the port. Bytes of the port are in 4-byte words.
set_names=(cc_rx_ce_pkts cc_tx_cnp_pkts cc_rx_cnp_pkts rdma_rx_bytes rdma_tx_bytes rdma_rx_packets rdma_tx_packets)
port_names=(np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled port_rcv_data port_xmit_data port_rcv_packets port_xmit_packets)
families=(rx_ecn_marked_packets tx_cnp_packets rx_cnp_packets rx_bytes tx_bytes rx_packets tx_packets)
declare -A port_total=() tenant_total=()

hold() { # NAME COUNT
    mkdir -p "/sys/fs/cgroup/system.slice/$1.service"
    (
        echo "$BASHPID" >"/sys/fs/cgroup/system.slice/$1.service/cgroup.procs"
        exec "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "$2" 1
    ) >"$STATE/$1" 2>&1 &
    wait_for 20 "grep -q ^held '$STATE/$1' || ! kill -0 $! 2>/dev/null" "$2 queue pairs of $1"
    grep -q ^held "$STATE/$1" || die "$1: $(cat "$STATE/$1")"
}
# count QPN WORKLOAD: the queue pair's set and the port both count it; of a queue pair of nobody (-) the port alone.
count() {
    local i size
    for i in "${!set_names[@]}"; do
        size=$((4 * (100 + RANDOM)))
        if [[ $2 != - ]]; then
            sim traffic mlx5_0 "$1" "${set_names[i]}" add "$size"
            tenant_total[$2/${families[i]}]=$((${tenant_total[$2/${families[i]}]:-0} + size))
        fi
        port_total[${families[i]}]=$((${port_total[${families[i]}]:-0} + size))
        case ${port_names[i]} in
            *_data) sim count mlx5_0/1 "${port_names[i]}" $((${port_total[${families[i]}]} / 4)) ;;
            *) sim count mlx5_0/1 "${port_names[i]}" "${port_total[${families[i]}]}" ;;
        esac
    done
}
exact() {
    local key family all
    local -A shown=()
    # As "port/FAMILY", "nobody/FAMILY" and "WORKLOAD/FAMILY".
    while read -r key all; do shown[$key]=$((${shown[$key]:-0} + all)); done < <(page | awk -F'[{"} ]' '
        !/device="mlx5_0"/ || !match($1, /^qpscope_(port_unattributed|port|tenant)_/) { next }
        { family = $1; sub(/^qpscope_(port_unattributed|port|tenant)_/, "", family); sub(/_total$/, "", family) }
        { print ($1 ~ /^qpscope_tenant/ ? $5 : $1 ~ /unattributed/ ? "nobody" : "port") "/" family, $NF }' | grep -E "/($(IFS='|'; echo "${families[*]}")) ")
    : >"$STATE/wrong"
    for family in "${families[@]}"; do
        for key in opt-a.service/"$family" opt-b.service/"$family"; do
            [[ ${shown[$key]:-0} -eq ${tenant_total[$key]:-0} ]] || echo "$key: ${shown[$key]:-0}, not ${tenant_total[$key]:-0}" >>"$STATE/wrong"
        done
        all=$((${shown[opt-a.service/$family]:-0} + ${shown[opt-b.service/$family]:-0} + ${shown[nobody/$family]:-0}))
        [[ $all -eq ${shown[port/$family]:-0} && $all -eq ${port_total[$family]} ]] ||
            echo "$family: tenants and nobody have $all, the port ${shown[port/$family]:-0}, driven ${port_total[$family]}" >>"$STATE/wrong"
    done
    [[ ! -s $STATE/wrong ]]
}
quiet() {
    local deadline=$((SECONDS + 30))
    until exact; do
        [[ $SECONDS -lt $deadline ]] || die "$1: $(cat "$STATE/wrong")"
        sleep 0.3
    done
    say "exact: $1"
}

say '-- of a port'
sim load devices=1 ports=1 set_optional=1 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show dev sim0p1 tentative) ]]' 'the address is not tentative any more'
rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts,rdma_tx_bytes
DAEMON_YAML=$'sampling: {interval: 300ms, slow_interval: 1s}\ncounters: {qp_mode: tenant}\nbudget: {firmware_commands_per_second: 1000}'
start_daemon
sim count mlx5_0/1 cc_rx_ce_pkts 9
wait_for 10 '[[ $(metric qpscope_hw_counters_total device=mlx5_0,counter=cc_rx_ce_pkts) == 9 ]]' 'one that is on'
metric qpscope_hw_counters_total device=mlx5_0,counter=rdma_tx_bytes >/dev/null || die 'not every one that is on'
! metric qpscope_hw_counters_total device=mlx5_0,counter=rdma_rx_bytes >/dev/null || die 'one that is off'
! metric qpscope_port_rx_ecn_marked_packets_total device=mlx5_0 | grep -qv '^0$' || die 'counted twice: beside np_ecn_marked_roce_packets'
rdma statistic unset link mlx5_0/1 optional-counters

say '-- of sets'
hold opt-a 3
wait_for 20 '[[ $(metric qpscope_counter_sets device=mlx5_0,by=self) == 1 ]]' 'one tenant alone'
count 101 opt-a.service
quiet 'one tenant alone, whose the port is too'
hold opt-b 2
wait_for 20 '[[ $(metric qpscope_counter_sets device=mlx5_0,by=self) == 2 ]]' 'each has its set'
wait_for 20 'page | grep -q "qpscope_port_counted_qps_ratio{device=\"mlx5_0\",port=\"1\"} 1$"' 'all are in sets'
count 100 opt-a.service
count 103 opt-b.service
quiet 'two tenants'
keep_page
count 101 opt-a.service
count 0 -
count 104 opt-b.service
quiet 'and nobody'
keep_page
stop_daemon
for pid in $(jobs -p); do
    kill "$pid"
    wait "$pid" || true
done
sim unload || die 'mlx5sim does not unload'
