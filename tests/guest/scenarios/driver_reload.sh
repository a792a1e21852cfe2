#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# Probes are taken off and come back, when told to or by themselves, and the table then is what netlink says; the driver is taken out and put in again
# between two daemons, the second of which is older than its ib_core.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"
# shellcheck source=tests/guest/vendor/stack.sh
. "$GUEST_DIR/vendor/stack.sh"

trap leave_with_own_stack EXIT

qpscope() { "$QPSCOPE_BIN/qpscope" "$@"; }
attached() { [[ $(metric qpscope_probe_attached probe=qp_create) == "$1" ]]; }
told_by_bpf() { metric qpscope_bpf_events_total kind=qp_created; }
programs() { bpftool prog show | grep -cE ' name (qp_|cgroup_(mkdir|rename|rmdir))' || true; }

start_daemon
start_churner a rxe0 11 300
wait_for 60 'all_held 1' 'a process holds queue pairs'
must_agree 'before'

say '-- off and on, with the queue pairs in place'
qpscope probes off
attached 0 || die 'attached after off'
[[ $(metric qpscope_probes_off_by_request) == 1 ]] || die 'the metric does not say so'
qpscope status >"$STATE/said" || true
grep -q 'off by request' "$STATE/said" || die "status does not say so: $(qpscope status)"
qpscope events --kind probes >"$STATE/said" || true
grep -q 'by request' "$STATE/said" || die "no event: $(qpscope events --kind probes)"
[[ $(programs) -eq 0 ]] || die "the kernel still has programs of ours: $(bpftool prog show | grep ' name qp_')"
before=$(told_by_bpf)
signal_churners USR1
wait_for 60 'all_held 2' 'the process goes on unseen'
start_churner b rxe1 12 300
wait_for 60 '[[ $(held_lines b) -ge 1 ]]' 'another comes unseen'
qpscope probes on
attached 1 || die 'not attached after on'
must_agree 'what came and went while nothing was attached'
[[ $(told_by_bpf) == "$before" ]] || die "BPF tells of creates at a time without probes: $before, now $(told_by_bpf)"
signal_churners USR1
wait_for 60 '[[ $(held_lines a) -ge 3 && $(held_lines b) -ge 2 ]]' 'both go on'
must_agree 'seen again'
[[ $(told_by_bpf) -gt $before ]] || die 'creates are not seen again'
for name in a b; do end_churner "$name" TERM; done
must_agree 'all gone'

say '-- by itself'
qpscope probes off --for 2s
wait_for 20 'attached 1 && [[ $(metric qpscope_probes_off_by_request) == 0 ]]' 'they come back by themselves'

say '-- a daemon that is older than ib_core'
stop_daemon
unload_stack || die 'a daemon that ended holds ib_core'
start_daemon
qpscope probes >"$STATE/said" || true
grep -q 'ib_core is not loaded' "$STATE/said" || die "no word of it: $(qpscope probes)"
"$GUEST_DIR/fabric.sh" up 0
wait_for 30 'attached 1' 'attached once ib_core is there'
start_churner d rxe1 14 300
wait_for 60 '[[ $(held_lines d) -ge 1 ]]' 'queue pairs'
must_agree 'a daemon that is older than the driver'
end_churner d TERM
