// SPDX-License-Identifier: GPL-2.0-only
/* Puts the lives of queue pairs into the ring, as qp.bpf.c does but with made-up contents: for BPF_PROG_TEST_RUN. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"
#include "tests/bench/event_path/inject.h"

#define MODIFIES 3

static __always_inline struct ev_qp identity(__u64 serial, __u32 port)
{
	struct ev_qp qp = {
		.serial = serial,
		.dev_index = 1 + (serial & 1),
		.qpn = serial & 0xffffff,
		.type = 2, /* RC */
		.port = port,
		.flags = EV_QP_TRACKED,
	};

	return qp;
}

static __always_inline void create(__u64 serial)
{
	struct ev_qp_create *ev = RESERVE(EV_QP_CREATE, ev_qp_create);

	if (!ev)
		return;
	ev->qp = identity(serial, 0);
	ev->owner.flags = EV_OWNER_KNOWN | EV_OWNER_USER;
	ev->owner.cgroup = INJECT_FIRST_CGROUP + serial % INJECT_CGROUPS;
	ev->owner.tid = ev->owner.tgid = 100 + serial % 1000;
	__builtin_memcpy(ev->owner.comm, "train_worker_07", EV_COMM_LEN);
	bpf_ringbuf_submit(ev, 0);
}

/* INIT, RTR, RTS, with the masks that user space has: kernel's enum ib_qp_attr_mask. */
static __always_inline void modify(__u64 serial, __u32 state)
{
	struct ev_qp_modify *ev = RESERVE(EV_QP_MODIFY, ev_qp_modify);

	if (!ev)
		return;
	ev->qp = identity(serial, 1);
	ev->state = state;
	ev->attr_mask = state == 1 ? 0x39 : state == 2 ? 0x129181 : 0x12e01;
	if (state == 2) {
		ev->has = EV_HAS_GRH | EV_HAS_SGID;
		ev->dest_qpn = serial & 0xffff;
		ev->path_mtu = 5;
		ev->traffic_class = 106;
		ev->dgid[15] = serial & 0xff;
		ev->sgid[15] = 1;
	}
	ev->timeout = 14;
	ev->retry_cnt = ev->rnr_retry = 7;
	bpf_ringbuf_submit(ev, 0);
}

static __always_inline void destroy(__u64 serial)
{
	struct ev_qp_destroy *ev = RESERVE(EV_QP_DESTROY, ev_qp_destroy);

	if (!ev)
		return;
	ev->qp = identity(serial, 1);
	bpf_ringbuf_submit(ev, 0);
}

static long life(__u32 index, struct inject_request *request)
{
	__u64 serial = request->first + index;

	create(serial);
	for (__u32 state = 1; state <= MODIFIES; state++)
		modify(serial, state);
	if (serial > request->alive)
		destroy(serial - request->alive);
	return 0;
}

SEC("syscall")
int inject(struct inject_request *asked)
{
	struct inject_request request = *asked;

	bpf_loop(request.lives, life, &request, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
