// SPDX-License-Identifier: GPL-2.0-only
/*
 * mlx5's firmware commands (drivers/net/ethernet/mellanox/mlx5/core/cmd.c): how long each took, by whom, and which failed. mlx5_cmd_do is
 * where all commands that somebody waits for go through, DEVX's too; before 6.1 that is mlx5_cmd_exec. Both return other than 0 for a command
 * that failed. Commands nobody waits for (mlx5_cmd_exec_cb) pass neither: they have no latency of a caller.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/commands.h"
#include "bpf/flight.bpf.h"
#include "bpf/rdma_types.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COMMAND_DEVICES);
	__type(key, struct command_key);
	__type(value, struct command_count);
} commands SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COMMAND_FAILURES);
	__type(key, struct command_failure_key);
	__type(value, __u64);
} command_fails SEC(".maps");

/* Written by user space: its process, as the initial pid namespace has it; 0: not known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} own_process SEC(".maps");

static const __u64 command_bounds[COMMAND_BOUNDS] = COMMAND_BOUNDS_NS;
static const struct command_count no_commands = {};

static __always_inline bool is_ours(void)
{
	__u32 zero = 0, *own = bpf_map_lookup_elem(&own_process, &zero);

	return own && *own == bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void count_command(const struct command_key *key, __u64 took)
{
	struct command_count *count = bpf_map_lookup_elem(&commands, key);
	__u32 bucket = 0;

	if (!count) {
		bpf_map_update_elem(&commands, key, &no_commands, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&commands, key);
	}
	if (!count) {
		count_loss(LOSS_COMMANDS_FULL);
		return;
	}
	for (int i = 0; i < COMMAND_BOUNDS; ++i)
		bucket += took > command_bounds[i];
	if (bucket > COMMAND_BOUNDS)
		return;
	__sync_fetch_and_add(&count->counts[bucket], 1);
	__sync_fetch_and_add(&count->sum_ns, took);
}

static __always_inline void count_failure(const struct command_key *of, __u16 opcode)
{
	struct command_failure_key key = { .opcode = opcode };
	__u64 none = 0, *count;

	__builtin_memcpy(key.device, of->device, sizeof(key.device));
	count = bpf_map_lookup_elem(&command_fails, &key);
	if (!count) {
		bpf_map_update_elem(&command_fails, &key, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&command_fails, &key);
	}
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		count_loss(LOSS_COMMANDS_FULL);
}

/* A command begins with its opcode, big endian; it is read at the entry, while the caller's buffer is as it was sent. */
static __always_inline void command_begin(struct flight *f, const struct mlx5_core_dev *dev, const void *in)
{
	__be16 opcode = 0;

	bpf_probe_read_kernel(&opcode, sizeof(opcode), in);
	f->qp = (__u64)dev;
	f->attr_mask = bpf_ntohs(opcode);
	f->attr = bpf_ktime_get_ns();
}

static __always_inline int command_end(const struct flight *f, long result)
{
	const struct mlx5_core_dev *dev = (const void *)f->qp;
	struct command_key key = {};

	bpf_probe_read_kernel_str(key.device, sizeof(key.device), BPF_CORE_READ(dev, device, kobj.name));
	key.ours = is_ours();
	count_command(&key, bpf_ktime_get_ns() - f->attr);
	if (result)
		count_failure(&key, f->attr_mask);
	return 0;
}

/* `in` names the call: it is the caller's own buffer while it waits. */
SEC("fentry/mlx5_cmd_do")
int BPF_PROG(command_do_fe, struct mlx5_core_dev *dev, void *in)
{
	struct flight_key key = { .tid = current_tid(), .frame = (__u64)in };
	struct flight f = {};

	command_begin(&f, dev, in);
	flight_store(&key, &f);
	return 0;
}

SEC("fexit/mlx5_cmd_do")
int BPF_PROG(command_do_fx, struct mlx5_core_dev *dev, void *in, int in_size, void *out, int out_size, int result)
{
	struct flight_key key = { .tid = current_tid(), .frame = (__u64)in };
	struct flight *found = bpf_map_lookup_elem(&flights, &key);

	if (!found)
		return 0;
	command_end(found, result);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

static __always_inline int on_command_entry(struct pt_regs *ctx, const struct mlx5_core_dev *dev, const void *in)
{
	struct flight f = { .sp = PT_REGS_SP(ctx) };

	command_begin(&f, dev, in);
	flight_begin(VERB_COMMAND, &f);
	return 0;
}

static __always_inline int on_command_return(int result)
{
	struct flight f;

	return flight_end(VERB_COMMAND, &f) ? command_end(&f, result) : 0;
}

SEC("kprobe/mlx5_cmd_do")
int BPF_KPROBE(command_do_kp, struct mlx5_core_dev *dev, void *in)
{
	return on_command_entry(ctx, dev, in);
}

SEC("kretprobe/mlx5_cmd_do")
int BPF_KRETPROBE(command_do_kr, int result)
{
	return on_command_return(result);
}

SEC("kprobe/mlx5_cmd_exec")
int BPF_KPROBE(command_exec_kp, struct mlx5_core_dev *dev, void *in)
{
	return on_command_entry(ctx, dev, in);
}

SEC("kretprobe/mlx5_cmd_exec")
int BPF_KRETPROBE(command_exec_kr, int result)
{
	return on_command_return(result);
}
