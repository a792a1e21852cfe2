/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The wire between the BPF programs and bpf/decode.cpp: fixed-width fields, explicit padding, host byte order, no
 * bool, enum or pointer. Every record begins with struct ev_head; `len` is the length of the whole record.
 */
#pragma once

#include <linux/types.h>

#define EV_QP_CREATE 1
#define EV_QP_MODIFY 2
#define EV_QP_DESTROY 3
#define EV_CALL_FAILED 4
#define EV_CGROUP 5
#define EV_COUNTER_RELEASED 6
#define EV_DEVX 7
#define EV_ASYNC 8
#define EV_CM 9

struct ev_head {
	__u64 time; /* CLOCK_BOOTTIME, nanoseconds */
	__u16 kind; /* EV_* */
	__u16 len;
	__u32 pad;
};

/* ev_qp.flags */
#define EV_QP_TRACKED (1U << 0) /* netlink lists this QP */
#define EV_QP_FOUND (1U << 1)	/* create only: the QP is older than the probes, this is its first sight */

struct ev_qp {
	__u64 serial;	 /* names the QP for good; 0: it has none (older than the probes, or no room in the map) */
	__u32 dev_index; /* ib_device.index */
	__u32 qpn;
	__u32 type; /* enum ib_qp_type */
	__u32 port;
	__u32 flags;
	__u32 pad;
};

/* ev_owner.flags */
#define EV_OWNER_KNOWN (1U << 0)
#define EV_OWNER_USER (1U << 1)
#define EV_OWNER_CGROUP_V1 (1U << 2) /* cgroup is of the pids (else memory) controller's own hierarchy */

#define EV_COMM_LEN 16
#define EV_KERN_NAME_LEN 64

struct ev_owner {
	__u64 cgroup;
	__u32 tid; /* the creating thread, the process: initial pid namespace */
	__u32 tgid;
	__u32 flags;
	__u32 pad;
	char comm[EV_COMM_LEN];
	char kern_name[EV_KERN_NAME_LEN]; /* of a kernel consumer only */
};

struct ev_qp_create {
	struct ev_head head;
	struct ev_qp qp;
	struct ev_owner owner;
};

/* ev_qp_modify.has: what IB_QP_AV brought; the other fields go by their bit in attr_mask */
#define EV_HAS_GRH (1U << 0) /* dgid, traffic_class */
#define EV_HAS_SGID (1U << 1)
#define EV_HAS_DLID (1U << 2)

struct ev_qp_modify {
	struct ev_head head;
	struct ev_qp qp;
	__u32 attr_mask; /* enum ib_qp_attr_mask */
	__u32 has;
	__u32 state;
	__u32 dest_qpn;
	__u32 dlid;
	__u32 traffic_class;
	__u32 path_mtu; /* enum ib_mtu */
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 pad;
	__u8 dgid[16];
	__u8 sgid[16];
};

struct ev_qp_destroy {
	struct ev_head head;
	struct ev_qp qp;
};

/* ev_call_failed.call */
#define EV_CALL_CREATE 0
#define EV_CALL_MODIFY 1
#define EV_CALL_DESTROY 2

struct ev_call_failed {
	struct ev_head head;
	__u32 dev_index;
	__u32 call;
	__u32 error; /* errno, positive */
	__u32 pad;
};

/* ev_cgroup.what */
#define EV_CGROUP_MADE 0
#define EV_CGROUP_RENAMED 1
#define EV_CGROUP_REMOVED 2

#define EV_PATH_LEN 512

/* Only the used part of path is sent: the record ends behind path_len bytes, the last of which is NUL. */
struct ev_cgroup {
	struct ev_head head;
	__u64 id;
	__u32 what;
	__u32 path_len;
	char path[EV_PATH_LEN];
};

#define EV_COUNTER_VALUES 128
#define EV_COUNTER_WORDS (EV_COUNTER_VALUES / 64)

/* A counter set's values by their index in struct rdma_hw_stats; what lies behind the last of them is not cleared. */
struct ev_counter_released {
	struct ev_head head;
	__u32 dev_index; /* ib_device.index */
	__u32 port;
	__u32 id;	    /* rdma_counter.id */
	__u32 num_counters; /* as the set has it; only the first EV_COUNTER_VALUES are here */
	__u64 disabled[EV_COUNTER_WORDS]; /* bit N: value N is of an optional counter that is off */
	__u64 values[EV_COUNTER_VALUES];
};

/* ev_devx.what */
#define EV_DEVX_CREATED 0
#define EV_DEVX_DESTROYED 1

/* ev_devx.opcode: the firmware command that made it (include/linux/mlx5/mlx5_ifc.h MLX5_CMD_OP_CREATE_*) */
#define EV_DEVX_QP 0x500
#define EV_DEVX_DCT 0x710
#define EV_DEVX_SQ 0x904
#define EV_DEVX_RQ 0x908

struct ev_devx {
	struct ev_head head;
	__u64 handle;	 /* names the object while it lives: the address of its uobject */
	__u32 dev_index; /* ib_device.index */
	__u32 what;
	__u32 opcode;
	__u32 number; /* QPN, DCTN, SQN or RQN */
	struct ev_owner owner; /* created only: the calling thread */
};

/* ev_async.event: enum ib_event_type; ev_cm.event: enum rdma_cm_event_type. Both are below this. */
#define EV_ASYNC_EVENTS 32
#define EV_ASYNC_DEVICE_FATAL 8
#define EV_CM_CONNECT_REQUEST 4
/* Of each kind of event this many a second are told one by one; all are counted. */
#define EV_CALM_PER_SECOND 200
#define EV_NO_DEVICE 0xffffffffU

/* ev_async.has */
#define EV_ASYNC_QP (1U << 0)	  /* qp */
#define EV_ASYNC_NUMBER (1U << 1) /* number: the restrack id of a CQ or SRQ, as netlink names it */

struct ev_async {
	struct ev_head head;
	__u32 event;
	__u32 has;
	__u32 dev_index;
	__u32 port; /* 0: not of a port */
	__u32 number;
	__u32 pad;
	struct ev_qp qp;
	struct ev_owner owner; /* of the QP, CQ or SRQ */
};

#define EV_ADDRESS_LEN 28 /* struct sockaddr_in, or sockaddr_in6 */

struct ev_cm {
	struct ev_head head;
	__u32 event;
	__s32 status;	 /* REJECTED: the reason as the CM has it; else an errno, negative, or 0 */
	__u32 dev_index; /* EV_NO_DEVICE: not bound to one */
	__u32 qpn;	 /* 0: none */
	__u8 source[EV_ADDRESS_LEN];
	__u8 destination[EV_ADDRESS_LEN];
	struct ev_owner owner;
};

/* Of the map event_counts: how often something happened since the programs were loaded. */
#define EV_MOST_COUNTS 1024

struct ev_count_key {
	__u32 dev_index;
	__u32 port;
	__u16 kind; /* EV_ASYNC, EV_CM */
	__u16 event;
	__s32 status; /* EV_CM only */
};

#ifdef __cplusplus
#define EV_ASSERT_SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#else
#define EV_ASSERT_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#endif
EV_ASSERT_SIZE(ev_head, 16);
EV_ASSERT_SIZE(ev_qp, 32);
EV_ASSERT_SIZE(ev_owner, 104);
EV_ASSERT_SIZE(ev_qp_create, 152);
EV_ASSERT_SIZE(ev_qp_modify, 112);
EV_ASSERT_SIZE(ev_qp_destroy, 48);
EV_ASSERT_SIZE(ev_call_failed, 32);
EV_ASSERT_SIZE(ev_cgroup, 544);
EV_ASSERT_SIZE(ev_counter_released, 1072);
EV_ASSERT_SIZE(ev_devx, 144);
EV_ASSERT_SIZE(ev_async, 176);
EV_ASSERT_SIZE(ev_cm, 192);
EV_ASSERT_SIZE(ev_count_key, 16);
#undef EV_ASSERT_SIZE
