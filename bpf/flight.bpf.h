/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls in flight: what a kprobe saw at the entry of a verb, for the kretprobe, which gets the result only.
 *
 * Verbs may nest on one thread: mlx5's GSI QP is known to keep UD QPs of its own and to create, modify and destroy them
 * by the same verbs inside its own (not verified here: neither source nor hardware was at hand). So there are two slots for each thread and
 * verb. The stack pointer tells a caller's entry (further up the stack) from one whose return was missed.
 */
#pragma once

#include "bpf/maps.bpf.h"

#define VERB_CREATE 0
#define VERB_MODIFY 1
#define VERB_DESTROY 2
#define VERB_DEVX_CREATE 3
#define VERB_DEVX_DESTROY 4
#define VERB_COMMAND 5

static __always_inline __u64 current_tid(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}

static __always_inline struct flight_key flight_slot(__u64 verb, __u64 slot)
{
	struct flight_key key = { .tid = current_tid(), .frame = verb << 1 | slot };

	return key;
}

static __always_inline void flight_store(const struct flight_key *key, const struct flight *f)
{
	if (bpf_map_update_elem(&flights, key, f, BPF_ANY))
		count_loss(LOSS_KRETPROBE);
}

static __always_inline void flight_begin(__u64 verb, const struct flight *f)
{
	struct flight_key outer = flight_slot(verb, 0), inner = flight_slot(verb, 1);
	struct flight *old = bpf_map_lookup_elem(&flights, &outer);
	bool nested = old && old->sp > f->sp;

	if (old && !nested)
		count_loss(LOSS_KRETPROBE);
	/* Whatever is in the inner slot, a call that begins now at this level was not made by it. */
	if (!bpf_map_delete_elem(&flights, &inner))
		count_loss(LOSS_KRETPROBE);
	flight_store(nested ? &inner : &outer, f);
}

/* Takes the innermost call of the current thread. False: its entry was not seen, or was not to be. */
static __always_inline bool flight_end(__u64 verb, struct flight *f)
{
	struct flight_key key = flight_slot(verb, 1);
	struct flight *found = bpf_map_lookup_elem(&flights, &key);

	if (!found) {
		key = flight_slot(verb, 0);
		found = bpf_map_lookup_elem(&flights, &key);
	}
	if (!found)
		return false;
	*f = *found;
	bpf_map_delete_elem(&flights, &key);
	return true;
}
