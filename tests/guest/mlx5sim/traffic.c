// SPDX-License-Identifier: GPL-2.0-only
/*
 * What single QPs count. A flow is one counter of one QP; what it grew by since it was last looked at is credited to the
 * set the QP is in, else to the port's default set. Flows outlive their QP, as the ledger of what it did.
 */
#include <linux/ktime.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "mlx5sim.h"

struct sim_flow {
	struct list_head list; /* of flows */
	struct sim_qp *qp; /* NULL once it is gone */
	struct sim_port *port;
	u64 serial;
	u32 qpn;
	pid_t pid;
	unsigned int index;
	struct sim_counter count;
	u64 credited;
	u64 in_no_set; /* of a Q counter: what went to the default set */
};

static LIST_HEAD(flows); /* of all cards, guarded by sim_lock */

static void settle(struct sim_flow *flow)
{
	u64 total = sim_counter_read(&flow->count), step = total - flow->credited;

	flow->credited = total;
	if (flow->index >= SIM_NUM_COUNTERS)
		return;
	if (sim_in_sets(flow->index) && flow->qp && flow->qp->set) {
		*sim_set_value(flow->qp->set, flow->index) += step;
		if (flow->index < SIM_NUM_Q)
			flow->port->in_sets[flow->index] += step;
		return;
	}
	flow->port->values[flow->index].base += step;
	if (flow->index < SIM_NUM_Q)
		flow->in_no_set += step;
}

/* Before anything is read, and before a QP changes its set. Called with sim_lock held, as all below. */
void sim_settle(void)
{
	struct sim_flow *flow;

	list_for_each_entry(flow, &flows, list)
		settle(flow);
}

/* A QP in ERR or RESET counts no more, one that ends never will. */
void sim_traffic_stop(struct sim_qp *qp, bool ends)
{
	struct sim_flow *flow;

	list_for_each_entry(flow, &flows, list) {
		if (flow->qp != qp)
			continue;
		settle(flow);
		sim_counter_set_rate(&flow->count, 0);
		settle(flow);
		if (ends)
			flow->qp = NULL;
	}
}

void sim_traffic_stop_card(struct sim_card *card)
{
	struct sim_flow *flow;

	list_for_each_entry(flow, &flows, list) {
		if (flow->port->card != card)
			continue;
		sim_counter_set_rate(&flow->count, 0);
		settle(flow);
	}
}

void sim_traffic_forget(struct sim_card *card)
{
	struct sim_flow *flow, *next;

	list_for_each_entry_safe(flow, next, &flows, list) {
		if (flow->port->card != card)
			continue;
		list_del(&flow->list);
		kfree(flow);
	}
}

void sim_traffic_free(void)
{
	struct sim_flow *flow, *next;

	list_for_each_entry_safe(flow, next, &flows, list)
		kfree(flow);
}

static int find_index(const char *name)
{
	unsigned int i;

	if (!strcmp(name, "sq_psn"))
		return SIM_SQ_PSN;
	if (!strcmp(name, "rq_psn"))
		return SIM_RQ_PSN;
	for (i = 0; i < SIM_NUM_COUNTERS; i++)
		if (!strcmp(name, sim_counter_names[i]))
			return i;
	return -ENOENT;
}

static struct sim_flow *find_flow(struct sim_qp *qp, unsigned int index)
{
	struct sim_flow *flow;

	list_for_each_entry(flow, &flows, list)
		if (flow->qp == qp && flow->index == index)
			return flow;
	return NULL;
}

/* How far a QP's packet sequence number has moved by itself. */
u64 sim_traffic_psn(struct sim_qp *qp, unsigned int index)
{
	struct sim_flow *flow = find_flow(qp, index);

	return flow ? sim_counter_read(&flow->count) : 0;
}

/* The QP counts VALUE more at once, or VALUE a second from now on. */
int sim_traffic(struct sim_card *card, u32 qpn, const char *name, bool rate, u64 value)
{
	int index = find_index(name), err = 0;
	struct sim_flow *flow, *fresh;
	struct sim_qp *qp;

	if (index < 0)
		return index;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	if (!fresh)
		return -ENOMEM;
	mutex_lock(&card->qp_lock);
	qp = sim_qp_find(card, qpn);
	if (!qp) {
		err = -ENOENT;
		goto out;
	}
	spin_lock(&sim_lock);
	if (!qp->attr.port_num) { /* which port, is not known before INIT */
		err = -EINVAL;
		goto unlock;
	}
	flow = find_flow(qp, index);
	if (!flow) {
		flow = fresh;
		fresh = NULL;
		flow->qp = qp;
		flow->port = &card->ports[qp->attr.port_num - 1];
		flow->serial = qp->serial;
		flow->qpn = qpn;
		flow->pid = qp->pid;
		flow->index = index;
		sim_counter_set(&flow->count, 0);
		list_add_tail(&flow->list, &flows);
	}
	if (rate)
		sim_counter_set_rate(&flow->count, value);
	else
		flow->count.base += value;
	settle(flow);
unlock:
	spin_unlock(&sim_lock);
out:
	mutex_unlock(&card->qp_lock);
	kfree(fresh);
	return err;
}

void sim_ledger_show(struct seq_file *out, struct sim_card *card)
{
	struct sim_flow *flow;

	seq_puts(out, "serial qpn pid port state counter total in_no_set\n");
	spin_lock(&sim_lock);
	sim_settle();
	list_for_each_entry(flow, &flows, list) {
		if (flow->port->card != card || flow->index >= SIM_NUM_COUNTERS)
			continue;
		seq_printf(out, "%llu %u %d %u %s %s %llu %llu\n", flow->serial, flow->qpn, flow->pid, flow->port->num,
			   flow->qp ? "alive" : "gone", sim_counter_names[flow->index], flow->credited, flow->in_no_set);
	}
	spin_unlock(&sim_lock);
}
