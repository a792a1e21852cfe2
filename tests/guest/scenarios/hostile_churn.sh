#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# KERNELS: 6.12
# A process that holds 10,000 queue pairs, and one that makes and destroys them as fast as it can for a minute: neither makes the daemon
# grow, ask more of the firmware than its budget, stall a scrape or lose count silently.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

# hold NAME COUNT [PORT churn]: in the background, as $HOLDER.
hold() {
    "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "${@:2}" >"$STATE/$1" 2>&1 &
    HOLDER=$!
    wait_for 90 "grep -q ^held '$STATE/$1' || ! kill -0 $HOLDER 2>/dev/null" "$2 queue pairs"
    grep -q '^held' "$STATE/$1" || die "qp-hold: $(cat "$STATE/$1")"
}
# memory FIELD: of the daemon, in KiB.
memory() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$DAEMON_PID/status"; }
scrapes() { "$GUEST_DIR/scrape_times.py" "http://127.0.0.1:$PORT/metrics" --count 200 --every 0.05; }
# commands: what the look-alike was asked, in firmware commands; a pass over hw_counters is three.
commands() { sim asked mlx5_0 | awk '{ n[$1] = $2 } END { print 3 * n["hw_counters"] + n["port_counters"] + n["query_port"] + n["query_qp"] }'; }
# The books, of now or of the page FILE: 0 where there is no such series.
book() { metric ${2:+-f "$2"} "$1" "device=\"mlx5_0\"" || echo 0; }
present() { book qpscope_queue_pairs; }
in_kernel() { rdma resource show mlx5_0 | grep -o 'qp [0-9]*' | cut -d' ' -f2; }
lost() { metric qpscope_bpf_events_lost_total || echo 0; }
frozen() { grep -q '^State:.*T' "/proc/$HOLDER/status"; }

# true_count CREATED: at rest the table is what the kernel has, its books balance, and of those created since the look-alike's counts were
# forgotten, when the page said CREATED, it missed no more than it says it lost.
true_count() {
    local made missed
    wait_for 60 '[[ $(present) -eq $(in_kernel) ]]' 'the table has as many queue pairs as the kernel'
    # Of one page: the table may still be learning of what happened before the churner was stopped.
    page >"$STATE/books"
    local seeded created destroyed known
    seeded=$(book qpscope_queue_pairs_seeded "$STATE/books") created=$(book qpscope_queue_pairs_created_total "$STATE/books")
    destroyed=$(book qpscope_queue_pairs_destroyed_total "$STATE/books") known=$(book qpscope_queue_pairs "$STATE/books")
    [[ $((seeded + created - destroyed)) -eq $known ]] || die "seeded $seeded + created $created - destroyed $destroyed are not $known"
    made=$(sim asked mlx5_0 create_qp)
    missed=$((made - $(book qpscope_queue_pairs_created_total) + $1))
    say "created $made, of which the daemon missed $missed; events lost by its own count: $(lost); drift: $(metric qpscope_qp_table_drift_total)"
    [[ $missed -ge 0 && $missed -le $(lost) ]] || die "$missed were missed, but only $(lost) events are said to be lost"
}

sim load devices=1 ports=1 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show tentative | grep sim) ]]' 'the addresses that queue pairs connect to are not tentative any more'

say '-- 10,000 queue pairs'
DAEMON_YAML='reconcile: {interval: 10s}'
start_daemon
say "resident without them: $(memory VmRSS) KiB"
hold many 10000
wait_for 60 '[[ $(present) -ge 10000 ]]' 'all are known'
for _ in 1 2 3; do
    curl -fsS -o "$STATE/qps" -w '/metrics/qps: %{size_download} bytes in %{time_total} s\n' "http://127.0.0.1:$PORT/metrics/qps"
done
[[ $(grep -c '^qpscope_qp_info{device="mlx5_0",.*,type="RC"' "$STATE/qps") -eq 10000 ]] || die 'not all are on the page'
say "resident with them and after three pages: $(memory VmRSS) KiB, at most $(memory VmHWM)"
[[ $(memory VmHWM) -le $((40 * 1024)) ]] || die 'more than 40 MB with 10,000 queue pairs'
kill "$HOLDER"
wait "$HOLDER" || true
wait_for 60 '[[ $(present) -eq $(in_kernel) ]]' 'they are gone'

say '-- a minute of churn'
scrapes >"$STATE/calm"
seen=$(book qpscope_queue_pairs_created_total)
sim forget mlx5_0
hold churn 50 1 churn
# The first seconds fill caches and buffers that stay.
warm=$((SECONDS + 10))
wait_for 15 "[[ \$SECONDS -ge $warm ]]" 'it has been going on for a while'
before=$(memory RssAnon)
made=$(sim asked mlx5_0 create_qp)
asked=$(commands)
began=$SECONDS
for _ in 1 2 3; do scrapes >>"$STATE/beside"; done
wait_for 60 "[[ \$((SECONDS - began)) -ge 50 ]]" 'a minute has passed'
took=$((SECONDS - began))
asked=$(($(commands) - asked))
say "$((($(sim asked mlx5_0 create_qp) - made) / took)) queue pairs a second; asked $((asked / took)) commands a second; anonymous memory: $before KiB before, $(memory RssAnon) after"
say "200 scrapes, median, p99 and worst in ms: $(cat "$STATE/calm") in calm; in churn: $(tr "\n" ";" <"$STATE/beside")"
[[ $asked -le $((100 * (took + 1))) ]] || die "$asked firmware commands in $took s"
[[ $(memory RssAnon) -le $((before + 3072)) ]] || die 'the daemon grows'
awk '$3 > 1000 { exit 1 }' "$STATE/beside" || die 'a scrape stalled'
kill -STOP "$HOLDER"
wait_for 10 frozen 'the churner holds still'
true_count "$seen"

say '-- events are lost: a small ring, and a daemon that cannot run for a while'
stop_daemon
DAEMON_YAML=$'reconcile: {interval: 10s}\nbpf: {ring_kib: 64}'
start_daemon
wait_for 20 '[[ $(present) -eq $(in_kernel) ]]' 'the table is seeded'
sim forget mlx5_0
kill -CONT "$HOLDER"
wait_for 20 '[[ $(book qpscope_queue_pairs_created_total) -gt 100 ]]' 'it churns again'
kill -STOP "$DAEMON_PID"
wait_for 20 '[[ $(sim asked mlx5_0 create_qp) -gt 3000 ]]' 'far more than the ring holds'
kill -CONT "$DAEMON_PID"
wait_for 20 '[[ $(lost) -gt 0 ]]' 'the loss is on the page'
kill -STOP "$HOLDER"
wait_for 10 frozen 'the churner holds still'
true_count 0
kill "$HOLDER"
kill -CONT "$HOLDER"
wait "$HOLDER" || true
stop_daemon
sim unload
