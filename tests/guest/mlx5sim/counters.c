// SPDX-License-Identifier: GPL-2.0-only
/* The counters of a port, and hw_counters/ made of them. */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "mlx5sim.h"

const char *const sim_counter_names[SIM_NUM_COUNTERS] = {
#define X(name, ...) [SIM_##name] = #name,
	SIM_Q_COUNTERS(X)
	SIM_CONG_COUNTERS(X)
	SIM_OPTIONAL_COUNTERS(X)
	SIM_PMA_COUNTERS(X)
	SIM_ETHTOOL_COUNTERS(X)
#undef X
};

static const struct rdma_stat_desc descs[SIM_NUM_STATS] = {
#define X(n, ...) [SIM_##n] = { .name = #n },
	SIM_Q_COUNTERS(X)
	SIM_CONG_COUNTERS(X)
#undef X
#define X(n) [SIM_##n] = { .name = #n, .flags = IB_STAT_FLAG_OPTIONAL },
	SIM_OPTIONAL_COUNTERS(X)
#undef X
};

u64 sim_counter_read(const struct sim_counter *counter)
{
	u64 seconds;
	u32 ns;

	if (!counter->rate)
		return counter->base;
	seconds = div_u64_rem(ktime_get_ns() - counter->since, NSEC_PER_SEC, &ns);
	/* In microseconds below the second, so that rates up to 10^13 a second do not overflow. */
	return counter->base + counter->rate * seconds + div_u64(counter->rate * (ns / 1000), USEC_PER_SEC);
}

void sim_counter_set(struct sim_counter *counter, u64 value)
{
	counter->base = value;
	counter->since = ktime_get_ns();
}

void sim_counter_set_rate(struct sim_counter *counter, u64 rate)
{
	sim_counter_set(counter, sim_counter_read(counter));
	counter->rate = rate;
}

/* The whole truth, 64 bits; of a Q counter: that of the default set. */
u64 sim_port_value(struct sim_port *port, unsigned int index)
{
	u64 value;

	spin_lock(&sim_lock);
	sim_settle();
	value = sim_counter_read(&port->values[index]);
	spin_unlock(&sim_lock);
	return value;
}

/* Everything that grows stands still. */
void sim_card_stop(struct sim_card *card)
{
	unsigned int i, index;

	spin_lock(&sim_lock);
	sim_traffic_stop_card(card);
	for (i = 0; i < card->num_ports; i++)
		for (index = 0; index < SIM_NUM_COUNTERS; index++)
			sim_counter_set_rate(&card->ports[i].values[index], 0);
	spin_unlock(&sim_lock);
}

/* Counters as after a firmware reset: rates, values and sets are zero; QPs stay where they are. */
void sim_card_reset(struct sim_card *card)
{
	unsigned int i;

	sim_card_stop(card);
	spin_lock(&sim_lock);
	for (i = 0; i < card->num_ports; i++) {
		memset(card->ports[i].values, 0, sizeof(card->ports[i].values));
		memset(card->ports[i].in_sets, 0, sizeof(card->ports[i].in_sets));
	}
	for (i = 0; i < ARRAY_SIZE(card->sets); i++) {
		memset(card->sets[i].q, 0, sizeof(card->sets[i].q));
		memset(card->sets[i].optional, 0, sizeof(card->sets[i].optional));
	}
	sim_traffic_forget(card);
	spin_unlock(&sim_lock);
}

struct rdma_hw_stats *sim_alloc_stats(void)
{
	struct rdma_hw_stats *stats =
		rdma_alloc_hw_stats_struct(descs, SIM_NUM_STATS, RDMA_HW_STATS_DEFAULT_LIFESPAN);
	unsigned int i;

	for (i = SIM_NUM_HW; stats && i < SIM_NUM_STATS; i++)
		set_bit(i, stats->is_disabled);
	return stats;
}

/* An optional counter counts from the moment it is switched on. */
static int optional_enable(struct sim_port *port, unsigned int index, bool enable)
{
	if (index < SIM_NUM_HW || index >= SIM_NUM_STATS)
		return -EINVAL;
	if (!enable) {
		clear_bit(index - SIM_NUM_HW, &port->optional_on);
		return 0;
	}
	spin_lock(&sim_lock);
	sim_counter_set(&port->values[index], 0);
	spin_unlock(&sim_lock);
	set_bit(index - SIM_NUM_HW, &port->optional_on);
	return 0;
}

static u64 optional_value(struct sim_port *port, unsigned int index)
{
	return test_bit(index - SIM_NUM_HW, &port->optional_on) ? sim_port_value(port, index) : 0;
}

/*
 * As in mlx5: any request for a hardware counter is one pass over all of them, but only a request for the first one or for
 * all also reads the optional ones, and only then is the answer complete, which is what ib_core's cache goes by.
 */
static int get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 num, int index)
{
	struct sim_port *port = sim_port_of(ib, num ?: 1);
	unsigned int i;
	int err;

	if (index < 0 || index > SIM_NUM_STATS)
		return -EINVAL;
	if (index >= SIM_NUM_HW && index < SIM_NUM_STATS) {
		stats->value[index] = optional_value(port, index);
		return index;
	}
	err = sim_ask(port->card, SIM_ASK_HW_COUNTERS);
	if (err)
		return err;
	for (i = 0; i < SIM_NUM_Q; i++)
		stats->value[i] = lower_32_bits(sim_port_value(port, i));
	for (; i < SIM_NUM_HW; i++)
		stats->value[i] = sim_port_value(port, i);
	if (index > 0 && index < SIM_NUM_HW)
		return SIM_NUM_HW;
	for (; i < SIM_NUM_STATS; i++)
		stats->value[i] = optional_value(port, i);
	return SIM_NUM_STATS;
}

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return sim_alloc_stats();
}

static struct rdma_hw_stats *alloc_hw_device_stats(struct ib_device *ib)
{
	return sim_alloc_stats();
}

static int modify_hw_stat(struct ib_device *ib, u32 port, unsigned int index, bool enable)
{
	return optional_enable(sim_port_of(ib, port), index, enable);
}

/*
 * With representors: those of the device, and for each port Q counters of its vport under another name. The driver fills in
 * none for the uplink.
 */
static const struct rdma_stat_desc vport_descs[SIM_NUM_Q] = {
#define X(n) [SIM_##n] = { .name = "vport_" #n },
	SIM_Q_COUNTERS(X)
#undef X
};

static struct rdma_hw_stats *alloc_vport_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(vport_descs, SIM_NUM_Q, RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_vport_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 num, int index)
{
	struct sim_port *port;
	unsigned int i;
	int err;

	if (!num)
		return get_hw_stats(ib, stats, 0, index);
	port = sim_port_of(ib, num);
	err = sim_ask(port->card, SIM_ASK_HW_COUNTERS);
	if (err)
		return err;
	for (i = 0; i < SIM_NUM_Q; i++)
		stats->value[i] = port->representor ? lower_32_bits(sim_port_value(port, i)) : 0;
	return SIM_NUM_Q;
}

const struct ib_device_ops sim_port_stats_ops = {
	.alloc_hw_port_stats = alloc_hw_port_stats,
	.get_hw_stats = get_hw_stats,
	.modify_hw_stat = modify_hw_stat,
};

const struct ib_device_ops sim_device_stats_ops = {
	.alloc_hw_device_stats = alloc_hw_device_stats,
	.get_hw_stats = get_hw_stats,
};

const struct ib_device_ops sim_vport_stats_ops = {
	.alloc_hw_device_stats = alloc_hw_device_stats,
	.alloc_hw_port_stats = alloc_vport_stats,
	.get_hw_stats = get_vport_stats,
};
