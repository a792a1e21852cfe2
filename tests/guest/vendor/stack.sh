# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scenarios: takes the RDMA modules out of the guest's kernel, and puts others in.

rdma_modules=(rdma_rxe rdma_ucm rdma_cm iw_cm ib_cm ib_umad ib_uverbs ib_core)

# unload_stack: fabric and modules go; fails, with what rmmod says, where one is held.
unload_stack() {
    local module
    "$GUEST_DIR/fabric.sh" down >/dev/null 2>&1 || true
    for module in "${rdma_modules[@]}"; do
        [[ ! -d /sys/module/$module ]] || rmmod "$module" || return 1
    done
}

# load_from FOLDER MODULE: with what it needs, which is taken from the kernel's own where FOLDER does not have it.
load_from() {
    local folder=$1 name=$2 needed
    [[ ! -d /sys/module/$name ]] || return 0
    if [[ ! -f $folder/$name.ko ]]; then modprobe "$name"; return; fi
    for needed in $(modinfo -F depends "$folder/$name.ko" | tr , ' '); do load_from "$folder" "$needed"; done
    insmod "$folder/$name.ko"
}

# own_stack: whatever is loaded goes, the kernel's own comes back, with the fabric: what the next scenario expects.
own_stack() {
    unload_stack || true
    "$GUEST_DIR/fabric.sh" up 3
}

# For the trap of a scenario that changes the stack: whatever uses it ends, the kernel's own comes back, and then what lib.sh does at the end.
# shellcheck disable=SC2317
leave_with_own_stack() {
    local status=$?
    trap - EXIT
    [[ $status -eq 0 ]] || pkill -KILL -P $$ -f '^[^ ]*/qpscope-qp-' || true
    end_daemon TERM && [[ $DAEMON_STATUS -eq 0 ]] || status=1
    own_stack >/dev/null || status=1
    (exit "$status")
    scenario_end
}
