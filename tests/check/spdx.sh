#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source file has its SPDX line among the first three: what is loaded into the kernel is GPL, what both sides include is both.
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "$0")/lib.sh"

licence_of() {
    case $1 in
        bpf/commands.h | bpf/events.h | bpf/losses.h | tests/bench/event_path/inject.h) echo "GPL-2.0-only OR Apache-2.0" ;;
        *.bpf.c | *.bpf.h | tests/guest/mlx5sim/*.[ch]) echo "GPL-2.0-only" ;;
        *) echo "Apache-2.0" ;;
    esac
}

is_source() {
    case $1 in
        *.c | *.h | *.cpp | *.h.in | *.py | *.sh | *.awk | *.cmake | *.service.in | CMakeLists.txt | */CMakeLists.txt) return 0 ;;
    esac
    head -c 2 -- "$1" | grep -aq '^#!'
}

while IFS= read -r file; do
    is_source "$file" || continue
    found=$(head -n 3 -- "$file" | sed -nE 's|^(//\|#\|/\*) SPDX-License-Identifier: ([^*]*[^* ])( \*/)?$|\2|p')
    wanted=$(licence_of "$file")
    [[ $found == "$wanted" ]] || fault "$file: SPDX line says \"$found\", not \"$wanted\""
done < <(source_files)
finish
