#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No file names a folder of the machine it was written on, a home folder, or a package registry's host: the repository
# works in any clone, with the package sources that its machine is set up with.
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "$0")/lib.sh"

# In pieces, so that this file does not name them.
dot='\.' slash='/'
patterns=(
    "(^|[^a-z.])${slash}work${slash}"
    "${slash}home${slash}[a-z]"
    "(^|[^a-zA-Z0-9_.])${slash}root${slash}"
    "(deb|snapshot|security|ftp|archive)${dot}debian${dot}org"
    "pypi${dot}org" "proxy${dot}golang" "registry${dot}npmjs" "crates${dot}io" "archive${dot}ubuntu"
)
while IFS= read -r line; do
    fault "$line"
done < <(source_files | tr '\n' '\0' | xargs -0 grep -InE "$(IFS='|'; echo "${patterns[*]}")" -- || true)
finish
