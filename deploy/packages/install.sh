#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of the named lists (the .txt files beside it), and of those only what is missing.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: install.sh [--dry-run] LIST...
  LIST       build, guest, prometheus, mlx5sim, test, fuzz: a file LIST.txt beside this script, one Debian package a line
  --dry-run  says what it would install, and installs nothing
EOF
}
die() { echo "install.sh: $*" >&2; exit 1; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dry_run=false
lists=()
for arg in "$@"; do
    case $arg in
        -h | --help) usage; exit 0 ;;
        --dry-run) dry_run=true ;;
        -*) usage >&2; exit 2 ;;
        *) lists+=("$arg") ;;
    esac
done
[[ ${#lists[@]} -gt 0 ]] || { usage >&2; exit 2; }
type -P apt-get dpkg-query >/dev/null ||
    die "this is not a Debian system (no apt-get): install by hand what ${lists[*]/%/.txt} in $here name"

wanted=()
for list in "${lists[@]}"; do
    [[ -r $here/$list.txt ]] || die "no such list: $here/$list.txt"
    mapfile -t -O "${#wanted[@]}" wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$here/$list.txt")
done

missing=()
for package in "${wanted[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $state == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
    echo "packages (${lists[*]}): all ${#wanted[@]} are installed"
    exit 0
fi
echo "packages (${lists[*]}): will install with apt: ${missing[*]}"
! $dry_run || exit 0
[[ $EUID -eq 0 ]] || die "needs root to install packages: run it as root, or install the packages above by hand"

log=$(mktemp)
# Nobody asked for the services some packages bring along (Prometheus listens on :9090): they are not started.
policy=/usr/sbin/policy-rc.d
if [[ -e $policy ]]; then policy=; else printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod +x "$policy"; fi
trap 'rm -f "$log" ${policy:+"$policy"}' EXIT
# Apt's own talk is kept for the case of failure; its progress would drown the caller's.
apt() {
    if ! DEBIAN_FRONTEND=noninteractive apt-get -y -qq "$@" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        die "apt-get $1 failed (see above)"
    fi
}
echo "packages: apt-get update"
apt update
echo "packages: apt-get install of ${#missing[@]} (a minute or two on a fresh machine)"
apt install --no-install-recommends "${missing[@]}"
echo "packages: installed"
