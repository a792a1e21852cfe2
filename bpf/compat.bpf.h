/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between kernels, one inline function each. */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/get.bpf.h"
#include "bpf/rdma_types.bpf.h"

/* u8 in 5.10, u32 from 5.15 (verbs.h): a plain read would take three neighbours along. */
static __always_inline __u32 qp_port(const struct ib_qp *qp, bool typed)
{
	return GET_BITS(typed, qp, port);
}

/* u8 in 5.10, u32 later (rdma_counter.h). */
static __always_inline __u32 counter_port(const struct rdma_counter *counter)
{
	return GET_BITS(false, counter, port);
}

/* u8 in 5.10, u32 later (verbs.h struct ib_event). */
static __always_inline __u32 event_port(const struct ib_event *event)
{
	return GET_BITS(false, event, element.port_num);
}

/* Bit N set: counter N is optional and off. NULL before optional counters came (absent in 5.10, there in 6.1). */
static __always_inline const void *disabled_counters(const struct rdma_hw_stats *stats)
{
	if (!bpf_core_field_exists(stats->is_disabled))
		return NULL;
	return BPF_CORE_READ(stats, is_disabled);
}

/* restrack.h: no_track came after 5.10 (it is in 5.15); before, everything is tracked. */
static __always_inline bool restrack_no_track(const struct rdma_restrack_entry *res, bool typed)
{
	if (!bpf_core_field_exists(res->no_track))
		return false;
	return GET_BITS(typed, res, no_track);
}

/* The cgroup of controller `id` if that controller has a hierarchy of its own (cgroup v1), else NULL. */
static __always_inline struct cgroup *v1_cgroup(const struct css_set *set, __u32 id, bool typed)
{
	struct cgroup_subsys_state *const *subsys = (void *)__builtin_preserve_access_index(&set->subsys);
	struct cgroup_subsys_state *css = NULL;
	struct cgroup *cgrp;

	if (typed)
		css = subsys[id];
	else
		bpf_probe_read_kernel(&css, sizeof(css), subsys + id);
	if (!css)
		return NULL;
	cgrp = GET(typed, css, cgroup);
	return cgrp && GET_VIA(typed, cgrp, root, hierarchy_id) ? cgrp : NULL;
}

/*
 * Hosts that still mount cgroup v1: container managers use all controllers alike, so the pids controller, else memory,
 * speaks for them, and the v2 hierarchy may hold nothing. NULL: owners are in the v2 hierarchy.
 */
static __always_inline struct cgroup *owner_v1_cgroup(const struct css_set *set, bool typed)
{
	struct cgroup *cgrp = NULL;

	if (bpf_core_enum_value_exists(enum cgroup_subsys_id, pids_cgrp_id))
		cgrp = v1_cgroup(set, bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id), typed);
	if (!cgrp && bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		cgrp = v1_cgroup(set, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id), typed);
	return cgrp;
}
