/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may come by the hundred thousand: every event is counted here, in a map that user space reads, and of each kind at most EV_CALM_PER_SECOND a second go
 * into the ring. A storm of one kind then takes no room from the others.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bpf/maps.bpf.h"

/* Preallocated, so that it can be used in any context and on any kernel: 64 KB or so. What finds no room is counted as lost. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EV_MOST_COUNTS);
	__type(key, struct ev_count_key);
	__type(value, __u64);
} event_counts SEC(".maps");

struct calm_second {
	__u64 began;
	__u64 sent;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * EV_ASYNC_EVENTS);
	__type(key, __u32);
	__type(value, struct calm_second);
} calm_seconds SEC(".maps");

static __always_inline void count_event(__u16 kind, __u32 dev_index, __u32 port, __u16 event, __s32 status)
{
	struct ev_count_key key = { .dev_index = dev_index, .port = port, .kind = kind, .event = event, .status = status };
	__u64 one = 1, *count = bpf_map_lookup_elem(&event_counts, &key);

	if (!count && !bpf_map_update_elem(&event_counts, &key, &one, BPF_NOEXIST))
		return;
	if (!count)
		count = bpf_map_lookup_elem(&event_counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		count_loss(LOSS_RING_FULL);
}

/* Whether this one may be told. Two processors that race let one more through, which is no harm. */
static __always_inline bool calm(__u16 kind, __u32 event)
{
	__u32 index = event + (kind == EV_ASYNC ? 0 : EV_ASYNC_EVENTS);
	struct calm_second *second = bpf_map_lookup_elem(&calm_seconds, &index);
	__u64 now = bpf_ktime_get_boot_ns();

	if (!second)
		return false;
	if (now - second->began >= 1000000000ULL) {
		second->began = now;
		second->sent = 0;
	}
	if (second->sent >= EV_CALM_PER_SECOND)
		return false;
	__sync_fetch_and_add(&second->sent, 1);
	return true;
}
