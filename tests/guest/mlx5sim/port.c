// SPDX-License-Identifier: GPL-2.0-only
/* A port: state, rate, GIDs. */
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "mlx5sim.h"

static u8 width_of(u32 lanes)
{
	switch (lanes) {
	case 1:
		return IB_WIDTH_1X;
	case 2:
		return IB_WIDTH_2X;
	case 8:
		return IB_WIDTH_8X;
	case 12:
		return IB_WIDTH_12X;
	default:
		return IB_WIDTH_4X;
	}
}

u32 sim_port_mbps(const struct sim_port *port)
{
	u32 lane;

	switch (port->speed) {
	case IB_SPEED_SDR:
		lane = 2500;
		break;
	case IB_SPEED_DDR:
		lane = 5000;
		break;
	case IB_SPEED_QDR:
	case IB_SPEED_FDR10:
		lane = 10000;
		break;
	case IB_SPEED_FDR:
		lane = 14000;
		break;
	case IB_SPEED_EDR:
		lane = 25000;
		break;
	case IB_SPEED_HDR:
		lane = 50000;
		break;
	default:
		lane = 100000;
		break;
	}
	return lane * port->lanes;
}

static int query_port(struct ib_device *ib, u32 num, struct ib_port_attr *attr)
{
	struct sim_port *port = sim_port_of(ib, num);
	int err = sim_ask(port->card, SIM_ASK_QUERY_PORT);

	if (err)
		return err;
	attr->state = port->state;
	attr->phys_state = port->phys_state;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(port->netdev->mtu);
	attr->phys_mtu = port->netdev->mtu;
	attr->gid_tbl_len = SIM_GIDS;
	attr->ip_gids = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = 1 << 30;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	attr->active_width = width_of(port->lanes);
	attr->active_speed = port->speed;
	return 0;
}

/* As a cable that is pulled or put back: the netdev's carrier follows and the kernel's clients hear of it. */
void sim_port_set_state(struct sim_port *port, enum ib_port_state state)
{
	struct sim_card *card = port->card;

	mutex_lock(&card->lock);
	port->state = state;
	port->phys_state = state == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_DISABLED : IB_PORT_PHYS_STATE_LINK_UP;
	if (state == IB_PORT_ACTIVE)
		netif_carrier_on(port->netdev);
	else
		netif_carrier_off(port->netdev);
	if (card->ib && port->num <= card->rdma_ports) {
		struct ib_event event = {
			.device = &card->ib->ib,
			.event = state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
			.element.port_num = port->num,
		};

		ib_dispatch_event(&event);
	}
	mutex_unlock(&card->lock);
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

/* Their presence makes ib_core keep a GID table filled from the netdev's addresses; there is no hardware to tell. */
static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

const struct ib_device_ops sim_port_ops = {
	.query_port = query_port,
	.get_link_layer = get_link_layer,
	.query_pkey = query_pkey,
	.add_gid = add_gid,
	.del_gid = del_gid,
};
