#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every script that a shell runs, through shellcheck.
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "$0")/lib.sh"

type -P shellcheck >/dev/null || { echo "SKIP: no shellcheck (deploy/packages/test.txt)"; exit 77; }
scripts=()
while IFS= read -r file; do
    if is_shell "$file"; then scripts+=("$file"); fi
done < <(source_files)
shellcheck --external-sources "${scripts[@]}"
