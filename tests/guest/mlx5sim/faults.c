// SPDX-License-Identifier: GPL-2.0-only
/* The one place every request to the "hardware" passes: it is counted, and may take long, hang or fail. */
#include <linux/delay.h>

#include "mlx5sim.h"

const char *const sim_kind_names[SIM_NUM_KINDS] = {
	[SIM_ASK_HW_COUNTERS] = "hw_counters",
	[SIM_ASK_PORT_COUNTERS] = "port_counters",
	[SIM_ASK_QUERY_PORT] = "query_port",
	[SIM_ASK_QUERY_QP] = "query_qp",
	[SIM_ASK_SET_READ] = "set_read",
	[SIM_ASK_SET_ALLOC] = "set_alloc",
	[SIM_ASK_SET_BIND] = "set_bind",
	[SIM_ASK_SET_UNBIND] = "set_unbind",
	[SIM_ASK_SET_DEALLOC] = "set_dealloc",
	[SIM_ASK_CREATE_QP] = "create_qp",
	[SIM_ASK_MODIFY_QP] = "modify_qp",
	[SIM_ASK_DESTROY_QP] = "destroy_qp",
	[SIM_ASK_ETHTOOL] = "ethtool",
	[SIM_ASK_DCB] = "dcb",
	[SIM_ASK_CC_PARAMS] = "cc_params",
};

static int hang(struct sim_card *card)
{
	if (READ_ONCE(card->hang) == 1)
		return wait_event_killable(card->hang_wait, READ_ONCE(card->hang) != 1);
	wait_event(card->hang_wait, READ_ONCE(card->hang) != 2);
	return 0;
}

void sim_end_hang(struct sim_card *card)
{
	WRITE_ONCE(card->hang, 0);
	wake_up_all(&card->hang_wait);
}

/* Returns 0, or the negative errno that the caller has to fail with. */
int sim_ask(struct sim_card *card, enum sim_kind kind)
{
	u32 delay = READ_ONCE(card->delay_ms);
	int err;

	atomic64_inc(&card->asked[kind]);
	if (!(READ_ONCE(card->fault_kinds) & BIT(kind)))
		return 0;
	if (delay)
		msleep(delay);
	err = hang(card);
	if (err)
		return err;
	err = READ_ONCE(card->fail_errno);
	if (err && READ_ONCE(card->log_failures))
		pr_warn("mlx5sim: %s: %s failed with %d\n", card->name, sim_kind_names[kind], -err);
	return -err;
}
