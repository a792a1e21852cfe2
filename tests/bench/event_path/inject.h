/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What one test-run of the injecting program is asked for. */
#pragma once

#include <linux/types.h>

#define INJECT_CGROUPS 64
#define INJECT_FIRST_CGROUP 1000 /* cgroup ids from here on own the queue pairs, in turn */
#define INJECT_EVENTS_A_LIFE 5	 /* create, three modifies, destroy */

struct inject_request {
	__u64 first; /* serial of the first queue pair, from 1 */
	__u64 lives; /* so many are made and brought to RTS ... */
	__u64 alive; /* ... and for each the one that was made so many before it is destroyed */
};
