#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# What the connection manager tells: a connection that comes and ends, one that is rejected and why, a peer that cannot be reached, one that is killed: each is told
# once, with the process whose id it is, and counted.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

modprobe rdma_ucm
loss 0
start_daemon
wait_for 20 '[[ $(metric qpscope_probe_attached probe=cm_event) -eq 1 ]]' 'the connection manager is watched'
mkdir -p /sys/fs/cgroup/caller /sys/fs/cgroup/listener
total() { metric qpscope_cm_events_total "$1" || echo 0; }
# told PATTERN: events whose message has it, as "kind workload comm".
told() { page '/api/v1/events?kind=connection&kind=connection_failed&limit=10000' | python3 -c '
import json, re, sys
for one in json.load(sys.stdin)["data"]["events"]:
    if re.search(sys.argv[1], one["message"]):
        print(one["kind"], one.get("workload"), one.get("comm"), one.get("pid"), sep=" ")' "$1"; }
listening() { [[ $(rdma resource show cm_id 2>/dev/null | grep -c "LISTEN.*:$1") -eq 2 ]]; } # PORT: on rxe0 and on rxe1, one after the other
# bw GROUP PORT ARG...: in a shell of its own, which becomes the program.
bw() {
    echo "$BASHPID" >"/sys/fs/cgroup/$1/cgroup.procs"
    ulimit -l unlimited
    exec ib_write_bw -R -F -s 4096 -p "$2" "${@:3}"
}

say '-- a connection, and its end'
bw listener 19201 -d rxe1 -n 50 >"$OUT/server.log" 2>&1 &
server=$!
wait_for 20 'listening 19201' 'somebody listens'
bw caller 19201 -d rxe0 -n 50 192.168.78.2 >"$OUT/client.log" 2>&1 &
client=$!
wait "$client" || die "the client: $(tail -n 3 "$OUT/client.log")"
wait "$server" || die "the server: $(tail -n 3 "$OUT/server.log")"
# perftest makes one connection to exchange data by and one to measure. The side that connects is told of the response, the other that it is established.
wait_for 20 '[[ $(total event=established) -eq 2 && $(total event=connect_response) -eq 2 && $(total event=disconnected) -ge 2 ]]' \
    "connections and their ends are counted: $(page | grep ^qpscope_cm_events | tr '\n' ' ')"
wait_for 20 '[[ $(told "to 192.168.78.2:19201: connect_response" | sort | uniq -c | tr -s " ") == " 2 connection caller ib_write_bw $client" ]]' "whose it is: $(told 19201)"
[[ $(told 'from 192.168.78.2:19201 to 192.168.77.1:[0-9]*: established' | awk '{ print $1, $2, $3 }' | sort -u) == 'connection listener ib_write_bw' ]] || die "not the listener's: $(told established)"

say '-- nobody listens there'
(bw caller 19299 -d rxe0 -n 5 192.168.78.2) >"$OUT/rejected.log" 2>&1 && die 'it was not rejected'
wait_for 20 '[[ $(total event=rejected,reason=invalid_service_id) -eq 1 ]]' 'the rejection is counted with its reason'
[[ $(told 'from 192.168.77.1:[0-9]* to 192.168.78.2:19299: rejected, invalid_service_id \(8\)' | awk '{ print $1, $2, $3 }') == 'connection_failed caller ib_write_bw' ]] || die "not told once: $(told rejected)"

silent_peer() {
    say '-- a peer that does not answer'
    # Its requests are lost on the wire, and the connection manager gives up after its retries.
    loss 100
    bw listener 19202 -d rxe1 -n 5 >"$OUT/silent.log" 2>&1 &
    silent=$!
    wait_for 20 'listening 19202' 'somebody listens'
    bw caller 19202 -d rxe0 -n 5 192.168.78.2 >"$OUT/unreachable.log" 2>&1 &
    wait_for 90 '[[ $(total event=unreachable) -eq 1 ]]' 'it is unreachable'
    [[ $(told 'to 192.168.78.2:19202: unreachable, ETIMEDOUT' | awk '{ print $1, $2, $3 }') == 'connection_failed caller ib_write_bw' ]] || die "not told once: $(told unreachable)"
    loss 0
    kill "$silent"
    wait "$silent" || true
}
# On 6.1 nothing was told within 90 s, and why is not known.
[[ $GUEST_KERNEL == 6.1 ]] || silent_peer

say '-- a peer that is killed'
bw listener 19203 -d rxe1 -D 60 >"$OUT/killed.log" 2>&1 &
victim=$!
wait_for 20 'listening 19203' 'somebody listens'
before=$(total event=disconnected)
bw caller 19203 -d rxe0 -D 60 192.168.78.2 >"$OUT/left.log" 2>&1 &
left=$!
wait_for 20 '[[ $(told "to 192.168.78.2:19203: connect_response" | wc -l) -eq 2 ]]' 'they are connected'
kill -KILL "$victim"
wait_for 20 '[[ $(total event=disconnected) -gt $before && -n $(told "to 192.168.78.2:19203: disconnected") ]]' 'the other side is told'
[[ $(told 'to 192.168.78.2:19203: disconnected' | awk '{ print $2, $3, $4 }' | sort -u) == "caller ib_write_bw $left" ]] || die "not the other side: $(told disconnected)"
keep_page
kill "$left" 2>/dev/null || true
wait "$left" "$victim" || true
stop_daemon
loss 3
rmdir /sys/fs/cgroup/caller /sys/fs/cgroup/listener
