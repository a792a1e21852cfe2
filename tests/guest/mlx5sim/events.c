// SPDX-License-Identifier: GPL-2.0-only
/* Asynchronous events on demand, by the way each takes on a card: the handler that ib_core or ib_uverbs gave the object, or ib_dispatch_event. And the SRQs that some are about. */
#include <rdma/ib_verbs.h>

#include "mlx5sim.h"

struct sim_srq {
	struct ib_srq ib;
	struct list_head list; /* of card->srqs */
};

static int create_srq(struct ib_srq *ib, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct sim_card *card = to_sim(ib->device)->card;
	struct sim_srq *srq = container_of(ib, struct sim_srq, ib);

	mutex_lock(&card->qp_lock);
	list_add_tail(&srq->list, &card->srqs);
	mutex_unlock(&card->qp_lock);
	return 0;
}

static int destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct sim_card *card = to_sim(ib->device)->card;

	mutex_lock(&card->qp_lock);
	list_del(&container_of(ib, struct sim_srq, ib)->list);
	mutex_unlock(&card->qp_lock);
	return 0;
}

static void dispatch(struct sim_card *card, enum ib_event_type number, u32 port)
{
	struct ib_event event = { .event = number, .element.port_num = port };

	mutex_lock(&card->lock);
	if (card->ib) {
		event.device = &card->ib->ib;
		ib_dispatch_event(&event);
	}
	mutex_unlock(&card->lock);
}

static int raise_of_qp(struct sim_card *card, enum ib_event_type number, u32 qpn)
{
	struct ib_event event = { .event = number };
	struct sim_qp *qp = sim_qp_find(card, qpn);
	struct ib_cq *cq;

	if (!qp)
		return -ENOENT;
	event.device = qp->ib.device;
	cq = qp->ib.send_cq;
	if (number == IB_EVENT_CQ_ERR) {
		event.element.cq = cq;
		if (cq->event_handler)
			cq->event_handler(&event, cq->cq_context);
	} else {
		event.element.qp = &qp->ib;
		if (qp->ib.event_handler)
			qp->ib.event_handler(&event, qp->ib.qp_context);
	}
	return 0;
}

static int raise_of_srqs(struct sim_card *card, enum ib_event_type number)
{
	struct ib_event event = { .event = number };
	struct sim_srq *srq;
	int err = -ENOENT;

	list_for_each_entry(srq, &card->srqs, list) {
		event.device = srq->ib.device;
		event.element.srq = &srq->ib;
		if (srq->ib.event_handler)
			srq->ib.event_handler(&event, srq->ib.srq_context);
		err = 0;
	}
	return err;
}

int sim_raise(struct sim_card *card, enum ib_event_type number, u32 of, u32 times)
{
	int err = 0;
	u32 i;

	for (i = 0; i < times && !err; i++) {
		switch (number) {
		case IB_EVENT_DEVICE_FATAL:
		case IB_EVENT_PORT_ACTIVE:
		case IB_EVENT_PORT_ERR:
		case IB_EVENT_LID_CHANGE:
		case IB_EVENT_PKEY_CHANGE:
		case IB_EVENT_SM_CHANGE:
		case IB_EVENT_CLIENT_REREGISTER:
		case IB_EVENT_GID_CHANGE:
			dispatch(card, number, of);
			break;
		default:
			mutex_lock(&card->qp_lock);
			if (number == IB_EVENT_SRQ_ERR || number == IB_EVENT_SRQ_LIMIT_REACHED)
				err = raise_of_srqs(card, number);
			else if (number < IB_EVENT_WQ_FATAL)
				err = raise_of_qp(card, number, of);
			else
				err = -EINVAL;
			mutex_unlock(&card->qp_lock);
		}
		cond_resched();
	}
	return err;
}

const struct ib_device_ops sim_srq_ops = {
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,

	INIT_RDMA_OBJ_SIZE(ib_srq, sim_srq, ib),
};
