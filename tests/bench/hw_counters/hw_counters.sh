#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: what one pass over the hw_counters of the look-alike of mlx5 costs, by netlink and by files, and how often the card is
# asked; last with a card that takes 15 ms for an answer.
#   tests/guest/boot.sh 6.12 --out DIR -- tests/bench/hw_counters/hw_counters.sh build/release/bin [PASSES]
set -euo pipefail

# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../guest/mlx5sim/ctl.sh"
bench=${1:?folder of qpscope-bench-hw-counters}/qpscope-bench-hw-counters
passes=${2:-200}

# asks WAY PASSES: runs it and appends the asks of a pass.
asks() {
    local line
    sim forget mlx5_0
    line=$("$bench" mlx5_0 "$1" "$2")
    # One pass more than are measured: the first.
    echo "$line $(sim asked mlx5_0 hw_counters)" | awk '{ $NF = sprintf("%.2f", $NF / ($2 + 1)); print }'
}

echo "kernel $(uname -r)"
{
    echo 'way passes values system_calls least_cpu_us median_cpu_us asks'
    sim load devices=1 ports=1
    for way in floor netlink files; do asks "$way" "$passes"; done
    sim set mlx5_0 delay_ms 15
    for way in netlink files; do asks "$way" 20 | sed "s/^$way/$way,15ms_an_ask/"; done
    sim unload
} | column -t
