// SPDX-License-Identifier: GPL-2.0-only
/* Cgroups that come, are renamed and go, in the one hierarchy that QP owners are looked up in. */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"

/* The record is built here, since a ring reservation has a fixed size. All three tracepoints fire under one spin lock
 * (kernel/cgroup/cgroup-internal.h TRACE_CGROUP_PATH, read in 6.1 and 6.12), so one is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ev_cgroup);
} cgroup_scratch SEC(".maps");

/* Ids are inode numbers and unique within a hierarchy only: those of another one would be taken for ours. */
static __always_inline bool is_owner_hierarchy(const struct cgroup *cgrp)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct cgroup *v1 = owner_v1_cgroup(BPF_CORE_READ(task, cgroups), false);

	if (v1)
		return BPF_CORE_READ(v1, root) == BPF_CORE_READ(cgrp, root);
	return BPF_CORE_READ(cgrp, root, hierarchy_id) == 0;
}

static __always_inline int on_cgroup(struct bpf_raw_tracepoint_args *ctx, __u32 what)
{
	const struct cgroup *cgrp = (const void *)ctx->args[0];
	const char *path = (const void *)ctx->args[1];
	__u32 zero = 0;
	struct ev_cgroup *ev = bpf_map_lookup_elem(&cgroup_scratch, &zero);
	long n;

	if (!ev || !is_owner_hierarchy(cgrp))
		return 0;
	n = bpf_probe_read_kernel_str(ev->path, sizeof(ev->path), path);
	if (n < 1 || n > EV_PATH_LEN)
		return 0;
	ev->head.time = bpf_ktime_get_boot_ns();
	ev->head.kind = EV_CGROUP;
	ev->head.len = __builtin_offsetof(struct ev_cgroup, path) + n;
	ev->id = BPF_CORE_READ(cgrp, kn, id);
	ev->what = what;
	ev->path_len = n;
	if (bpf_ringbuf_output(&events, ev, __builtin_offsetof(struct ev_cgroup, path) + n, 0))
		count_loss(LOSS_RING_FULL);
	return 0;
}

SEC("raw_tp/cgroup_mkdir")
int cgroup_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	return on_cgroup(ctx, EV_CGROUP_MADE);
}

SEC("raw_tp/cgroup_rename")
int cgroup_rename(struct bpf_raw_tracepoint_args *ctx)
{
	return on_cgroup(ctx, EV_CGROUP_RENAMED);
}

SEC("raw_tp/cgroup_rmdir")
int cgroup_rmdir(struct bpf_raw_tracepoint_args *ctx)
{
	return on_cgroup(ctx, EV_CGROUP_REMOVED);
}
