#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# A vendor's ib_core, with other struct layouts and without BTF: BPF is off until there is a layout of just this build, and then agrees with netlink.
# One that is damaged is refused.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/churners.sh
. "$GUEST_DIR/churners.sh"
# shellcheck source=tests/guest/vendor/stack.sh
. "$GUEST_DIR/vendor/stack.sh"

vendor=${QPSCOPE_CACHE:-/var/cache/qpscope}/vendor/$(uname -r)
[[ -s $vendor/ib_core.ko ]] || skip 'no modules of a vendor: tests/guest/vendor/build.sh makes them (tests/run.sh --long)'
type -P pahole >/dev/null || skip 'no pahole'
layouts=$STATE/layouts
mkdir -p "$layouts"
DAEMON_YAML="bpf: {layouts: $layouts}"

probes() { "$QPSCOPE_BIN/qpscope" probes --json; }
attached() { [[ $(metric qpscope_probe_attached "probe=$1,how=kprobe") == 1 ]]; }
# says PATTERN: one of the reasons.
says() { probes >"$STATE/probes" && grep -q -- "$1" "$STATE/probes"; }
# refused WORDS: the daemon starts without BPF of queue pairs and says why.
refused() {
    start_daemon
    [[ $(metric qpscope_probe_attached 'probe=qp_create,how=off') == 0 ]] || die 'attached without a good layout'
    says "$1" || die "the reason is not '$1': $(probes | grep -m1 reason)"
    stop_daemon
}

unload_stack || die 'the modules of the kernel cannot be unloaded'
trap leave_with_own_stack EXIT
for module in ib_uverbs rdma_rxe; do load_from "$vendor" "$module"; done
[[ $(</sys/module/ib_core/taint) == *O* ]] || die 'the vendor has no taint O'
"$GUEST_DIR/fabric.sh" up 0
start_churner a rxe0 11 300
wait_for 60 'all_held 1' 'a process holds queue pairs'

say '-- without a layout'
start_daemon
[[ $(metric qpscope_probe_attached 'probe=qp_create,how=off') == 0 ]] || die 'attached without a layout'
says 'build id [0-9a-f]* has no entry' || die "no build id in: $(probes)"
must_agree 'from netlink alone'
stop_daemon

say '-- with its layout'
made=$("$QPSCOPE_BIN/qpscope-layout" --into "$layouts" "$vendor/ib_core.ko") || die 'no layout'
cp "$made" "$OUT/"
start_daemon
attached qp_create || die "not attached: $(probes | grep -m1 reason)"
must_agree 'those that were there before'
start_churner b rxe1 12 300
wait_for 60 'all_held 1' 'another process'
signal_churners USR1
wait_for 60 'all_held 2' 'both go on'
wait_for 20 '[[ $(metric qpscope_bpf_events_total kind=qp_created) -gt 0 ]]' 'queue pairs come by BPF'
must_agree 'old and new ones'
attached qp_create || die "switched off: $(probes | grep -m1 reason)"
[[ $(metric qpscope_queue_pairs workload=b) -gt 0 ]] || die 'no queue pairs of b'
keep_page
stop_daemon

say '-- layouts that are damaged'
good=$(<"$made")
head -n -5 <<<"$good" >"$made"
refused 'cut: no line'
awk '$1 == "build-id" { $2 = "00112233445566778899aabbccddeeff00112233" } { print }' <<<"$good" >"$made"
refused 'it is of the build id 00112233'
sed '/^  qp_num /d' <<<"$good" >"$made"
refused 'something is missing'

for name in a b; do end_churner "$name" TERM; done
