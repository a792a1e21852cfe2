/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs keep and how they send. Every map is bounded; what does not fit is counted in `losses`. */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/events.h"
#include "bpf/losses.h"

#define MAX_QPS 262144
#define MAX_FLIGHTS 8192

/* User space sets the size before load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_REASONS);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

/*
 * ib_qp pointer to serial. No LRU: evicting a living QP would give it a second identity. Entries of QPs whose destroy
 * was lost stay until the pointer is used again. Most hosts need few, so nothing is allocated in advance; user space
 * changes that for kernels before 6.1, which forbid it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_QPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64);
} qp_serials SEC(".maps");

/* Per CPU, the last serial that was given; user space starts it (probe_loader.cpp). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} serials_given SEC(".maps");

/* What an entry probe leaves for the return probe of the same call: see flight.bpf.h. */
struct flight_key {
	__u64 tid;
	__u64 frame;
};

struct flight {
	__u64 sp;
	__u64 qp;
	__u64 attr;
	__u32 attr_mask;
	__u32 dev_index;
	struct ev_qp id;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FLIGHTS);
	__type(key, struct flight_key);
	__type(value, struct flight);
} flights SEC(".maps");

static __always_inline void count_loss(__u32 reason)
{
	__u64 *n = bpf_map_lookup_elem(&losses, &reason);

	/* A trampoline program can be preempted by another program on its CPU. */
	if (n)
		__sync_fetch_and_add(n, 1);
}

/* Room for one event, its first bytes cleared and its head filled; NULL when the ring is full, which is then counted. */
static __always_inline void *reserve_event(__u16 kind, __u16 len, __u16 cleared)
{
	struct ev_head *head = bpf_ringbuf_reserve(&events, len, 0);

	if (!head) {
		count_loss(LOSS_RING_FULL);
		return NULL;
	}
	__builtin_memset(head, 0, cleared);
	head->time = bpf_ktime_get_boot_ns();
	head->kind = kind;
	head->len = len;
	return head;
}

#define RESERVE(kind, type) ((struct type *)reserve_event(kind, sizeof(struct type), sizeof(struct type)))
