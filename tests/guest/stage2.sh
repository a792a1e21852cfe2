#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Second stage, process 1 of the guest in the host's user space (over the overlay): the file systems an eBPF and
# verbs program needs, the network, then the command of boot.sh; its status goes to $OUT/status, then power off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8
# shellcheck source=/dev/null
. /run/guest/settings
declare -a COMMAND
# shellcheck source=/dev/null
. /run/guest/command

finish() {
    echo "$1" >"$OUT/status.new"
    mv "$OUT/status.new" "$OUT/status"
    sync
    busybox poweroff -f
}

mkdir -p /tmp /run/lock /dev/shm /dev/pts
chmod 1777 /tmp
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -sfn /proc/self/fd /dev/fd
hostname guest

busybox ip link set lo up
if [[ $FORWARD == yes ]]; then
    modprobe virtio_net
    for path in /sys/class/net/*; do
        [[ $path != */lo ]] || continue
        busybox ip addr add 10.0.2.15/24 dev "${path##*/}"
        busybox ip link set "${path##*/}" up
    done
fi

ulimit -l unlimited
export GUEST_OUT=$OUT GUEST_KERNEL=$KERNEL
cd /
cut -d' ' -f1 /proc/uptime >"$OUT/booted"
"${COMMAND[@]}" </dev/null >"$OUT/output.log" 2>&1
finish $?
