/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels this module is built for (6.1 and 6.12). Everything else in ib_core, ethtool and DCB
 * that it uses has the same shape in both.
 */
#ifndef MLX5SIM_COMPAT_H
#define MLX5SIM_COMPAT_H

#include <linux/version.h>

/* ib_device_ops.create_cq: its last argument is struct ib_udata until 6.10, struct uverbs_attr_bundle from 6.11 on. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
struct uverbs_attr_bundle;
typedef struct uverbs_attr_bundle sim_create_cq_arg;
#else
struct ib_udata;
typedef struct ib_udata sim_create_cq_arg;
#endif

#endif
