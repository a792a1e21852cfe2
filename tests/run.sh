#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything: packages, the two builds, all tests. CI calls this and nothing else.
set -euo pipefail

usage() {
    cat <<'EOT'
usage: run.sh [--no-guest] [--all-kernels] [--long] [--fuzz]
Installs what is missing (deploy/packages), builds Debug with AddressSanitizer and UBSan (build/debug) and Release
(build/release), and runs the tests of both: check, unit, fuzz, golden, daemon and two guest scenarios on the Debug tree;
unit, golden, daemon and the whole guest on the Release tree. Needs root and Debian 12 for the packages; says what a test that is skipped would need.
  --no-guest     the quick loop: no guest (and none of its packages)
  --all-kernels  boot every kernel of tests/guest/kernels.txt, not only the default ones
  --long         also build drivers as a vendor would (tests/guest/vendor; a minute a kernel), which the scenario vendor_layout needs
  --fuzz         also let every fuzzer look for trouble for 60 s, before the Release tree (tests/fuzz; clang 19)
Exit code: 0 all passed; else that of the first step that failed, whose summary is printed last.
EOT
}
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
say() { printf 'run.sh: %s (%d s)\n' "$*" "$SECONDS"; }

guest=true all_kernels=OFF long=false fuzz=false
for arg in "$@"; do
    case $arg in
        -h | --help) usage; exit 0 ;;
        --no-guest) guest=false ;;
        --all-kernels) all_kernels=ON ;;
        --long) long=true ;;
        --fuzz) fuzz=true ;;
        *) usage >&2; exit 2 ;;
    esac
done

# Runs COMMAND with its output in a log, and a line now and then that says where it is; the end of the log if it fails.
step() { # NAME COMMAND...
    local name=$1 log=$logs/${1// /-}.log status=0 next=$((SECONDS + 20))
    shift
    say "$name"
    "$@" >"$log" 2>&1 </dev/null &
    child=$!
    while kill -0 "$child" 2>/dev/null; do
        if [[ $SECONDS -ge $next ]]; then
            say "$name: $(tail -c 4000 "$log" | grep -aoE '^\[[0-9]+/[0-9]+\]' | tail -n 1 || true)"
            next=$((SECONDS + 20))
        fi
        sleep 0.2
    done
    wait "$child" || status=$?
    child=''
    [[ $status -eq 0 ]] && return
    tail -n 60 "$log"
    say "$name failed"
    exit "$status"
}

run_tests() { # BUILD_FOLDER JOBS LABEL...
    local folder=$1 jobs=$2 labels
    shift 2
    labels=$(IFS='|'; echo "$*")
    say "tests ($*) in ${folder#"$repo/"}"
    # ctest's exit code is run.sh's, and its own summary the last that is printed.
    ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$jobs" -L "^($labels)\$" || exit
}

logs=$(mktemp -d)
child=''
# A command in the background does not hear Ctrl-C.
trap '[[ -z $child ]] || kill "$child" 2>/dev/null || true; rm -rf "$logs"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
lists=(build test)
if $guest; then lists+=(guest mlx5sim); fi
if $fuzz; then lists+=(fuzz); fi
say "packages (${lists[*]})"
"$repo/deploy/packages/install.sh" "${lists[@]}"

cd "$repo"
# Kernels and the module come before the tests, so that a slow mirror does not count against a guest's time.
if $guest; then
    kernels=--default
    [[ $all_kernels == OFF ]] || kernels=--all-kernels
    step "guest kernels" tests/guest/fetch.sh "$kernels"
    step "build mlx5sim" tests/guest/mlx5sim/build.sh
    if $long; then step "build vendor drivers" tests/guest/vendor/build.sh 6.12; fi
fi
step "configure debug" cmake --preset dev -DQPSCOPE_ALL_KERNELS=$all_kernels
step "build debug" cmake --build --preset dev -j 2
run_tests "$repo/build/debug" 2 check unit fuzz golden daemon
if $guest; then run_tests "$repo/build/debug" 1 guest; fi
if $fuzz; then
    say "fuzzers, 60 s each"
    tests/fuzz/run.sh 60
fi
step "configure release" cmake --preset release -DQPSCOPE_ALL_KERNELS=$all_kernels
step "build release" cmake --build --preset release -j 2
run_tests "$repo/build/release" 2 unit golden daemon
# By itself: a guest takes all the processor there is.
if $guest; then run_tests "$repo/build/release" 1 guest; fi
