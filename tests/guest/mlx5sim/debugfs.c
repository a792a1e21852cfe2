// SPDX-License-Identifier: GPL-2.0-only
/* The switches of a test: /sys/kernel/debug/mlx5sim/ (README.md says what each is). */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "mlx5sim.h"

static struct dentry *root;

/* A text file of a card or of one of its ports. */
struct text {
	const char *name;
	int (*show)(struct seq_file *out, void *what);
	int (*store)(void *what, char *line);
};

/* One such file; freed at the end. */
struct text_file {
	const struct text *text;
	void *what;
	struct text_file *next;
};
static struct text_file *text_files;

static int text_show(struct seq_file *out, void *unused)
{
	struct text_file *node = out->private;

	return node->text->show ? node->text->show(out, node->what) : -EINVAL;
}

static int text_open(struct inode *inode, struct file *file)
{
	return single_open(file, text_show, inode->i_private);
}

/* Lines are carried out one by one; the first that fails ends the write. */
static ssize_t text_write(struct file *file, const char __user *from, size_t size, loff_t *offset)
{
	struct text_file *node = ((struct seq_file *)file->private_data)->private;
	char *text, *rest, *line;
	int err = 0;

	if (!node->text->store)
		return -EINVAL;
	text = memdup_user_nul(from, min_t(size_t, size, PAGE_SIZE));
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while (!err && (line = strsep(&rest, "\n")))
		if (*strim(line))
			err = node->text->store(node->what, strim(line));
	kfree(text);
	return err ?: min_t(size_t, size, PAGE_SIZE);
}

static const struct file_operations text_fops = {
	.owner = THIS_MODULE,
	.open = text_open,
	.read = seq_read,
	.write = text_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void add_texts(const struct text *texts, size_t count, struct dentry *folder, void *what)
{
	for (; count--; texts++) {
		struct text_file *node = kzalloc(sizeof(*node), GFP_KERNEL);

		if (!node)
			return;
		*node = (struct text_file){ .text = texts, .what = what, .next = text_files };
		text_files = node;
		debugfs_create_file(texts->name, (texts->show ? 0400 : 0) | (texts->store ? 0200 : 0), folder, node,
				    &text_fops);
	}
}

/* ---- counters and rates ---- */

static int value_get(void *data, u64 *value)
{
	spin_lock(&sim_lock);
	sim_settle();
	*value = sim_counter_read(data);
	spin_unlock(&sim_lock);
	return 0;
}

static int value_set(void *data, u64 value)
{
	spin_lock(&sim_lock);
	sim_settle();
	sim_counter_set(data, value);
	spin_unlock(&sim_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(value_fops, value_get, value_set, "%llu\n");

static int rate_get(void *data, u64 *value)
{
	*value = ((struct sim_counter *)data)->rate;
	return 0;
}

static int rate_set(void *data, u64 value)
{
	spin_lock(&sim_lock);
	sim_counter_set_rate(data, value);
	spin_unlock(&sim_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rate_fops, rate_get, rate_set, "%llu\n");

static int asked_get(void *data, u64 *value)
{
	*value = atomic64_read(data);
	return 0;
}

static int asked_set(void *data, u64 value)
{
	atomic64_set(data, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(asked_fops, asked_get, asked_set, "%llu\n");

/* ---- a card's text files ---- */

static int present_show(struct seq_file *out, void *what)
{
	seq_printf(out, "%d\n", !!((struct sim_card *)what)->ib);
	return 0;
}

static int present_store(void *what, char *line)
{
	bool wanted;

	if (kstrtobool(line, &wanted))
		return -EINVAL;
	if (wanted)
		return sim_card_add(what);
	sim_card_remove(what);
	return 0;
}

static int fault_kinds_show(struct seq_file *out, void *what)
{
	const struct sim_card *card = what;
	unsigned int kind;

	for (kind = 0; kind < SIM_NUM_KINDS; kind++)
		if (card->fault_kinds & BIT(kind))
			seq_printf(out, "%s\n", sim_kind_names[kind]);
	return 0;
}

static int fault_kinds_store(void *what, char *line)
{
	struct sim_card *card = what;
	unsigned long kinds = 0;
	char *word;

	while ((word = strsep(&line, " "))) {
		int kind = match_string(sim_kind_names, SIM_NUM_KINDS, word);

		if (*word && kind < 0)
			return -EINVAL;
		if (*word)
			kinds |= BIT(kind);
	}
	WRITE_ONCE(card->fault_kinds, kinds);
	return 0;
}

static int hang_show(struct seq_file *out, void *what)
{
	seq_printf(out, "%u\n", ((struct sim_card *)what)->hang);
	return 0;
}

static int hang_store(void *what, char *line)
{
	struct sim_card *card = what;
	u32 value;

	if (kstrtou32(line, 0, &value) || value > 2)
		return -EINVAL;
	/* Who waits goes on waiting, though other kinds may hang now. */
	if (value == card->hang)
		return 0;
	/* Also from 1 to 2: who waits in one way is let go before others wait in the other. */
	sim_end_hang(card);
	WRITE_ONCE(card->hang, value);
	return 0;
}

static int asked_show(struct seq_file *out, void *what)
{
	struct sim_card *card = what;
	unsigned int kind;

	for (kind = 0; kind < SIM_NUM_KINDS; kind++)
		seq_printf(out, "%s %lld\n", sim_kind_names[kind], atomic64_read(&card->asked[kind]));
	return 0;
}

/* Whatever is written, all are set to zero. */
static int asked_store(void *what, char *line)
{
	struct sim_card *card = what;
	unsigned int kind;

	for (kind = 0; kind < SIM_NUM_KINDS; kind++)
		atomic64_set(&card->asked[kind], 0);
	return 0;
}

static int stop_store(void *what, char *line)
{
	sim_card_stop(what);
	return 0;
}

static int reset_store(void *what, char *line)
{
	sim_card_reset(what);
	return 0;
}

static int qps_show(struct seq_file *out, void *what)
{
	static const char *const states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };
	struct sim_card *card = what;
	struct sim_qp *qp;

	seq_puts(out, "serial qpn type state port pid peer set\n");
	mutex_lock(&card->qp_lock);
	spin_lock(&sim_lock);
	list_for_each_entry(qp, &card->qps, list)
		seq_printf(out, "%llu %u %s %s %u %d %u %d\n", qp->serial, qp->ib.qp_num,
			   qp->ib.qp_type == IB_QPT_RC ? "RC" : qp->ib.qp_type == IB_QPT_UC ? "UC" :
			   qp->ib.qp_type == IB_QPT_UD ? "UD" : "GSI",
			   states[qp->attr.qp_state], qp->attr.port_num, qp->pid, qp->attr.dest_qp_num,
			   qp->set ? (int)(qp->set - card->sets) : 0);
	spin_unlock(&sim_lock);
	mutex_unlock(&card->qp_lock);
	return 0;
}

static int traffic_store(void *what, char *line)
{
	char name[48], verb[8];
	u64 value;
	u32 qpn;

	if (sscanf(line, "%u %47s %7s %llu", &qpn, name, verb, &value) != 4)
		return -EINVAL;
	if (!strcmp(verb, "add"))
		return sim_traffic(what, qpn, name, false, value);
	if (!strcmp(verb, "rate"))
		return sim_traffic(what, qpn, name, true, value);
	return -EINVAL;
}

static int ledger_show(struct seq_file *out, void *what)
{
	sim_ledger_show(out, what);
	return 0;
}

static int sets_show(struct seq_file *out, void *what)
{
	struct sim_card *card = what;
	unsigned int id, i;

	seq_puts(out, "id port qps counters...\n");
	spin_lock(&sim_lock);
	sim_settle();
	for (id = 1; id <= SIM_MAX_SETS; id++) {
		struct sim_set *set = &card->sets[id];

		if (!set->used)
			continue;
		seq_printf(out, "%u %u %u", id, set->port, set->qps);
		for (i = 0; i < SIM_NUM_STATS; i++)
			if (sim_in_sets(i) && *sim_set_value(set, i))
				seq_printf(out, " %s=%llu", sim_counter_names[i], *sim_set_value(set, i));
		seq_putc(out, '\n');
	}
	spin_unlock(&sim_lock);
	return 0;
}

static int qp_fail(void *what, const char *line, bool silently)
{
	u32 qpn;

	if (kstrtou32(line, 0, &qpn))
		return -EINVAL;
	return sim_qp_fail(what, qpn, silently);
}

static int qp_error_store(void *what, char *line)
{
	return qp_fail(what, line, false);
}

static int qp_silent_error_store(void *what, char *line)
{
	return qp_fail(what, line, true);
}

/* "EVENT OF [TIMES]" */
static int event_store(void *what, char *line)
{
	u32 number, of, times = 1;

	if (sscanf(line, "%u %u %u", &number, &of, &times) < 2)
		return -EINVAL;
	return sim_raise(what, number, of, times);
}

static const struct text card_texts[] = {
	{ "present", present_show, present_store },
	{ "fault_kinds", fault_kinds_show, fault_kinds_store },
	{ "hang", hang_show, hang_store },
	{ "stop", NULL, stop_store },
	{ "reset", NULL, reset_store },
	{ "qps", qps_show, NULL },
	{ "traffic", NULL, traffic_store },
	{ "ledger", ledger_show, NULL },
	{ "sets", sets_show, NULL },
	{ "qp_error", NULL, qp_error_store },
	{ "qp_silent_error", NULL, qp_silent_error_store },
	{ "event", NULL, event_store },
};

static const struct text asked_text = { "all", asked_show, asked_store };

/* ---- a port's text files ---- */

static int state_show(struct seq_file *out, void *what)
{
	seq_printf(out, "%d\n", ((struct sim_port *)what)->state);
	return 0;
}

static int state_store(void *what, char *line)
{
	u32 state;

	if (kstrtou32(line, 0, &state) || state < IB_PORT_DOWN || state > IB_PORT_ACTIVE_DEFER)
		return -EINVAL;
	sim_port_set_state(what, state);
	return 0;
}

static const struct {
	const char *name;
	u16 speed;
} speeds[] = {
	{ "SDR", IB_SPEED_SDR }, { "DDR", IB_SPEED_DDR }, { "QDR", IB_SPEED_QDR }, { "FDR10", IB_SPEED_FDR10 },
	{ "FDR", IB_SPEED_FDR }, { "EDR", IB_SPEED_EDR }, { "HDR", IB_SPEED_HDR }, { "NDR", IB_SPEED_NDR },
};

static int rate_show(struct seq_file *out, void *what)
{
	const struct sim_port *port = what;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].speed == port->speed)
			seq_printf(out, "%uX %s\n", port->lanes, speeds[i].name);
	return 0;
}

static int rate_store(void *what, char *line)
{
	struct sim_port *port = what;
	char name[8];
	u32 lanes;
	unsigned int i;

	if (sscanf(line, "%uX %7s", &lanes, name) != 2)
		return -EINVAL;
	if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 12)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(speeds); i++) {
		if (strcmp(speeds[i].name, name))
			continue;
		port->speed = speeds[i].speed;
		port->lanes = lanes;
		return 0;
	}
	return -EINVAL;
}

static int netdev_show(struct seq_file *out, void *what)
{
	const struct sim_port *port = what;

	seq_printf(out, "%s\n", *port->over ? port->over : port->netdev->name);
	return 0;
}

static int netdev_store(void *what, char *line)
{
	struct sim_port *port = what;

	if (strlen(line) >= sizeof(port->over))
		return -EINVAL;
	strscpy(port->over, strcmp(line, port->netdev->name) ? line : "", sizeof(port->over));
	return 0;
}

static int truth_show(struct seq_file *out, void *what)
{
	struct sim_port *port = what;
	unsigned int i;

	seq_puts(out, "counter default_set in_sets total\n");
	spin_lock(&sim_lock);
	sim_settle();
	for (i = 0; i < SIM_NUM_Q; i++) {
		u64 value = sim_counter_read(&port->values[i]);

		seq_printf(out, "%s %llu %llu %llu\n", sim_counter_names[i], value, port->in_sets[i],
			   value + port->in_sets[i]);
	}
	spin_unlock(&sim_lock);
	return 0;
}

static const struct text port_texts[] = {
	{ "state", state_show, state_store },
	{ "rate", rate_show, rate_store },
	{ "netdev", netdev_show, netdev_store },
	{ "truth", truth_show, NULL },
};

/* ---- the tree ---- */

static void add_port(struct sim_port *port, struct dentry *card_folder)
{
	struct dentry *folder, *counters, *rates;
	char name[16];
	unsigned int i;

	snprintf(name, sizeof(name), "port%u", port->num);
	folder = debugfs_create_dir(name, card_folder);
	add_texts(port_texts, ARRAY_SIZE(port_texts), folder, port);
	debugfs_create_u32("phys_state", 0600, folder, &port->phys_state);
	debugfs_create_x8("pfc", 0600, folder, &port->pfc);
	debugfs_create_bool("global_pause", 0600, folder, &port->global_pause);
	counters = debugfs_create_dir("counters", folder);
	rates = debugfs_create_dir("rates", folder);
	for (i = 0; i < SIM_NUM_COUNTERS; i++) {
		debugfs_create_file(sim_counter_names[i], 0600, counters, &port->values[i], &value_fops);
		debugfs_create_file(sim_counter_names[i], 0600, rates, &port->values[i], &rate_fops);
	}
}

void sim_debugfs_add(struct sim_card *card)
{
	struct dentry *asked;
	unsigned int i;

	card->debugfs = debugfs_create_dir(card->name, root);
	add_texts(card_texts, ARRAY_SIZE(card_texts), card->debugfs, card);
	debugfs_create_u32("fail_errno", 0600, card->debugfs, &card->fail_errno);
	debugfs_create_u32("delay_ms", 0600, card->debugfs, &card->delay_ms);
	debugfs_create_u32("destroy_delay_ms", 0600, card->debugfs, &card->destroy_delay_ms);
	debugfs_create_u32("max_sets", 0600, card->debugfs, &card->max_sets);
	debugfs_create_bool("log_failures", 0600, card->debugfs, &card->log_failures);
	asked = debugfs_create_dir("asked", card->debugfs);
	add_texts(&asked_text, 1, asked, card);
	for (i = 0; i < SIM_NUM_KINDS; i++)
		debugfs_create_file(sim_kind_names[i], 0600, asked, &card->asked[i], &asked_fops);
	for (i = 0; i < card->num_ports; i++)
		add_port(&card->ports[i], card->debugfs);
}

int sim_debugfs_init(void)
{
	root = debugfs_create_dir("mlx5sim", NULL);
	return PTR_ERR_OR_ZERO(root);
}

void sim_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
	while (text_files) {
		struct text_file *node = text_files;

		text_files = node->next;
		kfree(node);
	}
}
