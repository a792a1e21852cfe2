#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Downloads stock Debian kernels and unpacks them (never installs them) below the cache folder.
# Prints the folder of each kernel on stdout; progress goes to stderr. A folder holds:
#   vmlinuz   release (what uname -r will say)   packages   lib/modules/RELEASE/ (with depmod done)
set -euo pipefail

usage() {
    cat <<'EOF'
usage: fetch.sh [--refresh] [--default | --all-kernels | NAME...]
  NAME           a kernel of kernels.txt, such as 6.12
  --default      those marked "default" (the default)
  --all-kernels  every line of kernels.txt
  --refresh      asks apt for the kernel of the day even if one is unpacked already
cache folder: $QPSCOPE_CACHE, else /var/cache/qpscope
EOF
}
die() { echo "fetch.sh: $*" >&2; exit 1; }
say() { echo "kernel $*" >&2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${QPSCOPE_CACHE:-/var/cache/qpscope}
refresh=false
which=default
names=()
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --refresh) refresh=true ;;
        --default) which=default ;;
        --all-kernels) which=all ;;
        -*) usage >&2; exit 2 ;;
        *) names+=("$1") ;;
    esac
    shift
done

kernel_line() { awk -v want="$1" '!/^#/ && $1 == want { print $2, $3, $4; found = 1 } END { exit !found }' "$here/kernels.txt"; }
if [[ ${#names[@]} -eq 0 ]]; then
    mapfile -t names < <(awk -v all="$which" '!/^#/ && NF >= 4 && (all == "all" || $4 == "default") { print $1 }' "$here/kernels.txt")
fi
for name in "${names[@]}"; do
    kernel_line "$name" >/dev/null || die "unknown kernel $name; kernels.txt knows: $(awk '!/^#/ { printf "%s ", $1 }' "$here/kernels.txt")"
done

mkdir -p "$cache/dl" "$cache/kernels" 2>/dev/null || die "cannot write to $cache: run as root or set QPSCOPE_CACHE"
tmp=
trap '[[ -z $tmp ]] || rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The options that make apt read SUITE in a state of its own: the machine's sources and lists stay as they are.
# The mirror is the one the machine already uses for Debian itself.
private_apt() {
    local suite=$1 state=$cache/apt-$1 mirror
    # shellcheck disable=SC2016  # the dollars are apt's
    mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "Debian" && $2 !~ /security/ { print $2; exit }')
    [[ -n $mirror ]] || die "no Debian source with a package list on this machine: run apt-get update"
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    echo "deb $mirror $suite main" >"$state/sources.list"
    apt_options+=(-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache" -o Dir::State::status=/dev/null)
    say "$name: reading the package list of $suite"
    apt-get -qq "${apt_options[@]}" update >&2 || die "apt-get update of $suite failed"
}

# PACKAGE and what it depends on, as far as it is part of a kernel: since 7.x Debian splits the image into
# linux-binary-*, linux-modules-* and linux-base-* packages; before, the meta depends on one linux-image-*.
kernel_packages() {
    local queue=("$1") package dependency
    local -A seen=()
    while [[ ${#queue[@]} -gt 0 ]]; do
        package=${queue[0]} queue=("${queue[@]:1}")
        while read -r dependency; do
            [[ -n $dependency && -z ${seen[$dependency]:-} ]] || continue
            seen[$dependency]=1
            echo "$dependency"
            queue+=("$dependency")
        done < <(apt-cache "${apt_options[@]}" depends --important "$package" 2>/dev/null |
            sed -nE 's/^ +(Pre)?Depends: (linux-(image|binary|modules|base)-[0-9].*)$/\2/p')
    done
}

download() {
    local package=$1 file size _
    read -r _ file size _ < <(apt-get "${apt_options[@]}" download --print-uris "$package" 2>/dev/null) || true
    [[ -n ${file:-} ]] || die "apt cannot download $package (apt-get update may help)"
    if [[ -f $cache/dl/$file && $(stat -c %s "$cache/dl/$file") == "$size" ]]; then
        say "$name: $file is in the cache"
    else
        say "$name: downloading $file ($((size / 1048576)) MB)"
        (cd "$tmp" && apt-get -qq "${apt_options[@]}" download "$package" >&2) || die "download of $package failed"
        mv "$tmp/$file" "$cache/dl/$file"
    fi
    deb=$cache/dl/$file
}

fetch() {
    local name=$1 target=$cache/kernels/$1 suite meta _ package packages=() deb release image
    local apt_options=(-o APT::Sandbox::User=root)
    [[ ! -s $target/release ]] || $refresh || return 0
    read -r suite meta _ < <(kernel_line "$name")
    [[ $suite == - ]] || private_apt "$suite"
    mapfile -t packages < <(kernel_packages "$meta")
    if [[ ${#packages[@]} -eq 0 && $suite == - ]]; then
        say "$name: apt-get update"
        apt-get -qq update >&2 || die "apt-get update failed"
        mapfile -t packages < <(kernel_packages "$meta")
    fi
    [[ ${#packages[@]} -gt 0 ]] || die "apt knows no kernel behind $meta"

    tmp=$(mktemp -d "$cache/kernels/.$name.XXXXXX")
    for package in "${packages[@]}"; do
        download "$package"
        say "$name: unpacking $package"
        dpkg -x "$deb" "$tmp/deb"
    done
    mkdir -p "$tmp/kernel/lib"
    if [[ -d $tmp/deb/usr/lib/modules ]]; then mv "$tmp/deb/usr/lib/modules" "$tmp/kernel/lib/"; else mv "$tmp/deb/lib/modules" "$tmp/kernel/lib/"; fi
    release=$(basename "$tmp/kernel/lib/modules/"*)
    for image in "$tmp/deb/boot/vmlinuz-$release" "$tmp/kernel/lib/modules/$release/vmlinuz"; do
        [[ ! -f $image ]] || cp "$image" "$tmp/kernel/vmlinuz"
    done
    [[ -f $tmp/kernel/vmlinuz ]] || die "no vmlinuz in ${packages[*]}"
    depmod -b "$tmp/kernel" "$release"
    printf '%s\n' "${packages[@]}" >"$tmp/kernel/packages"
    echo "$release" >"$tmp/kernel/release"
    chmod 755 "$tmp/kernel"
    rm -rf "$target.old"
    [[ ! -e $target ]] || mv "$target" "$target.old"
    mv "$tmp/kernel" "$target"
    rm -rf "$target.old" "$tmp"
    tmp=
    say "$name: $release is ready"
}

exec 8>"$cache/fetch.lock"
flock 8
for name in "${names[@]}"; do
    fetch "$name"
    echo "$cache/kernels/$name"
done
