#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots a stock Debian kernel under QEMU on the host's own "/" (read-only) and runs one command in it.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: boot.sh KERNEL --out DIR [--forward HOSTPORT:GUESTPORT] [--timeout S] [--icount] -- SCRIPT ARG...
  KERNEL     a name of kernels.txt, such as 6.12 (downloaded at first use)
  --out DIR  results, writable in the guest under the same path (there also as $GUEST_OUT):
             console.log, output.log (what SCRIPT printed), booted, status
  --forward  makes GUESTPORT of the guest answer on 127.0.0.1:HOSTPORT (and gives the guest a network card)
  --timeout  seconds SCRIPT may take (default 600); booting has its own limit of 120 s
  --icount   one processor whose clock goes by instructions, one a nanosecond: what is measured does not depend on the host's load
  SCRIPT     a program of the host's file system, by absolute path or name; its output appears on stdout
Exit status: that of SCRIPT; 124 when it took too long; 125 when the guest failed.
One guest runs at a time on a machine: a second one waits.
EOF
}
die() { echo "boot.sh: $*" >&2; exit 125; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
kernel='' out='' forward='' icount='' timeout=600 boot_limit=120
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --out) out=${2:?}; shift ;;
        --forward) forward=${2:?}; shift ;;
        --timeout) timeout=${2:?}; shift ;;
        --icount) icount=yes ;;
        --) shift; break ;;
        -*) usage >&2; exit 2 ;;
        *) kernel=$1 ;;
    esac
    shift
done
[[ -n $kernel && -n $out && $# -gt 0 ]] || { usage >&2; exit 2; }
[[ $EUID -eq 0 ]] || die "needs root: the guest reads the host's / as the user who boots it"
type -P qemu-system-x86_64 busybox cpio modprobe setpriv >/dev/null ||
    die "needs qemu-system-x86_64, busybox, cpio, modprobe and setpriv: deploy/packages/install.sh guest"
command=("$(type -P "$1")") || die "no such program: $1"
command=("$(realpath -s "${command[0]}")" "${@:2}")
mkdir -p "$out"
out=$(realpath "$out")
case $here:$out in
    /dev/* | /proc/* | /sys/* | *:/dev/* | *:/proc/* | *:/sys/*) die "neither the tree nor --out can be below /dev, /proc or /sys: the guest has its own" ;;
esac

[[ $(busybox --list 2>/dev/null) == *switch_root* ]] || die "busybox lacks switch_root: install busybox-static"
folder=$("$here/fetch.sh" "$kernel" | tail -n 1) || die "no kernel $kernel"
release=$(<"$folder/release")

# One guest at a time, also between users of this script that know nothing of each other: two starve each other.
# QEMU inherits the descriptor, so the lock lives as long as the guest.
mkdir -p /run/lock
exec 9>/run/lock/qpscope-guest.lock
if ! flock -n 9; then
    echo "guest $kernel: another guest is running on this machine; waiting for it (10 min at most)" >&2
    flock -w 600 9 || die "another guest is still running"
fi

work=$(mktemp -d) qemu=
# shellcheck disable=SC2317  # called by the traps
cleanup() {
    trap - EXIT INT TERM HUP
    if [[ -n $qemu ]] && kill -0 "$qemu" 2>/dev/null; then
        kill "$qemu" 2>/dev/null || true
        wait "$qemu" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
rm -f "$out"/{console.log,output.log,booted,status}
: >"$out/output.log"

initramfs() {
    local root=$work/initramfs module name
    mkdir -p "$root"/{bin,proc,sys,dev,modules}
    cp "$(type -P busybox)" "$root/bin/busybox"
    cp "$here/init" "$root/init"
    chmod 755 "$root/init"
    # In the order of loading; unpacked here, since insmod of busybox cannot be counted on to read .ko.xz (6.12 and later).
    modprobe -d "$folder" -S "$release" -a --show-depends virtio_pci 9p 9pnet_virtio overlay |
        awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
        while read -r module; do
            name=$(basename "${module%.xz}")
            if [[ $module == *.xz ]]; then busybox unxz -c <"$module" >"$root/modules/$name"; else cp "$module" "$root/modules/"; fi
            echo "$name" >>"$root/modules/order"
        done
    local keep=() path
    for path in "$(cd "$here/../.." && pwd)" "$(dirname "${command[0]}")" ${GUEST_KEEP:-}; do
        [[ $path != /run/* ]] || keep+=("$path")
    done
    printf '%s=%q\n' OUT "$out" KERNEL "$kernel" STAGE2 "$here/stage2.sh" KEEP_RUN "${keep[*]:-}" \
        FORWARD "${forward:+yes}" >"$root/settings"
    (declare -a COMMAND=("${command[@]}"); declare -p COMMAND) >"$root/command"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs.gz"
}
initramfs

# No KVM: on hosts that are guests themselves it is missing or hangs, and TCG is quick enough.
processors=(-accel "tcg,thread=multi" -smp 2)
[[ -z $icount ]] || processors=(-accel "tcg,thread=single" -smp 1 -icount "shift=0,sleep=off")
arguments=("${processors[@]}" -cpu max -m 2048
    -nodefaults -no-user-config -display none -monitor none -no-reboot -serial "file:$out/console.log"
    -kernel "$folder/vmlinuz" -initrd "$work/initramfs.gz"
    -append "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off no_timer_check random.trust_cpu=on net.ifnames=0"
    -device virtio-rng-pci
    -virtfs "local,path=/,mount_tag=tag_root,security_model=none,readonly=on,multidevs=remap"
    -virtfs "local,path=$folder/lib/modules/$release,mount_tag=tag_modules,security_model=none,readonly=on,multidevs=remap"
    -virtfs "local,path=${out//,/,,},mount_tag=tag_out,security_model=none,multidevs=remap")
if [[ -n $forward ]]; then
    # restrict: the guest answers on the forwarded port and reaches nothing else.
    arguments+=(-netdev "user,id=n0,restrict=on,hostfwd=tcp:127.0.0.1:${forward%%:*}-10.0.2.15:${forward##*:}"
        -device "virtio-net-pci,netdev=n0,romfile=")
fi
echo "guest $kernel: booting $release" >&2
start=$(date +%s%N)
setpriv --pdeathsig KILL qemu-system-x86_64 "${arguments[@]}" >"$work/qemu.log" 2>&1 </dev/null &
qemu=$!

elapsed() { echo $((($(date +%s%N) - start) / 1000000000)); }
shown=0
show_output() {
    local size
    size=$(stat -c %s "$out/output.log" 2>/dev/null || echo 0)
    [[ $size -gt $shown ]] || return 0
    tail -c +$((shown + 1)) "$out/output.log" | head -c $((size - shown))
    shown=$size
}
fail() {
    {
        echo "boot.sh: guest $kernel: $1; the console is in $out/console.log, its last lines:"
        tail -n 30 "$out/console.log" 2>/dev/null | tr -d '\r' | sed 's/^/  | /'
        sed 's/^/  qemu: /' "$work/qemu.log"
    } >&2
    exit "${2:-125}"
}
booted=0
while kill -0 "$qemu" 2>/dev/null; do
    if [[ $booted -eq 0 && -s $out/booted ]]; then
        booted=$(elapsed)
        echo "guest $kernel: up after $booted s, running $(basename "${command[0]}")" >&2
    fi
    show_output
    [[ $booted -gt 0 || $(elapsed) -lt $boot_limit ]] || fail "did not reach its script within $boot_limit s"
    [[ $booted -eq 0 || $(elapsed) -lt $((booted + timeout)) ]] ||
        { show_output; fail "$(basename "${command[0]}") did not end within $timeout s" 124; }
    sleep 0.2
done
wait "$qemu" 2>/dev/null || true
show_output
[[ -s $out/status ]] || fail "ended without a result after $(elapsed) s"
status=$(<"$out/status")
echo "guest $kernel: ended after $(elapsed) s, status $status" >&2
exit "$status"
