#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 300
# The netdevs of a port, with the look-alike of mlx5: a bond as in RoCE LAG and a VLAN over it lead to its members, whose sum is the port's
# and never falls; representors beside an uplink: nothing of the physical port is counted twice, and only the uplink is asked.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"
for module in 'bonding max_bonds=0' 8021q; do
    # shellcheck disable=SC2086  # a parameter is a word of its own
    modprobe $module || skip "no module $module"
done

# A pass that takes long makes the next one wait for a hundred times as long.
PATIENCE=60
is() { wait_for $PATIENCE "[[ \$(metric qpscope_$1 device=mlx5_0$2) == $3 ]]" "$1${2/,/ } is $3"; }
has() { [[ $(metric -f "$STATE/page" "qpscope_$1" "device=mlx5_0$2") == "$3" ]] || die "$1${2/,/ } is $(metric -f "$STATE/page" "qpscope_$1" "device=mlx5_0$2" || echo missing), not $3"; }
take() { page >"$STATE/page"; }
members() { page | sed -nE 's/^qpscope_port_netdev_info\{device="mlx5_0",port="1",netdev="([^"]*)",upper="([^"]*)".*/\1<\2/p' | sort | tr '\n' ' '; }
# over NETDEV: the RDMA port names it.
over() {
    sim remove mlx5_0
    sim set mlx5_0/1 netdev "$1"
    sim add mlx5_0
}

say '-- RoCE LAG'
sim load devices=1 ports=2 lag=1 || die 'mlx5sim does not load'
ip link add bond0 type bond mode active-backup miimon 100
for member in sim0p1 sim0p2; do
    ip link set $member down
    ip link set $member master bond0
done
ip link set bond0 up
over bond0
sim count mlx5_0/1 rx_discards_phy 100
sim count mlx5_0/2 rx_discards_phy 7
sim count mlx5_0/1 rx_pci_signal_integrity 5
sim count mlx5_0/2 rx_pci_signal_integrity 5
for port in 1 2; do sim pfc mlx5_0/$port 0x08; done
sim count mlx5_0/2 tx_prio3_pause 30
DAEMON_YAML=$'sampling: {interval: 200ms, slow_interval: 1s}\nbudget: {firmware_commands_per_second: 1000}'
start_daemon
is port_rx_discards_total ,port=1,kind=buffer 107
take
has port_netdev_statistics_total ,port=1,netdev=sim0p1,statistic=rx_discards_phy 100
has port_netdev_statistics_total ,port=1,netdev=sim0p2,statistic=rx_discards_phy 7
has port_tx_pfc_frames_total ,port=1,priority=3 30
has device_pcie_rx_signal_integrity_errors_total '' 5
has port_pfc_enabled ,port=1,priority=3 1
[[ $(members) == 'sim0p1<bond0 sim0p2<bond0 ' ]] || die "members: $(members)"
[[ $(grep -c 'bond0 has no statistics' "$OUT/daemon.log") -eq 1 ]] || die 'not said once'
say '-- PFC off on one member'
sim pfc mlx5_0/2 0
is port_pfc_enabled ,port=1,priority=3 0

say '-- a member leaves and comes back'
sim pfc mlx5_0/2 0x08
ip link set sim0p2 nomaster
wait_for $PATIENCE "[[ \$(members) == 'sim0p1<bond0 ' ]]" 'one member'
sim count mlx5_0/1 rx_discards_phy 101
is port_rx_discards_total ,port=1,kind=buffer 108
! metric qpscope_port_netdev_statistics_total device=mlx5_0 >/dev/null || die 'the counts of the only member are there twice'
ip link set sim0p2 down
ip link set sim0p2 master bond0
sim count mlx5_0/2 rx_discards_phy 9
is port_rx_discards_total ,port=1,kind=buffer 110
[[ $(metric qpscope_counters_resets_total device=mlx5_0) -eq 0 ]] || die 'a reset'

say '-- a VLAN over the bond'
ip link add link bond0 name bond0.5 type vlan id 5
ip link set bond0.5 up
over bond0.5
wait_for $PATIENCE "[[ \$(members) == 'sim0p1<bond0.5 sim0p2<bond0.5 ' ]]" 'the members of the bond below'
is port_rx_discards_total ,port=1,kind=buffer 110
stop_daemon
sim remove mlx5_0
ip link del bond0.5
ip link del bond0
sim unload || die 'mlx5sim does not unload'

say '-- representors beside the uplink'
sim load devices=1 reps=2 || die 'mlx5sim does not load'
sim pfc mlx5_0/1 0x08
sim count mlx5_0/1 rx_discards_phy 50
sim count mlx5_0/1 rx_prio3_pause 8
sim count mlx5_0/1 rx_pci_signal_integrity 4
sim count mlx5_0/2 rx_vport_rdma_unicast_bytes 1000
sim count mlx5_0/2 out_of_buffer 3
start_daemon
is port_rx_discards_total ,kind=buffer 50
take
has port_rx_pfc_frames_total '' 8
has device_pcie_rx_signal_integrity_errors_total '' 4
has hw_counters_total ,port=2,counter=vport_out_of_buffer 3
# The driver never fills what the uplink lists: nothing rather than zeros.
! grep -q '^qpscope_hw_counters_total{device="mlx5_0",port="1",counter="vport_' "$STATE/page" || die "the uplink's vport_ counters are shown"
for row in 1,netdev=sim0p1,upper=,driver=mlx5_core,flavour=physical 2,netdev=sim0r0,upper=,driver=mlx5e_rep,flavour=pcivf 3,netdev=sim0r1,upper=,driver=mlx5e_rep,flavour=pcivf; do
    has port_netdev_info ",port=$row" 1
done
grep -E '^qpscope_port_(phy_|rx_discards|rx_pfc|vport|pfc_enabled)' "$STATE/page" | grep -v 'port="1"' && die 'a representor tells of the physical port'
stop_daemon
sim forget mlx5_0
"$QPSCOPE_BIN/qpscoped" --once >"$STATE/once"
[[ $(sim asked mlx5_0 ethtool) -eq 1 ]] || die "one pass asked $(sim asked mlx5_0 ethtool) netdevs"
sim unload || die 'mlx5sim does not unload'
