#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: what an idle card of one port is asked in a minute at default settings, as the look-alike of mlx5 counts it, in firmware
# commands (of a card's, a pass over hw_counters is three, one over ethtool's statistics 43: collectors/driver.cpp).
#   tests/guest/boot.sh 6.12 --out DIR -- tests/bench/firmware.sh build/release/bin [SECONDS]
set -euo pipefail

# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest/mlx5sim/ctl.sh"
daemon=${1:?folder of qpscoped}/qpscoped
seconds=${2:-60}

sim load devices=1 ports=1
echo 'exporters: {prometheus: {listen: "127.0.0.1:0"}}' >/tmp/firmware.yaml
"$daemon" --config /tmp/firmware.yaml 2>/tmp/firmware.log &
until grep -q 'ready on port' /tmp/firmware.log; do sleep 0.1; done
sleep 20  # a device is looked at more often while it is young
sim forget mlx5_0
sleep "$seconds"
sim asked mlx5_0 | awk -v seconds="$seconds" '
    { commands = $2 * ($1 == "hw_counters" ? 3 : $1 == "ethtool" ? 43 : 1); sum += commands }
    commands { printf "%-16s %6.1f a minute\n", $1, commands * 60 / seconds }
    END { printf "%-16s %6.1f\n", "all", sum * 60 / seconds }'
kill $!
wait $! || true
sim unload
