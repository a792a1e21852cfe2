#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 240
# KERNELS: 6.12
# Two daemons, each of which has one of the two ports, as if they were nodes: a real Prometheus finds the peer of every queue pair, by the query
# of exporters/README.md. And the command shows the queue pairs that the page has.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v prometheus >/dev/null || skip 'no prometheus (deploy/packages/test.txt)'
taken=$OUT/taken
mkdir -p /run/qpscope
# A /run/qpscope of its own for each.
DAEMON_PREFIX=(unshare -m sh -c 'mount -t tmpfs none /run/qpscope && exec "$@"' sh)
start_node() { # NAME DEVICE PORT
    PORT=$3
    DAEMON_YAML="devices: {include: [$2]}" start_daemon
    mkdir -p "$taken/$1"
    echo "$2" >"$taken/$1/device"
}
pages() { # NAME PORT
    PORT=$2 page /metrics >"$taken/$1/metrics.txt"
    PORT=$2 page /metrics/qps >"$taken/$1/metrics_qps.txt"
}
take() { # both nodes' pages and rdma's word, of one moment
    pages node-a 9879
    pages node-b 9880
    rdma -j resource show qp >"$taken/rdma-qp.json"
    cat "$taken"/node-?/metrics_qps.txt >"$taken/metrics_qps.txt"
    "$GUEST_DIR/agree.py" --queue-pairs "$taken" >"$taken/agree.txt"
}

loss 0
start_node node-a rxe0 9879
node_a=$DAEMON_PID
start_node node-b rxe1 9880
pids=()
connect() { # SERVER_DEVICE CLIENT_DEVICE PORT: a connection that lasts, and holds still
    local hex own
    printf -v hex ':%04X' "$3"
    ibv_rc_pingpong -d "$1" -g 1 -e -n 10000000 -p "$3" >"$STATE/server$3" 2>&1 &
    own=("$!")
    wait_for 30 "grep -q '$hex .* 0A ' /proc/net/tcp /proc/net/tcp6" "a server on $1"
    ibv_rc_pingpong -d "$2" -g 1 -e -n 10000000 -p "$3" 127.0.0.1 >"$STATE/client$3" 2>&1 &
    own+=("$!")
    wait_for 30 "[[ \$(rdma resource show qp | grep -cE 'state RTS .*pid (${own[0]}|${own[1]}) ') -eq 2 ]]" "$2 is connected to $1"
    kill -STOP "${own[@]}"
    echo "${own[@]}" >>"$taken/connections.txt"
    pids+=("${own[@]}")
}
connect rxe1 rxe0 18900
connect rxe0 rxe1 18901
connect rxe0 rxe0 18902  # within one node, too
wait_for 30 take 'the pages of both nodes and rdma agree'
cat "$taken/agree.txt"
! grep -l 'device="rxe1"' "$taken/node-a/"*.txt || die 'node-a shows the device of node-b'
! grep -l 'device=""' "$taken"/node-?/*.txt || die 'a queue pair of no device'
"$GUEST_DIR/peers.py" "$taken" || die 'Prometheus does not find the peers'

# What the command shows is what the page shows.
in_node_a() { nsenter -m -t "$node_a" "$QPSCOPE_BIN/qpscope" "$@"; }
in_node_a qps
in_node_a qps --json --limit 1000 >"$taken/node-a/qps.json"
"$GUEST_DIR/same_qps.py" "$taken/node-a" || die 'the command shows other queue pairs than the page'
[[ $(in_node_a qps --state RTS --pid "${pids[1]}" --remote-gid ::ffff:192.168.78.2 | wc -l) -eq 2 ]] || die 'not the one queue pair of a process'

kill -KILL "${pids[@]}"
wait "${pids[@]}" 2>/dev/null || true
stop_daemon
[[ $DAEMON_STATUS -eq 0 ]] || die "node-b ended with status $DAEMON_STATUS"
DAEMON_PID=$node_a
