#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds what a vendor's driver package is to us: an ib_core and all that stands on it up to soft-RoCE, from Debian's own sources, with members
# that others do not have early in struct ib_qp and struct ib_qp_attr, with debug information and without BTF. Outside the tree, and only when
# this script or the kernel has changed. Prints the folder of the modules of each kernel on stdout; progress goes to stderr.
set -euo pipefail

usage() {
    cat <<'HELP'
usage: build.sh [KERNEL...]
  KERNEL  6.12 or 6.1 (default: 6.12), a name of tests/guest/kernels.txt
Takes the sources from the package linux-source-KERNEL and the headers that mlx5sim/build.sh unpacks.
cache folder: $QPSCOPE_CACHE, else /var/cache/qpscope; the modules: CACHE/vendor/RELEASE/*.ko
Exit status: 0 all built; 1 a build failed (the end of its log is shown).
HELP
}
die() { echo "vendor: $*" >&2; exit 1; }
say() { echo "vendor $*" >&2; }

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
[[ ${#kernels[@]} -gt 0 ]] || kernels=(6.12)

mkdir -p "$cache/vendor" "$cache/dl" || die "cannot write to $cache: run as root or set QPSCOPE_CACHE"
tmp=
trap '[[ -z $tmp ]] || rm -rf "$tmp"' EXIT
exec 8>"$cache/vendor/lock"
flock 8

# Sets `tarball` to the sources of KERNEL.
tarball() {
    local package=linux-source-$1 file _
    tarball=/usr/src/$package.tar.xz
    [[ ! -f $tarball ]] || return 0
    tarball=$cache/dl/$package.tar.xz
    [[ ! -f $tarball ]] || return 0
    read -r _ file _ < <(apt-get -o APT::Sandbox::User=root download --print-uris "$package") || die "apt has no $package"
    say "$1: downloading $file"
    (cd "$cache/dl" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2)
    dpkg-deb --fsys-tarfile "$cache/dl/$file" | tar -xO "./usr/src/$package.tar.xz" >"$tarball.new"
    mv "$tarball.new" "$tarball"
}

# insert FILE STRUCT MEMBERS: before the first member of STRUCT.
insert() {
    grep -q "^struct $2 {\$" "$1" || die "no struct $2 in $(basename "$1")"
    sed -i "s/^struct $2 {\$/&\n\t$3/" "$1"
}

for kernel in "${kernels[@]}"; do
    folder=$("$here/../fetch.sh" "$kernel" | tail -n 1) || die "no kernel $kernel"
    release=$(<"$folder/release")
    out=$cache/vendor/$release
    sum=$(sha256sum <"${BASH_SOURCE[0]}" | cut -d' ' -f1)
    if [[ $(cat "$out/sum" 2>/dev/null) != "$sum" ]]; then
        "$here/../mlx5sim/build.sh" "$kernel" >/dev/null
        headers=$cache/headers/$release/usr/src/linux-headers-$release
        tarball "$kernel"
        tmp=$(mktemp -d "$cache/vendor/.$release.XXXXXX")
        tar -xf "$tarball" -C "$tmp" --strip-components=1 --wildcards '*/drivers/infiniband/core' '*/drivers/infiniband/sw/rxe' '*/include/rdma'
        insert "$tmp/include/rdma/ib_verbs.h" ib_qp 'u64 vendor_cookies[5];'
        insert "$tmp/include/rdma/ib_verbs.h" ib_qp_attr 'u32 vendor_flags[3];'
        # The tracepoints of ib_core name their own folder as seen from include/trace.
        mkdir "$tmp/include/trace"
        echo 'obj-m += drivers/infiniband/core/ drivers/infiniband/sw/rxe/' >"$tmp/Kbuild"
        say "$kernel: building for $release"
        make -C "$headers" -j"$(nproc)" M="$tmp" NOSTDINC_FLAGS="-nostdinc -I$tmp/include -I$tmp/include/trace" modules >"$tmp/log" 2>&1 ||
            { tail -n 40 "$tmp/log" >&2; die "build for $release failed"; }
        mkdir "$tmp/out"
        mv "$tmp"/drivers/infiniband/{core,sw/rxe}/*.ko "$tmp/out/"
        echo "$sum" >"$tmp/out/sum"
        chmod 755 "$tmp/out"
        rm -rf "$out"
        mv "$tmp/out" "$out"
        rm -rf "$tmp"
        tmp=
    fi
    echo "$out"
done
