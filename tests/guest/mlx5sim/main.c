// SPDX-License-Identifier: GPL-2.0-only
/*
 * A look-alike of mlx5 for tests: RDMA devices without a card, registered through the real ib_core, whose counters, QPs and
 * faults a test sets through debugfs (README.md). It never ships.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "mlx5sim.h"

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of RDMA devices, 1 to 40 (default 1)");

static unsigned int ports = 1;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "ports of each device, 1 to 4 (default 1)");

static bool lag;
module_param(lag, bool, 0444);
MODULE_PARM_DESC(lag, "the RDMA device has one port, and the netdevs of the others are for its bond, as RoCE LAG");

static unsigned int reps;
module_param(reps, uint, 0444);
MODULE_PARM_DESC(reps, "representors of VFs beside each device's port, an RDMA port each, 0 to 8; implies switchdev");

static char *pci[SIM_MAX_CARDS];
static unsigned int num_pci;
module_param_array(pci, charp, &num_pci, 0444);
MODULE_PARM_DESC(pci, "addresses (0000:00:03.0) of PCI devices to stand below, one for each RDMA device (default: platform devices)");

DEFINE_SPINLOCK(sim_lock);
struct sim_card *sim_cards[SIM_MAX_CARDS];
unsigned int sim_num_cards;

static struct pci_dev *find_pci(const char *address)
{
	unsigned int domain, bus, slot, function;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
}

static int find_parent(struct sim_card *card)
{
	if (card->num < num_pci) {
		card->pci = find_pci(pci[card->num]);
		if (!card->pci) {
			pr_err("mlx5sim: no PCI device %s\n", pci[card->num]);
			return -ENODEV;
		}
		card->parent = &card->pci->dev;
		return 0;
	}
	card->platform = platform_device_register_simple("mlx5sim", card->num, NULL, 0);
	if (IS_ERR(card->platform)) {
		int err = PTR_ERR(card->platform);

		card->platform = NULL;
		return err;
	}
	card->parent = &card->platform->dev;
	return 0;
}

/* The card's RDMA device appears; -EEXIST when it is there already. */
int sim_card_add(struct sim_card *card)
{
	struct sim_ibdev *dev;
	int err = 0;

	mutex_lock(&card->lock);
	if (card->ib) {
		err = -EEXIST;
		goto out;
	}
	dev = sim_device_register(card);
	if (IS_ERR(dev))
		err = PTR_ERR(dev);
	else
		card->ib = dev;
out:
	mutex_unlock(&card->lock);
	return err;
}

void sim_card_remove(struct sim_card *card)
{
	mutex_lock(&card->lock);
	if (card->ib)
		sim_device_unregister(card->ib);
	card->ib = NULL;
	mutex_unlock(&card->lock);
}

static void destroy_card(struct sim_card *card)
{
	u32 i;

	sim_end_hang(card);
	sim_card_remove(card);
	sim_cc_params_remove(card);
	for (i = 0; i < card->num_ports; i++)
		sim_netdev_destroy(&card->ports[i]);
	platform_device_unregister(card->platform);
	pci_dev_put(card->pci);
	ida_destroy(&card->qpns);
	kvfree(card->ports);
	kvfree(card);
}

static struct sim_card *create_card(unsigned int num)
{
	struct sim_card *card;
	unsigned int netdevs = ports + reps;
	int err;
	u32 i;

	card = kvzalloc(sizeof(*card), GFP_KERNEL);
	if (!card)
		return ERR_PTR(-ENOMEM);
	card->num = num;
	snprintf(card->name, sizeof(card->name), "mlx5_%u", num);
	card->guid = 0x0c42a10300000000ULL + (num << 8);
	card->max_sets = SIM_MAX_SETS;
	card->fault_kinds = BIT(SIM_ASK_HW_COUNTERS) | BIT(SIM_ASK_PORT_COUNTERS) | BIT(SIM_ASK_SET_READ);
	mutex_init(&card->lock);
	mutex_init(&card->qp_lock);
	init_waitqueue_head(&card->hang_wait);
	INIT_LIST_HEAD(&card->qps);
	INIT_LIST_HEAD(&card->srqs);
	ida_init(&card->qpns);

	card->ports = kvcalloc(netdevs, sizeof(*card->ports), GFP_KERNEL);
	card->rdma_ports = lag ? 1 : netdevs;
	err = card->ports ? find_parent(card) : -ENOMEM;
	for (i = 0; !err && i < netdevs; i++) {
		struct sim_port *port = &card->ports[i];

		port->card = card;
		port->num = i + 1;
		port->representor = i >= ports;
		port->state = IB_PORT_ACTIVE;
		port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
		port->lanes = 4;
		port->speed = IB_SPEED_NDR;
		err = sim_netdev_create(port);
		if (!err)
			card->num_ports++;
	}
	if (!err)
		err = sim_card_add(card);
	if (err) {
		destroy_card(card);
		return ERR_PTR(err);
	}
	return card;
}

static void mlx5sim_exit(void)
{
	unsigned int i;

	/* The switches go first, so that nobody adds a device behind our back; a write to one may wait for a hanging read. */
	for (i = 0; i < sim_num_cards; i++)
		sim_end_hang(sim_cards[i]);
	sim_debugfs_exit();
	for (i = 0; i < sim_num_cards; i++)
		destroy_card(sim_cards[i]);
	sim_cc_params_exit();
	sim_traffic_free();
}

static int __init mlx5sim_init(void)
{
	int err;

	if (devices < 1 || devices > SIM_MAX_CARDS || ports < 1 || ports > SIM_MAX_PORTS)
		return -EINVAL;
	if (reps > SIM_MAX_REPS || (reps && (lag || ports > 1)))
		return -EINVAL;
	sim_switchdev |= reps > 0;
	err = sim_debugfs_init();
	if (err)
		return err;
	while (sim_num_cards < devices) {
		struct sim_card *card = create_card(sim_num_cards);

		if (IS_ERR(card)) {
			mlx5sim_exit();
			return PTR_ERR(card);
		}
		sim_cards[sim_num_cards++] = card;
		sim_debugfs_add(card);
		sim_cc_params_add(card);
	}
	return 0;
}

module_init(mlx5sim_init);
module_exit(mlx5sim_exit);
MODULE_LICENSE("GPL v2");
MODULE_DESCRIPTION("look-alike of mlx5 for tests of qpscope");
