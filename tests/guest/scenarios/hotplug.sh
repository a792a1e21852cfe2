#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 120
# A device that comes, goes, or is another under the same name is known at once, long before the next look: by RDMA netlink's notifications
# (6.12), or by uevents.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

DAEMON_YAML='sampling: {interval: 60s, slow_interval: 60s, stale_after: 120s}'
found() { metric qpscope_devices_found; }
changes() { metric qpscope_device_changes_total "event=$1" || echo 0; }
new_daemon_log() { tail -n +$((logged + 1)) "$OUT/daemon.log"; }

start_daemon
logged=$(wc -l <"$OUT/daemon.log")
before=$(found)
case $GUEST_KERNEL in
    5.10 | 6.1) how=uevent ;;
    *) how=rdma_netlink ;;
esac
metric qpscope_device_notifications_info "how=$how" >/dev/null || die "told by $(page | grep qpscope_device_notifications_info), not by $how"

say '-- it comes'
sim load devices=1 || die 'mlx5sim does not load'
wait_for 10 '[[ $(found) -eq $((before + 1)) ]]' 'it is found'
[[ $(changes register) -eq 1 ]] || die "registered $(changes register) times"

say '-- another under its name, at once'
sim remove mlx5_0
sim add mlx5_0
wait_for 10 '[[ $(new_daemon_log | grep -c "device mlx5_0 found") -eq 2 ]]' 'it is read anew'
wait_for 10 '[[ $(changes register) -eq 2 && $(changes unregister) -eq 1 ]]' 'both are counted'

keep_page

say '-- it goes'
sim remove mlx5_0
wait_for 10 '[[ $(found) -eq $before ]]' 'it is gone'
stop_daemon
sim add mlx5_0
sim unload || die 'mlx5sim does not unload'
