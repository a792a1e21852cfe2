/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Members of kernel structs. A trampoline's arguments have types, and so has every pointer loaded from them: there the
 * verifier allows a plain load (the kernel catches its faults), which costs next to nothing. What a kprobe is given, and
 * what container_of() makes, are mere numbers: these take bpf_probe_read_kernel, a call each. `typed` is a constant.
 * Arrays are always read by the helper: the verifier allows loads of one element only.
 */
#pragma once

#include <bpf/bpf_core_read.h>

#define GET(typed, p, member) ((typed) ? (p)->member : BPF_CORE_READ(p, member))
/* p->via->member */
#define GET_VIA(typed, p, via, member) ((typed) ? (p)->via->member : BPF_CORE_READ(p, via, member))
/* A bit field, or a member whose width differs between kernels. */
#define GET_BITS(typed, p, member) \
	((typed) ? BPF_CORE_READ_BITFIELD(p, member) : BPF_CORE_READ_BITFIELD_PROBED(p, member))
