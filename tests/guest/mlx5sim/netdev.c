// SPDX-License-Identifier: GPL-2.0-only
/* The netdev of a port: it gives the port its GIDs, and mlx5's statistics to ethtool. Packets are dropped. */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>

#include "mlx5sim.h"

static const s8 shown[] = {
#define X(name, when) [SIM_##name - SIM_NUM_IB] = when,
	SIM_ETHTOOL_COUNTERS(X)
#undef X
};

/* As mlx5: names of a priority's pause counters exist while PFC is on for it, those of global pause while that is on. */
static bool is_shown(const struct sim_port *port, unsigned int index)
{
	s8 when = shown[index - SIM_NUM_IB];

	/* A representor has the software's counters and those of the vport, and nothing of the physical port (en_rep.c). */
	if (port->representor)
		return index <= SIM_tx_bytes || (index >= SIM_rx_vport_rdma_unicast_packets && index <= SIM_tx_vport_rdma_unicast_bytes);
	if (when == SIM_SHOWN_ALWAYS)
		return true;
	if (when == SIM_SHOWN_GLOBAL_PAUSE)
		return port->global_pause;
	return port->pfc & BIT(when);
}

static int get_sset_count(struct net_device *netdev, int sset)
{
	unsigned int index;
	int count = 0;

	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	for (index = SIM_NUM_IB; index < SIM_NUM_COUNTERS; index++)
		count += is_shown(sim_port_of_netdev(netdev), index);
	return count;
}

static void get_strings(struct net_device *netdev, u32 sset, u8 *data)
{
	unsigned int index;

	if (sset != ETH_SS_STATS)
		return;
	for (index = SIM_NUM_IB; index < SIM_NUM_COUNTERS; index++)
		if (is_shown(sim_port_of_netdev(netdev), index))
			ethtool_sprintf(&data, "%s", sim_counter_names[index]);
}

static void get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	struct sim_port *port = sim_port_of_netdev(netdev);
	unsigned int index;

	/* It cannot fail, but it can take long or hang: with the lock of all netdevs held. */
	sim_ask(port->card, SIM_ASK_ETHTOOL);
	for (index = SIM_NUM_IB; index < SIM_NUM_COUNTERS; index++)
		if (is_shown(port, index))
			*data++ = sim_port_value(port, index);
}

static void get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct sim_port *port = sim_port_of_netdev(netdev);

	strscpy(info->driver, port->representor ? "mlx5e_rep" : "mlx5_core", sizeof(info->driver));
	strscpy(info->fw_version, "28.39.1002 (SIM_0000000838)", sizeof(info->fw_version));
	strscpy(info->bus_info, dev_name(port->card->parent), sizeof(info->bus_info));
}

static int get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = netif_carrier_ok(netdev) ? sim_port_mbps(sim_port_of_netdev(netdev)) : SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_FIBRE;
	return 0;
}

static void get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	pause->rx_pause = pause->tx_pause = sim_port_of_netdev(netdev)->global_pause;
}

static int set_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *pause)
{
	sim_port_of_netdev(netdev)->global_pause = pause->rx_pause || pause->tx_pause;
	return 0;
}

static const struct ethtool_ops sim_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
	.get_pauseparam = get_pauseparam,
	.set_pauseparam = set_pauseparam,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
};

static netdev_tx_t start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* As devlink names ports: the uplink p0, the representor of a VF pf0vf3. */
static int get_phys_port_name(struct net_device *netdev, char *name, size_t size)
{
	const struct sim_port *port = sim_port_of_netdev(netdev);

	if (port->representor)
		snprintf(name, size, "pf0vf%u", port->num - 2);
	else
		snprintf(name, size, "p%u", port->num - 1);
	return 0;
}

static int get_port_parent_id(struct net_device *netdev, struct netdev_phys_item_id *id)
{
	const struct sim_card *card = sim_port_of_netdev(netdev)->card;

	if (!sim_switchdev)
		return -EOPNOTSUPP;
	id->id_len = sizeof(card->guid);
	memcpy(id->id, &card->guid, sizeof(card->guid));
	return 0;
}

static const struct net_device_ops sim_netdev_ops = {
	.ndo_start_xmit = start_xmit,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_get_phys_port_name = get_phys_port_name,
	.ndo_get_port_parent_id = get_port_parent_id,
};

int sim_netdev_create(struct sim_port *port)
{
	const struct sim_card *card = port->card;
	struct net_device *netdev;
	u8 mac[ETH_ALEN] = { 0x02, 0x42, 0xa1, 0, card->num, port->num };
	int err;

	netdev = alloc_etherdev(sizeof(struct sim_port *));
	if (!netdev)
		return -ENOMEM;
	*(struct sim_port **)netdev_priv(netdev) = port;
	if (port->representor)
		snprintf(netdev->name, sizeof(netdev->name), "sim%ur%u", card->num, port->num - 2);
	else
		snprintf(netdev->name, sizeof(netdev->name), "sim%up%u", card->num, port->num);
	netdev->netdev_ops = &sim_netdev_ops;
	netdev->ethtool_ops = &sim_ethtool_ops;
	netdev->dcbnl_ops = port->representor ? NULL : &sim_dcb_ops;
	netdev->priv_flags |= IFF_NO_QUEUE;
	netdev->max_mtu = 9978;
	netdev->mtu = 4200; /* room for RoCE packets of 4096 bytes */
	netdev->dev_port = port->representor ? 0 : port->num - 1;
	eth_hw_addr_set(netdev, mac);
	SET_NETDEV_DEV(netdev, card->parent);
	err = register_netdev(netdev);
	if (err) {
		free_netdev(netdev);
		return err;
	}
	port->netdev = netdev;
	rtnl_lock();
	err = dev_open(netdev, NULL);
	rtnl_unlock();
	if (err)
		sim_netdev_destroy(port);
	return err;
}

void sim_netdev_destroy(struct sim_port *port)
{
	unregister_netdev(port->netdev);
	free_netdev(port->netdev);
}
