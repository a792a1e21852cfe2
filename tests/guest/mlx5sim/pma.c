// SPDX-License-Identifier: GPL-2.0-only
/* ports/N/counters/: the PerfMgt MADs that sysfs sends. */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "mlx5sim.h"

/* By the InfiniBand specification these counters stay at their largest value. */
static u64 saturated(struct sim_port *port, unsigned int index)
{
	static const u8 width[] = {
#define X(name, bits) [SIM_##name - SIM_NUM_STATS] = bits,
		SIM_PMA_COUNTERS(X)
#undef X
	};
	u64 most = GENMASK_ULL(width[index - SIM_NUM_STATS] - 1, 0);

	return min(sim_port_value(port, index), most);
}

static void fill_counters(struct sim_port *port, struct ib_pma_portcounters *out)
{
	out->symbol_error_counter = cpu_to_be16(saturated(port, SIM_symbol_error));
	out->link_error_recovery_counter = saturated(port, SIM_link_error_recovery);
	out->link_downed_counter = saturated(port, SIM_link_downed);
	out->port_rcv_errors = cpu_to_be16(saturated(port, SIM_port_rcv_errors));
	out->port_rcv_remphys_errors = cpu_to_be16(saturated(port, SIM_port_rcv_remote_physical_errors));
	out->port_rcv_switch_relay_errors = cpu_to_be16(saturated(port, SIM_port_rcv_switch_relay_errors));
	out->port_xmit_discards = cpu_to_be16(saturated(port, SIM_port_xmit_discards));
	out->port_xmit_constraint_errors = saturated(port, SIM_port_xmit_constraint_errors);
	out->port_rcv_constraint_errors = saturated(port, SIM_port_rcv_constraint_errors);
	out->link_overrun_errors = saturated(port, SIM_local_link_integrity_errors) << 4 |
				   saturated(port, SIM_excessive_buffer_overrun_errors);
	out->vl15_dropped = cpu_to_be16(saturated(port, SIM_VL15_dropped));
	out->port_xmit_wait = cpu_to_be32(saturated(port, SIM_port_xmit_wait));
}

static void fill_extended(struct sim_port *port, struct ib_pma_portcounters_ext *out)
{
	out->port_xmit_data = cpu_to_be64(saturated(port, SIM_port_xmit_data));
	out->port_rcv_data = cpu_to_be64(saturated(port, SIM_port_rcv_data));
	out->port_xmit_packets = cpu_to_be64(saturated(port, SIM_port_xmit_packets));
	out->port_rcv_packets = cpu_to_be64(saturated(port, SIM_port_rcv_packets));
	out->port_unicast_xmit_packets = cpu_to_be64(saturated(port, SIM_unicast_xmit_packets));
	out->port_unicast_rcv_packets = cpu_to_be64(saturated(port, SIM_unicast_rcv_packets));
	out->port_multicast_xmit_packets = cpu_to_be64(saturated(port, SIM_multicast_xmit_packets));
	out->port_multicast_rcv_packets = cpu_to_be64(saturated(port, SIM_multicast_rcv_packets));
}

int sim_process_mad(struct ib_device *ib, int flags, u32 num, const struct ib_wc *wc, const struct ib_grh *grh,
		    const struct ib_mad *in, struct ib_mad *out, size_t *out_size, u16 *out_pkey_index)
{
	struct sim_port *port = sim_port_of(ib, num);
	void *data = out->data + 40;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT || in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS; /* not for us; and no answer */
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		struct ib_class_port_info info = { .capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH };

		memcpy(data, &info, sizeof(info));
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	}
	if (sim_ask(port->card, SIM_ASK_PORT_COUNTERS))
		return IB_MAD_RESULT_FAILURE;
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT)
		fill_extended(port, data);
	else
		fill_counters(port, data);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
