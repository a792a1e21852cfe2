/* SPDX-License-Identifier: GPL-2.0-only */
/* From kernel structs to the wire: a QP's identity and owner. */
#pragma once

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"

/*
 * A number no QP ever had. In a trampoline we can be preempted (only migration is off), so there the increment must be
 * atomic; an atomic that returns the value needs 5.12, which has no trampolines on modules before it. A kprobe runs
 * with preemption off, and must load on 5.10.
 */
static __always_inline __u64 next_serial(bool trampoline)
{
	__u32 zero = 0;
	__u64 *given = bpf_map_lookup_elem(&serials_given, &zero);
	__u64 n;

	if (!given)
		return 0;
	if (trampoline)
		n = __sync_fetch_and_add(given, 1) + 1;
	else
		n = ++*given;
	return (__u64)(bpf_get_smp_processor_id() + 1) << 40 | n;
}

/* A new serial for a QP, kept under its pointer; 0 (and counted) when the map is full: half an identity would be worse. */
static __always_inline __u64 assign_serial(const struct ib_qp *qp, bool trampoline)
{
	__u64 pointer = (__u64)qp, serial = next_serial(trampoline);

	if (bpf_map_update_elem(&qp_serials, &pointer, &serial, BPF_ANY)) {
		count_loss(LOSS_SERIALS_FULL);
		return 0;
	}
	return serial;
}

static __always_inline __u64 find_serial(const struct ib_qp *qp)
{
	__u64 pointer = (__u64)qp, *serial = bpf_map_lookup_elem(&qp_serials, &pointer);

	return serial ? *serial : 0;
}

/* `inside`: the restrack entry has been through rdma_restrack_add, so that `valid` says whether netlink lists it. */
static __always_inline void read_qp(struct ev_qp *out, const struct ib_qp *qp, bool inside, bool typed)
{
	const struct rdma_restrack_entry *res = &qp->res;
	bool tracked = !restrack_no_track(res, typed);

	if (inside)
		tracked = tracked && GET(typed, res, valid);
	out->dev_index = GET_VIA(typed, qp, device, index);
	out->qpn = GET(typed, qp, qp_num);
	out->type = GET(typed, qp, qp_type);
	out->port = qp_port(qp, typed);
	out->flags = tracked ? EV_QP_TRACKED : 0;
}

static __always_inline void read_task(struct ev_owner *out, const struct task_struct *task, bool typed)
{
	const struct css_set *set = GET(typed, task, cgroups);
	const struct cgroup *cgrp = owner_v1_cgroup(set, typed);

	out->flags = EV_OWNER_KNOWN | EV_OWNER_USER;
	if (cgrp)
		out->flags |= EV_OWNER_CGROUP_V1;
	else
		cgrp = GET(typed, set, dfl_cgrp);
	out->cgroup = GET_VIA(typed, cgrp, kn, id);
	out->tid = GET(typed, task, pid);
	out->tgid = GET(typed, task, tgid);
	BPF_CORE_READ_INTO(&out->comm, task, comm);
}

static __always_inline void read_owner(struct ev_owner *out, const struct rdma_restrack_entry *res, bool typed)
{
	const struct task_struct *task = GET(typed, res, task);
	const char *kern_name = GET(typed, res, kern_name);

	if (GET(typed, res, user)) {
		if (task)
			read_task(out, task, typed);
	} else if (kern_name) {
		out->flags = EV_OWNER_KNOWN;
		bpf_probe_read_kernel_str(out->kern_name, sizeof(out->kern_name), kern_name);
	}
}

static __always_inline void send_failed(__u32 call, __u32 dev_index, long result)
{
	struct ev_call_failed *ev = RESERVE(EV_CALL_FAILED, ev_call_failed);

	if (!ev)
		return;
	ev->dev_index = dev_index;
	ev->call = call;
	ev->error = (__u32)-result;
	bpf_ringbuf_submit(ev, 0);
}
