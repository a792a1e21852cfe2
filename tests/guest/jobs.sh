#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: two jobs, each in a cgroup of its own, that move data over the fabric in rounds until stopped.
# Two workers in each job overlap, so that there is nearly always a queue pair in RTS.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: jobs.sh start | wait | stop | freeze | thaw
  start   train-a: perftest (ib_write_bw with 2 queue pairs, and with 4) from rxe0 to rxe1
          train-b: ibv_rc_pingpong, two at a time, and waits until both have a queue pair in RTS
  wait    until both have a queue pair in RTS
  stop    ends both and removes their cgroups
  freeze  both hold still with the queue pairs they have, until thaw
The log of each worker is in /run/jobs.
EOF
}
die() { echo "jobs.sh: $*" >&2; exit 1; }

cgroups=/sys/fs/cgroup
state=/run/jobs
seconds=10    # of a perftest round by duration
limit=40      # of any round

listening() { # PORT: is there a TCP listener; /proc because ss would load a module
    local hex
    printf -v hex ':%04X' "$1"
    awk -v port="$hex" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }' \
        /proc/net/tcp /proc/net/tcp6
}

# A server on rxe1 and a client on rxe0: what is lost on v0 is then the client's data. Each has a time limit: under loss a
# queue pair can run out of retries while its peer waits, and rxe of 6.12 now and then forgets to send again.
round() { # PORT TOOL ARG...
    local port=$1 tool=$2 server i
    shift 2
    timeout -k 1 "$limit" "$tool" -d rxe1 -p "$port" "$@" &
    server=$!
    for ((i = 0; i < 100; i++)); do
        ! listening "$port" || break
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.05
    done
    timeout -k 1 "$limit" "$tool" -d rxe0 -p "$port" "$@" 127.0.0.1 || kill "$server" 2>/dev/null || true
    wait "$server"
}

worker() { # JOB NAME FIRST_PORT NICE TOOL ARG...: runs in the job's cgroup
    local job=$1 name=$2 first=$3 nice=$4 number=0
    shift 4
    echo "$BASHPID" >"$cgroups/$job/cgroup.procs"
    exec >"$state/$name.log" 2>&1
    renice -n "$nice" -p "$BASHPID" >/dev/null
    ulimit -l unlimited
    while true; do
        # A port of its own for each round: the last one's may be in TIME_WAIT.
        if round $((first + number % 50)) "$@"; then
            echo "round $number: done"
        else
            echo "round $number: failed"
            sleep 0.5    # a tool that cannot start must not spin
        fi
        number=$((number + 1))
    done
}

in_rts() { # JOB: has a queue pair in RTS that belongs to a process of its cgroup
    local pid
    while read -r pid; do
        ! grep -Eq "state RTS .*pid $pid( |$)" <<<"$qps" || return 0
    done <"$cgroups/$1/cgroup.procs"
    return 1
}

start() {
    [[ ! -e $cgroups/train-a ]] || die "the jobs run already"
    mkdir -p "$cgroups/train-a" "$cgroups/train-b" "$state"
    # The emulated processors are few: train-a, whose clients poll, gets less than one.
    echo +cpu >"$cgroups/cgroup.subtree_control"
    echo "70000 100000" >"$cgroups/train-a/cpu.max"
    # ib_write_bw: its server sleeps and only the client polls. ib_send_bw polls on both sides, and with -e (sleep until
    # a completion) it hangs under loss.
    local pingpong=(-g 1 -e)
    worker train-a write_bw_2 18500 19 ib_write_bw -x 1 -F -D "$seconds" -q 2 -s 4096 -t 8 &
    worker train-a write_bw_4 18600 19 ib_write_bw -x 1 -F -D $((seconds + 5)) -q 4 -s 2048 -t 4 &
    worker train-b pingpong_large 18700 10 ibv_rc_pingpong "${pingpong[@]}" -n 1000 -s 16384 &
    worker train-b pingpong_small 18800 10 ibv_rc_pingpong "${pingpong[@]}" -n 2000 -s 1024 &
    wait_rts
    echo "jobs: train-a and train-b move data"
}

wait_rts() {
    local deadline=$((SECONDS + 120)) job qps
    for job in train-a train-b; do
        until qps=$(rdma resource show qp) && in_rts "$job"; do
            if [[ $SECONDS -ge $deadline ]]; then
                tail -n 5 "$state"/*.log >&2
                die "$job has no queue pair in RTS after two minutes"
            fi
            sleep 0.2
        done
    done
}

stop() {
    local job deadline=$((SECONDS + 30))
    for job in train-a train-b; do
        [[ -d $cgroups/$job ]] || continue
        until rmdir "$cgroups/$job" 2>/dev/null; do
            # cgroup.kill came with 5.14.
            if [[ -e $cgroups/$job/cgroup.kill ]]; then
                echo 1 >"$cgroups/$job/cgroup.kill"
            else
                xargs -r kill -KILL <"$cgroups/$job/cgroup.procs" 2>/dev/null || true
            fi
            [[ $SECONDS -lt $deadline ]] || die "$job does not end"
            sleep 0.1
        done
    done
    echo "jobs: ended"
}

# The kernel answers for a frozen process (soft-RoCE acknowledges by itself), so that no queue pair times out.
freeze() { # 1 or 0
    local job
    for job in train-a train-b; do
        echo "$1" >"$cgroups/$job/cgroup.freeze"
        until grep -q "frozen $1" "$cgroups/$job/cgroup.events"; do sleep 0.05; done
    done
}

case ${1:-} in
    start) start ;;
    wait) wait_rts ;;
    stop) stop ;;
    freeze) freeze 1 ;;
    thaw) freeze 0 ;;
    *) usage >&2; exit 2 ;;
esac
