// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one object: subjects share the ring and the maps, so they are compiled as one unit. (Static linking with
 * `bpftool gen object` would want extern map declarations in each subject and gives nothing for it.)
 */
#include "bpf/async.bpf.c"   /* NOLINT(bugprone-suspicious-include) */
#include "bpf/cgroup.bpf.c"  /* NOLINT(bugprone-suspicious-include) */
#include "bpf/cm.bpf.c"	     /* NOLINT(bugprone-suspicious-include) */
#include "bpf/command.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#include "bpf/counter.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#include "bpf/devx.bpf.c"    /* NOLINT(bugprone-suspicious-include) */
#include "bpf/qp.bpf.c"	     /* NOLINT(bugprone-suspicious-include) */

char LICENSE[] SEC("license") = "GPL";
