#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzers (build/fuzz) and lets each look for trouble for a while.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: run.sh [SECONDS] [TARGET]...
  SECONDS  for each target (default 60)
  TARGET   a file TARGET.cpp of tests/fuzz (default: all of them)
Prints a line per target: executions, covered edges, new inputs. What it finds on the way is kept in build/fuzz/found/TARGET/corpus and is where
the next run begins. Exit code 1: an input crashed a target, broke a property, took more than 5 s or 1 GiB, or leaked; it is kept, and
the line says where.
EOF
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
repo=$(cd "$here/../.." && pwd -P)
build=$repo/build/fuzz
seconds=60
targets=()
for arg in "$@"; do
    case $arg in
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *[!0-9]*)
            [[ -f $here/$arg.cpp && $arg != replay ]] || { echo "run.sh: no such target: $arg" >&2; exit 2; }
            targets+=("$arg") ;;
        *) seconds=$arg ;;
    esac
done
if [[ ${#targets[@]} -eq 0 ]]; then
    for file in "$here"/*.cpp; do
        name=$(basename "$file" .cpp)
        [[ $name == replay ]] || targets+=("$name")
    done
fi

log=$(mktemp)
temp=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo /tmp)")
# In the background, so that Ctrl-C and an ended parent end it too.
child=''
trap '[[ -z $child ]] || kill "$child" 2>/dev/null || true; rm -rf "$log" "$temp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-$(type -P llvm-symbolizer-19 || true)}
cd "$repo"
if ! { cmake --preset fuzz && cmake --build --preset fuzz -j 2; } >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "run.sh: the fuzzers do not build (deploy/packages/install.sh build fuzz)" >&2
    exit 1
fi

# The value of a libFuzzer statistic, or of a word of its last status line.
stat() { sed -nE "s/^stat::$1: +//p" "$log"; }
word() { grep -aE '^#[0-9]+' "$log" | tail -n 1 | sed -nE "s/.* $1: ([0-9]+).*/\1/p"; }

failed=0
for target in "${targets[@]}"; do
    found=$build/found/$target
    mkdir -p "$found/corpus"
    # The first folder takes what is new.
    folders=("$found/corpus")
    for folder in "$here/corpus/$target" "$build/tests/fuzz/seeds/$target"; do
        [[ ! -d $folder ]] || folders+=("$folder")
    done
    dictionary=()
    [[ ! -f $here/$target.dict ]] || dictionary=("-dict=$here/$target.dict")
    # The temporary files of the targets lie in memory.
    TMPDIR=$temp "$build/bin/qpscope-fuzz-$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=4096 \
        -print_final_stats=1 -artifact_prefix="$found/" "${dictionary[@]}" "${folders[@]}" >"$log" 2>&1 </dev/null &
    child=$!
    status=0
    wait "$child" || status=$?
    child=''
    printf '%-14s %9s executions %7s/s %6s edges %5s new inputs\n' "$target" "$(stat number_of_executed_units)" \
        "$(stat average_exec_per_sec)" "$(word cov)" "$(stat new_units_added)"
    if [[ $status -ne 0 ]]; then
        failed=1
        grep -aE 'not true: |ERROR: |runtime error: |SUMMARY: |Test unit written to' "$log" || tail -n 20 "$log"
        echo "again: build/fuzz/bin/qpscope-fuzz-$target FILE"
    fi
done
exit "$failed"
