#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every relative link of a Markdown page leads to something.
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "$0")/lib.sh"

while IFS= read -r page; do
    while IFS= read -r link; do
        target=${link%%#*}
        [[ -z $target || $target =~ ^[a-z]+: ]] && continue
        [[ $target == /* || ! -e $(dirname "$page")/$target ]] && fault "$page: $link leads nowhere"
    done < <(grep -oE '\]\([^) ]+' "$page" | sed 's/^](//' || true)
done < <(source_files | grep '\.md$')
finish
