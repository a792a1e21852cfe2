#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 200
# KERNELS: 6.12
# Queue pairs that hardware moves to ERR without any event, among 400 of two tenants: completion errors of the port point at them, and they are
# found within seconds, named in the log, within the firmware budget. A false alarm costs one question of each queue pair.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

# hold NAME COUNT: so many queue pairs in RTS, in a cgroup of that name.
hold() {
    mkdir -p "/sys/fs/cgroup/$1"
    (
        echo "$BASHPID" >"/sys/fs/cgroup/$1/cgroup.procs"
        exec "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "$2"
    ) >"$STATE/$1" 2>&1 &
    HOLDERS+=($!)
    wait_for 60 "grep -q ^held $STATE/$1" "$2 queue pairs of $1"
}
HOLDERS=()
found() { metric qpscope_queue_pairs_found_in_err_total 'device="mlx5_0"' || echo 0; }
errors() { sim count mlx5_0/1 req_transport_retries_exceeded "$1"; }
# Time in tenths of a second.
tenths() { awk '{ printf "%d\n", $1 * 10 }' /proc/uptime; }

sim load devices=1 ports=1 || die 'mlx5sim does not load'
[[ -w $(sim_path mlx5_0)/qp_silent_error ]] || skip 'mlx5sim.ko is older than this scenario: tests/guest/mlx5sim/build.sh'
wait_for 10 '[[ -z $(ip -6 address show tentative | grep sim) ]]' 'the addresses that queue pairs connect to are not tentative any more'
errors 5
# A sweep that takes more than three minutes: what is found sooner was not found by it.
DAEMON_YAML='reconcile: {polls_per_second: 2}'
start_daemon
hold train-a 200
hold train-b 200
wait_for 20 '[[ $(metric qpscope_queue_pairs "device=\"mlx5_0\",type=\"RC\",state=\"RTS\"") -eq 400 ]]' '400 queue pairs are known'
wait_for 20 'metric qpscope_hw_counters_total "counter=\"req_transport_retries_exceeded\"" >/dev/null' 'the port is sampled'
wait_for 20 '[[ $(metric qpscope_queue_pairs "workload=\"train-b\"") -eq 200 ]]' 'their owners are known'
# They are not young any more: those that changed in the last 10 s are asked last.
changed=$(date +%s)
wait_for 20 "[[ \$(date +%s) -ge $((changed + 12)) ]]" 'they have rested'

keep_page

say '-- three die and the counter moves'
read -ra a <<<"$(sed 's/^held //' "$STATE/train-a")"
read -ra b <<<"$(sed 's/^held //' "$STATE/train-b")"
sim forget mlx5_0
for qpn in "${a[150]}" "${b[10]}" "${b[190]}"; do sim set mlx5_0 qp_silent_error "$qpn"; done
errors 8
began=$(tenths)
wait_for 30 '[[ $(found) -eq 3 ]]' 'all three are found'
took=$(($(tenths) - began))
asked=$(sim asked mlx5_0 query_qp)
say "found after $((took / 10)).$((took % 10)) s; the sweep of 400 queue pairs takes $((400 / 2)) s at 2 a second, 20 s at the default of 20. Questions: $asked"
[[ $took -le 120 ]] || die "it took $took tenths of a second"
[[ $asked -le $((10 * (took + 20))) ]] || die "$asked questions in $took tenths of a second are more than the budget of 100 a second"
[[ $(metric qpscope_queue_pair_transitions_total 'from="RTS",to="ERR"') -eq 3 ]] || die 'the transitions are not on the page'
for qpn in "${a[150]}" "${b[10]}" "${b[190]}"; do
    line=$(grep "queue pair $qpn of " "$OUT/daemon.log") || die "no line about $qpn"
    say "$line"
    [[ $line == *"(qpscope-qp-hold)"*"qpn $qpn: is in ERR and no call moved it there, after "*" s in RTS; asked "*" s after completion errors grew" ]] || die 'the line does not say all'
done
grep -q "queue pair ${a[150]} of unknown/train-a, pid" "$OUT/daemon.log" || die "the owner of ${a[150]} is not named"
[[ $(grep -c 'is in ERR' "$OUT/daemon.log") -eq 3 ]] || die 'more lines than deaths'
# The same for people: "TIME TIME SEVERITY KIND DEVICE PORT QPN TENANT WORKLOAD ...".
"$QPSCOPE_BIN/qpscope" events --kind queue_pair_error >"$STATE/events" || die "qpscope events: $?"
got=$(awk '$4 == "queue_pair_error" { print $3, $5, $6, $7, $9 }' "$STATE/events" | sort)
wanted=$(printf '%s\n' "error mlx5_0 1 ${a[150]} train-a" "error mlx5_0 1 ${b[10]} train-b" "error mlx5_0 1 ${b[190]} train-b" | sort)
[[ $got == "$wanted" ]] || die "not these events: $(<"$STATE/events")"
status=0
"$QPSCOPE_BIN/qpscope" status --check >"$STATE/status" || status=$?
[[ $status -eq 5 && $(<"$STATE/status") == *"3 of 40"?" queue pairs in ERR"* ]] || die "qpscope status --check ended with $status: $(<"$STATE/status")"
# For the dashboards: traffic that is worth the name, and more loss than first_light's train-a has.
sim count mlx5_0/1 port_xmit_data 1000000000
sim count mlx5_0/1 packet_seq_err 1000000
wait_for 20 '[[ $(metric qpscope_port_tx_bytes_total device=mlx5_0) -eq 4000000000 ]]' 'their bytes are known'
keep_page

say '-- a false alarm'
rested() {
    local before
    before=$(sim asked mlx5_0 query_qp)
    sleep 3
    [[ $(($(sim asked mlx5_0 query_qp) - before)) -le 8 ]]
}
wait_for 30 rested 'only the sweep asks'
sim forget mlx5_0
began=$(tenths)
errors 9
wait_for 30 '[[ $(sim asked mlx5_0 query_qp) -ge 397 ]]' 'those that live were asked about'
wait_for 30 rested 'and only once'
took=$(($(tenths) - began))
asked=$(sim asked mlx5_0 query_qp)
say "$asked questions in $((took / 10)) s"
[[ $asked -le $((397 + 2 * took / 10 + 8)) ]] || die "$asked questions for 397 suspects"
[[ $(found) -eq 3 ]] || die 'a false alarm found somebody'
kill "${HOLDERS[@]}"
wait "${HOLDERS[@]}" || true
stop_daemon
sim unload
