// SPDX-License-Identifier: GPL-2.0-only
/*
 * The other verbs objects, as far as user programs (by uverbs write(), without a provider library) and the kernel's own
 * users (ib_mad's GSI QPs) need them: all can be made, none moves data.
 */
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "mlx5sim.h"

/* ib_core allocates these by the driver's size; there is nothing of our own in them. */
struct sim_cq {
	struct ib_cq ib;
};

struct sim_pd {
	struct ib_pd ib;
};

struct sim_ucontext {
	struct ib_ucontext ib;
};

struct sim_mr {
	struct ib_mr ib;
	struct ib_umem *umem;
};

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

/* Its presence lets the device go while programs hold it: ib_core then destroys what is theirs. */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr, sim_create_cq_arg *arg)
{
	cq->cqe = attr->cqe;
	return 0;
}

static int destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return 0;
}

static int poll_cq(struct ib_cq *cq, int num_entries, struct ib_wc *wc)
{
	return 0;
}

static int req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return 0;
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad_wr)
{
	*bad_wr = wr;
	return -EOPNOTSUPP;
}

/* Accepted and never completed: ib_mad does not open a port on which it cannot post its receives. */
static int post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad_wr)
{
	return 0;
}

static struct sim_mr *alloc_mr(struct ib_pd *pd)
{
	struct sim_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (mr)
		mr->ib.lkey = mr->ib.rkey = atomic_inc_return(&to_sim(pd->device)->card->keys) << 8;
	return mr;
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct sim_mr *mr = alloc_mr(pd);

	return mr ? &mr->ib : ERR_PTR(-ENOMEM);
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access, struct ib_udata *udata)
{
	struct sim_mr *mr = alloc_mr(pd);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		int err = PTR_ERR(mr->umem);

		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct sim_mr *mr = container_of(ib, struct sim_mr, ib);

	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}

const struct ib_device_ops sim_verbs_ops = {
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.post_send = post_send,
	.post_recv = post_recv,
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = reg_user_mr,
	.dereg_mr = dereg_mr,

	INIT_RDMA_OBJ_SIZE(ib_cq, sim_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, sim_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, sim_ucontext, ib),
};
