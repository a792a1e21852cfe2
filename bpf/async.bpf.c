// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events, each told once. Those of an object of user space by the handlers that ib_uverbs gives it; a QP's, on kernels that have it, by the
 * one handler that all QPs share (core/verbs.c __ib_qp_event_handler, there in 6.12, not in 6.1), so that the kernel's own QPs are seen too. Those of a port
 * or a device, and changes of GIDs, by ib_dispatch_event_clients, through which ib_core sends them all once its caches are right (core/cache.c).
 * The handlers run wherever the driver calls them: `current` is nobody's; owners are in the objects.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/calm.bpf.h"
#include "bpf/qp_read.bpf.h"

static __always_inline struct ev_async *new_async(__u32 dev_index, __u32 port, __u32 event)
{
	struct ev_async *ev;

	if (event >= EV_ASYNC_EVENTS)
		return NULL;
	count_event(EV_ASYNC, dev_index, port, event, 0);
	if (!calm(EV_ASYNC, event))
		return NULL;
	ev = RESERVE(EV_ASYNC, ev_async);
	if (!ev)
		return NULL;
	ev->dev_index = dev_index;
	ev->port = port;
	ev->event = event;
	return ev;
}

static __always_inline int on_qp_event(const struct ib_event *event)
{
	const struct ib_qp *qp = BPF_CORE_READ(event, element.qp);
	struct ev_async *ev = new_async(BPF_CORE_READ(qp, device, index), qp_port(qp, false), BPF_CORE_READ(event, event));

	if (!ev)
		return 0;
	ev->has = EV_ASYNC_QP;
	read_qp(&ev->qp, qp, true, false);
	ev->qp.serial = find_serial(qp);
	read_owner(&ev->owner, &qp->res, false);
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

SEC("kprobe/__ib_qp_event_handler")
int BPF_KPROBE(qp_event_kp, struct ib_event *event)
{
	return on_qp_event(event);
}

SEC("fentry/ib_uverbs_qp_event_handler")
int BPF_PROG(uqp_event_fe, struct ib_event *event)
{
	return on_qp_event(event);
}

SEC("kprobe/ib_uverbs_qp_event_handler")
int BPF_KPROBE(uqp_event_kp, struct ib_event *event)
{
	return on_qp_event(event);
}

/* Of a CQ or SRQ, whose restrack id is what netlink calls its number. */
static __always_inline int on_object_event(const struct ib_event *event, const struct ib_device *device, const struct rdma_restrack_entry *res)
{
	struct ev_async *ev = new_async(BPF_CORE_READ(device, index), 0, BPF_CORE_READ(event, event));

	if (!ev)
		return 0;
	if (res) {
		ev->has = EV_ASYNC_NUMBER;
		ev->number = BPF_CORE_READ(res, id);
		read_owner(&ev->owner, res, false);
	}
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

static __always_inline int on_cq_event(const struct ib_event *event)
{
	const struct ib_cq *cq = BPF_CORE_READ(event, element.cq);

	return on_object_event(event, BPF_CORE_READ(cq, device), &cq->res);
}

/* SRQs are tracked from 5.15 on (restrack.h RDMA_RESTRACK_SRQ). */
static __always_inline int on_srq_event(const struct ib_event *event)
{
	const struct ib_srq *srq = BPF_CORE_READ(event, element.srq);

	return on_object_event(event, BPF_CORE_READ(srq, device), bpf_core_field_exists(srq->res) ? &srq->res : NULL);
}

static __always_inline int on_wq_event(const struct ib_event *event)
{
	const struct ib_wq *wq = BPF_CORE_READ(event, element.wq);

	return on_object_event(event, BPF_CORE_READ(wq, device), NULL);
}

SEC("fentry/ib_uverbs_cq_event_handler")
int BPF_PROG(cq_event_fe, struct ib_event *event)
{
	return on_cq_event(event);
}

SEC("kprobe/ib_uverbs_cq_event_handler")
int BPF_KPROBE(cq_event_kp, struct ib_event *event)
{
	return on_cq_event(event);
}

SEC("fentry/ib_uverbs_srq_event_handler")
int BPF_PROG(srq_event_fe, struct ib_event *event)
{
	return on_srq_event(event);
}

SEC("kprobe/ib_uverbs_srq_event_handler")
int BPF_KPROBE(srq_event_kp, struct ib_event *event)
{
	return on_srq_event(event);
}

SEC("fentry/ib_uverbs_wq_event_handler")
int BPF_PROG(wq_event_fe, struct ib_event *event)
{
	return on_wq_event(event);
}

SEC("kprobe/ib_uverbs_wq_event_handler")
int BPF_KPROBE(wq_event_kp, struct ib_event *event)
{
	return on_wq_event(event);
}

static __always_inline int on_device_event(const struct ib_event *event)
{
	__u32 number = BPF_CORE_READ(event, event);
	__u32 port = number == EV_ASYNC_DEVICE_FATAL ? 0 : event_port(event);
	struct ev_async *ev = new_async(BPF_CORE_READ(event, device, index), port, number);

	if (ev)
		bpf_ringbuf_submit(ev, 0);
	return 0;
}

SEC("fentry/ib_dispatch_event_clients")
int BPF_PROG(dev_event_fe, struct ib_event *event)
{
	return on_device_event(event);
}

SEC("kprobe/ib_dispatch_event_clients")
int BPF_KPROBE(dev_event_kp, struct ib_event *event)
{
	return on_device_event(event);
}
