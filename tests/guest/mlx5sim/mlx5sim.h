/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MLX5SIM_H
#define MLX5SIM_H

#include <linux/debugfs.h>
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "compat.h"
#include "names.h"

/* Where a counter of a port is stored; Q first, so that an index of a Q counter is also an index into a set. */
enum sim_index {
#define X(name, ...) SIM_##name,
	SIM_Q_COUNTERS(X)
	SIM_NUM_Q,
	SIM_Q_LAST = SIM_NUM_Q - 1,
	SIM_CONG_COUNTERS(X)
	SIM_NUM_HW,
	SIM_HW_LAST = SIM_NUM_HW - 1,
	SIM_OPTIONAL_COUNTERS(X)
	SIM_NUM_STATS, /* what hw_counters/ and netlink list */
	SIM_STATS_LAST = SIM_NUM_STATS - 1,
	SIM_PMA_COUNTERS(X)
	SIM_NUM_IB,
	SIM_IB_LAST = SIM_NUM_IB - 1,
	SIM_ETHTOOL_COUNTERS(X)
#undef X
	SIM_NUM_COUNTERS,
	/* What a QP has besides: packet sequence numbers that move. */
	SIM_SQ_PSN = SIM_NUM_COUNTERS,
	SIM_RQ_PSN,
};

/* What the driver is asked for: each kind is counted, most can be made to fail or to hang. */
enum sim_kind {
	SIM_ASK_HW_COUNTERS,
	SIM_ASK_PORT_COUNTERS,
	SIM_ASK_QUERY_PORT,
	SIM_ASK_QUERY_QP,
	SIM_ASK_SET_READ,
	SIM_ASK_SET_ALLOC,
	SIM_ASK_SET_BIND,
	SIM_ASK_SET_UNBIND,
	SIM_ASK_SET_DEALLOC,
	SIM_ASK_CREATE_QP,
	SIM_ASK_MODIFY_QP,
	SIM_ASK_DESTROY_QP,
	SIM_ASK_ETHTOOL,
	SIM_ASK_DCB,
	SIM_ASK_CC_PARAMS,
	SIM_NUM_KINDS,
};

#define SIM_MAX_CARDS 40
#define SIM_MAX_PORTS 4
#define SIM_MAX_REPS 8
#define SIM_MAX_SETS 255 /* the set's number has 8 bits in mlx5's QP context */
#define SIM_FIRST_QPN 100
#define SIM_GIDS 16
#define SIM_NUM_CC 20

/* A value that grows by itself: base + rate * (now - since). All of them are guarded by sim_lock. */
struct sim_counter {
	u64 base;
	u64 rate; /* a second */
	u64 since; /* ns */
};

struct sim_set {
	bool used;
	u32 port;
	unsigned int qps;
	u64 q[SIM_NUM_Q];
	u64 optional[SIM_NUM_STATS - SIM_NUM_HW]; /* where sets have them */
};

struct sim_port {
	struct sim_card *card;
	u32 num;
	struct net_device *netdev;
	bool representor; /* of VF num - 2 */
	char over[IFNAMSIZ]; /* the netdev that the RDMA port names instead of its own; taken when the device appears */
	enum ib_port_state state;
	u32 phys_state;
	u32 lanes;
	u16 speed;
	u8 pfc; /* by priority */
	bool global_pause;
	unsigned long optional_on;
	struct sim_counter values[SIM_NUM_COUNTERS]; /* of Q counters: those of the default set */
	u64 in_sets[SIM_NUM_Q]; /* what ever went to sets instead */
};

/* What stays when the IB device goes: settings, counters, netdevs. */
struct sim_card {
	unsigned int num;
	char name[16];
	u64 guid;
	struct device *parent;
	struct platform_device *platform; /* the parent, unless it is a PCI device */
	struct pci_dev *pci;
	unsigned int num_ports; /* netdevs */
	unsigned int rdma_ports; /* the first of them: in LAG one port stands for all */
	struct sim_port *ports;

	struct mutex lock; /* of ib: presence */
	struct sim_ibdev *ib;

	atomic64_t asked[SIM_NUM_KINDS];
	unsigned long fault_kinds;
	u32 fail_errno;
	u32 hang;
	u32 delay_ms;
	bool log_failures;
	wait_queue_head_t hang_wait;

	u32 destroy_delay_ms;
	u32 max_sets;
	struct ida qpns;
	atomic_t keys; /* of memory regions */
	struct mutex qp_lock; /* of qps, and keeps a QP alive for whoever found it there */
	struct list_head qps;
	struct list_head srqs; /* the same lock's */
	struct sim_set sets[SIM_MAX_SETS + 1]; /* [0] is never used: number 0 means none */

	u64 cc[SIM_NUM_CC];
	struct dentry *debugfs;
	struct dentry *cc_debugfs;
};

struct sim_ibdev {
	struct ib_device ib;
	struct sim_card *card;
};

struct sim_qp {
	struct ib_qp ib;
	struct list_head list; /* of card->qps */
	u64 serial;
	pid_t pid;
	bool numbered; /* the number is from card->qpns */
	struct sim_set *set;
	struct ib_qp_attr attr; /* guarded by sim_lock, as set */
	struct ib_qp_init_attr init;
};

extern spinlock_t sim_lock;
extern struct sim_card *sim_cards[SIM_MAX_CARDS];
extern unsigned int sim_num_cards;
extern bool sim_switchdev; /* hw_counters of the device, and the eswitch's id on netdevs */
extern const char *const sim_counter_names[SIM_NUM_COUNTERS];
extern const char *const sim_kind_names[SIM_NUM_KINDS];

static inline struct sim_ibdev *to_sim(struct ib_device *ib)
{
	return container_of(ib, struct sim_ibdev, ib);
}

static inline struct sim_qp *to_sim_qp(struct ib_qp *ib)
{
	return container_of(ib, struct sim_qp, ib);
}

static inline struct sim_port *sim_port_of(struct ib_device *ib, u32 num)
{
	return &to_sim(ib)->card->ports[num - 1];
}

static inline struct sim_port *sim_port_of_netdev(struct net_device *netdev)
{
	return *(struct sim_port **)netdev_priv(netdev);
}

/* main.c */
int sim_card_add(struct sim_card *card);
void sim_card_remove(struct sim_card *card);

/* device.c */
struct sim_ibdev *sim_device_register(struct sim_card *card);
void sim_device_unregister(struct sim_ibdev *dev);

/* port.c */
u32 sim_port_mbps(const struct sim_port *port);
void sim_port_set_state(struct sim_port *port, enum ib_port_state state);
extern const struct ib_device_ops sim_port_ops;

/* faults.c */
int sim_ask(struct sim_card *card, enum sim_kind kind);
void sim_end_hang(struct sim_card *card);

/* counters.c */
u64 sim_counter_read(const struct sim_counter *counter);
void sim_counter_set(struct sim_counter *counter, u64 value);
void sim_counter_set_rate(struct sim_counter *counter, u64 rate);
u64 sim_port_value(struct sim_port *port, unsigned int index);
struct rdma_hw_stats *sim_alloc_stats(void);
void sim_card_stop(struct sim_card *card);
void sim_card_reset(struct sim_card *card);
extern const struct ib_device_ops sim_port_stats_ops, sim_device_stats_ops, sim_vport_stats_ops;

/* pma.c */
int sim_process_mad(struct ib_device *ib, int flags, u32 port, const struct ib_wc *wc, const struct ib_grh *grh,
		    const struct ib_mad *in, struct ib_mad *out, size_t *out_size, u16 *out_pkey_index);

/* qp.c, verbs.c */
extern const struct ib_device_ops sim_qp_ops, sim_srq_ops, sim_verbs_ops;
int sim_qp_fail(struct sim_card *card, u32 qpn, bool silently);
/* `of`: a QPN, whose CQ it is for CQ_ERR; a port; all SRQs have it at once. */
int sim_raise(struct sim_card *card, enum ib_event_type number, u32 of, u32 times);
struct sim_qp *sim_qp_find(struct sim_card *card, u32 qpn);

/* sets.c */
bool sim_in_sets(unsigned int index);
u64 *sim_set_value(struct sim_set *set, unsigned int index);
extern const struct ib_device_ops sim_set_ops;

/* traffic.c */
int sim_traffic(struct sim_card *card, u32 qpn, const char *name, bool rate, u64 value);
void sim_settle(void);
void sim_traffic_stop(struct sim_qp *qp, bool ends);
void sim_traffic_stop_card(struct sim_card *card);
void sim_traffic_forget(struct sim_card *card);
void sim_traffic_free(void);
void sim_ledger_show(struct seq_file *out, struct sim_card *card);
u64 sim_traffic_psn(struct sim_qp *qp, unsigned int index);

/* netdev.c, dcb.c */
int sim_netdev_create(struct sim_port *port);
void sim_netdev_destroy(struct sim_port *port);
extern const struct dcbnl_rtnl_ops sim_dcb_ops;

/* debugfs.c, cc_params.c */
int sim_debugfs_init(void);
void sim_debugfs_exit(void);
void sim_debugfs_add(struct sim_card *card);
void sim_cc_params_add(struct sim_card *card);
void sim_cc_params_remove(struct sim_card *card);
void sim_cc_params_exit(void);

#endif
