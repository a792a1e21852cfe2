#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 150
# The look-alike raises asynchronous events: each is counted and told once, with the owner of its object and the peer of its queue pair; and a storm of
# 100,000 of one kind changes nothing for the others.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

raise() { sim set mlx5_0 event "$*"; }
total() { metric qpscope_async_events_total "device=mlx5_0,event=$1" || echo 0; }
events() { page "/api/v1/events?device=mlx5_0&limit=10000" >"$STATE/events.json"; }
# told KIND NAME: how many the history has.
told() { events && python3 -c '
import json, sys
print(sum(one["kind"] == sys.argv[2] and (": " + sys.argv[3] + " of ") in one["message"] for one in json.load(open(sys.argv[1]))["data"]["events"]))' "$STATE/events.json" "$1" "$2"; }

sim load devices=1 ports=1 || die 'mlx5sim does not load'
[[ -w $(sim_path mlx5_0)/event ]] || skip 'mlx5sim.ko is older than this scenario: tests/guest/mlx5sim/build.sh'
wait_for 10 '[[ -z $(ip -6 address show tentative | grep sim) ]]' 'the addresses that queue pairs connect to are not tentative any more'
start_daemon
mkdir -p /sys/fs/cgroup/raised
(
    echo "$BASHPID" >/sys/fs/cgroup/raised/cgroup.procs
    exec "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 2 1 srq
) >"$STATE/held" 2>&1 &
holder=$!
wait_for 60 'grep -q ^held "$STATE/held"' 'two queue pairs and an SRQ'
wait_for 20 '[[ $(metric qpscope_queue_pairs "device=mlx5_0,workload=raised,state=RTS") -eq 2 ]]' 'their owner is known'
read -ra qpns <<<"$(sed 's/^held //' "$STATE/held")"
qpn=${qpns[0]}

# NUMBER OF KIND NAME: enum ib_event_type. port_err and port_active are told as the port's state.
cat >"$STATE/all" <<LIST
0 $qpn completion_queue_event cq_err
1 $qpn queue_pair_event qp_fatal
2 $qpn queue_pair_event qp_req_err
3 $qpn queue_pair_event qp_access_err
4 $qpn queue_pair_notice comm_est
5 $qpn queue_pair_notice sq_drained
6 $qpn queue_pair_notice path_mig
7 $qpn queue_pair_event path_mig_err
8 0 device_event device_fatal
11 1 port_event lid_change
12 1 port_event pkey_change
13 1 port_event sm_change
14 0 shared_receive_queue_event srq_err
15 0 shared_receive_queue_event srq_limit_reached
16 $qpn queue_pair_notice qp_last_wqe_reached
17 1 port_event client_reregister
LIST
while read -r number of kind name; do
    [[ $(total "$name") -eq 0 && $(told "$kind" "$name") -eq 0 ]] || die "$name before there was one"
    raise "$number $of"
done <"$STATE/all"
while read -r number of kind name; do
    wait_for 20 "[[ \$(told $kind $name) -eq 1 && \$(total $name) -eq 1 ]]" "$name is told and counted"
done <"$STATE/all"
gids=$(total gid_change)
ip address add 192.168.79.1/24 dev sim0p1
wait_for 20 "[[ \$(total gid_change) -eq $((gids + 2)) && \$(told gid_change gid_change) -ge 2 ]]" 'an address is two GIDs more, RoCE v1 and v2'

python3 - "$STATE/events.json" "$qpn" "$holder" <<'PY' || die 'not whose they are'
import json, sys
events, qpn, pid = json.load(open(sys.argv[1]))["data"]["events"], int(sys.argv[2]), int(sys.argv[3])
for one in events:
    if one["kind"] in ("queue_pair_event", "queue_pair_notice"):
        got = one["qpn"], one["port"], one["workload"], one["pid"], one["comm"], one["remote_qpn"], bool(one["remote_gid"])
        if got != (qpn, 1, "raised", pid, "qpscope-qp-hold"[:15], qpn, True):
            sys.exit(f"FAIL: {one}")
    if one["kind"] in ("completion_queue_event", "shared_receive_queue_event") and (one["workload"], one["pid"]) != ("raised", pid):
        sys.exit(f"FAIL: {one}")
PY
[[ $(metric -p /metrics/qps qpscope_qp_async_events_total "qpn=$qpn,event=qp_fatal") -eq 1 ]] || die 'not among those of the queue pair'
keep_page

say '-- a port that goes down for a moment, and one that stays down'
states() { events && grep -o '"message":"mlx5_0 port 1 went from [A-Z]* to [A-Z]*' "$STATE/events.json" | sed 's/.*went from //' | tr '\n' ';'; }
raise 10 1; raise 9 1
wait_for 20 '[[ $(states) == "ACTIVE to DOWN;DOWN to ACTIVE;" ]]' 'down and up, shorter than a second, are both told'
sim link mlx5_0/1 down
wait_for 20 '[[ $(states) == "ACTIVE to DOWN;DOWN to ACTIVE;ACTIVE to DOWN;" ]]' 'it is down'
sleep 4 # longer than what is sampled may be older than what the kernel said
[[ $(states) == "ACTIVE to DOWN;DOWN to ACTIVE;ACTIVE to DOWN;" ]] || die "told more than once: $(states)"
sim link mlx5_0/1 up
wait_for 20 '[[ $(states) == *"DOWN to ACTIVE;" && $(states | tr -cd ";" | wc -c) -eq 4 ]]' 'it is up'

say '-- a queue pair that its program moves to ERR'
(
    echo "$BASHPID" >/sys/fs/cgroup/raised/cgroup.procs
    exec "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 1 1 fail
) >"$STATE/failing" 2>&1 &
failing=$!
wait_for 60 'grep -q ^held "$STATE/failing"' 'a third queue pair'
third=$(sed 's/^held //' "$STATE/failing")
wait_for 20 '[[ $(metric qpscope_queue_pairs "device=mlx5_0,workload=raised,state=RTS") -eq 3 ]]' 'its owner is known'
kill -USR1 "$failing"
wait_for 20 '[[ $(metric qpscope_queue_pairs "device=mlx5_0,workload=raised,state=ERR") -eq 1 ]]' 'it is in ERR'
events
[[ $(grep -o "\"kind\":\"queue_pair_moved_to_error\"[^}]*\"qpn\":$third,[^}]*\"workload\":\"raised\"" "$STATE/events.json" | wc -l) -eq 1 ]] || die "not once: $(<"$STATE/events.json")"

say '-- a storm'
memory() { metric process_resident_memory_bytes; }
before=$(memory)
lost=$(metric qpscope_bpf_events_lost_total)
raise "4 $qpn 100000"
raise "2 $qpn"
wait_for 30 '[[ $(total comm_est) -eq 100001 && $(total qp_req_err) -eq 2 ]]' 'all are counted'
wait_for 10 '[[ $(told queue_pair_event qp_req_err) -eq 2 ]]' 'another kind is told'
events
[[ $(grep -o comm_est "$STATE/events.json" | wc -l) -le 1024 ]] || die 'the history has no bound'
[[ $(metric qpscope_bpf_events_lost_total) -eq $lost ]] || die 'others lost events'
say "memory $before before, $(memory) after"
[[ $(memory) -le $((before + 3000000)) ]] || die 'it took memory'
kill "$holder" "$failing"
wait "$holder" "$failing" || true
stop_daemon
sim unload
rmdir /sys/fs/cgroup/raised
