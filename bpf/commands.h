/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What command.bpf.c keeps of firmware commands, for both sides: counts in maps, no record in the ring. */
#pragma once

#include <linux/types.h>

#define COMMAND_DEVICES 1024
#define COMMAND_FAILURES 4096
#define COMMAND_NAME_LEN 32

/* Upper bounds of the buckets, nanoseconds; one more bucket lies above the last. */
#define COMMAND_BOUNDS 16
#define COMMAND_BOUNDS_NS \
	{ 10000, 30000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000, 30000000, 100000000, 300000000, \
	  1000000000, 3000000000, 10000000000, 30000000000 }

struct command_key {
	char device[COMMAND_NAME_LEN]; /* dev_name() of the function: its PCI address, or "mlx5_core.sf.2" */
	__u32 ours;		       /* 1: by a thread of this daemon */
	__u32 pad;
};

struct command_count {
	__u64 sum_ns;
	__u64 counts[COMMAND_BOUNDS + 1];
};

struct command_failure_key {
	char device[COMMAND_NAME_LEN];
	__u32 opcode; /* include/linux/mlx5/mlx5_ifc.h MLX5_CMD_OP_* */
	__u32 pad;
};
