#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 180
# What a counter set counted is told when its last QP goes, however it goes, to the last packet: the event against the
# look-alike's own ledger, with trampolines (where the kernel has them) and with kprobes.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"

[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"
for tool in qpscope-qp-hold qpscope-probe-dump; do [[ -x $QPSCOPE_BIN/$tool ]] || skip "no $tool in $QPSCOPE_BIN"; done

is() { [[ $1 == "$2" ]] || die "$3: want \"$2\", got \"$1\""; }
# holder NAME COUNT PORT: a process that holds so many QPs; its pid in HOLDER, their numbers in the array QPNS.
holder() {
    "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "$2" "$3" >"$STATE/$1" 2>&1 &
    HOLDER=$!
    wait_for 10 "grep -q ^held '$STATE/$1'" "$1 holds: $2"
    read -ra QPNS <<<"$(sed 's/^held //' "$STATE/$1")"
}
bind() { rdma statistic qp bind link "mlx5_0/$1" lqpn "$2" "${@:3}"; } # PORT QPN [cntn ID]
unbind() { rdma statistic qp unbind link "mlx5_0/$1" cntn "$2" lqpn "$3"; }
# netlink 1|2: the names, the values that netlink lists for set 1 of port 1, in its order.
netlink() { rdma statistic qp show link mlx5_0/1 cntn 1 | awk -v i="$((3 + $1))" '/ cntn 1 / { for (i++; i <= NF; i += 2) print $i }'; }
# The seven optional counters of a set are off.
off=,-,-,-,-,-,-,-
# ledger PID QPN...: what these QPs counted in sets, as an event should say it.
ledger() {
    sim show mlx5_0 ledger | awk -v pid="$1" -v qpns=" ${*:2} " -v names="$NAMES" -v off="$off" '
        $3 == pid && index(qpns, " " $2 " ") { sum[$6] += $7 - $8 }
        END {
            for (n = split(names, name, " "); i++ < n;) printf("%s%.0f", i > 1 ? "," : "", sum[name[i]] % 4294967296)
            print off
        }'
}
released() { grep -c '^released ' "$log" || true; }
# told COUNT PORT ID VALUES WHAT: the COUNTth event of this log.
told() {
    wait_for 10 "[[ \$(released) -ge $1 ]]" "$5: event $1"
    is "$(grep '^released ' "$log" | sed -n "$1p" | cut -d' ' -f3-)" "dev=$dev port=$2 id=$3 truncated=0 values=$4" "$5"
}

story() { # HOW OPTION...
    say "-- $1"
    local dump a b c d e
    log=$STATE/dump.$1
    "$QPSCOPE_BIN/qpscope-probe-dump" "${@:2}" >"$log" 2>"$log.err" &
    dump=$!
    wait_for 30 "grep -Eq '^(ready|error)' '$log'" 'the probes'
    grep -q "^probe counter_del how=$1 target=rdma_restrack_del attached=1" "$log" || die "$(grep -E '^(error|probe counter_del)' "$log")"

    holder a 3 1; a=$HOLDER
    local qa=("${QPNS[@]}")
    holder b 1 2; b=$HOLDER
    local qb=("${QPNS[@]}")
    bind 1 "${qa[0]}"
    bind 1 "${qa[1]}" cntn 1
    bind 1 "${qa[2]}"
    bind 2 "${qb[0]}"
    NAMES=$(netlink 1 | paste -sd' ')
    is "$(wc -w <<<"$NAMES") ${NAMES%% *} ${NAMES##* }" '31 rx_write_requests rx_icrc_encapsulated' 'the names of a set'
    sim traffic mlx5_0 "${qa[0]}" packet_seq_err add 4294967301
    sim traffic mlx5_0 "${qa[1]}" packet_seq_err add 7
    sim traffic mlx5_0 "${qa[1]}" rx_write_requests add 11
    sim traffic mlx5_0 "${qa[2]}" local_ack_timeout_err add 13
    sim traffic mlx5_0 "${qb[0]}" roce_slow_restart_trans add 17
    is "$(netlink 2 | paste -sd,)$off" "$(ledger "$a" "${qa[0]}" "${qa[1]}")" 'netlink and the ledger'
    is "$(released)" 0 'events so far'

    unbind 1 2 "${qa[2]}"
    told 1 1 2 "$(ledger "$a" "${qa[2]}")" 'unbound'
    sim traffic mlx5_0 "${qa[1]}" packet_seq_err add 19 # after netlink was asked for the last time
    kill -TERM "$a"
    wait "$a" || die 'qp-hold a failed'
    told 2 1 1 "$(ledger "$a" "${qa[0]}" "${qa[1]}")" 'destroyed'
    sim traffic mlx5_0 "${qb[0]}" out_of_sequence rate 100000
    kill -KILL "$b"
    wait "$b" || true
    told 3 2 3 "$(ledger "$b" "${qb[0]}")" 'killed amid traffic'

    holder c 1 1; c=$HOLDER
    bind 1 "${QPNS[0]}"
    sim traffic mlx5_0 "${QPNS[0]}" out_of_buffer add 23
    local asked
    asked=$(netlink 2 | paste -sd,)$off
    sim traffic mlx5_0 "${QPNS[0]}" out_of_buffer add 1000
    sim fail mlx5_0 5 set_read
    kill -TERM "$c"
    wait "$c" || die 'qp-hold c failed'
    told 4 1 1 "$asked" 'the device failed the last question: what it said before'
    sim fail mlx5_0 0

    rdma statistic qp set link mlx5_0/1 auto pid on
    holder d 3 1; d=$HOLDER
    local qd=("${QPNS[@]}")
    holder e 1 1; e=$HOLDER
    sim traffic mlx5_0 "${qd[0]}" duplicate_request rate 50000
    sim traffic mlx5_0 "${qd[2]}" req_cqe_error rate 70000
    sim traffic mlx5_0 "${QPNS[0]}" rx_read_requests add 29
    kill -KILL "$d"
    wait "$d" || true
    told 5 1 1 "$(ledger "$d" "${qd[@]}")" 'a set of a process, killed'
    kill -KILL "$e"
    wait "$e" || true
    told 6 1 2 "$(ledger "$e" "${QPNS[0]}")" 'the other one'
    rdma statistic qp set link mlx5_0/1 auto off
    sim stop mlx5_0

    kill -TERM "$dump"
    wait "$dump" || die "qpscope-probe-dump ended with $?"
    is "$(released)" 6 'events'
    grep -q '^losses ring_full=0 recursion=0 kretprobe_missed=0 decode=0 ' "$log" || die "$(tail -n 1 "$log")"
    is "$(cat "$log.err")" '' 'on stderr'
}

sim load ports=2 || die 'mlx5sim does not load'
dev=$(rdma dev show mlx5_0 | cut -d: -f1)
"$QPSCOPE_BIN/qpscope-probe-dump" --seconds 0 >"$STATE/status"
if grep -q '^probe counter_del how=fentry' "$STATE/status"; then story fentry; fi
story kprobe --kprobes

say '-- the daemon counts them'
start_daemon
is "$(metric qpscope_bpf_events_total kind=counter_released)" 0 'before'
holder f 1 1; f=$HOLDER
bind 1 "${QPNS[0]}"
kill -TERM "$f"
wait "$f" || die 'qp-hold f failed'
wait_for 10 '[[ $(metric qpscope_bpf_events_total kind=counter_released) -eq 1 ]]' 'one set'
stop_daemon
sim unload || die 'mlx5sim does not unload'
