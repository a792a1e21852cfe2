#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest (run.sh starts it): sets the fabric up once, then runs scenarios one after another, each in a cgroup
# and a state folder of its own. Log and result of each go to $GUEST_OUT/NAME.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$1
shift
cgroups=/sys/fs/cgroup
export QPSCOPE_BIN=$bin GUEST_DIR=$here

processes() { # PID COMM CGROUP of every process below the root cgroup, which is the runner's own
    local procs pid
    find "$cgroups" -mindepth 2 -name cgroup.procs | while read -r procs; do
        while read -r pid; do
            echo "$pid $(cat "/proc/$pid/comm" 2>/dev/null) ${procs%/cgroup.procs}"
        done <"$procs" 2>/dev/null
    done
}
user_qps() { rdma resource show qp | grep -c ' pid '; }

until_true() { # SECONDS COMMAND...
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [[ $SECONDS -lt $deadline ]] || return 1
        sleep 0.1
    done
}
# shellcheck disable=SC2317  # run by until_true
no_processes() { [[ -z $(processes) ]]; }
# shellcheck disable=SC2317
no_user_qps() { [[ $(user_qps) -eq 0 ]]; }

clean() { # what a scenario left: its processes count against it
    local status=0 pid
    if ! until_true 3 no_processes; then
        status=1
        echo "left behind (pid, name, cgroup), killed by the runner:"
        processes
        processes | while read -r pid _; do kill -KILL "$pid" 2>/dev/null; done
        until_true 10 no_processes
    fi
    # Whatever hangs in the look-alike ends with it; one that failed half-way must not be another's device.
    if [[ -d /sys/module/mlx5sim ]]; then
        status=1
        echo 'left behind: mlx5sim, unloaded by the runner'
        timeout 20 rmmod mlx5sim
    fi
    find "$cgroups" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null
    until_true 10 no_user_qps || echo "queue pairs left: $(user_qps)"
    "$here/fabric.sh" loss 3
    return "$status"
}

run() {
    local name=$1 file=$here/scenarios/$1.sh limit status result start=$SECONDS
    export STATE=/run/scenario/$name OUT=$GUEST_OUT/$name
    mkdir -p "$STATE" "$OUT" "$cgroups/scenario"
    limit=$(sed -n 's/^# LIMIT: *\([0-9]*\).*/\1/p' "$file")
    limit=${limit:-120}
    dmesg -C
    (
        echo "$BASHPID" >"$cgroups/scenario/cgroup.procs"
        exec timeout -k 5 "$limit" bash "$file"
    ) >"$OUT/log" 2>&1 </dev/null
    status=$?
    case $status in
        0) result=pass ;;
        77) result="skip $(cat "$STATE/reason" 2>/dev/null || echo 'no reason given')" ;;
        124 | 137) result="fail took more than $limit s" ;;
        *) result="fail $(cat "$STATE/reason" 2>/dev/null || echo "status $status")" ;;
    esac
    clean >>"$OUT/log" 2>&1 || [[ $result == fail* ]] || result="fail left processes behind"
    if dmesg | grep -E 'WARNING:|BUG:|Call Trace' >/dev/null; then
        { echo "-- the kernel's log during this scenario:"; dmesg; } >>"$OUT/log"
    fi
    echo "$result" >"$OUT/result.new"
    mv "$OUT/result.new" "$OUT/result"
    echo "scenario $name: $result ($((SECONDS - start)) s)"
}

"$here/fabric.sh" up 3 || exit 1
for name in "$@"; do run "$name"; done
exit 0
