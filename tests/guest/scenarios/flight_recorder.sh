#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 240
# A training-like run is killed by 30 % loss on one port: when all its processes are gone, the incident names the port, the first queue pair that died, its peer and
# tenant, and what the counters did. A link that goes down makes one, too; so does somebody who asks.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kept=/var/lib/qpscope/incidents
job=/sys/fs/cgroup/train-llm
ranks=2 pairs=3
incident() { "$QPSCOPE_BIN/qpscope" incidents "$@"; }
incidents() { find "$kept" -name "*-$1*.json" 2>/dev/null | wc -l; }
listening() { [[ $(rdma resource show cm_id 2>/dev/null | grep -c "LISTEN.*:$1") -eq 2 ]]; } # PORT: on rxe0 and on rxe1, one after the other

# What launchers do: all ranks end with the first.
run_job() {
    echo "$BASHPID" >"$job/cgroup.procs"
    ulimit -l unlimited
    local rank port
    for ((rank = 0; rank < ranks; rank++)); do
        port=$((19100 + rank))
        # One retry, as an application that wants to fail fast asks for: 30 % loss kills it within seconds.
        nice -n 19 ib_write_bw -d rxe1 -R --retry_count=1 -F -D 200 -q "$pairs" -s 4096 -t 4 -p "$port" >"$OUT/server.$rank.log" 2>&1 &
        until listening "$port"; do sleep 0.1; done
        nice -n 19 ib_write_bw -d rxe0 -R --retry_count=1 -F -D 200 -q "$pairs" -s 4096 -t 4 -p "$port" 192.168.78.2 >"$OUT/client.$rank.log" 2>&1 &
    done
    wait -n || true
    echo 1 >"$job/cgroup.kill"
}

modprobe rdma_ucm
loss 0
mkdir -p "$job"
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
echo "120000 100000" >"$job/cpu.max"
rm -rf "$kept"
start_daemon
run_job >"$OUT/job.log" 2>&1 &
wait_for 90 '[[ $(metric qpscope_queue_pairs "workload=\"train-llm\",state=\"RTS\",device=\"rxe0\"") -ge $((ranks * pairs)) ]]' 'all ranks are connected'
page '/api/v1/qps?workload=train-llm&device=rxe0' >"$STATE/before.json"
packets() { metric qpscope_port_tx_packets_total device=rxe0; }
moved=$(packets)
wait_for 60 '[[ $(packets) -gt $((moved + 20000)) ]]' 'it moves data'

say '-- 30 % loss'
[[ $(incidents '') -eq 0 ]] || die "an incident while all is well: $(incident)"
loss 30
wait_for 90 '[[ -z $(<"$job/cgroup.procs") ]]' 'the job is dead, all of it'
wait_for 30 '[[ $(incidents queue_pair_deaths) -eq 1 ]]' 'what happened is kept'
[[ $(metric qpscope_queue_pairs 'workload="train-llm"' || echo 0) -eq 0 ]] || die 'something of it is left'
incident >"$STATE/list"; cat "$STATE/list"
incident show >"$STATE/report"; cat "$STATE/report"
incident show --json >"$STATE/incident.json"
incident show --html >"$STATE/incident.html"
cp "$STATE/incident.json" "$STATE/incident.html" "$STATE/report" "$OUT/"
python3 - "$STATE/incident.json" "$STATE/before.json" <<'PY' || die 'not what happened'
import json, sys
incident, before = (json.load(open(path)) for path in sys.argv[1:])
qps = {qp["qpn"]: qp for qp in before["data"]["qps"]}
why, first = incident["triggers"][0], incident["first"]
qp = first["queue_pair"]
def check(what, *seen):
    if not what:
        sys.exit("FAIL: " + " ".join(map(str, seen)))
check((why["kind"], why["device"], why["port"], why["workload"]) == ("queue_pair_deaths", "rxe0", 1, "train-llm"), why)
check((qp["device"], qp["port"], qp["workload"], qp["state"]) == ("rxe0", 1, "train-llm", "RTS"), qp)
known = qps.get(qp["qpn"])
check(known, qp["qpn"], "was none of", list(qps))
for key in ("remote_qpn", "remote_gid", "pid", "comm", "generation"):
    check(qp[key] == known[key], key, qp[key], known[key])
check(qp["remote_gid"].endswith("c0a8:4e02"), qp["remote_gid"])
# No other end of this port's queue pairs was earlier.
ends = [one for one in incident["endings"] if one["queue_pair"]["device"] == "rxe0"]
check(len(ends) == len(qps) and min(one["time"] for one in ends) == first["time"], len(ends), "ends of", len(qps))
series = {(one["name"], one["labels"].get("device"), one["labels"].get("cause", "")): one["values"] for one in incident["series"]}
second = int(incident["triggers"][0]["time"] - incident["began"])
naks, sent = series["qpscope_port_retransmits_total", "rxe0", "sequence_nak"], series["qpscope_port_tx_packets_total", "rxe0", ""]
check(sum(value or 0 for value in naks[max(0, second - 15):second + 5]) > 0, "no retransmits around it", naks)
check(max(value or 0 for value in sent[:second]) > 100, "no traffic before", sent[:second])
check(all(not value for value in sent[-4:]), "traffic after", sent[-4:])
check(incident["host"] and len(naks) == round(incident["ended"] - incident["began"]), "not every second", len(naks))
PY
grep -q 'rxe0/1 of unknown/train-llm (ib_write_bw, pid [0-9]*) to ::ffff:192.168.78.2 qpn [0-9]*' "$STATE/report" || die 'the report does not name the first'
grep -q 'retransmits (sequence_nak) began' "$STATE/report" || die 'the report does not say what the counters did'
"$QPSCOPE_BIN/qpscope" events --kind incident | grep -q queue_pair_deaths || die 'no event'
[[ $(stat -c '%a %U' "$kept"/*.json) == '640 root' ]] || die "not root's alone: $(ls -l "$kept")"

say '-- a link goes down'
loss 0
ip link set v1 down
wait_for 30 '[[ $(incidents link_down) -eq 1 ]]' 'that is kept, too'
ip link set v1 up
incident show "$(basename "$(ls "$kept"/*link_down*)" .json)" | tee "$STATE/report" | grep -q 'rxe[01] port 1 went from ACTIVE to DOWN' || die "not the link: $(<"$STATE/report")"

say '-- somebody asks'
id=$("$QPSCOPE_BIN/qpscope" record --reason 'a "look" at it' --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["incident"])')
wait_for 10 '[[ -s $kept/$id.json ]]' "$id is kept"
incident show "$id" | grep -q 'a "look" at it' || die 'not why'
wait_for 10 '[[ $(metric qpscope_incidents_total outcome=kept) -eq 3 && $(metric qpscope_incidents_total outcome=failed) -eq 0 ]]' 'three are counted'
[[ $(metric qpscope_incident_triggers_total trigger=queue_pair_deaths) -eq 1 && $(metric qpscope_incident_triggers_total trigger=request) -eq 1 ]] || die 'not these triggers'
stop_daemon
loss 3
rmdir "$job"
