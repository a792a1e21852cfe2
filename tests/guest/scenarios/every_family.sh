#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 150
# KERNELS: 6.12
# Every counter of a port of the look-alike, by its kernel name and in the common families, exactly: over wraps of each 32-bit one,
# SIGKILL, failing reads, a hang, a device that goes and returns, and resets.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

declare -A truth=() driven=()
# count_on EVENTS: each counter counts on by another number, EVENTS at least.
count_on() {
    local name more=$1
    for name in "${names[@]}"; do
        more=$((more + 7))
        truth[$name]=$((truth[$name] + more))
        driven[$name]=$((driven[$name] + more))
        sim_put "$port/counters/$name" "${driven[$name]}"
    done
}
exact() {
    local name
    for name in "${names[@]}"; do echo "$name ${truth[$name]}"; done >"$STATE/truth"
    page >"$STATE/page" && "$GUEST_DIR/exact.py" mlx5_0 1 "$STATE/truth" "$STATE/page" >"$STATE/exact"
}
is_exact() { # WHEN
    local start=$SECONDS
    until exact; do
        [[ $((SECONDS - start)) -lt 20 ]] || die "$1: $(head -n 12 "$STATE/exact")"
        sleep 0.2
    done
    say "exact after $((SECONDS - start)) s: $1: $(head -n 1 "$STATE/exact")"
}

sim load devices=2 ports=1 || die 'mlx5sim does not load'
port=$(sim_path mlx5_0/1)
ports=/sys/class/infiniband/mlx5_0/ports/1
# Those of 4 to 16 bits stay at their largest value: nothing can be exact about them.
mapfile -t names < <(find $ports/hw_counters -type f ! -name lifespan -printf '%f\n'
    find $ports/counters -type f \( -name '*cast_*' -o -name 'port_*_data' -o -name 'port_*_packets' \) -printf '%f\n')
[[ ${#names[@]} -ge 38 ]] || die "only these counters: ${names[*]}"
for name in "${names[@]}"; do truth[$name]=4294900000 driven[$name]=4294900000; done
count_on 0
DAEMON_YAML='sampling: {interval: 200ms, slow_interval: 500ms, stale_after: 3s}
budget: {firmware_commands_per_second: 0}'
start_daemon
is_exact 'as the kernel has them'
keep_page
count_on 80000
is_exact 'every 32-bit counter wrapped'
keep_page
count_on 1
stop_daemon KILL
count_on 100
KEEP_STATE=yes start_daemon
is_exact 'SIGKILL, and counted on meanwhile'
for errno in 5 22 11; do
    sim fail mlx5_0 $errno hw_counters port_counters
    wait_for 10 '! metric qpscope_hw_counters_total device=mlx5_0 >/dev/null' "errno $errno: nothing is shown that cannot be read"
    count_on 1000
    sim fail mlx5_0 0 hw_counters port_counters
    is_exact "after errno $errno"
done
keep_page
sim hang mlx5_0 uninterruptible hw_counters port_counters
wait_for 10 'grep -q "^State:.*D" /proc/$DAEMON_PID/task/*/status' 'a thread is stuck in the kernel'
count_on 3000
sim hang mlx5_0 no hw_counters port_counters
is_exact 'after a hang'
sim remove mlx5_0
wait_for 10 '! metric qpscope_hw_counters_total device=mlx5_0 >/dev/null' 'the device is gone from the page'
sim add mlx5_0
count_on 500
is_exact 'gone and back'
# What the kernel shows starts at 0: that adds nothing, and what is counted from there on does.
sim reset mlx5_0
for name in "${names[@]}"; do driven[$name]=0; done
wait_for 10 '[[ $(metric qpscope_counters_resets_total device=mlx5_0,port=1) -ge '${#names[@]}' ]]' 'each counter was reset, and told'
is_exact 'all were reset'
count_on 42
is_exact 'and counted on'
[[ $(metric qpscope_counters_resets_total 'device="mlx5_0",port="1"') -eq ${#names[@]} ]] || die 'one reset each'
[[ $(metric qpscope_counters_gaps_total 'device="mlx5_0"') -eq 0 ]] || die 'a gap was counted'
stop_daemon
sim unload
