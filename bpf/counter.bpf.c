// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last word of a counter set. When its last QP leaves it, the kernel asks the set a last time and keeps the sum of
 * the port only (core/counters.c counter_release, counter_history_stat_update): nobody can ask for its values again.
 * Right after, rdma_restrack_del is called for it, and only then are the values freed (rdma_counter_free). 5.10 gives
 * the set back to the driver before that call, 6.1 and 6.12 after it: `id` and `stats` are the core's own in both.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"

static __always_inline void read_values(struct ev_counter_released *ev, const struct rdma_hw_stats *stats)
{
	const void *values = (const void *)stats + bpf_core_field_offset(struct rdma_hw_stats, value);
	const void *disabled = disabled_counters(stats);
	__u32 n = BPF_CORE_READ(stats, num_counters);

	ev->num_counters = n;
	if (n > EV_COUNTER_VALUES)
		n = EV_COUNTER_VALUES;
	bpf_probe_read_kernel(ev->values, n * sizeof(ev->values[0]), values);
	if (disabled)
		bpf_probe_read_kernel(ev->disabled, (n + 63) / 64 * sizeof(ev->disabled[0]), disabled);
}

/* It is called for every object that goes, memory regions included: out at once if it is no counter set. */
static __always_inline int on_restrack_del(const struct rdma_restrack_entry *res, bool typed)
{
	const struct rdma_counter *counter = (const void *)res - bpf_core_field_offset(struct rdma_counter, res);
	struct ev_counter_released *ev;

	if (GET(typed, res, type) != RDMA_RESTRACK_COUNTER)
		return 0;
	ev = reserve_event(EV_COUNTER_RELEASED, sizeof(*ev), __builtin_offsetof(struct ev_counter_released, values));
	if (!ev)
		return 0;
	ev->dev_index = BPF_CORE_READ(counter, device, index);
	ev->port = counter_port(counter);
	ev->id = BPF_CORE_READ(counter, id);
	read_values(ev, BPF_CORE_READ(counter, stats));
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

SEC("fentry/rdma_restrack_del")
int BPF_PROG(counter_del_fe, struct rdma_restrack_entry *res)
{
	return on_restrack_del(res, true);
}

SEC("kprobe/rdma_restrack_del")
int BPF_KPROBE(counter_del_kp, struct rdma_restrack_entry *res)
{
	return on_restrack_del(res, false);
}
