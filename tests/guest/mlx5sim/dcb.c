// SPDX-License-Identifier: GPL-2.0-only
/* PFC, ETS and trust of a port's netdev, as the dcb tool and rtnetlink see them. */
#include <linux/dcbnl.h>
#include <net/dcbnl.h>

#include "mlx5sim.h"

static int ieee_getpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	/* The pause counters of one priority follow those of the one before. */
	const unsigned int stride = SIM_rx_prio1_pause - SIM_rx_prio0_pause;
	struct sim_port *port = sim_port_of_netdev(netdev);
	unsigned int prio;

	sim_ask(port->card, SIM_ASK_DCB);
	pfc->pfc_cap = IEEE_8021QAZ_MAX_TCS;
	pfc->pfc_en = port->pfc;
	for (prio = 0; prio < IEEE_8021QAZ_MAX_TCS; prio++) {
		pfc->requests[prio] = sim_port_value(port, SIM_tx_prio0_pause + prio * stride);
		pfc->indications[prio] = sim_port_value(port, SIM_rx_prio0_pause + prio * stride);
	}
	return 0;
}

static int ieee_setpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct sim_port *port = sim_port_of_netdev(netdev);

	/* Priority flow control and global pause exclude each other. */
	if (pfc->pfc_en)
		port->global_pause = false;
	port->pfc = pfc->pfc_en;
	return 0;
}

static int ieee_getets(struct net_device *netdev, struct ieee_ets *ets)
{
	unsigned int prio;

	sim_ask(sim_port_of_netdev(netdev)->card, SIM_ASK_DCB);
	ets->ets_cap = IEEE_8021QAZ_MAX_TCS;
	for (prio = 0; prio < IEEE_8021QAZ_MAX_TCS; prio++) {
		ets->prio_tc[prio] = prio;
		ets->tc_tsa[prio] = IEEE_8021QAZ_TSA_STRICT;
	}
	return 0;
}

/* An entry with the DSCP selector is what "trust DSCP" looks like from outside. The kernel keeps the table. */
static int ieee_setapp(struct net_device *netdev, struct dcb_app *app)
{
	return dcb_ieee_setapp(netdev, app);
}

static int ieee_delapp(struct net_device *netdev, struct dcb_app *app)
{
	return dcb_ieee_delapp(netdev, app);
}

static u8 getdcbx(struct net_device *netdev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static u8 setdcbx(struct net_device *netdev, u8 mode)
{
	return mode != getdcbx(netdev);
}

const struct dcbnl_rtnl_ops sim_dcb_ops = {
	.ieee_getpfc = ieee_getpfc,
	.ieee_setpfc = ieee_setpfc,
	.ieee_getets = ieee_getets,
	.ieee_setapp = ieee_setapp,
	.ieee_delapp = ieee_delapp,
	.getdcbx = getdcbx,
	.setdcbx = setdcbx,
};
