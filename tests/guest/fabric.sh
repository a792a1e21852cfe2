#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: two soft-RoCE ports, rxe0 on v0 and rxe1 on v1, joined by a veth pair that drops packets.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: fabric.sh up [LOSS] | loss LOSS | down
  up    makes rxe0 (192.168.77.1 on v0) and rxe1 (192.168.78.2 on v1); GID index 1 is the IPv4 one
  loss  changes the packet loss on v0, which is what rxe0 sends; LOSS like 3 or 0.5, in percent (default 2)
EOF
}
die() { echo "fabric.sh: $*" >&2; exit 1; }

set_loss() {
    modprobe sch_netem
    tc qdisc replace dev v0 root netem limit 10000 loss "$1%"
}

up() {
    # Both ports are in one network namespace: rxe passes no traffic between two on 6.1 and 6.12.
    local module device
    for module in ib_uverbs rdma_rxe veth; do modprobe "$module"; done
    ip link add v0 type veth peer name v1
    ip addr add 192.168.77.1/24 dev v0
    ip addr add 192.168.78.2/24 dev v1
    ip link set v0 up
    ip link set v1 up
    ip neigh replace 192.168.78.2 lladdr "$(<"/sys/class/net/v1/address")" dev v0
    ip neigh replace 192.168.77.1 lladdr "$(<"/sys/class/net/v0/address")" dev v1
    # Two local addresses would meet in the local table and never leave: rules ahead of it send them over the wire.
    for device in all v0 v1; do
        echo 1 >"/proc/sys/net/ipv4/conf/$device/accept_local"
        echo 0 >"/proc/sys/net/ipv4/conf/$device/rp_filter"
    done
    ip route add 192.168.78.2/32 dev v0 table 100
    ip route add 192.168.77.1/32 dev v1 table 101
    ip rule add pref 10 iif lo from 192.168.77.1 to 192.168.78.2 lookup 100
    ip rule add pref 11 iif lo from 192.168.78.2 to 192.168.77.1 lookup 101
    # rdma_cm resolves a peer before it has an address of its own, and a listener looks up the way back by its netdev (core/cma.c validate_ipv4_net_dev).
    ip route add 192.168.78.2/32 dev v0 src 192.168.77.1 table 102
    ip rule add pref 12 iif lo to 192.168.78.2 lookup 102
    ip rule add pref 13 oif v0 from 192.168.77.1 to 192.168.78.2 lookup 100
    ip rule add pref 14 oif v1 from 192.168.78.2 to 192.168.77.1 lookup 101
    ip rule add pref 20 lookup local
    ip rule del pref 0
    # One processor receives for each end: rxe sends from whichever its work runs on, and with two of them packets overtake each other, for which
    # the receiver sends sequence NAKs although nothing is lost (120 a second on 6.12; none so).
    for device in v0 v1; do echo 1 >"/sys/class/net/$device/queues/rx-0/rps_cpus"; done
    rdma link add rxe0 type rxe netdev v0
    rdma link add rxe1 type rxe netdev v1
    set_loss "$1"
    local deadline=$((SECONDS + 20))
    for device in rxe0 rxe1; do
        # The IPv4 GID comes by a work item of ib_core, some time after the device.
        until [[ $(<"/sys/class/infiniband/$device/ports/1/state") == *ACTIVE* &&
            $(cat "/sys/class/infiniband/$device/ports/1/gids/1" 2>/dev/null) == *ffff:c0a8:* ]]; do
            [[ $SECONDS -lt $deadline ]] || die "$device is not ready within 20 s"
            sleep 0.1
        done
    done
    echo "fabric: rxe0 and rxe1 are up, $1 % of what rxe0 sends is lost"
}

down() {
    rdma link delete rxe0 || true
    rdma link delete rxe1 || true
    ip rule add pref 0 lookup local
    local pref
    for pref in 10 11 12 13 14 20; do ip rule del pref "$pref"; done
    ip link del v0
}

case ${1:-} in
    up) up "${2:-2}" ;;
    loss) set_loss "${2:?}" ;;
    down) down ;;
    *) usage >&2; exit 2 ;;
esac
