#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 400
# KERNELS: 6.12
# The cause of each alert, and what is nobody's fault (alert_causes.txt), while real daemons run: their pages, STEP seconds apart, are kept for
# alert_causes.py, to whose Prometheus that is a minute. Whether alerts fire is said there.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

STEP=3    # seconds, which are a minute to Prometheus
BEGIN=8   # minutes before the causes,
LASTS=24  # during, and
AFTER=14  # after
STRETCH=$((60 / STEP))
RULES=$GUEST_DIR/../../deploy/prometheus/rules

# A cause is called as CAUSE ARG... with $row, $device and $port, once with since=setup, and each minute with the minutes since the causes began, which may
# be negative; $LASTS is when it has to be undone.

# grow COUNTER PER_SECOND...
grow() {
    case $since in
        0) grow_at "$@" ;;
        "$LASTS") while [[ $# -gt 0 ]]; do grow_at "$1" 0; shift 2; done ;;
    esac
}
grow_at() {
    while [[ $# -gt 0 ]]; do
        sim rate "$port" "$1" $(($2 * STRETCH))
        shift 2
    done
}
traffic() { # PACKETS_PER_SECOND: 300 bytes each, which counters/ has in words
    grow_at port_xmit_packets "$1" port_rcv_packets "$1" port_xmit_data $(($1 * 75)) port_rcv_data $(($1 * 75))
}

unplug() {
    case $since in
        0) sim link "$port" down ;;
        "$LASTS") sim link "$port" up ;;
    esac
}
flap() {
    case $since in
        0 | 4 | 8 | 12) sim link "$port" down ;;
        1 | 5 | 9 | 13) sim link "$port" up ;;
    esac
}
train_slow() {
    case $since in
        0) sim set "$port" rate '4X HDR' ;;
        "$LASTS") sim set "$port" rate '4X NDR' ;;
    esac
}
fail_reads() {
    case $since in
        0) sim fail "$device" 5 hw_counters ;;
        18) sim fail "$device" 0 ;; # it is tried again after a minute of the daemon's, which is twenty here
    esac
}
hang_reads() {
    case $since in
        0) sim hang "$device" uninterruptible hw_counters ;;
        "$LASTS") sim hang "$device" no ;;
    esac
}
answer_slowly() {
    case $since in
        0)
            sim set "$device" fault_kinds query_port
            sim set "$device" delay_ms 800
            ;;
        "$LASTS") sim set "$device" delay_ms 0 ;;
    esac
}
remove_device() {
    case $since in
        0) sim remove "$device" ;;
        "$LASTS") sim add "$device" ;;
    esac
}

# Jobs: NAME is their cgroup and so their workload.
declare -A JOB_PID=()
start_job() { # NAME COMMAND...
    local name=$1
    shift
    mkdir -p "/sys/fs/cgroup/$name"
    (
        echo "$BASHPID" >"/sys/fs/cgroup/$name/cgroup.procs"
        exec "$@"
    ) >"$STATE/job.$name" 2>&1 </dev/null &
    JOB_PID[$name]=$!
}
hold() { # NAME COUNT [init | churn]
    start_job "$1" "$QPSCOPE_BIN/qpscope-qp-hold" "$device" "$2" 1 "${@:3}"
}
held() { wait_for 30 "grep -q ^held '$STATE/job.$1'" "queue pairs of $1"; }
end_job() { # NAME SIGNAL
    kill "-$2" "${JOB_PID[$1]}"
    unset "JOB_PID[$1]"
}
# die_at NAME COUNT: so many of its queue pairs go to ERR without an event, and the port counts them.
die_at() {
    local qpns qpn
    read -ra qpns <<<"$(sed 's/^held //' "$STATE/job.$1")"
    for qpn in "${qpns[@]:0:$2}"; do sim set "$device" qp_silent_error "$qpn"; done
    sim count "$port" req_transport_retries_exceeded "$2"
}

die_silently() {
    case $since in
        setup) hold "$row" 20; held "$row" ;;
        0) die_at "$row" 3 ;;
        "$LASTS") end_job "$row" TERM ;;
    esac
}
stall() {
    case $since in
        setup) hold "$row" 20; held "$row" ;;
        0) traffic 0 ;;
        "$LASTS") end_job "$row" TERM ;;
    esac
}
stay_in_init() {
    case $since in
        0) hold "$row" 8 init ;;
        "$LASTS") end_job "$row" TERM ;;
    esac
}
job_ends() {
    case $since in
        setup) hold "$row" 20; held "$row" ;;
        0) traffic 0; end_job "$row" TERM ;;
    esac
}
# Its peers on this node send again in vain for two minutes; their queue pairs are dead, and they end after seven.
job_killed() {
    case $since in
        setup) hold "$row" 20; held "$row"; hold "$row-peer" 20; held "$row-peer" ;;
        0) traffic 0; end_job "$row" KILL; die_at "$row-peer" 20; grow_at packet_seq_err 5000 local_ack_timeout_err 5000 rnr_nak_retry_err 5000 ;;
        2) grow_at packet_seq_err 0 local_ack_timeout_err 0 rnr_nak_retry_err 0 ;;
        7) end_job "$row-peer" TERM ;;
    esac
}
idle_job() {
    case $since in
        setup) hold "$row" 20; held "$row" ;;
        "$LASTS") end_job "$row" TERM ;;
    esac
}
nothing() { :; }
never_cabled() { [[ $since != setup ]] || sim link "$port" down; }
wrap() { [[ $since != setup ]] || { sim count "$port" "$1" $((2 ** 32 - STRETCH * $2 * BEGIN)); grow_at "$@"; }; }
# The judge's Prometheus scrapes nothing for 20 minutes.
scrape_gap() { [[ $since != setup ]] || grow_at "$@"; }
reset() {
    case $since in
        setup) sim count "$port" "$1" 4000000000; grow_at "$@" ;;
        0) sim reset "$device"; traffic "$packets"; grow_at "$@" ;;
    esac
}
reload() {
    case $since in
        0) sim remove "$device" ;;
        3) sim add "$device" ;;
    esac
}

# Daemons: each has a page, a /run/qpscope of its own, and watches the devices of its rows alone.
declare -A NODE_PID=() NODE_URL=()
node() { # NAME [YAML [EXPECTED]]
    local devices
    devices=$(for each in "${ROWS[@]}"; do [[ ${of[$each]} != "$1 "* ]] || echo "${device_of[$each]}"; done | paste -sd,)
    NODE_URL[$1]=127.0.0.1:$((PORT + ${#NODE_URL[@]}))
    mkdir -p "$STATE/run.$1" "$OUT/daemons"
    cat >"$STATE/$1.yaml" <<YAML
devices: {include: [$devices], expected: ${3:-0}}
sampling: {interval: 1500ms, slow_interval: ${STEP}s, stale_after: $((3 * STEP))s}
budget: {firmware_commands_per_second: 0}
exporters: {prometheus: {listen: "${NODE_URL[$1]}", series_limit: 100000}}
${2:-}
YAML
    spawn "$1"
}
spawn() { # NAME [PREFIX]...
    local name=$1
    shift
    # shellcheck disable=SC2016  # expanded by the shell in there
    unshare -m bash -c 'mkdir -p /run/qpscope && mount --bind "$0" /run/qpscope && exec "$@"' "$STATE/run.$name" \
        "$@" "$QPSCOPE_BIN/qpscoped" --config "$STATE/$name.yaml" >>"$OUT/daemons/$name.log" 2>&1 &
    NODE_PID[$name]=$!
}
end_node() { # NAME SIGNAL
    local pid=${NODE_PID[$1]}
    kill "-$2" "$pid"
    wait "$pid" || [[ $2 == KILL ]] || die "$1 ended with status $?"
    unset "NODE_PID[$1]"
}
stop_daemon_for_long() {
    case $since in
        0) end_node down TERM ;;
        "$LASTS") spawn down ;;
    esac
}
take_capabilities() {
    case $since in
        0) end_node blind TERM; spawn blind setpriv --inh-caps=-all --bounding-set=-bpf,-perfmon,-sys_admin ;;
        "$LASTS") end_node blind TERM; spawn blind ;;
    esac
}
restart() {
    case $since in
        setup) grow_at "$@" ;;
        0) end_node restarted TERM; spawn restarted ;;
        12) end_node restarted KILL; spawn restarted ;;
    esac
}
# A daemon that gets no processor for a part of every minute, while queue pairs come and go.
freeze() {
    case $since in
        setup) hold "$row" 5 churn; held "$row"; kill -STOP "${JOB_PID[$row]}" ;;
        -*) ;;
        "$LASTS") kill -CONT "${JOB_PID[$row]}"; end_job "$row" TERM ;;
        *)
            [[ $since -lt $LASTS ]] || return 0
            (
                kill -STOP "${NODE_PID[frozen]}"
                kill -CONT "${JOB_PID[$row]}"
                sleep 0.3
                kill -STOP "${JOB_PID[$row]}"
                kill -CONT "${NODE_PID[frozen]}"
            ) &
            ;;
    esac
}
# Counted in sets by tenant; then the card has no second one, and the one that all share is full at 1024.
fill_the_sets() {
    case $since in
        setup) hold "$row-a" 4; held "$row-a" ;;
        -7) sim set "$device" max_sets 1; hold "$row-b" 2000 ;; # the alert waits for half an hour
        $((LASTS + 5))) end_job "$row-a" TERM; end_job "$row-b" TERM ;; # two thousand may take a few minutes to be there
    esac
}

# The rows, each with a device of its own; of[NAME]="PAGE PACKETS CAUSE..."
declare -A of=() device_of=()
ROWS=()
while read -r name page packets _ cause; do
    name=${name%\**}
    device_of[$name]=mlx5_${#ROWS[@]}
    of[$name]="$page $packets $cause"
    ROWS+=("$name")
done < <(grep -v '^#' "$GUEST_DIR/alert_causes.txt")
of_row() { device=${device_of[$row]} port=${device_of[$row]}/1; }
act() {
    local device port packets cause
    for row in "${ROWS[@]}"; do
        of_row
        read -r _ packets cause <<<"${of[$row]}"
        # shellcheck disable=SC2086  # words
        $cause
    done
}

# What the rules ask for, of all pages, each line after the name of its page; first the time, since, and STEP.
FAMILIES=$(cat "$RULES"/*.yml | grep -oE '\bqpscope_[a-z_]+' | sort -u | paste -sd'|')
scrape() { # FILE
    local name urls=()
    rm -f "$STATE"/now/*
    for name in "${!NODE_URL[@]}"; do urls+=(-o "$STATE/now/$name" "http://${NODE_URL[$name]}/metrics"); done
    curl -fsS -Z --no-progress-meter --max-time 3 --remove-on-error "${urls[@]}" 2>>"$OUT/curl.log" || true
    {
        echo "# $EPOCHREALTIME $since $STEP"
        (cd "$STATE/now" && grep -HE "^($FAMILIES)[{ ]" -- *) || true
    } >"$1.new"
    mv "$1.new" "$1"
}
serve() { local name; for name in "${!NODE_URL[@]}"; do curl -fsS --max-time 5 -o "$STATE/now/$name" "http://${NODE_URL[$name]}/readyz" 2>/dev/null || return 1; done; }
microseconds() { echo "${EPOCHREALTIME/./}"; }

sim load "devices=${#ROWS[@]}" || die 'mlx5sim does not load'
wait_for 60 '[[ -z $(ip -6 address show tentative | grep sim) ]]' 'the addresses that queue pairs connect to are not tentative any more'
mkdir -p "$STATE/now" "$OUT/pages"
for row in "${ROWS[@]}"; do
    of_row
    read -r _ packets _ <<<"${of[$row]}"
    traffic "$packets"
    sim pfc "$port" 0x08
done
since=setup
act
node main
node missing '' 1
node reloaded '' 1
node down
node blind
node restarted
node frozen 'bpf: {ring_kib: 64}'
node counting 'counters: {qp_mode: tenant}'
wait_for 90 serve 'all daemons serve'
wait_for 30 '[[ $(curl -fsS "http://${NODE_URL[counting]}/metrics" | grep -c "^qpscope_port_counted_qps_ratio.* 1$") -gt 0 ]]' 'queue pairs count in sets'

start=$(microseconds)
for ((minute = 0; minute <= BEGIN + LASTS + AFTER; minute++)); do
    since=$((minute - BEGIN))
    left=$((start + minute * STEP * 1000000 - $(microseconds)))
    [[ $left -le 0 ]] || sleep "$((left / 1000000)).$(printf %06d $((left % 1000000)))"
    scrape "$OUT/pages/$minute.txt"
    act
done
say "$minute minutes took $((($(microseconds) - start) / 1000000)) s"
for name in "${!NODE_PID[@]}"; do end_node "$name" TERM; done
for name in "${!JOB_PID[@]}"; do end_job "$name" KILL; done
wait
sim unload || die 'mlx5sim does not unload'
