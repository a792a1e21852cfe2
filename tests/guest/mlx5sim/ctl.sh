#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The switches of mlx5sim as words. Run it (ctl.sh WORD ARG...) or source it and call `sim WORD ARG...`.
# PORT is DEVICE/NUMBER, such as mlx5_0/1. README.md says what each switch does.

sim_usage() {
    cat <<'HELP'
usage: ctl.sh load [PARAMETER=VALUE]...    loads the module: devices= ports= pci= switchdev= lag= reps= (exit status 3: not built)
       ctl.sh unload
       ctl.sh count PORT NAME [VALUE]      reads or sets a counter (the truth, 64 bits; Q counters: of the default set)
       ctl.sh rate PORT NAME VALUE         lets it grow by so much a second
       ctl.sh stop DEVICE | reset DEVICE   nothing grows any more | all counters, sets and rates to zero
       ctl.sh traffic DEVICE QPN NAME add|rate VALUE
       ctl.sh link PORT up|down
       ctl.sh pfc PORT MASK                priorities with PFC, such as 0x08
       ctl.sh fail DEVICE ERRNO [KIND]...  reads fail (0: no more); KINDs as in asked, "all", or as they were
       ctl.sh hang DEVICE killable|uninterruptible|no [KIND]...
       ctl.sh remove DEVICE | add DEVICE
       ctl.sh asked DEVICE [KIND]          how often the driver was asked
       ctl.sh forget DEVICE                asks are counted from zero
       ctl.sh show DEVICE qps|sets|ledger  ctl.sh show PORT truth
       ctl.sh set DEVICE|PORT FILE VALUE   any other file of debugfs
HELP
}

sim_module() { echo "${QPSCOPE_MLX5SIM:-${QPSCOPE_CACHE:-/var/cache/qpscope}/mlx5sim/$(uname -r)/mlx5sim.ko}"; }

# sim_path DEVICE[/NUMBER]: its folder in debugfs.
sim_path() {
    case $1 in
        */*) echo "/sys/kernel/debug/mlx5sim/${1%/*}/port${1#*/}" ;;
        *) echo "/sys/kernel/debug/mlx5sim/$1" ;;
    esac
}

sim_put() { printf '%s\n' "$2" >"$1"; }

# sim_kinds DEVICE [KIND]...
sim_kinds() {
    local path
    path=$(sim_path "$1")
    shift
    [[ $# -gt 0 ]] || return 0
    [[ $1 != all ]] || set -- "$(awk '{ print $1 }' "$path/asked/all" | tr '\n' ' ')"
    sim_put "$path/fault_kinds" "$*"
}

sim() {
    local word=${1:-} path
    shift || true
    case $word in
        load)
            [[ -s $(sim_module) ]] || { echo "no $(sim_module): run tests/guest/mlx5sim/build.sh on the host" >&2; return 3; }
            modprobe ib_uverbs && insmod "$(sim_module)" "$@"
            return
            ;;
        unload) rmmod mlx5sim; return ;;
        '' | -h | --help) sim_usage; return ;;
    esac
    [[ $# -gt 0 ]] || { sim_usage >&2; return 2; }
    path=$(sim_path "$1")
    case $word in
        count) if [[ $# -gt 2 ]]; then sim_put "$path/counters/$2" "$3"; else cat "$path/counters/$2"; fi ;;
        rate) sim_put "$path/rates/$2" "$3" ;;
        stop | reset) sim_put "$path/$word" 1 ;;
        traffic) sim_put "$path/traffic" "$2 $3 $4 $5" ;;
        link) if [[ $2 == up ]]; then sim_put "$path/state" 4; else sim_put "$path/state" 1; fi ;;
        pfc) sim_put "$path/pfc" "$2" ;;
        fail) sim_kinds "$1" "${@:3}" && sim_put "$path/fail_errno" "$2" ;;
        hang)
            sim_kinds "$1" "${@:3}" || return
            case $2 in
                killable) sim_put "$path/hang" 1 ;;
                uninterruptible) sim_put "$path/hang" 2 ;;
                *) sim_put "$path/hang" 0 ;;
            esac
            ;;
        remove) sim_put "$path/present" 0 ;;
        add) sim_put "$path/present" 1 ;;
        asked) cat "$path/asked/${2:-all}" ;;
        forget) sim_put "$path/asked/all" 0 ;;
        show) cat "$path/$2" ;;
        set) sim_put "$path/$2" "$3" ;;
        *) sim_usage >&2; return 2 ;;
    esac
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    sim "$@"
fi
