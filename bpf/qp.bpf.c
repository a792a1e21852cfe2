// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a queue pair. Each verb has one body and several programs for it, of which user space loads one set:
 * _fe/_fx fentry and fexit, _kp/_kr kprobe and kretprobe. See README.md for why these functions.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/flight.bpf.h"
#include "bpf/qp_read.bpf.h"

/* Create: rdma_restrack_add sees every QP once its number is known, before anybody else can have it. */

static __always_inline int on_restrack_add(const struct rdma_restrack_entry *res, bool trampoline)
{
	const struct ib_qp *qp = (const void *)res - bpf_core_field_offset(struct ib_qp, res);
	struct ev_qp_create *ev;
	__u64 serial;

	if (GET(trampoline, res, type) != RDMA_RESTRACK_QP)
		return 0;
	serial = assign_serial(qp, trampoline);
	ev = RESERVE(EV_QP_CREATE, ev_qp_create);
	if (!ev)
		return 0;
	/* The trampoline is at the function's exit. */
	read_qp(&ev->qp, qp, trampoline, false);
	ev->qp.serial = serial;
	read_owner(&ev->owner, res, trampoline);
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

SEC("fexit/rdma_restrack_add")
int BPF_PROG(qp_create_fx, struct rdma_restrack_entry *res)
{
	return on_restrack_add(res, true);
}

SEC("kprobe/rdma_restrack_add")
int BPF_KPROBE(qp_create_kp, struct rdma_restrack_entry *res)
{
	return on_restrack_add(res, false);
}

/* A create that failed: the result of the two exported functions is an errno as a pointer. */

static __always_inline bool is_error(long result)
{
	return result < 0 && result >= -4095;
}

static __always_inline int on_create_entry(struct pt_regs *ctx, const struct ib_device *dev)
{
	struct flight f = { .sp = PT_REGS_SP(ctx), .dev_index = BPF_CORE_READ(dev, index) };

	flight_begin(VERB_CREATE, &f);
	return 0;
}

static __always_inline int on_create_return(long result)
{
	struct flight f;

	if (flight_end(VERB_CREATE, &f) && is_error(result))
		send_failed(EV_CALL_CREATE, f.dev_index, result);
	return 0;
}

SEC("fexit/ib_create_qp_user")
int BPF_PROG(qp_new_user_fx, struct ib_device *dev, struct ib_pd *pd, void *attr, void *udata, void *uobj, void *caller,
	     long result)
{
	if (is_error(result))
		send_failed(EV_CALL_CREATE, dev->index, result);
	return 0;
}

SEC("kprobe/ib_create_qp_user")
int BPF_KPROBE(qp_new_user_kp, struct ib_device *dev)
{
	return on_create_entry(ctx, dev);
}

SEC("kretprobe/ib_create_qp_user")
int BPF_KRETPROBE(qp_new_user_kr, long result)
{
	return on_create_return(result);
}

SEC("fexit/ib_create_qp_kernel")
int BPF_PROG(qp_new_kern_fx, struct ib_pd *pd, void *attr, void *caller, long result)
{
	if (is_error(result))
		send_failed(EV_CALL_CREATE, pd->device->index, result);
	return 0;
}

SEC("kprobe/ib_create_qp_kernel")
int BPF_KPROBE(qp_new_kern_kp, struct ib_pd *pd)
{
	return on_create_entry(ctx, BPF_CORE_READ(pd, device));
}

SEC("kretprobe/ib_create_qp_kernel")
int BPF_KRETPROBE(qp_new_kern_kr, long result)
{
	return on_create_return(result);
}

/* Modify: at the return, when it is known whether it counts and the address is resolved. */

/* Where the packets go. The attribute's own sgid_attr is unset again at the end of _ib_modify_qp; the QP keeps its own. */
static __always_inline void read_address(struct ev_qp_modify *ev, const struct ib_qp *qp, const struct ib_qp_attr *attr,
					 bool typed)
{
	enum rdma_ah_attr_type type = GET(typed, attr, ah_attr.type);
	const struct ib_gid_attr *sgid = GET(typed, qp, av_sgid_attr);

	if (type == RDMA_AH_ATTR_TYPE_IB) {
		ev->has |= EV_HAS_DLID;
		ev->dlid = GET(typed, attr, ah_attr.ib.dlid);
	}
	if (type != RDMA_AH_ATTR_TYPE_ROCE && !(GET(typed, attr, ah_attr.ah_flags) & IB_AH_GRH))
		return;
	ev->has |= EV_HAS_GRH;
	ev->traffic_class = GET(typed, attr, ah_attr.grh.traffic_class);
	BPF_CORE_READ_INTO(&ev->dgid, attr, ah_attr.grh.dgid.raw);
	if (sgid) {
		ev->has |= EV_HAS_SGID;
		BPF_CORE_READ_INTO(&ev->sgid, sgid, gid.raw);
	}
}

/* Only what the mask names: the rest of the attributes is what the caller left there. */
static __always_inline void read_attributes(struct ev_qp_modify *ev, const struct ib_qp *qp,
					    const struct ib_qp_attr *attr, __u32 mask, bool typed)
{
	ev->attr_mask = mask;
	if (mask & IB_QP_STATE)
		ev->state = GET(typed, attr, qp_state);
	if (mask & IB_QP_DEST_QPN)
		ev->dest_qpn = GET(typed, attr, dest_qp_num);
	if (mask & IB_QP_PATH_MTU)
		ev->path_mtu = GET(typed, attr, path_mtu);
	if (mask & IB_QP_TIMEOUT)
		ev->timeout = GET(typed, attr, timeout);
	if (mask & IB_QP_RETRY_CNT)
		ev->retry_cnt = GET(typed, attr, retry_cnt);
	if (mask & IB_QP_RNR_RETRY)
		ev->rnr_retry = GET(typed, attr, rnr_retry);
	if (mask & IB_QP_AV)
		read_address(ev, qp, attr, typed);
}

/* A QP that was there before the probes, at its first sight. */
static __always_inline __u64 found_qp(const struct ib_qp *qp, bool trampoline)
{
	__u64 serial = assign_serial(qp, trampoline);
	struct ev_qp_create *ev = serial ? RESERVE(EV_QP_CREATE, ev_qp_create) : NULL;

	if (!ev)
		return serial;
	read_qp(&ev->qp, qp, true, trampoline);
	ev->qp.serial = serial;
	ev->qp.flags |= EV_QP_FOUND;
	read_owner(&ev->owner, &qp->res, trampoline);
	bpf_ringbuf_submit(ev, 0);
	return serial;
}

static __always_inline int on_modify(const struct ib_qp *qp, const struct ib_qp_attr *attr, __u32 mask, long result,
				     bool trampoline)
{
	struct ev_qp_modify *ev;
	__u64 serial;

	if (result) {
		send_failed(EV_CALL_MODIFY, GET_VIA(trampoline, qp, device, index), result);
		return 0;
	}
	serial = find_serial(qp);
	if (!serial)
		serial = found_qp(qp, trampoline);
	ev = RESERVE(EV_QP_MODIFY, ev_qp_modify);
	if (!ev)
		return 0;
	read_qp(&ev->qp, qp, true, trampoline);
	ev->qp.serial = serial;
	read_attributes(ev, qp, attr, mask, trampoline);
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

static __always_inline int on_modify_entry(struct pt_regs *ctx, const struct ib_qp *qp, const struct ib_qp_attr *attr,
					   int mask)
{
	struct flight f = { .sp = PT_REGS_SP(ctx), .qp = (__u64)qp, .attr = (__u64)attr, .attr_mask = mask };

	flight_begin(VERB_MODIFY, &f);
	return 0;
}

static __always_inline int on_modify_return(long result)
{
	struct flight f;

	if (!flight_end(VERB_MODIFY, &f))
		return 0;
	return on_modify((struct ib_qp *)f.qp, (struct ib_qp_attr *)f.attr, f.attr_mask, result, false);
}

SEC("fexit/_ib_modify_qp")
int BPF_PROG(qp_modify_fx, struct ib_qp *qp, struct ib_qp_attr *attr, int mask, void *udata, int result)
{
	return on_modify(qp, attr, mask, result, true);
}

SEC("kprobe/_ib_modify_qp")
int BPF_KPROBE(qp_modify_kp, struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	return on_modify_entry(ctx, qp, attr, mask);
}

SEC("kretprobe/_ib_modify_qp")
int BPF_KRETPROBE(qp_modify_kr, int result)
{
	return on_modify_return(result);
}

/* The two callers of _ib_modify_qp, for kernels whose compiler inlined it. They get the handle, which can be shared. */

SEC("fexit/ib_modify_qp_with_udata")
int BPF_PROG(qp_mod_user_fx, struct ib_qp *qp, struct ib_qp_attr *attr, int mask, void *udata, int result)
{
	return on_modify(qp->real_qp, attr, mask, result, true);
}

SEC("fexit/ib_modify_qp")
int BPF_PROG(qp_mod_kern_fx, struct ib_qp *qp, struct ib_qp_attr *attr, int mask, int result)
{
	return on_modify(qp->real_qp, attr, mask, result, true);
}

SEC("kprobe/ib_modify_qp_with_udata")
int BPF_KPROBE(qp_mod_user_kp, struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	return on_modify_entry(ctx, BPF_CORE_READ(qp, real_qp), attr, mask);
}

SEC("kretprobe/ib_modify_qp_with_udata")
int BPF_KRETPROBE(qp_mod_user_kr, int result)
{
	return on_modify_return(result);
}

SEC("kprobe/ib_modify_qp")
int BPF_KPROBE(qp_mod_kern_kp, struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	return on_modify_entry(ctx, BPF_CORE_READ(qp, real_qp), attr, mask);
}

SEC("kretprobe/ib_modify_qp")
int BPF_KRETPROBE(qp_mod_kern_kr, int result)
{
	return on_modify_return(result);
}

/*
 * Destroy: the QP is freed inside, so all is read at the entry, and the pointer may belong to the next QP before the
 * return is seen. Hence the serial is taken out at the entry, and put back if the call failed: then the pointer is
 * still the old QP's. A shared handle (real_qp is another) is ignored: the call for the real QP comes by itself.
 */

static __always_inline bool destroy_begin(struct flight *f, const struct ib_qp *qp, bool typed)
{
	__u64 pointer = (__u64)qp;

	if (GET(typed, qp, real_qp) != qp)
		return false;
	f->qp = pointer;
	read_qp(&f->id, qp, true, typed);
	f->id.serial = find_serial(qp);
	bpf_map_delete_elem(&qp_serials, &pointer);
	return true;
}

static __always_inline int destroy_end(const struct flight *f, long result)
{
	struct ev_qp_destroy *ev;
	__u64 pointer = f->qp, serial = f->id.serial;

	if (result) {
		if (serial && bpf_map_update_elem(&qp_serials, &pointer, &serial, BPF_ANY))
			count_loss(LOSS_SERIALS_FULL);
		send_failed(EV_CALL_DESTROY, f->id.dev_index, result);
		return 0;
	}
	ev = RESERVE(EV_QP_DESTROY, ev_qp_destroy);
	if (!ev)
		return 0;
	ev->qp = f->id;
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

SEC("fentry/ib_destroy_qp_user")
int BPF_PROG(qp_destroy_fe, struct ib_qp *qp)
{
	struct flight_key key = { .tid = current_tid(), .frame = (__u64)qp };
	struct flight f = {};

	if (destroy_begin(&f, qp, true))
		flight_store(&key, &f);
	return 0;
}

SEC("fexit/ib_destroy_qp_user")
int BPF_PROG(qp_destroy_fx, struct ib_qp *qp, void *udata, int result)
{
	struct flight_key key = { .tid = current_tid(), .frame = (__u64)qp };
	struct flight *found = bpf_map_lookup_elem(&flights, &key);

	if (!found)
		return 0;
	destroy_end(found, result);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

SEC("kprobe/ib_destroy_qp_user")
int BPF_KPROBE(qp_destroy_kp, struct ib_qp *qp)
{
	struct flight f = { .sp = PT_REGS_SP(ctx) };

	if (destroy_begin(&f, qp, false))
		flight_begin(VERB_DESTROY, &f);
	return 0;
}

SEC("kretprobe/ib_destroy_qp_user")
int BPF_KRETPROBE(qp_destroy_kr, int result)
{
	struct flight f;

	return flight_end(VERB_DESTROY, &f) ? destroy_end(&f, result) : 0;
}
