// SPDX-License-Identifier: GPL-2.0-only
/* The ib_device: identity, limits, ports. */
#include <linux/module.h>
#include <rdma/ib_mad.h>

#include "mlx5sim.h"

bool sim_switchdev;
module_param_named(switchdev, sim_switchdev, bool, 0444);
MODULE_PARM_DESC(switchdev, "hw_counters of the device instead of its ports, as mlx5 in switchdev mode");

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "MT4129\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "SIM_0000000838\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *sim_attributes[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL,
};

static const struct attribute_group sim_group = { .attrs = sim_attributes };

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	const struct sim_card *card = to_sim(ib)->card;

	attr->fw_ver = (28ULL << 32) | (39ULL << 16) | 1002;
	attr->sys_image_guid = cpu_to_be64(card->guid);
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = PAGE_SIZE;
	attr->vendor_id = 0x2c9;
	attr->vendor_part_id = 4129;
	attr->max_qp = 1 << 17;
	attr->max_qp_wr = 1 << 15;
	attr->max_send_sge = 30;
	attr->max_recv_sge = 32;
	attr->max_sge_rd = 30;
	attr->max_cq = 1 << 17;
	attr->max_cqe = 1 << 22;
	attr->max_mr = 1 << 17;
	attr->max_pd = 1 << 17;
	attr->max_qp_rd_atom = 16;
	attr->max_qp_init_rd_atom = 16;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = 16;
	return 0;
}

static void get_dev_fw_str(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "28.39.1002");
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE | RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = SIM_GIDS;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static const struct ib_device_ops sim_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_MLX5,
	.uverbs_abi_ver = 1,
	.device_group = &sim_group,
	.query_device = query_device,
	.get_dev_fw_str = get_dev_fw_str,
	.get_port_immutable = get_port_immutable,
	.process_mad = sim_process_mad,

	INIT_RDMA_OBJ_SIZE(ib_qp, sim_qp, ib),
};

static const struct ib_device_ops *stats_ops(const struct sim_card *card)
{
	if (!sim_switchdev)
		return &sim_port_stats_ops;
	return card->ports[card->num_ports - 1].representor ? &sim_vport_stats_ops : &sim_device_stats_ops;
}

static int set_netdev(struct sim_ibdev *dev, struct sim_port *port)
{
	struct net_device *over;
	int err;

	if (!*port->over)
		return ib_device_set_netdev(&dev->ib, port->netdev, port->num);
	over = dev_get_by_name(&init_net, port->over);
	if (!over)
		return -ENODEV;
	err = ib_device_set_netdev(&dev->ib, over, port->num);
	dev_put(over);
	return err;
}

struct sim_ibdev *sim_device_register(struct sim_card *card)
{
	struct sim_ibdev *dev;
	int err = 0;
	u32 i;

	dev = ib_alloc_device(sim_ibdev, ib);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->card = card;
	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.node_guid = cpu_to_be64(card->guid);
	dev->ib.phys_port_cnt = card->rdma_ports;
	dev->ib.num_comp_vectors = num_possible_cpus();
	dev->ib.dev.parent = card->parent;
	snprintf(dev->ib.node_desc, sizeof(dev->ib.node_desc), "%s look-alike", card->name);

	ib_set_device_ops(&dev->ib, &sim_device_ops);
	ib_set_device_ops(&dev->ib, &sim_port_ops);
	ib_set_device_ops(&dev->ib, &sim_verbs_ops);
	ib_set_device_ops(&dev->ib, &sim_qp_ops);
	ib_set_device_ops(&dev->ib, &sim_srq_ops);
	ib_set_device_ops(&dev->ib, &sim_set_ops);
	ib_set_device_ops(&dev->ib, stats_ops(card));

	for (i = 0; !err && i < card->rdma_ports; i++)
		err = set_netdev(dev, &card->ports[i]);
	/* By its own name and not "mlx5_%d": a device that comes back is the same one. No DMA device: nothing is moved. */
	if (!err)
		err = ib_register_device(&dev->ib, card->name, NULL);
	if (err) {
		ib_dealloc_device(&dev->ib);
		return ERR_PTR(err);
	}
	return dev;
}

void sim_device_unregister(struct sim_ibdev *dev)
{
	ib_unregister_device(&dev->ib);
	ib_dealloc_device(&dev->ib);
}
