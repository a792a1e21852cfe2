#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# KERNELS: 6.12
# The look-alike's own count of what it was asked stays within budget.firmware_commands_per_second in every mode: while thousands of
# queue pairs are seeded, under a tenant's churn, with and without BPF, with counter sets; and it is what the daemon says it spent.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

# commands DEVICE: what the look-alike was asked, in firmware commands; a pass over hw_counters is three.
commands() {
    sim asked "$1" | awk '{ n[$1] = $2 } END { print 3 * n["hw_counters"] + n["port_counters"] + n["query_port"] + n["query_qp"] + n["set_read"] + 33 * n["ethtool"] }'
}
spent() { metric qpscope_firmware_commands_total "device=\"$1\",by=\"self\""; }

# within_budget SECONDS PER_SECOND WHAT: over so long each device is asked no more than that, and as often as the daemon says.
within_budget() {
    local device asked said began=$SECONDS
    local -A before
    for device in mlx5_0 mlx5_1; do
        sim forget $device
        before[$device]=$(spent $device)
    done
    # A stretch of time is what is measured here.
    sleep "$1"
    for device in mlx5_0 mlx5_1; do
        asked=$(commands $device)
        said=$(($(spent $device) - before[$device]))
        say "$3: $device was asked $asked in $1 s, the daemon says $said"
        [[ $asked -le $(($2 * (SECONDS - began))) ]] || die "$3: $device was asked $asked in $((SECONDS - began)) s: $(sim asked $device | tr '\n' ' ')"
        # The page is a second old at most, and a piece of a dump is asked for before it is read.
        [[ $((said - asked)) -le 300 && $((asked - said)) -le 300 ]] || die "$3: $device was asked $asked, the daemon says $said: $(sim asked $device | tr '\n' ' ')"
    done
}
held() { grep -q '^held' "$STATE/$1"; }
# hold NAME DEVICE COUNT [PORT churn]
hold() {
    "$QPSCOPE_BIN/qpscope-qp-hold" "${@:2}" >"$STATE/$1" 2>&1 &
    HOLDERS+=($!)
    wait_for 60 "held $1 || ! kill -0 $! 2>/dev/null" "$3 queue pairs of $2"
    held "$1" || die "qp-hold: $(cat "$STATE/$1")"
}
HOLDERS=()
# again: another daemon, with DAEMON_YAML. Nobody churns while probes come and go: this emulator at times executes a patched function's old
# bytes (README.md, traps).
again() {
    kill -STOP "$churn"
    wait_for 10 'grep -q "^State:.*T" /proc/$churn/status' 'the churner is out of the kernel'
    stop_daemon
    start_daemon
    kill -CONT "$churn"
}

sim load devices=2 ports=1 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show tentative | grep sim) ]]' 'the addresses that queue pairs connect to are not tentative any more'
hold old mlx5_0 800

say '-- a seed of 800 queue pairs, then calm'
start_daemon
[[ $(metric qpscope_queue_pairs 'device="mlx5_0"' || echo 0) -lt 800 ]] || die 'all were dumped at once'
within_budget 5 100 'seed'
wait_for 20 '[[ $(metric qpscope_queue_pairs "device=\"mlx5_0\"") -ge 800 ]]' 'all of them are known'
within_budget 5 100 'calm'
[[ $(metric qpscope_sampling_interval_seconds 'device="mlx5_0"') == 1 ]] || die 'the interval is stretched although there is room'

say '-- counter sets: the port asks each of them for each counter'
read -ra qpns <<<"$(sed 's/^held //' "$STATE/old")"
for qpn in "${qpns[@]:0:4}"; do rdma statistic qp bind link mlx5_0/1 lqpn "$qpn" || die "no set for $qpn"; done
wait_for 30 '[[ $(metric qpscope_sampling_interval_seconds "device=\"mlx5_0\"" | cut -d. -f1) -ge 2 ]]' 'the interval is longer'
within_budget 12 100 'four counter sets'
for id in 1 2 3 4; do rdma statistic qp unbind link mlx5_0/1 cntn $id; done
wait_for 30 '[[ $(metric qpscope_sampling_interval_seconds "device=\"mlx5_0\"") == 1 ]]' 'the interval is as configured again'

say '-- churn as fast as it goes'
hold churn mlx5_1 50 1 churn
churn=${HOLDERS[-1]}
within_budget 8 100 'churn'
for mode in 'bpf: {enabled: false}' 'reconcile: {interval: 1s, polls_per_second: 10000}'; do
    DAEMON_YAML=$mode
    again
    within_budget 8 100 "churn, $mode"
done

say '-- a small budget: sampling gets slower and says so'
kill "${HOLDERS[@]}"
wait "${HOLDERS[@]}" || true
stop_daemon
DAEMON_YAML='budget: {firmware_commands_per_second: 8}'
start_daemon
wait_for 30 '[[ $(metric qpscope_sampling_interval_seconds "device=\"mlx5_0\"" | cut -d. -f1) -ge 2 ]]' 'the interval is longer'
within_budget 15 8 'a budget of 8'
[[ $(metric qpscope_budget_throttled_total) -gt 0 ]] || die 'nothing was put off'
metric qpscope_hw_counters_total 'device="mlx5_0"' >/dev/null || die 'the samples of a slow device are left out as stale'
stop_daemon
sim unload
