#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots a kernel once and runs scenarios in it. Exit status 0: the guest came up and every scenario has a result,
# whatever the result is (result.sh tells one scenario's).
set -euo pipefail

usage() {
    cat <<'EOF'
usage: run.sh KERNEL --out DIR --bin DIR_WITH_QPSCOPED [--scenario NAME]...
  --scenario  one of tests/guest/scenarios (default: all of them)
Leaves DIR/NAME/result ("pass", "fail WHY" or "skip WHY"), DIR/NAME/log and what the scenario stored.
EOF
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
kernel='' out='' bin='' names=()
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --out) out=${2:?}; shift ;;
        --bin) bin=${2:?}; shift ;;
        --scenario) names+=("$(basename "${2:?}" .sh)"); shift ;;
        -*) usage >&2; exit 2 ;;
        *) kernel=$1 ;;
    esac
    shift
done
[[ -n $kernel && -n $out && -n $bin ]] || { usage >&2; exit 2; }
bin=$(realpath "$bin")
if [[ ${#names[@]} -eq 0 ]]; then
    for file in "$here"/scenarios/*.sh; do
        [[ $file == */lib.sh ]] || names+=("$(basename "$file" .sh)")
    done
fi

limit=60
for name in "${names[@]}"; do
    file=$here/scenarios/$name.sh
    [[ -f $file ]] || { echo "run.sh: no such scenario: $name" >&2; exit 2; }
    own=$(sed -n 's/^# LIMIT: *\([0-9]*\).*/\1/p' "$file")
    limit=$((limit + ${own:-120} + 30))
    # A result of an earlier run must not stand for this one.
    rm -rf "${out:?}/$name"
done

boot() { GUEST_KEEP=$bin "$here/boot.sh" "$kernel" --out "$out" --timeout "$limit" -- "$here/scenarios.sh" "$bin" "$@"; }
without_result() {
    missing=()
    for name in "${names[@]}"; do
        [[ -s $out/$name/result ]] || missing+=("$name")
    done
}
status=0
boot "${names[@]}" || status=$?
without_result
# QEMU 7.2 with two processors may translate code while the guest's kernel patches it, and go on running the breakpoint that the kernel sets meanwhile
# (arch/x86/kernel/alternative.c text_poke_bp_batch) after it was taken back. Nobody knows it then, and the kernel panics: about one boot in thirty,
# wherever code is patched, static branches of the scheduler as well as what trampolines attach to.
# Nor has any processor flags in bits 22 to 31, which are always 0: seen once, behind a cmpxchg16b, with half of RAX in them, and the next return from an
# interrupt was a double fault.
emulators_fault='Oops: int3: |EFLAGS: ([1-9a-f]|0[1-9a-f]|00[4-9a-f])'
if [[ ${#missing[@]} -gt 0 ]] && grep -qE "$emulators_fault" "$out/console.log"; then
    echo "run.sh: the emulator's fault, not the guest's ($out/console.log); once more: ${missing[*]}" >&2
    status=0
    boot "${missing[@]}" || status=$?
    without_result
fi
[[ ${#missing[@]} -eq 0 ]] || { echo "run.sh: no result from: ${missing[*]}" >&2; exit 1; }
exit "$status"
