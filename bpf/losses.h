/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Indices of the per-CPU map `losses`, for both sides. */
#pragma once

#define LOSS_RING_FULL 0
#define LOSS_SERIALS_FULL 1 /* no room in qp_serials: the QP goes without a serial */
#define LOSS_KRETPROBE 2    /* an entry without its return */
#define LOSS_COMMANDS_FULL 3 /* no room in commands or command_fails: a firmware command is not counted */
#define LOSS_REASONS 4
