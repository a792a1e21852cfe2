# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced first by every scenario. From the runner: QPSCOPE_BIN (folder of qpscoped), GUEST_DIR (tests/guest),
# GUEST_KERNEL, STATE (fresh folder in memory), OUT (folder kept on the host).
set -euo pipefail

PORT=${PORT:-9879}
DAEMON_PID=
DAEMON_PREFIX=()
JOBS=

say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
die() { say "FAIL: $*"; echo "$*" >"$STATE/reason"; exit 1; }
skip() { say "SKIP: $*"; echo "$*" >"$STATE/reason"; exit 77; }

# wait_for SECONDS CONDITION DESCRIPTION: polls the shell condition every 0.2 s; the scenario fails if it stays false.
wait_for() {
    local deadline=$((SECONDS + $1)) start=$SECONDS
    until eval "$2"; do
        [[ $SECONDS -lt $deadline ]] || die "not within $1 s: $3"
        sleep 0.2
    done
    say "ok after $((SECONDS - start)) s: $3"
}

# start_daemon [ARG]...: runs qpscoped and waits until it is ready; its log is $OUT/daemon.log.
# Totals begin anew unless KEEP_STATE is set, so that the books of one run balance.
# DAEMON_CONFIG=FILE replaces the generated configuration, DAEMON_YAML=TEXT is appended to it, and the command
# DAEMON_PREFIX=(COMMAND ARG...) runs it.
start_daemon() {
    local config=${DAEMON_CONFIG:-$STATE/qpscope.yaml}
    [[ -x $QPSCOPE_BIN/qpscoped ]] || die "no qpscoped in $QPSCOPE_BIN"
    [[ -n ${KEEP_STATE:-} ]] || rm -f /run/qpscope/state
    if [[ -z ${DAEMON_CONFIG:-} ]]; then
        cat >"$config" <<EOF
exporters: {prometheus: {listen: "127.0.0.1:$PORT"}}
api: {allow: ["127.0.0.0/8", "::1/128"]}
${DAEMON_YAML:-}
EOF
    fi
    "${DAEMON_PREFIX[@]}" "$QPSCOPE_BIN/qpscoped" --config "$config" "$@" >>"$OUT/daemon.log" 2>&1 &
    DAEMON_PID=$!
    wait_for 30 'daemon_ready_or_dead' 'qpscoped is ready (pid '"$DAEMON_PID"')'
    daemon_alive || die "qpscoped ended while starting: $(tail -n 1 "$OUT/daemon.log")"
}
daemon_alive() { [[ -n $DAEMON_PID ]] && kill -0 "$DAEMON_PID" 2>/dev/null; }
daemon_ready_or_dead() { ! daemon_alive || page /readyz >/dev/null 2>&1; }

# stop_daemon [SIGNAL]: ends it (default TERM), waits, and leaves its exit status in DAEMON_STATUS.
stop_daemon() { end_daemon "${1:-TERM}" || die "qpscoped did not end within 15 s"; }
end_daemon() {
    local deadline=$((SECONDS + 15)) stuck=0
    DAEMON_STATUS=0
    [[ -n $DAEMON_PID ]] || return 0
    kill "-$1" "$DAEMON_PID" 2>/dev/null || true
    while kill -0 "$DAEMON_PID" 2>/dev/null; do
        [[ $SECONDS -lt $deadline ]] || { stuck=1; kill -KILL "$DAEMON_PID"; break; }
        sleep 0.1
    done
    wait "$DAEMON_PID" || DAEMON_STATUS=$?
    DAEMON_PID=
    return "$stuck"
}

# page [PATH]: prints a page of the daemon (default /metrics); fails on any status but 2xx.
page() { curl -fsS --max-time 10 "http://127.0.0.1:$PORT${1:-/metrics}"; }

# keep_page: keeps both pages of this moment; tests/guest/dashboards.py has what scenarios kept looked at by Prometheus.
keep_page() {
    local kept=$OUT/pages number
    mkdir -p "$kept"
    number=$(find "$kept" -name 'metrics.*' | wc -l)
    page >"$kept/metrics.$number.txt" || die 'no page to keep'
    page /metrics/qps >"$kept/metrics_qps.$number.txt" || die 'no page of queue pairs to keep'
}

# metric [-p PATH | -f FILE] NAME [LABEL=VALUE,…]: prints the sum of the samples of NAME that have all these labels
# (the quotes around VALUE may be left out). No such sample: prints nothing and fails.
metric() {
    local source=(page /metrics)
    case $1 in
        -p) source=(page "$2"); shift 2 ;;
        -f) source=(cat "$2"); shift 2 ;;
    esac
    "${source[@]}" | awk -v name="$1" -v matcher="${2:-}" '
        BEGIN {
            wanted = split(matcher, want, /,/)
            for (i = 1; i <= wanted; i++) if (want[i] !~ /"$/) { sub(/=/, "=\"", want[i]); want[i] = want[i] "\"" }
        }
        {
            brace = index($0, "{")
            if (substr($0, 1, (brace ? brace : index($0, " ")) - 1) != name) next
            labels = brace ? "," substr($0, brace + 1, length($0) - length($NF) - brace - 2) "," : ","
            for (i = 1; i <= wanted; i++) if (!index(labels, "," want[i] ",")) next
            sum += $NF; found = 1
        }
        END { if (!found) exit 1; printf(sum == int(sum) ? "%.0f\n" : "%.9g\n", sum) }'
}

# hw_counter DEVICE NAME: as the kernel says it.
hw_counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

start_jobs() { JOBS=yes; "$GUEST_DIR/jobs.sh" start; }
stop_jobs() { "$GUEST_DIR/jobs.sh" stop; JOBS=; }
loss() { "$GUEST_DIR/fabric.sh" loss "$1"; }

# shellcheck disable=SC2317  # called by the trap
scenario_end() {
    local status=$?
    trap - EXIT
    set +e
    [[ -z $JOBS ]] || { [[ $status -eq 0 ]] || tail -n 5 /run/jobs/*.log; stop_jobs; }
    [[ $status -eq 0 ]] || { local own; own=$(jobs -p | grep -vx "${DAEMON_PID:-none}"); [[ -z $own ]] || xargs kill -KILL <<<"$own" 2>/dev/null; }
    end_daemon TERM || { say "FAIL: qpscoped did not end within 15 s"; [[ $status -ne 0 ]] || status=1; }
    # A sanitizer's finding shows here.
    [[ $DAEMON_STATUS -eq 0 || $status -ne 0 ]] || { say "FAIL: qpscoped ended with status $DAEMON_STATUS"; status=1; }
    if [[ $status -ne 0 && $status -ne 77 && -s $OUT/daemon.log ]]; then
        echo "-- the last lines of daemon.log:"
        tail -n 40 "$OUT/daemon.log"
    fi
    exit "$status"
}
trap scenario_end EXIT
trap 'exit 143' TERM
