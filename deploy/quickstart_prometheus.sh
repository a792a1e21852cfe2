# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh, for --with-prometheus: a Prometheus and an Alertmanager with the files of deploy/prometheus. What they keep is
# in $out/prometheus and $out/alertmanager; their processes are in `servers`, which quickstart.sh ends.
# shellcheck disable=SC2154  # out, repo, pages and the ports are quickstart.sh's
servers=() server_port='' prometheus_url='' alertmanager_url=''

# Runs COMMAND until it listens on PORT of 127.0.0.1 (0: a free one), which is then in server_port.
start_server() { # NAME PORT COMMAND...
    local log=$out/$1/log name=$1 port=$2 deadline=$((SECONDS + 60)) pid
    shift 2
    : >"$log"
    "$@" --web.listen-address="127.0.0.1:$port" >"$log" 2>&1 </dev/null &
    pid=$!
    servers+=("$pid")
    server_port=''
    until [[ -n $server_port ]]; do
        server_port=$(sed -nE 's/.*msg="Listening on" address=127\.0\.0\.1:([0-9]+).*/\1/p' "$log")
        if [[ $SECONDS -ge $deadline ]] || ! kill -0 "$pid" 2>/dev/null; then
            tail -n 5 "$log" >&2
            die "$name does not start; its log is $log"
        fi
        sleep 0.2
    done
}

start_alertmanager() {
    local to=$out/alertmanager
    mkdir -p "$to"
    # Nobody is told: whatever listens where the example's receivers would be is not ours.
    sed 's/webhook_configs: .*//' "$repo/deploy/prometheus/alertmanager.yml" >"$to/alertmanager.yml"
    start_server alertmanager "$alertmanager_port" prometheus-alertmanager --config.file="$to/alertmanager.yml" --storage.path="$to/data" --cluster.listen-address=
    alertmanager_url=http://127.0.0.1:$server_port
}

start_prometheus() {
    local to=$out/prometheus
    mkdir -p "$to"
    cp -r "$repo/deploy/prometheus/rules" "$to/"
    sed -e 's/^global:$/&\n  scrape_interval: 15s\n  evaluation_interval: 15s/' -e "s/\"node-a:9879\", \"node-b:9879\"/\"127.0.0.1:$port\"/" \
        -e "s/127\.0\.0\.1:9093/${alertmanager_url#http://}/" "$repo/deploy/prometheus/prometheus.yml" >"$to/prometheus.yml"
    start_server prometheus "$prometheus_port" prometheus --config.file="$to/prometheus.yml" --storage.tsdb.path="$to/data"
    prometheus_url=http://127.0.0.1:$server_port
}

servers_alive() {
    local pid
    for pid in "${servers[@]}"; do
        kill -0 "$pid" 2>/dev/null || die "Prometheus or Alertmanager ended by itself: $out/prometheus/log, $out/alertmanager/log"
    done
}

end_servers() {
    local pid
    for pid in "${servers[@]}"; do
        kill "$pid" 2>/dev/null || continue
        wait "$pid" 2>/dev/null || true
    done
}

alerts() { curl -fsS --max-time 10 -G --data-urlencode 'match[]={__name__=~"ALERTS|ALERTS_FOR_STATE"}' "$prometheus_url/federate"; }
alerts_table() { # [AWK_OPTION]...
    alerts >"$pages/alerts" 2>/dev/null || : >"$pages/alerts"    # at its start it has none
    awk -v now="$(date +%s)" "$@" -f "$repo/deploy/quickstart_alerts.awk" "$out"/prometheus/rules/*.yml "$pages/alerts"
}

# Until that alert fires, with a line now and then; fails after SECONDS.
await_alert() { # ALERT SECONDS
    local start=$SECONDS next=$SECONDS is
    until is=$(alerts_table -v wanted="$1"); [[ $is == firing ]]; do
        alive
        [[ $SECONDS -lt $((start + $2)) ]] || return 1
        if [[ $SECONDS -ge $next ]]; then
            say "waiting for $1: $is ($(((SECONDS - start) / 60)) of at most $(($2 / 60)) min)"
            next=$((SECONDS + 60))
        fi
        sleep 2
    done
    say "$1 fires, $(((SECONDS - start) / 60)) min after Prometheus started"
}
