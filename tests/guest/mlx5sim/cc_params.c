// SPDX-License-Identifier: GPL-2.0-only
/* DCQCN parameters where mlx5_ib has them: debugfs mlx5/<parent>/cc_params/. */
#include "mlx5sim.h"

static const struct {
	const char *name;
	u32 value; /* as shipped */
} params[SIM_NUM_CC] = {
	{ "rp_clamp_tgt_rate", 0 },
	{ "rp_clamp_tgt_rate_ati", 1 },
	{ "rp_time_reset", 300 },
	{ "rp_byte_reset", 32767 },
	{ "rp_threshold", 1 },
	{ "rp_ai_rate", 5 },
	{ "rp_max_rate", 0 },
	{ "rp_hai_rate", 50 },
	{ "rp_min_dec_fac", 50 },
	{ "rp_min_rate", 1 },
	{ "rp_rate_to_set_on_first_cnp", 0 },
	{ "rp_dce_tcp_g", 1019 },
	{ "rp_dce_tcp_rtt", 1 },
	{ "rp_rate_reduce_monitor_period", 4 },
	{ "rp_initial_alpha_value", 1023 },
	{ "rp_gd", 11 },
	{ "np_min_time_between_cnps", 4 },
	{ "np_cnp_dscp", 48 },
	{ "np_cnp_prio_mode", 1 },
	{ "np_cnp_prio", 6 },
};

static struct dentry *root; /* only if it was not mlx5_core that made it */

struct param {
	struct sim_card *card;
	unsigned int index;
};
static struct param files[SIM_MAX_CARDS][SIM_NUM_CC];

static int param_get(void *data, u64 *value)
{
	struct param *param = data;
	int err = sim_ask(param->card, SIM_ASK_CC_PARAMS);

	*value = param->card->cc[param->index];
	return err;
}

static int param_set(void *data, u64 value)
{
	struct param *param = data;

	if (value > U32_MAX)
		return -ERANGE;
	param->card->cc[param->index] = value;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(param_fops, param_get, param_set, "%llu\n");

void sim_cc_params_add(struct sim_card *card)
{
	struct dentry *theirs = root ? NULL : debugfs_lookup("mlx5", NULL), *folder;
	unsigned int i;

	if (!root && !theirs)
		root = debugfs_create_dir("mlx5", NULL);
	card->cc_debugfs = debugfs_create_dir(dev_name(card->parent), theirs ?: root);
	dput(theirs);
	folder = debugfs_create_dir("cc_params", card->cc_debugfs);
	for (i = 0; i < SIM_NUM_CC; i++) {
		card->cc[i] = params[i].value;
		files[card->num][i] = (struct param){ .card = card, .index = i };
		debugfs_create_file(params[i].name, 0600, folder, &files[card->num][i], &param_fops);
	}
}

void sim_cc_params_remove(struct sim_card *card)
{
	debugfs_remove_recursive(card->cc_debugfs);
}

void sim_cc_params_exit(void)
{
	debugfs_remove_recursive(root);
}
