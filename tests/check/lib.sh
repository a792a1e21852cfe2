# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the checks: the repository's files, and one line for each fault.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repo"
faults=0

# Files of the repository, one a line: what git knows or would add; without git (a source archive) what is there but builds.
repo_files() {
    if [[ $(git rev-parse --show-toplevel 2>/dev/null) == "$repo" ]]; then
        git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
            [[ ! -f $file && ! -L $file ]] || printf '%s\n' "$file"
        done
    else
        find . \( -path ./.git -o -path './build*' \) -prune -o \( -type f -o -type l \) -print | sed 's|^\./||' | sort
    fi
}

# Files that people write: the fixtures are what kernels print.
source_files() { repo_files | grep -v '^tests/fixtures/.*/'; }

# First line of a script that a shell runs.
is_shell() { [[ $1 == *.sh ]] || head -n 1 -- "$1" | grep -aqE '^#! ?/(usr/)?bin/(env )?(ba|da|)sh'; }

fault() {
    echo "$*"
    faults=$((faults + 1))
}

finish() {
    [[ $faults -eq 0 ]] || { echo "$faults faults"; exit 1; }
    exit 0
}
