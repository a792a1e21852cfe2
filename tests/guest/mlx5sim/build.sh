#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds mlx5sim.ko for kernels of the guest, outside the tree, and only when the source or the kernel has changed.
# Prints the path of each module on stdout; progress goes to stderr.
set -euo pipefail

usage() {
    cat <<'HELP'
usage: build.sh [KERNEL...]
  KERNEL  a name of tests/guest/kernels.txt whose suite is the machine's own (default: 6.1 6.12)
The kernel's headers are downloaded and unpacked below the cache folder, never installed.
cache folder: $QPSCOPE_CACHE, else /var/cache/qpscope; the module: CACHE/mlx5sim/RELEASE/mlx5sim.ko
Exit status: 0 all built; 1 a build failed (the end of its log is shown).
HELP
}
die() { echo "mlx5sim: $*" >&2; exit 1; }
say() { echo "mlx5sim $*" >&2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cache=${QPSCOPE_CACHE:-/var/cache/qpscope}
kernels=()
for arg in "$@"; do
    case $arg in
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) kernels+=("$arg") ;;
    esac
done
[[ ${#kernels[@]} -gt 0 ]] || kernels=(6.1 6.12)
type -P make gcc-12 dpkg-deb apt-get >/dev/null || die "needs make and gcc-12: deploy/packages/install.sh mlx5sim"

mkdir -p "$cache/mlx5sim" "$cache/headers" "$cache/dl" || die "cannot write to $cache: run as root or set QPSCOPE_CACHE"
tmp=
trap '[[ -z $tmp ]] || rm -rf "$tmp"' EXIT
exec 8>"$cache/mlx5sim/lock"
flock 8

# Sets `source` to the folder of the headers of RELEASE, unpacked if need be.
headers() {
    local release=$1 target=$cache/headers/$1 package packages file _
    if [[ ! -d $target ]]; then
        packages=("linux-headers-$release")
        mapfile -t -O 1 packages < <(apt-cache depends --important "linux-headers-$release" 2>/dev/null |
            sed -nE 's/^ +Depends: (linux-(headers|kbuild)-.*)$/\1/p')
        [[ ${#packages[@]} -gt 1 ]] ||
            die "apt has no headers of $release: apt-get update, or tests/guest/fetch.sh --refresh for the kernel of the day"
        tmp=$(mktemp -d "$cache/headers/.$release.XXXXXX")
        for package in "${packages[@]}"; do
            read -r _ file _ < <(apt-get -o APT::Sandbox::User=root download --print-uris "$package")
            say "$release: downloading $file"
            [[ -f $cache/dl/$file ]] || (cd "$cache/dl" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2)
            dpkg-deb -x "$cache/dl/$file" "$tmp"
        done
        # Their one absolute path; and BTF for the module would need pahole.
        sed -i "s,/usr/src/,$target/usr/src/," "$tmp/usr/src/linux-headers-$release/Makefile"
        rm -f "$tmp/usr/src/linux-headers-$release/vmlinux"
        chmod 755 "$tmp"
        mv "$tmp" "$target"
        tmp=
    fi
    source=$target/usr/src/linux-headers-$release
}

for kernel in "${kernels[@]}"; do
    folder=$("$here/../fetch.sh" "$kernel" | tail -n 1) || die "no kernel $kernel"
    release=$(<"$folder/release")
    out=$cache/mlx5sim/$release
    sum=$(cat "$here"/Kbuild "$here"/*.[ch] | sha256sum | cut -d' ' -f1)
    if [[ $(cat "$out/sum" 2>/dev/null) != "$sum" || ! -s $out/mlx5sim.ko ]]; then
        headers "$release"
        # A copy: kbuild writes beside the sources. It gets its place only when all is well, since a guest may be reading.
        tmp=$(mktemp -d "$cache/mlx5sim/.$release.XXXXXX")
        cp "$here"/Kbuild "$here"/*.[ch] "$tmp/"
        say "$kernel: building for $release"
        make -C "$source" M="$tmp" modules >"$tmp/log" 2>&1 || { tail -n 40 "$tmp/log" >&2; die "build for $release failed"; }
        echo "$sum" >"$tmp/sum"
        chmod 755 "$tmp"
        rm -rf "$out"
        mv "$tmp" "$out"
        tmp=
    fi
    echo "$out/mlx5sim.ko"
done
