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
static __always_inline void read_qp(struct ev_qp *out, const struct ib_qp *qp, bool inside)
{
	bool tracked = !restrack_no_track(&qp->res);

	if (inside)
		tracked = tracked && BPF_CORE_READ(qp, res.valid);
	out->dev_index = BPF_CORE_READ(qp, device, index);
	out->qpn = BPF_CORE_READ(qp, qp_num);
	out->type = BPF_CORE_READ(qp, qp_type);
	out->port = qp_port(qp);
	out->flags = tracked ? EV_QP_TRACKED : 0;
}

static __always_inline void read_task(struct ev_owner *out, const struct task_struct *task)
{
	const struct css_set *set = BPF_CORE_READ(task, cgroups);
	const struct cgroup *cgrp = owner_v1_cgroup(set);

	out->flags = EV_OWNER_KNOWN | EV_OWNER_USER;
	if (cgrp)
		out->flags |= EV_OWNER_CGROUP_V1;
	else
		cgrp = BPF_CORE_READ(set, dfl_cgrp);
	out->cgroup = BPF_CORE_READ(cgrp, kn, id);
	out->tid = BPF_CORE_READ(task, pid);
	out->tgid = BPF_CORE_READ(task, tgid);
	BPF_CORE_READ_STR_INTO(&out->comm, task, comm);
}

static __always_inline void read_owner(struct ev_owner *out, const struct ib_qp *qp)
{
	const struct task_struct *task = BPF_CORE_READ(qp, res.task);
	const char *kern_name = BPF_CORE_READ(qp, res.kern_name);

	if (BPF_CORE_READ(qp, res.user)) {
		if (task)
			read_task(out, task);
	} else if (kern_name) {
		out->flags = EV_OWNER_KNOWN;
		bpf_probe_read_kernel_str(out->kern_name, sizeof(out->kern_name), kern_name);
	}
}

static __always_inline void send_create(const struct ib_qp *qp, __u64 serial, __u32 flags, bool inside)
{
	struct ev_qp_create *ev = RESERVE(EV_QP_CREATE, ev_qp_create);

	if (!ev)
		return;
	read_qp(&ev->qp, qp, inside);
	ev->qp.serial = serial;
	ev->qp.flags |= flags;
	read_owner(&ev->owner, qp);
	bpf_ringbuf_submit(ev, 0);
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
