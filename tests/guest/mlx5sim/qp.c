// SPDX-License-Identifier: GPL-2.0-only
/* QPs: numbers, state machine, query. */
#include <linux/delay.h>
#include <linux/sched.h>

#include "mlx5sim.h"

static atomic64_t serials;

/* Called with qp_lock held. Not for the GSI QPs, which have number 1 on every port. */
struct sim_qp *sim_qp_find(struct sim_card *card, u32 qpn)
{
	struct sim_qp *qp;

	list_for_each_entry(qp, &card->qps, list)
		if (qp->numbered && qp->ib.qp_num == qpn)
			return qp;
	return NULL;
}

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct sim_card *card = to_sim(ib->device)->card;
	struct sim_qp *qp = to_sim_qp(ib);
	int err = sim_ask(card, SIM_ASK_CREATE_QP), number;

	if (err)
		return err;
	switch (init->qp_type) {
	case IB_QPT_GSI:
		ib->qp_num = 1;
		break;
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		/* The lowest free one: a number that was freed is reused at once. */
		number = ida_alloc_range(&card->qpns, SIM_FIRST_QPN, 0xffffff, GFP_KERNEL);
		if (number < 0)
			return number;
		ib->qp_num = number;
		qp->numbered = true;
		break;
	default:
		return -EOPNOTSUPP;
	}
	qp->serial = atomic64_inc_return(&serials);
	qp->pid = udata ? task_tgid_nr(current) : 0;
	qp->init = *init;
	qp->attr.qp_state = IB_QPS_RESET;
	qp->attr.port_num = init->port_num;
	mutex_lock(&card->qp_lock);
	list_add_tail(&qp->list, &card->qps);
	mutex_unlock(&card->qp_lock);
	return 0;
}

static void merge(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	if (mask & IB_QP_STATE)
		to->qp_state = from->qp_state;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IB_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IB_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IB_QP_AV) {
		to->ah_attr = from->ah_attr;
		to->ah_attr.grh.sgid_attr = NULL; /* the reference is ib_core's */
	}
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_PATH_MIG_STATE)
		to->path_mig_state = from->path_mig_state;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
}

static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct sim_card *card = to_sim(ib->device)->card;
	struct sim_qp *qp = to_sim_qp(ib);
	enum ib_qp_state from, to;
	int err = sim_ask(card, SIM_ASK_MODIFY_QP);

	if (err)
		return err;
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	spin_lock(&sim_lock);
	from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->attr.qp_state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (!ib_modify_qp_is_ok(from, to, ib->qp_type, mask)) {
		err = -EINVAL;
		goto out;
	}
	if (to == IB_QPS_ERR || to == IB_QPS_RESET)
		sim_traffic_stop(qp, false);
	merge(&qp->attr, attr, mask);
out:
	spin_unlock(&sim_lock);
	return err;
}

static int query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	struct sim_qp *qp = to_sim_qp(ib);
	int err = sim_ask(to_sim(ib->device)->card, SIM_ASK_QUERY_QP);

	if (err)
		return err;
	spin_lock(&sim_lock);
	*attr = qp->attr;
	attr->cur_qp_state = attr->qp_state;
	attr->sq_psn = (attr->sq_psn + sim_traffic_psn(qp, SIM_SQ_PSN)) & 0xffffff;
	attr->rq_psn = (attr->rq_psn + sim_traffic_psn(qp, SIM_RQ_PSN)) & 0xffffff;
	attr->cap = qp->init.cap;
	*init = qp->init;
	spin_unlock(&sim_lock);
	return 0;
}

static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct sim_card *card = to_sim(ib->device)->card;
	struct sim_qp *qp = to_sim_qp(ib);
	u32 delay = READ_ONCE(card->destroy_delay_ms);

	sim_ask(card, SIM_ASK_DESTROY_QP);
	mutex_lock(&card->qp_lock);
	list_del(&qp->list);
	mutex_unlock(&card->qp_lock);
	spin_lock(&sim_lock);
	if (qp->set) /* only when unbinding was made to fail */
		qp->set->qps--;
	sim_traffic_stop(qp, true);
	spin_unlock(&sim_lock);
	if (!qp->numbered)
		return 0;
	/* From here on another QP may have this number, though this one's destruction has not returned. */
	ida_free(&card->qpns, ib->qp_num);
	if (delay)
		msleep(delay);
	return 0;
}

/* The hardware gives a QP up: state ERR and, unless silently, the event that says so. */
int sim_qp_fail(struct sim_card *card, u32 qpn, bool silently)
{
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };
	struct sim_qp *qp;
	int err = -ENOENT;

	mutex_lock(&card->qp_lock);
	qp = sim_qp_find(card, qpn);
	if (!qp)
		goto out;
	spin_lock(&sim_lock);
	sim_traffic_stop(qp, false);
	qp->attr.qp_state = IB_QPS_ERR;
	spin_unlock(&sim_lock);
	event.device = qp->ib.device;
	event.element.qp = &qp->ib;
	if (!silently && qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
	err = 0;
out:
	mutex_unlock(&card->qp_lock);
	return err;
}

const struct ib_device_ops sim_qp_ops = {
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
};
