/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel structs we read, each with the members we read and nothing else: CO-RE finds the real offsets at
 * load. A member that the kernel declares as an enum must be one here, or its relocation fails. Where a member's width
 * differs between kernels, the comment says so and the reader uses BPF_CORE_READ_BITFIELD_PROBED.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum rdma_restrack_type { RDMA_RESTRACK_QP = 2, RDMA_RESTRACK_COUNTER = 6 };
enum ib_qp_state { IB_QPS_RESET };
enum ib_qp_type { IB_QPT_SMI };
enum ib_mtu { IB_MTU_256 = 1 };
enum rdma_ah_attr_type { RDMA_AH_ATTR_TYPE_IB = 1, RDMA_AH_ATTR_TYPE_ROCE };

/* enum ib_qp_attr_mask: numbers that user space knows too, they never change. */
#define IB_QP_STATE (1 << 0)
#define IB_QP_AV (1 << 7)
#define IB_QP_PATH_MTU (1 << 8)
#define IB_QP_TIMEOUT (1 << 9)
#define IB_QP_RETRY_CNT (1 << 10)
#define IB_QP_RNR_RETRY (1 << 11)
#define IB_QP_DEST_QPN (1 << 20)

#define IB_AH_GRH 1

struct kernfs_node {
	__u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

/* Which numbers they have depends on the kernel's configuration. */
enum cgroup_subsys_id { memory_cgrp_id = 1, pids_cgrp_id };

struct task_struct {
	__u32 pid;
	__u32 tgid;
	char comm[16];
	struct css_set *cgroups;
};

struct ib_device {
	__u32 index;
};

struct ib_ucontext {
	struct ib_device *device;
};

struct ib_uobject {
	struct ib_ucontext *context;
	void *object;
};

struct uverbs_obj_attr {
	struct ib_uobject *uobject;
};

struct uverbs_attr {
	union {
		struct uverbs_obj_attr obj_attr;
	};
};

struct uverbs_attr_bundle {
	struct uverbs_attr attrs[1];
};

/* Of mlx5_ib. */
struct devx_obj {
	__u64 obj_id;
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
};

/* Of mlx5_core. */
struct mlx5_core_dev {
	struct device *device;
};

struct ib_pd {
	struct ib_device *device;
};

union ib_gid {
	__u8 raw[16];
};

struct ib_gid_attr {
	union ib_gid gid;
};

struct rdma_restrack_entry {
	bool valid;
	__u8 no_track : 1; /* absent in 5.10 */
	struct task_struct *task;
	const char *kern_name;
	enum rdma_restrack_type type;
	bool user;
	__u32 id;
};

struct ib_cq {
	struct ib_device *device;
	struct rdma_restrack_entry res;
};

struct ib_srq {
	struct ib_device *device;
	struct rdma_restrack_entry res; /* absent in 5.10 */
};

struct ib_wq {
	struct ib_device *device;
};

enum ib_event_type { IB_EVENT_CQ_ERR };

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_cq *cq;
		struct ib_qp *qp;
		struct ib_srq *srq;
		struct ib_wq *wq;
		__u32 port_num; /* u8 in 5.10 */
	} element;
	enum ib_event_type event;
};

/* Of rdma_cm and ib_core, which alone have it in their BTF. */
struct rdma_addr_bytes {
	__u8 bytes[28];
};

struct rdma_addr {
	struct rdma_addr_bytes src_addr; /* struct sockaddr_storage */
	struct rdma_addr_bytes dst_addr;
};

struct rdma_route {
	struct rdma_addr addr;
};

struct rdma_cm_id {
	struct ib_device *device;
	struct rdma_route route;
};

struct rdma_id_private {
	struct rdma_cm_id id;
	__u32 qp_num;
	struct rdma_restrack_entry res;
};

enum rdma_cm_event_type { RDMA_CM_EVENT_ADDR_RESOLVED };

struct rdma_cm_event {
	enum rdma_cm_event_type event;
	int status;
};

struct ib_qp {
	struct ib_device *device;
	struct ib_qp *real_qp;
	const struct ib_gid_attr *av_sgid_attr;
	__u32 qp_num;
	enum ib_qp_type qp_type;
	__u32 port; /* u8 in 5.10 */
	struct rdma_restrack_entry res;
};

struct rdma_hw_stats {
	unsigned long *is_disabled; /* absent in 5.10 */
	int num_counters;
	__u64 value[1];
};

struct rdma_counter {
	struct rdma_restrack_entry res;
	struct ib_device *device;
	__u32 id;
	struct rdma_hw_stats *stats;
	__u32 port; /* u8 in 5.10 */
};

struct ib_global_route {
	union ib_gid dgid;
	__u8 traffic_class;
};

struct ib_ah_attr {
	__u16 dlid;
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	__u8 ah_flags;
	enum rdma_ah_attr_type type;
	union {
		struct ib_ah_attr ib;
	};
};

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	enum ib_mtu path_mtu;
	__u32 dest_qp_num;
	struct rdma_ah_attr ah_attr;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
};

#pragma clang attribute pop
