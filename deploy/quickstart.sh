#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds qpscoped and shows it at work: in an embedded guest with lossy RDMA traffic, or (--host) on this machine.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: quickstart.sh [--kernel NAME] [--port PORT] [--loss PERCENT] [--once] [--host] [--out DIR] [--interval S]
                     [--with-prometheus [--prometheus-port PORT] [--alertmanager-port PORT]]
On Debian 12, as root, in a clone. Installs what is missing (apt), builds, boots a stock Debian kernel under QEMU with
two soft-RoCE ports, 2 % packet loss and two jobs that move data, runs qpscoped in it, and prints a table every few
seconds until Ctrl-C. The guest mounts this machine's / read-only; qpscoped answers on 127.0.0.1:PORT.
  --kernel NAME  a kernel of tests/guest/kernels.txt (default 6.12)
  --port PORT    port on 127.0.0.1 (default 9879)
  --loss PERCENT what is lost of what rxe0 sends (default 2); later: echo "loss 5" >DIR/request
  --once         waits (180 s at most) until queue pairs, retransmissions, loss and both jobs are seen, prints the table
                 once and exits 0, or says what is missing and exits 1; leaves the pages and the rdma tool's output of
                 the same moment in DIR/taken
  --host         no guest: watches this machine's own RDMA devices
  --with-prometheus  also Prometheus and Alertmanager (Debian's, installed if missing) with the rules of deploy/prometheus, on
                 free ports of 127.0.0.1 or those given; the table shows what is pending or firing. Nobody is notified. With
                 --once it waits until the loss has made QpscopeChronicLoss fire: 11 minutes, 25 at most
  --out DIR      for logs and what --once takes (default: a new folder in $TMPDIR or /tmp)
  --interval S   seconds between tables (default 5)
Environment: QPSCOPE_BUILD_DIR (default build/quickstart), QPSCOPE_CACHE (kernels; default /var/cache/qpscope).
EOF
}
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
say() { echo "quickstart: $*"; }
die() { echo "quickstart: $*" >&2; exit 1; }

kernel=6.12 port=9879 loss=2 once=false host=false out='' interval=5
with_prometheus=false prometheus_port=0 alertmanager_port=0
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --kernel) kernel=${2:?}; shift ;;
        --port) port=${2:?}; shift ;;
        --loss) loss=${2:?}; shift ;;
        --once) once=true ;;
        --host) host=true ;;
        --out) out=${2:?}; shift ;;
        --interval) interval=${2:?}; shift ;;
        --with-prometheus) with_prometheus=true ;;
        --prometheus-port) prometheus_port=${2:?}; shift ;;
        --alertmanager-port) alertmanager_port=${2:?}; shift ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
# shellcheck source=deploy/quickstart_prometheus.sh
. "$repo/deploy/quickstart_prometheus.sh"
[[ $EUID -eq 0 ]] || die "needs root: for apt, for the guest's view of /, and for eBPF with --host"
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "quickstart: 127.0.0.1:$port is in use; end what listens there or choose another with --port" >&2
    exit 2
fi
own_out=false
if [[ -z $out ]]; then
    out=$(mktemp -d "${TMPDIR:-/tmp}/qpscope-quickstart.XXXXXX")
    own_out=true
fi
mkdir -p "$out"
out=$(realpath "$out")
rm -rf "$out"/{request,reply,taken,qpscoped.log,prometheus,alertmanager}
pages=$(mktemp -d)
child=''

# shellcheck disable=SC2317  # called by the traps
cleanup() {
    local status=$?
    trap - EXIT INT TERM HUP
    end_servers
    if [[ -n $child ]] && kill -0 "$child" 2>/dev/null; then
        kill "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
        say "ended what it started ($what)"
    fi
    rm -rf "$pages"
    # An empty folder or the logs of a run that went well are of no use to anyone.
    if $own_out && { ! $once || [[ -z $(ls -A "$out") ]]; } && [[ $status -eq 0 || $status -ge 128 ]]; then
        rm -rf "$out"
    elif [[ $status -ne 0 && -d $out ]]; then
        say "logs are in $out"
    fi
    exit "$status"
}
trap cleanup EXIT
trap 'echo; exit 130' INT
trap 'exit 143' TERM HUP
what="the build"

# Runs COMMAND with its output in a log, and a line every few seconds that says where it is.
step() { # NAME COMMAND...
    local name=$1 log=$out/$1.log next=$((SECONDS + 5)) progress last='' start=$SECONDS
    shift
    "$@" >"$log" 2>&1 </dev/null &
    child=$!
    while kill -0 "$child" 2>/dev/null; do
        if [[ $SECONDS -ge $next ]]; then
            progress=$(tail -c 2000 "$log" | grep -aoE '\[[0-9]+/[0-9]+\]' | tail -n 1 || true)
            [[ $progress == "$last" ]] || say "$name: ${progress:-working} after $((SECONDS - start)) s"
            last=$progress next=$((SECONDS + 5))
        fi
        sleep 0.2
    done
    if ! wait "$child"; then
        child=''
        tail -n 40 "$log" >&2
        die "$name failed; the whole log is $log"
    fi
    child=''
}

if $host; then
    say "--host: qpscoped will watch this machine's own RDMA devices; installs what is missing of deploy/packages/build.txt"
    "$repo/deploy/packages/install.sh" build
    type -P curl >/dev/null || die "needs curl: apt-get install curl"
else
    say "installs what is missing of deploy/packages/{build,guest}.txt, builds, and boots a guest of its own"
    say "the guest (kernel $kernel, unpacked below ${QPSCOPE_CACHE:-/var/cache/qpscope}, not installed) mounts this machine's / read-only"
    "$repo/deploy/packages/install.sh" build guest
    "$repo/tests/guest/fetch.sh" "$kernel" >/dev/null
fi
! $with_prometheus || "$repo/deploy/packages/install.sh" prometheus

build=${QPSCOPE_BUILD_DIR:-build/quickstart}
[[ $build == /* ]] || build=$repo/$build
say "building qpscoped in $build"
step configure cmake -S "$repo" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
step build cmake --build "$build" --target qpscoped
bin=$build/bin
[[ -x $bin/qpscoped ]] || die "the build left no $bin/qpscoped"

if $host; then
    what=qpscoped
    devices=(/sys/class/infiniband/*)
    [[ -e ${devices[0]} ]] || { devices=(); say "this machine has no RDMA device: the table will be empty"; }
    printf 'exporters: {prometheus: {listen: "127.0.0.1:%s"}}\napi: {allow: ["127.0.0.0/8", "::1/128"]}\n' "$port" >"$out/qpscope.yaml"
    "$bin/qpscoped" --config "$out/qpscope.yaml" >"$out/qpscoped.log" 2>&1 </dev/null &
else
    what="the guest"
    GUEST_KEEP=$bin "$repo/tests/guest/boot.sh" "$kernel" --out "$out" --forward "$port:$port" --timeout 31536000 -- \
        "$repo/tests/guest/demo.sh" "$bin" "$port" "$loss" </dev/null &
fi
child=$!
url=http://127.0.0.1:$port
fetch() { curl -fsS --max-time 10 "$url$1"; }
alive() {
    servers_alive
    kill -0 "$child" 2>/dev/null && return
    wait "$child" || true
    child=''
    [[ ! -s $out/qpscoped.log ]] || tail -n 20 "$out/qpscoped.log" >&2
    die "$what ended by itself"
}
deadline=$((SECONDS + 900))    # boot.sh has limits of its own, and may wait for another guest
until fetch /readyz >/dev/null 2>&1; do
    alive
    [[ $SECONDS -lt $deadline ]] || die "qpscoped does not answer on $url/readyz"
    sleep 0.3
done
say "qpscoped answers on $url"
unfired=''
if $with_prometheus; then
    start_alertmanager
    start_prometheus
    say "Prometheus is on $prometheus_url, Alertmanager on $alertmanager_url"
    # The other alert for loss compares with a past, which there is none of yet.
    if $once && ! $host; then await_alert QpscopeChronicLoss 1500 || unfired="the alert QpscopeChronicLoss"; fi
fi

now() { date +%s.%N; }
table() { # OLD_TIME NEW_TIME
    echo
    date '+%H:%M:%S'
    awk -v seconds="$(awk "BEGIN { print $2 - $1 }")" -f "$repo/deploy/quickstart.awk" "$pages/old" "$pages/new"
    ! $with_prometheus || { echo; alerts_table; }
    echo "$url/metrics${prometheus_url:+ $prometheus_url/alerts $alertmanager_url}"
}
: >"$pages/old"
old=$(now)
missing=''
deadline=$((SECONDS + 180))
while true; do
    alive
    fetch /metrics >"$pages/new" || { sleep 1; continue; }
    new=$(now)
    $once || table "$old" "$new"
    if $once && [[ -s $pages/old ]]; then
        if $host; then
            [[ ${#devices[@]} -gt 0 ]] || missing="an RDMA device"
            break
        fi
        missing=$(awk -v missing=1 -f "$repo/deploy/quickstart.awk" "$pages/new")
        [[ -n $missing && $SECONDS -lt $deadline ]] || break
    fi
    old=$new
    mv "$pages/new" "$pages/old"
    sleep "$interval"
done

# --once: what was taken, the table, the verdict.
table "$old" "$new"
status=0 said="pages and rdma output of one moment"
if $host; then
    mkdir -p "$out/taken"
    if type -P rdma >/dev/null && [[ ${#devices[@]} -gt 0 ]]; then
        "$repo/tests/guest/take.sh" "$url" "$out/taken" || said="pages and rdma output, not quite of one moment"
    else
        said="pages"
        fetch /metrics >"$out/taken/metrics.txt"
        fetch /metrics/qps >"$out/taken/metrics_qps.txt"
    fi
else
    echo take >"$out/request.new"
    mv "$out/request.new" "$out/request"
    deadline=$((SECONDS + 300))
    until [[ -s $out/reply ]]; do
        alive
        [[ $SECONDS -lt $deadline ]] || die "the guest does not answer the request to take the pages"
        sleep 0.2
    done
    read -r status why <"$out/reply"
    [[ $status -eq 0 ]] || { say "$why"; said="pages and rdma output, not quite of one moment"; }
fi
! $with_prometheus || cp "$pages/alerts" "$out/taken/alerts.txt"
[[ -z $unfired ]] || missing+=${missing:+$'\n'}$unfired
echo
say "$said: $out/taken"
if [[ -n $missing ]]; then
    say "missing: $(paste -sd, <<<"$missing" | sed 's/,/, /g')"
    exit 1
fi
exit 0
