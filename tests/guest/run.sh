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

status=0
GUEST_KEEP=$bin "$here/boot.sh" "$kernel" --out "$out" --timeout "$limit" -- "$here/scenarios.sh" "$bin" "${names[@]}" || status=$?
missing=()
for name in "${names[@]}"; do
    [[ -s $out/$name/result ]] || missing+=("$name")
done
[[ ${#missing[@]} -eq 0 ]] || { echo "run.sh: no result from: ${missing[*]}" >&2; exit 1; }
exit "$status"
