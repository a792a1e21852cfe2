# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scenarios, after lib.sh: processes that make and destroy queue pairs, and the proof that the daemon's table is right
# whenever they hold still.

CHURNERS=()  # "NAME PID", NAME being also the cgroup and so the workload

held_lines() { grep -c '^held' "$STATE/$1.out" 2>/dev/null || true; }

# start_churner NAME DEVICE SEED STEPS: in its own cgroup.
start_churner() {
    local group=/sys/fs/cgroup/$1
    mkdir -p "$group"
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        ulimit -l unlimited
        exec "$QPSCOPE_BIN/qpscope-qp-churn" "${@:2}"
    ) >"$STATE/$1.out" 2>&1 &
    CHURNERS+=("$1 $!")
}

# all_held LINES: every living churner has held so often. One that died by itself fails the scenario.
all_held() {
    local entry name pid
    for entry in "${CHURNERS[@]}"; do
        read -r name pid <<<"$entry"
        kill -0 "$pid" 2>/dev/null || die "churner $name ended: $(tail -n 1 "$STATE/$name.out")"
        [[ $(held_lines "$name") -ge $1 ]] || return 1
    done
}

# end_churner NAME SIGNAL: and waits until the process is gone.
end_churner() {
    local entry kept=() name pid
    for entry in "${CHURNERS[@]}"; do
        read -r name pid <<<"$entry"
        if [[ $name != "$1" ]]; then kept+=("$entry"); continue; fi
        kill "-$2" "$pid"
        wait "$pid" || true
    done
    CHURNERS=("${kept[@]}")
}
signal_churners() {
    local entry
    for entry in "${CHURNERS[@]}"; do kill "-$1" "${entry#* }"; done
}

# told COLUMN: what all churners that ever ran said last, added up: 2 live, 3 created, 4 destroyed, 5 failed.
told() { for file in "$STATE"/*.out; do grep '^held' "$file" | tail -n 1; done | awk -v column="$1" '{ sum += $column } END { print sum + 0 }'; }

# The table equals netlink in device, qpn, type, state, remote qpn and pid, and its own books balance.
agrees() {
    mkdir -p "$STATE/taken"
    rdma -j resource show qp >"$STATE/taken/rdma-qp.json" &&
        page /metrics/qps >"$STATE/taken/metrics_qps.txt" &&
        page /metrics >"$STATE/taken/metrics.txt" &&
        "$GUEST_DIR/agree.py" --queue-pairs "$STATE/taken" >"$STATE/agree.log" &&
        "$GUEST_DIR/balance.py" "$STATE/taken/metrics.txt" >"$STATE/balance.log"
}
must_agree() { # DESCRIPTION
    local start=$SECONDS
    until agrees; do
        if [[ $((SECONDS - start)) -ge 30 ]]; then
            cp -r "$STATE/taken" "$OUT/" || true
            tail -n 30 "$STATE/agree.log" "$STATE/balance.log" || true
            die "table and netlink do not agree: $1"
        fi
        sleep 0.2
    done
    say "agree after $((SECONDS - start)) s: $1: $(cat "$STATE/agree.log") $(cat "$STATE/balance.log")"
}
