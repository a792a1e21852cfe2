#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# KERNELS: 6.12
# A port's counters go to the tenant that has all of its queue pairs (method sole_owner), those that no counter set holds too: exactly what
# was driven while a job was alone on a look-alike device, nothing of what came while two had queue pairs there, nobody had or no daemon ran.
# On soft-RoCE with one job left, its traffic is that job's. The daemon killed in between: totals only grow.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

counters=(np_cnp_sent np_ecn_marked_roce_packets port_xmit_data packet_seq_err)
declare -A all=() pid_of=()
job=/system.slice/slurmstepd.scope/job_7/step_0/user/task_0
other=/system.slice/train.service
nudges=0

hold() { # NAME CGROUP COUNT
    mkdir -p "/sys/fs/cgroup$2"
    (
        echo "$BASHPID" >"/sys/fs/cgroup$2/cgroup.procs"
        exec "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "$3" 1
    ) >"$STATE/$1" 2>&1 &
    pid_of[$1]=$!
    wait_for 20 "grep -q ^held '$STATE/$1' || ! kill -0 $! 2>/dev/null" "$3 queue pairs of $1"
    grep -q ^held "$STATE/$1" || die "$1: $(cat "$STATE/$1")"
}
drop() { # NAME
    kill "${pid_of[$1]}"
    wait "${pid_of[$1]}" || true
    unset "pid_of[$1]"
}
# burst TENANT WORKLOAD: each counter by a number of its own; "- -" when nobody is alone.
burst() {
    local counter size=$((1000 + RANDOM))
    for counter in "${counters[@]}"; do
        size=$((size + 7))
        all[$counter]=$((${all[$counter]:-0} + size))
        sim count mlx5_0/1 "$counter" "${all[$counter]}"
        echo "$counter $size $*" >>"$STATE/driven"
    done
}
exact() { page >"$STATE/page" && "$GUEST_DIR/sole.py" mlx5_0 "$STATE/driven" "$STATE/page" >"$STATE/sole"; }
quiet() { # WHEN
    local start=$SECONDS
    until exact; do
        [[ $((SECONDS - start)) -lt 25 ]] || die "$1: $(cat "$STATE/sole")"
        sleep 0.3
    done
    say "exact after $((SECONDS - start)) s: $1"
}
# alone TENANT: a step beside a change of owners is nobody's, so bursts begin once the steps of two counters, one of each collector, are credited.
alone() {
    local acks data
    acks=$(credited "$1" rx_cnp_ignored_packets)
    data=$(credited "$1" rx_bytes)
    wait_for 30 "nudge; [[ \$(credited $1 rx_cnp_ignored_packets) -gt $acks && \$(credited $1 rx_bytes) -gt $data ]]" "what the port counts is $1's"
}
credited() { metric "qpscope_tenant_$2_total" "device=mlx5_0,tenant=$1,method=sole_owner" || echo 0; }
nudge() {
    nudges=$((nudges + 1))
    sim count mlx5_0/1 rp_cnp_ignored $nudges
    sim count mlx5_0/1 port_rcv_data $nudges
}
totals() { page | grep -E '^qpscope_(tenant|port_unattributed|port)_\w+_total\{' >"$STATE/$1"; }
# Every series of the one page is on the other, with no less.
only_grew() { awk 'NR == FNR { was[$1] = $2; next } { is[$1] = $2 } END { for (s in was) if (!(s in is) || is[s] < was[s]) { print s, was[s], "then", is[s]; exit 1 } }' "$STATE/$1" "$STATE/$2"; }
# no_more_than_the_port PAGE: what tenants and nobody have of soft-RoCE's ports.
no_more_than_the_port() {
    awk '/^qpscope_(tenant|port_unattributed|port)_[a-z_]*_total\{.*device="rxe/ {
            family = $1
            sub(/^qpscope_(tenant|port_unattributed|port)_/, "", family)
            gsub(/(tenant|workload|method)="[^"]*",?/, "", family)
            sub(/,}/, "}", family)
            if ($1 ~ /^qpscope_(tenant|port_unattributed)_/) parts[family] += $2; else port[family] = $2
        }
        END {
            for (family in parts) if (!(family in port) || parts[family] > port[family]) { print family, parts[family], "of", port[family]; more = 1 }
            exit more || length(parts) < 4
        }' "$1"
}

sim load devices=1 ports=1 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show dev sim0p1 tentative) ]]' 'the address is not tentative any more'
DAEMON_YAML='sampling: {interval: 500ms, slow_interval: 1s}'
start_daemon

say '-- nobody, then one job'
burst - -
quiet 'nobody'
hold a "$job" 6
alone root
burst root 7
burst root 7
quiet 'one job'
keep_page

say '-- another has one queue pair there'
hold b "$other" 1
burst - -
quiet 'two tenants'
burst - -
drop b
alone root
burst root 7
quiet 'one job again'
keep_page

say '-- SIGKILL, and nobody watches'
totals before
stop_daemon KILL
burst - -
KEEP_STATE=yes start_daemon
alone root
burst root 7
quiet 'after SIGKILL'
totals after
only_grew before after >"$STATE/fell" || die "it fell: $(cat "$STATE/fell")"
[[ $(wc -l <"$STATE/before") -gt 20 ]] || die "no totals were compared: $(cat "$STATE/before")"

say '-- the job goes, the other comes'
drop a
hold b "$other" 2
alone system.slice
burst system.slice train.service
quiet 'the other'
drop b
sim unload || die 'mlx5sim does not unload'

say '-- soft-RoCE, one job left'
start_jobs
# Nobody attaches or detaches now (README.md, traps).
echo 1 >/sys/fs/cgroup/train-b/cgroup.kill
wait_for 10 '[[ -z $(cat /sys/fs/cgroup/train-b/cgroup.procs) ]]' 'train-b is gone'
families=(packets)
! metric qpscope_port_tx_bytes_total device=rxe0 >/dev/null || families+=(bytes)
of_train_a() { metric "${@:2}" "qpscope_tenant_tx_$1_total" device=rxe0,workload=train-a,method=sole_owner || echo 0; }
for one in "${families[@]}"; do wait_for 40 "[[ \$(of_train_a $one) -gt 0 ]]" "tx_$one of rxe0 are credited to train-a"; done
for i in 1 2 3 4; do
    before=$(of_train_a packets)
    wait_for 30 "[[ \$(of_train_a packets) -gt $before ]]" 'another step'
    page >"$STATE/page.$i"
done
say "train-a: $(of_train_a packets) packets of $(metric qpscope_port_tx_packets_total device=rxe0); families: ${families[*]}"
stop_jobs
for i in 1 2 3 4; do no_more_than_the_port "$STATE/page.$i" >"$STATE/more" || die "more than the port: $(cat "$STATE/more")"; done
stop_daemon
