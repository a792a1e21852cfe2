#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 150
# The DEVX probes attach to the kernel's own mlx5_ib, with trampolines and with kprobes, also when it is loaded after the daemon. There is
# no card: nothing makes an object here.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

modinfo mlx5_ib >/dev/null 2>&1 || skip 'this kernel has no mlx5_ib'
dump() { "$QPSCOPE_BIN/qpscope-probe-dump" --seconds 0 "$@" >"$OUT/dump"; }
says() { grep -Eq "$1" "$OUT/dump" || die "no line like '$1' in: $(grep devx "$OUT/dump")"; }
attached() { [[ $(metric qpscope_probe_attached probe="$1") == "$2" ]]; }

dump
says '^probe devx_create how=off .*waiting=1 reason=mlx5_ib is not loaded'
how=fexit
grep -q '^probe qp_create how=fexit' "$OUT/dump" || how=kprobe # no BTF of modules, or trampolines lose events
start_daemon
attached devx_create 0 || die 'devx_create is attached to nothing'
modprobe mlx5_ib
wait_for 20 'attached devx_create 1 && attached devx_destroy 1' 'the daemon has the DEVX probes'
attached qp_create 1 || die 'the other probes are lost'
stop_daemon

for way in "$how" kprobe; do
    options=()
    [[ $way == "$how" ]] || options=(--kprobes)
    dump "${options[@]}"
    for probe in devx_create devx_destroy; do says "^probe $probe how=$way .*attached=1"; done
done
modprobe -r mlx5_ib
