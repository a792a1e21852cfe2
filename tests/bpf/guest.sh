#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: what the probes say against what really happened, with trampolines and with kprobes.
#   tests/guest/boot.sh 6.12 --out DIR -- tests/bpf/guest.sh BUILD/bin
set -euo pipefail

bin=$(realpath "${1:?the folder with qpscope-probe-dump and qpscope-qp-play}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fabric=$here/../guest/fabric.sh
work=/run/probe-test
mkdir -p "$work"
failures=0 checks=0
log=$work/none dump=

ok() { checks=$((checks + 1)); }
bad() { echo "FAIL $*"; failures=$((failures + 1)); }
has() { # WHAT REGEX: the log has such a line
    if grep -Eq "$2" "$log"; then ok; else bad "$1: no line like: $2"; fi
}
hasnt() { if grep -Eq "$2" "$log"; then bad "$1: $(grep -E "$2" "$log" | head -n 1)"; else ok; fi; }
same() { if [[ $2 == "$3" ]]; then ok; else bad "$1: $2, not $3"; fi; }
wait_for() { # REGEX FILE
    local i
    for ((i = 0; i < 100; i++)); do
        ! grep -Eq "$1" "$2" || return 0
        sleep 0.1
    done
    echo "no line like '$1' in $2:"
    tail -n 20 "$2"
    exit 1
}
field() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" <<<" $2"; } # NAME LINE
dump_start() { # NAME OPTION...
    log=$work/$1.log
    "$bin/qpscope-probe-dump" "${@:2}" >"$log" 2>"$log.err" &
    dump=$!
    wait_for '^(ready|error)' "$log"
}
dump_stop() {
    kill -TERM "$dump"
    wait "$dump" || bad "qpscope-probe-dump ended with $?"
    has "nothing lost" '^losses ring_full=0 recursion=0 kretprobe_missed=0 decode=0'
    same "nothing on stderr" "$(cat "$log.err")" ""
}
milliseconds() { # COMMAND...
    local start
    start=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - start) / 1000000))
}
in_cgroup() { # CGROUP COMMAND...: becomes the command, so it is for the background
    echo "$BASHPID" >"/sys/fs/cgroup/$1/cgroup.procs"
    shift
    exec "$@"
}

life() { # one process, its whole story, also when it is killed
    mkdir /sys/fs/cgroup/probe-a
    local cgroup line pid qpn serial netlink
    cgroup=$(stat -c %i /sys/fs/cgroup/probe-a)
    in_cgroup probe-a "$bin/qpscope-qp-play" rxe0 hold >"$work/play" &
    local player=$!
    wait_for '^pid=' "$work/play"
    pid=$(field pid "$(<"$work/play")") qpn=$(field qpn "$(<"$work/play")")
    wait_for "^modify .*qpn=$qpn .*to=RTS" "$log"
    netlink=$(rdma resource show qp lqpn "$qpn" link rxe0)
    kill -KILL "$player"
    wait "$player" 2>/dev/null || true
    wait_for "^destroy .*dev=$dev0 .*qpn=$qpn " "$log"
    line=$(grep -E "^create .*dev=$dev0 .*qpn=$qpn .*tgid=$pid " "$log" | tail -n 1)
    serial=$(field serial "$line")
    same "netlink's state" "$(sed -n 's/.* state \([A-Z]*\).*/\1/p' <<<" ${netlink%%path-mig-state*}")" "RTS"
    same "pid" "$(field tid "$line")" "$(sed -n 's/.* pid \([0-9]*\).*/\1/p' <<<"$netlink")"
    same "remote qpn" "$(sed -n 's/.*rqpn \([0-9]*\).*/\1/p' <<<"$netlink")" "$qpn"
    same "comm" "$(field comm "$line")" qpscope-qp-play
    same "cgroup" "$(field cgroup "$line")" "$cgroup"
    same "type" "$(field type "$line")" RC
    same "tracked" "$(field tracked "$line")" 1
    local id="dev=$dev0 serial=$serial qpn=$qpn type=RC" gid=0000:0000:0000:0000:0000:ffff:c0a8:4d01
    [[ $serial -gt 0 ]] || bad "serial $serial"
    has "init" "^modify time=[0-9]+ $id port=1 tracked=1 mask=0x39 to=INIT$"
    has "rtr" "^modify time=[0-9]+ $id port=1 tracked=1 mask=0x129181 to=RTR rqpn=$qpn rgid=$gid lgid=$gid tclass=104 mtu=1024$"
    has "rts" "^modify time=[0-9]+ $id port=1 tracked=1 mask=0x12e01 to=RTS timeout=14 retry=7 rnr=6$"
    has "destroy" "^destroy time=[0-9]+ $id port=1 tracked=1$"
    rmdir /sys/fs/cgroup/probe-a
    has "cgroup made" "^cgroup .*what=made id=$cgroup path=/probe-a$"
    wait_for "^cgroup .*what=removed id=$cgroup path=/probe-a$" "$log"
}

pair() { # two processes on two devices that have the same QPNs
    ibv_rc_pingpong -d rxe1 -g 1 -n 200 >"$work/server" &
    local server=$! i
    for ((i = 0; i < 100; i++)); do
        ! grep -q ':4995 ' /proc/net/tcp /proc/net/tcp6 || break
        sleep 0.1
    done
    ibv_rc_pingpong -d rxe0 -g 1 -n 200 127.0.0.1 >"$work/client"
    wait "$server"
    local local_qpn remote_qpn
    local_qpn=$((16#$(sed -n 's/.*local address:.*QPN 0x\([0-9a-f]*\),.*/\1/p' "$work/client")))
    remote_qpn=$((16#$(sed -n 's/.*remote address:.*QPN 0x\([0-9a-f]*\),.*/\1/p' "$work/client")))
    local g0=0000:0000:0000:0000:0000:ffff:c0a8:4d01 g1=0000:0000:0000:0000:0000:ffff:c0a8:4e02
    wait_for "^destroy .*dev=$dev1 .*qpn=$remote_qpn " "$log"
    has "client to server" "^modify .*dev=$dev0 .*qpn=$local_qpn .*to=RTR rqpn=$remote_qpn rgid=$g1 lgid=$g0 "
    has "server to client" "^modify .*dev=$dev1 .*qpn=$remote_qpn .*to=RTR rqpn=$local_qpn rgid=$g0 lgid=$g1 "
    echo "  QPNs of the pair: $local_qpn on rxe0, $remote_qpn on rxe1"
}

same_qpn() { # the same QPN at once on both devices: two serials
    local device qpn=0 next first second i
    # rxe numbers its QPs one after the other: both go on to a number that neither had yet.
    for device in rxe0 rxe1; do
        next=$("$bin/qpscope-qp-play" $device life)
        next=$(field qpn "$next")
        [[ $next -lt $qpn ]] || qpn=$next
    done
    qpn=$((qpn + 5))
    "$bin/qpscope-qp-play" rxe0 reach $qpn >"$work/hold0" &
    first=$!
    "$bin/qpscope-qp-play" rxe1 reach $qpn >"$work/hold1" &
    second=$!
    for i in 0 1; do wait_for "^pid=.* qpn=$qpn$" "$work/hold$i"; done
    kill -KILL "$first" "$second"
    wait "$first" "$second" 2>/dev/null || true
    for i in "$dev0" "$dev1"; do wait_for "^destroy .*dev=$i .*qpn=$qpn " "$log"; done
    local serials
    serials=$(grep -E "^create .* qpn=$qpn .*tgid=($first|$second) " "$log" | sed 's/.*serial=\([0-9]*\) .*/\1/' | sort -u | wc -l)
    same "serials of equal QPNs" "$serials" 2
}

failing() {
    "$bin/qpscope-qp-play" rxe0 fail >"$work/fail"
    same "what the program saw" "$(sed 's/.*modify/modify/' "$work/fail")" "modify=22 created=0"
    local qpn
    qpn=$(field qpn "$(<"$work/fail")")
    wait_for "^destroy .*dev=$dev0 .*qpn=$qpn " "$log"
    hasnt "no transition" "^modify .*serial=$(field serial "$(grep -E "^create .* qpn=$qpn .*tgid=$(field pid "$(<"$work/fail")") " "$log")") "
    has "failed modify" "^failed time=[0-9]+ dev=$dev0 call=modify error=EINVAL$"
    # 5.10 has neither of the two functions.
    ! grep -q '^probe qp_create_user_failed how=off' "$log" || return 0
    has "failed create" "^failed time=[0-9]+ dev=$dev0 call=create error=E[A-Z]+$"
}

kernel_qps() { # the GSI QP that ib_core makes on each port; 5.10 does not write the port into it
    ip link add dummy9 type dummy
    ip link set dummy9 up
    rdma link add rxe9 type rxe netdev dummy9
    local dev
    dev=$(rdma dev show rxe9 | cut -d: -f1)
    wait_for "^create .*dev=$dev .*qpn=1 type=GSI port=[01] .*known=1 user=0 .*kern=ib_core$" "$log"
    rdma link delete rxe9
    wait_for "^destroy .*dev=$dev .*qpn=1 type=GSI port=[01] " "$log"
    ip link del dummy9
    ok
}

story() { # NAME HOW OPTION...
    echo "story $1"
    dump_start "$1" "${@:3}"
    local probe
    for probe in qp_create qp_modify qp_destroy; do has "$probe" "^probe $probe how=$2 .*attached=1"; done
    for probe in cgroup_mkdir cgroup_rename cgroup_rmdir; do has "$probe" "^probe $probe how=raw_tp .*attached=1"; done
    life
    pair
    same_qpn
    failing
    kernel_qps
    hasnt "no zero serials" "^create .*serial=0 "
    dump_stop
}

churn() { # NAME OPTION...: as fast as they come, and what each program costs (kernel.bpf_stats_enabled)
    local n=300
    dump_start "$1" "${@:2}"
    echo "  300 QPs to RTS and away: $(milliseconds "$bin/qpscope-qp-play" rxe0 churn 300) ms with the probes"
    dump_stop
    echo "  300 QPs to RTS and away: $(milliseconds "$bin/qpscope-qp-play" rxe0 churn 300) ms without"
    dump_start "$1" "${@:2}"
    sysctl -qw kernel.bpf_stats_enabled=1
    "$bin/qpscope-qp-play" rxe0 churn $n &
    "$bin/qpscope-qp-play" rxe1 churn $n
    wait $!
    sysctl -qw kernel.bpf_stats_enabled=0
    bpftool prog show | awk '/name (qp|cgroup)_/ { for (i = 1; i < NF; i++) { if ($i == "name") name = $(i + 1)
        if ($i == "run_time_ns") time = $(i + 1); if ($i == "run_cnt") { count = $(i + 1)
        if (count > 100) printf "  cost %-16s %6d runs, %6.0f ns each\n", name, count, time / count } } }'
    for _ in {1..100}; do
        [[ $(grep -c '^destroy .*type=RC' "$log") -lt $((2 * n)) ]] || break
        sleep 0.1
    done
    same "creates" "$(grep -c '^create .*type=RC' "$log")" $((2 * n))
    same "destroys" "$(grep -c '^destroy .*type=RC' "$log")" $((2 * n))
    same "transitions" "$(grep -c '^modify .*type=RC' "$log")" $((6 * n))
    same "serials" "$(sed -n 's/^create .*serial=\([0-9]*\) .*/\1/p' "$log" | sort -u | wc -l)" $((2 * n))
    same "pairs" "$(sed -n 's/^\(create\|destroy\) .*serial=\([0-9]*\) .*/\2/p' "$log" | sort | uniq -c | awk '$1 != 2' | wc -l)" 0
    dump_stop
}

older_qp() { # NAME OPTION...: a QP that was there before the probes
    echo "story $1"
    mkfifo "$work/$1.go"
    "$bin/qpscope-qp-play" rxe0 late <"$work/$1.go" >"$work/late" &
    local player=$!
    exec 7>"$work/$1.go"
    wait_for '^pid=' "$work/late"
    "$bin/qpscope-qp-play" rxe0 hold >"$work/silent" &
    local silent=$!
    wait_for '^pid=' "$work/silent"
    dump_start "$1" "${@:2}"
    echo >&7
    exec 7>&-
    wait "$player"
    kill -KILL "$silent"
    wait "$silent" 2>/dev/null || true
    local qpn line unseen
    qpn=$(field qpn "$(<"$work/late")") unseen=$(field qpn "$(<"$work/silent")")
    wait_for "^destroy .*qpn=$unseen " "$log"
    line=$(grep -E "^found .*qpn=$qpn " "$log") || bad "not found"
    same "owner of the older QP" "$(field tgid "$line")" "$player"
    has "order" "^destroy .*serial=$(field serial "$line") qpn=$qpn "
    same "events of the older QP" "$(grep -E " qpn=$qpn " "$log" | cut -d' ' -f1 | xargs)" "found modify modify destroy"
    has "never seen" "^destroy .*serial=0 qpn=$unseen "
    dump_stop
}

few_capabilities() { # CAP_BPF and CAP_PERFMON only: kprobes; none: an error
    echo "story capabilities"
    local drop=(setpriv --reuid=65534 --regid=65534 --clear-groups "--bounding-set=-all,+bpf,+perfmon")
    local paranoid
    paranoid=$(sysctl -n kernel.perf_event_paranoid)
    sysctl -qw kernel.perf_event_paranoid=2
    log=$work/caps.log
    "${drop[@]}" --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon "$bin/qpscope-probe-dump" --seconds 1 >"$log" || true
    has "without CAP_SYS_ADMIN" "^probe qp_create how=kprobe .*attached=1"
    has "raw_tp without CAP_SYS_ADMIN" "^probe cgroup_mkdir how=raw_tp .*attached=1"
    # A level that only Debian's kernels know.
    sysctl -qw kernel.perf_event_paranoid=3
    log=$work/paranoid.log
    "${drop[@]}" --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon "$bin/qpscope-probe-dump" --seconds 1 >"$log" || true
    has "perf_event_paranoid" "^probe qp_destroy how=off .*reason=.*needs CAP_SYS_ADMIN, since kernel.perf_event_paranoid is 3"
    sysctl -qw "kernel.perf_event_paranoid=$paranoid"
    log=$work/nocaps.log
    "${drop[@]}" --inh-caps=-all "$bin/qpscope-probe-dump" --seconds 1 >"$log" || true
    has "without any" "^error BPF needs CAP_BPF and CAP_PERFMON"
}

# Before 5.11 maps and programs count as locked memory.
small_memlock() {
    log=$work/memlock.log
    (ulimit -S -l 64 && exec "$bin/qpscope-probe-dump" --seconds 0) >"$log"
    has "a small memlock limit" "^probe qp_create how=(fexit|kprobe) .*attached=1"
}

tiny_ring() { # what does not fit is counted
    dump_start tiny --quiet --ring 4096
    kill -STOP "$dump"
    "$bin/qpscope-qp-play" rxe0 churn 20
    kill -CONT "$dump"
    kill -TERM "$dump"
    wait "$dump" || bad "qpscope-probe-dump ended with $?"
    has "counted" "^losses ring_full=[1-9][0-9]* recursion=0 kretprobe_missed=0 decode=0 events=[1-9]"
    same "sent and lost" "$(sed -n 's/^losses ring_full=\([0-9]*\) .*events=\([0-9]*\)$/\1 \2/p' "$log" | awk '{ print $1 + $2 }')" 100
}

foreign_ib_core() {
    mkdir -p "$work/sys/module/ib_core/notes"
    echo OE >"$work/sys/module/ib_core/taint"
    printf '\x04\0\0\0\x04\0\0\0\x03\0\0\0GNU\0\xde\xad\xbe\xef' >"$work/sys/module/ib_core/notes/.note.gnu.build-id"
    log=$work/foreign.log
    "$bin/qpscope-probe-dump" --seconds 0 --sys "$work/sys" >"$log"
    has "foreign ib_core" "^probe qp_create how=off .*attached=0 waiting=0 reason=.*build id deadbeef .*bpf/layouts"
    has "cgroups all the same" "^probe cgroup_mkdir how=raw_tp .*attached=1"
}

uname -r
if [[ ! -e /sys/module/ib_core ]]; then # as a scenario it finds the fabric up
    log=$work/waiting.log
    "$bin/qpscope-probe-dump" --seconds 0 >"$log"
    has "before ib_core" "^probe qp_create how=off .*waiting=1 reason=ib_core is not loaded"
    "$fabric" up 0
fi
dev0=$(rdma dev show rxe0 | cut -d: -f1) dev1=$(rdma dev show rxe1 | cut -d: -f1)
"$bin/qpscope-probe-dump" --seconds 0 >"$work/status"
sed 's/^/  /' "$work/status"
# Not where ib_core has no BTF (5.10), nor where a preempted trampoline would lose events (7.x).
if grep -q '^probe qp_create how=fexit' "$work/status"; then
    story trampolines fexit
    churn churn_trampolines
    older_qp older_trampolines
fi
story kprobes kprobe --kprobes
churn churn_kprobes --kprobes
older_qp older_kprobes --kprobes
few_capabilities
small_memlock
tiny_ring
foreign_ib_core
cp -r "$work" "${GUEST_OUT:?}/" 2>/dev/null || true
echo "$checks checks passed, $failures failed"
[[ $failures -eq 0 ]]
