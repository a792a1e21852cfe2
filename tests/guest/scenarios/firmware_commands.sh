#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 120
# The probes of firmware commands attach to the kernel's own mlx5_core, with trampolines and with kprobes, also when it is loaded after the
# daemon. There is no card: no command runs here.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

modinfo mlx5_core >/dev/null 2>&1 || skip 'this kernel has no mlx5_core'
dump() { "$QPSCOPE_BIN/qpscope-probe-dump" --seconds 0 "$@" >"$OUT/dump"; }
says() { grep -Eq "$1" "$OUT/dump" || die "no line like '$1' in: $(grep mlx5_command "$OUT/dump")"; }
attached() { [[ $(metric qpscope_probe_attached probe="$1") == "$2" ]]; }

dump
says '^probe mlx5_command how=off .*waiting=1 reason=mlx5_core is not loaded'
how=fexit
grep -q '^probe qp_create how=fexit' "$OUT/dump" || how=kprobe # no BTF of modules, or trampolines lose events
start_daemon
attached mlx5_command 0 || die 'mlx5_command is attached to nothing'
modprobe mlx5_core
wait_for 20 'attached mlx5_command 1' 'the daemon has the probe'
attached qp_create 1 || die 'the other probes are lost'
! metric qpscope_mlx5_command_seconds_count >/dev/null || die 'commands of no card'
[[ $(metric qpscope_mlx5_commands_uncounted_total) == 0 ]] || die 'commands found no room'
stop_daemon

for way in "$how" kprobe; do
    options=()
    [[ $way == "$how" ]] || options=(--kprobes)
    dump "${options[@]}"
    says "^probe mlx5_command how=$way .*attached=1"
done
modprobe -r mlx5_core
