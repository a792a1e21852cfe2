// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the connection manager tells its users, by the tracepoint in front of every such call (core/cma_trace.h cm_event_handler). It runs in a work queue: the
 * owner is in the id. Most jobs of MPI or NCCL exchange their queue pairs otherwise and never come by here.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/calm.bpf.h"
#include "bpf/qp_read.bpf.h"

SEC("raw_tp/cm_event_handler")
int cm_event(struct bpf_raw_tracepoint_args *ctx)
{
	const struct rdma_id_private *id = (const void *)ctx->args[0];
	const struct rdma_cm_event *event = (const void *)ctx->args[1];
	const struct ib_device *device = BPF_CORE_READ(id, id.device);
	__u32 number = BPF_CORE_READ(event, event);
	__u32 dev_index = device ? BPF_CORE_READ(device, index) : EV_NO_DEVICE;
	__s32 status = BPF_CORE_READ(event, status);
	struct ev_cm *ev;

	/* Who listens on every device hears of a request a second time: by the id that listens on the one (core/cma.c cma_listen_handler). */
	if (number >= EV_ASYNC_EVENTS || (number == EV_CM_CONNECT_REQUEST && !device))
		return 0;
	count_event(EV_CM, dev_index, 0, number, status);
	if (!calm(EV_CM, number))
		return 0;
	ev = RESERVE(EV_CM, ev_cm);
	if (!ev)
		return 0;
	ev->event = number;
	ev->status = status;
	ev->dev_index = dev_index;
	ev->qpn = BPF_CORE_READ(id, qp_num);
	bpf_core_read(&ev->source, sizeof(ev->source), &id->id.route.addr.src_addr);
	bpf_core_read(&ev->destination, sizeof(ev->destination), &id->id.route.addr.dst_addr);
	read_owner(&ev->owner, &id->res, false);
	bpf_ringbuf_submit(ev, 0);
	return 0;
}
