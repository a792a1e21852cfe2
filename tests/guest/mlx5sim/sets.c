// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter sets: rdma_counter's operations. A set holds Q counters; the congestion counters are listed and stay 0, as in mlx5.
 * Optional counters of a set, as mlx5 has them from 6.15: on wish, on any kernel.
 */
#include "mlx5sim.h"

static bool set_optional;
module_param(set_optional, bool, 0444);
MODULE_PARM_DESC(set_optional, "counter sets have optional counters of their own, all of them on");

/* Whether a set, where a QP is in one, counts this instead of the port. */
bool sim_in_sets(unsigned int index)
{
	return index < SIM_NUM_Q || (set_optional && index >= SIM_NUM_HW && index < SIM_NUM_STATS);
}

u64 *sim_set_value(struct sim_set *set, unsigned int index)
{
	return index < SIM_NUM_Q ? &set->q[index] : &set->optional[index - SIM_NUM_HW];
}

static struct sim_set *set_of(struct rdma_counter *counter)
{
	return &to_sim(counter->device)->card->sets[counter->id];
}

static struct rdma_hw_stats *counter_alloc_stats(struct rdma_counter *counter)
{
	struct rdma_hw_stats *stats = sim_alloc_stats();
	unsigned int i;

	for (i = SIM_NUM_HW; stats && set_optional && i < SIM_NUM_STATS; i++)
		clear_bit(i, stats->is_disabled);
	return stats;
}

static int counter_update_stats(struct rdma_counter *counter)
{
	int err = sim_ask(to_sim(counter->device)->card, SIM_ASK_SET_READ);
	unsigned int i;

	if (err)
		return err;
	spin_lock(&sim_lock);
	sim_settle();
	for (i = 0; i < SIM_NUM_STATS; i++)
		if (sim_in_sets(i))
			counter->stats->value[i] = i < SIM_NUM_Q ? lower_32_bits(set_of(counter)->q[i]) :
								   *sim_set_value(set_of(counter), i);
	spin_unlock(&sim_lock);
	return 0;
}

static int counter_dealloc(struct rdma_counter *counter)
{
	if (!counter->id)
		return 0;
	sim_ask(to_sim(counter->device)->card, SIM_ASK_SET_DEALLOC);
	spin_lock(&sim_lock);
	set_of(counter)->used = false;
	spin_unlock(&sim_lock);
	return 0;
}

/* The lowest free number, so that it is reused at once. */
static int alloc_set(struct sim_card *card, struct rdma_counter *counter)
{
	int err = sim_ask(card, SIM_ASK_SET_ALLOC);
	u32 id;

	if (err)
		return err;
	err = -ENOSPC;
	spin_lock(&sim_lock);
	for (id = 1; id <= min_t(u32, card->max_sets, SIM_MAX_SETS); id++) {
		struct sim_set *set = &card->sets[id];

		if (set->used)
			continue;
		memset(set, 0, sizeof(*set));
		set->used = true;
		set->port = counter->port;
		counter->id = id;
		err = 0;
		break;
	}
	spin_unlock(&sim_lock);
	return err;
}

static void move_qp(struct ib_qp *ib, struct sim_set *set, struct rdma_counter *counter)
{
	struct sim_qp *qp = to_sim_qp(ib);

	spin_lock(&sim_lock);
	sim_settle();
	if (qp->set)
		qp->set->qps--;
	if (set)
		set->qps++;
	qp->set = set;
	ib->counter = counter;
	spin_unlock(&sim_lock);
}

static int counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ib)
{
	struct sim_card *card = to_sim(ib->device)->card;
	bool fresh = !counter->id;
	int err = fresh ? alloc_set(card, counter) : 0;

	if (err)
		return err;
	err = sim_ask(card, SIM_ASK_SET_BIND);
	if (err) {
		if (fresh) {
			counter_dealloc(counter);
			counter->id = 0;
		}
		return err;
	}
	move_qp(ib, set_of(counter), counter);
	return 0;
}

static int counter_unbind_qp(struct ib_qp *ib)
{
	int err = sim_ask(to_sim(ib->device)->card, SIM_ASK_SET_UNBIND);

	if (!err)
		move_qp(ib, NULL, NULL);
	return err;
}

const struct ib_device_ops sim_set_ops = {
	.counter_alloc_stats = counter_alloc_stats,
	.counter_update_stats = counter_update_stats,
	.counter_bind_qp = counter_bind_qp,
	.counter_unbind_qp = counter_unbind_qp,
	.counter_dealloc = counter_dealloc,
};
