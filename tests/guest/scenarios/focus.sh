#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# KERNELS: 6.12
# One queue pair in a counter set of its own, asked for (qpscope focus) and by suspicion (counters.qp_focus), on a look-alike device: its
# series is what it counted since, exactly, no other has one, it goes back when its time is up, and its tenant misses nothing. Queue pairs
# move when their pod gets its name late; all sets are given back while firmware commands are slow; a device that has no more sets shares
# one. Where sets are not to be made, the command says so.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

id=4c6a8e0f2b1d3c5e7f9a0b2d4c6e8f1a3b5d7c9e0f2a4b6d8c1e3f5a7b9d0c2e
uid=7d3f9a1c-52e8-4b06-9c47-1a8e6f0b3d25
job=/system.slice/slurmstepd.scope/job_7/step_0/user/task_0
pod=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid//-/_}.slice/cri-containerd-$id.scope
declare -A pid_of=()
: >"$STATE/owners"

hold() { # NAME CGROUP TENANT WORKLOAD COUNT
    mkdir -p "/sys/fs/cgroup$2"
    (
        echo "$BASHPID" >"/sys/fs/cgroup$2/cgroup.procs"
        exec "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "$5" 1
    ) >"$STATE/$1" 2>&1 &
    pid_of[$1]=$!
    echo "$! $3 $4" >>"$STATE/owners"
    wait_for 20 "grep -q ^held '$STATE/$1' || ! kill -0 $! 2>/dev/null" "$5 queue pairs of $1"
    grep -q ^held "$STATE/$1" || die "$1: $(cat "$STATE/$1")"
}
qpns() { sed 's/^held //' "$STATE/$1"; }
drive() { # NAME COUNTER...: each of its queue pairs at a rate of its own
    local qpn counter rate=700
    for qpn in $(qpns "$1"); do
        for counter in "${@:2}"; do sim traffic mlx5_0 "$qpn" "$counter" rate $((rate += 137)); done
    done
}
counted() { wait_for 20 '[[ $(metric qpscope_port_counted_qps_ratio device=mlx5_0,port=1) == 1 ]]' 'every queue pair counts in a set'; }
exact() { # shared|""
    page >"$STATE/page" || return 1
    sim show mlx5_0 ledger >"$STATE/ledger"
    "$GUEST_DIR/whose.py" mlx5_0 "$STATE/ledger" "$STATE/owners" "$STATE/page" "$1" >"$STATE/whose"
}
quiet() { # WHEN [shared]
    local start=$SECONDS
    sim stop mlx5_0
    until exact "${2:-}"; do
        [[ $((SECONDS - start)) -lt 30 ]] || die "$1: $(head -n 15 "$STATE/whose")"
        sleep 0.3
    done
    say "exact after $((SECONDS - start)) s: $1: $(head -n 1 "$STATE/whose")"
}
# of_qp QPN: what the look-alike's ledger has of it, "counter total".
of_qp() { sim show mlx5_0 ledger | awk -v qpn="$1" '$2 == qpn { n[$6] += $7 } END { for (c in n) print c, n[c] }' | sort; }
own_series() { page /metrics/qps | grep '^qpscope_qp_hw_counters_total{' >"$STATE/own" || true; }
# alone QPN SINCE: its series are what it counted since then, of every counter, and nobody else has any.
alone() {
    own_series
    ! grep -v "device=\"mlx5_0\",port=\"1\",qpn=\"$1\"," "$STATE/own" >"$STATE/strangers" || die "series of others: $(head -n 3 "$STATE/strangers")"
    sed -E 's/.*counter="([^"]*)".*} /\1 /' "$STATE/own" | sort >"$STATE/shown"
    join -a 1 -e 0 -o 0,1.2,2.2 "$STATE/shown" <(join -a 1 -e 0 -o 0,1.2,2.2 <(of_qp "$1") "$2" | awk '{ print $1, $2 - $3 }') >"$STATE/both"
    [[ $(awk '$2 > 0' "$STATE/both" | wc -l) -eq 2 ]] && awk '$2 != $3 { exit 1 }' "$STATE/both"
}
rebinds() { metric qpscope_tenant_rebinds_total device=mlx5_0,port=1; }
focused() { [[ $(metric qpscope_counter_sets_focused device=mlx5_0) -eq $1 ]]; }
sets() { sim show mlx5_0 sets | wc -l; } # and a line above them

sim load devices=1 ports=1 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show dev sim0p1 tentative) ]]' 'the address is not tentative any more'

say '-- one queue pair for 20 s'
DAEMON_YAML='counters: {qp_mode: tenant}'
start_daemon
hold a "$job" root 7 8
counted
read -ra all <<<"$(qpns a)"
one=${all[4]}
drive a packet_seq_err out_of_sequence
quiet 'one tenant'
of_qp "$one" >"$STATE/since"
"$QPSCOPE_BIN/qpscope" focus mlx5_0 "$one" --for 20s || die "qpscope focus: $?"
wait_for 10 'focused 1 && [[ $(sets) -eq 3 ]]' "queue pair $one has a set of its own"
drive a packet_seq_err out_of_sequence
wait_for 10 'own_series; [[ -s $STATE/own ]]' 'it has series of its own'
keep_page
quiet 'one is alone'
wait_for 10 "alone $one '$STATE/since'" "its series are what it counted since"
say "$(tr '\n' ' ' <"$STATE/both")"
keep_page
drive a packet_seq_err out_of_sequence
wait_for 40 'focused 0 && [[ $(sets) -eq 2 ]]' 'it went back'
counted
quiet 'back'
own_series
[[ ! -s $STATE/own ]] || die "series after its time: $(head -n 2 "$STATE/own")"

say '-- a pod that gets its name late'
hold p "$pod" unknown "pod$uid" 3
counted
drive p packet_seq_err
quiet 'a pod without a name'
drive p packet_seq_err
before=$(rebinds)
mkdir -p "/var/log/pods/ml_trainer-0_$uid/main"
wait_for 20 "[[ \$(rebinds) -eq $((before + 3)) ]]" 'its queue pairs moved'
counted
quiet 'the pod has its name' shared
named=$(metric -f "$STATE/page" qpscope_tenant_retransmits_total tenant=ml,workload=trainer,cause=sequence_nak)
before=$(metric -f "$STATE/page" qpscope_tenant_retransmits_total "tenant=unknown,workload=pod$uid,cause=sequence_nak")
in_sets=$(awk -v pid="${pid_of[p]}" '$3 == pid && $6 == "packet_seq_err" { n += $7 - $8 } END { print n }' "$STATE/ledger")
[[ $named -gt 0 && $before -gt 0 && $((named + before)) -eq $in_sets ]] || die "of the pod's $in_sets: $before before it had its name, $named then"

say '-- slow firmware'
sim set mlx5_0 fault_kinds 'hw_counters port_counters query_port set_read'
sim set mlx5_0 delay_ms 120
drive a packet_seq_err
wait_for 60 'metric qpscope_counter_sets_status device=mlx5_0,status=slow >/dev/null && [[ $(sets) -eq 1 ]]' 'every set is given back'
[[ $("$QPSCOPE_BIN/qpscope-nldev-stat" mode mlx5_0 1) == 'none 0' ]] || die 'the mode is another'
sim count mlx5_0/1 np_cnp_sent 4711
wait_for 20 '[[ $(metric qpscope_port_tx_cnp_packets_total device=mlx5_0) == 4711 ]]' 'counters are read as before'
quiet 'after slow firmware' shared
sim set mlx5_0 delay_ms 0
stop_daemon

say '-- by suspicion'
DAEMON_YAML='counters: {qp_mode: tenant, qp_focus: 2, focus_time: 3s}' KEEP_STATE=yes start_daemon
counted
guilty=${all[3]}
sim traffic mlx5_0 "$guilty" packet_seq_err rate 500
declare -A seen=()
suspects() {
    local qpn
    own_series
    while read -r qpn; do seen[$qpn]=yes; done < <(sed -E 's/.*qpn="([0-9]*)".*/\1/' "$STATE/own" | sort -u)
    [[ $(sed -nE "s/.*qpn=\"$guilty\".*counter=\"packet_seq_err\"\} //p" "$STATE/own") -gt 0 ]]
}
# Two in each round of 10 s, the guilty one in the second: one in each would take 40 s.
wait_for 35 suspects "the one that retransmits is shown"
say "suspects: ${!seen[*]}"
[[ ${#seen[@]} -ge 3 ]] || die 'the suspects do not take turns'

say '-- a device without another set'
sim stop mlx5_0
wait_for 20 'focused 0' 'nobody is looked at any more'
sim set mlx5_0 max_sets 2
hold s /system.slice/train.service system.slice train.service 2
counted
drive s packet_seq_err
sleep 1.2
quiet 'some share a set' shared
[[ $(metric -f "$STATE/page" qpscope_tenant_retransmits_total device=mlx5_0,tenant=other,workload=other) -gt 0 ]] || die 'other has nothing'
[[ $(metric qpscope_counter_set_calls_total call=bind_new,error=ENOMEM) -gt 0 ]] || die 'the device refused nothing'
stop_daemon
[[ $(sets) -eq 1 ]] || die "sets are left: $(sim show mlx5_0 sets)"

say '-- where sets are not to be made'
DAEMON_YAML='' KEEP_STATE=yes start_daemon
status=0
"$QPSCOPE_BIN/qpscope" focus mlx5_0 "$one" 2>"$STATE/said" || status=$?
[[ $status -eq 1 && $(<"$STATE/said") == *qp_mode* ]] || die "qpscope focus ended with $status: $(cat "$STATE/said")"
[[ $(sets) -eq 1 ]] || die 'a set was made'
stop_daemon
for name in "${!pid_of[@]}"; do
    kill "${pid_of[$name]}"
    wait "${pid_of[$name]}" || true
done
sim unload || die 'mlx5sim does not unload'
