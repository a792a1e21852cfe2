#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 120
# Without any capability: no BPF, and it says why; ports, counters and queue pairs come from sysfs and netlink.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"

DAEMON_PREFIX=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)
DAEMON_YAML='sampling: {slow_interval: 1s}'
start_daemon
[[ $(metric qpscope_probe_attached) -eq 0 ]] || die "probes are attached without capabilities"
grep -q '<4>BPF is off: .*CAP_BPF' "$OUT/daemon.log" || die "the log does not name the missing capability"
start_churner plain rxe0 31 200
wait_for 30 'all_held 1' 'a process holds queue pairs'
must_agree "from netlink alone"
[[ $(metric qpscope_queue_pairs 'workload="plain"') -gt 0 ]] || die "no owner from /proc"
end_churner plain KILL
must_agree "after kill -9"
