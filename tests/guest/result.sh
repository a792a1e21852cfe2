#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: result.sh DIR SCENARIO   prints the log that run.sh left and exits 0 (pass), 1 (fail) or 77 (skip)
set -euo pipefail

folder=$1/$2
[[ ! -f $folder/log ]] || cat "$folder/log"
if [[ ! -s $folder/result ]]; then
    echo "$2: no result in $folder: the guest did not get that far"
    exit 1
fi
result=$(<"$folder/result")
echo "$2: $result"
case $result in
    pass) exit 0 ;;
    skip*) exit 77 ;;
    *) exit 1 ;;
esac
