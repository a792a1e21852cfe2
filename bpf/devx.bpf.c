// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that move traffic and that ib_core knows nothing of: made by DEVX, mlx5's door for firmware commands of user space. All of
 * them are made in one uverbs handler (drivers/infiniband/hw/mlx5/devx.c), which the driver's own queue pairs never pass, though
 * their commands carry a uid too; and all go through devx_obj_cleanup: destroyed, or left by a process that ends, or
 * taken away with the device.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/flight.bpf.h"
#include "bpf/qp_read.bpf.h"

/* Where the handler's attributes are: uapi_bkey_attr(uapi_key_attr()) of MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE and _CMD_IN. */
#define DEVX_CREATE_HANDLE 1
#define DEVX_CREATE_CMD_IN 3

/* What sends or receives by itself. Everything else of DEVX serves one of these: an SRQ, an RMP, a TIR or a TIS has no traffic alone. */
static __always_inline bool moves_traffic(__u32 opcode)
{
	return opcode == EV_DEVX_QP || opcode == EV_DEVX_DCT || opcode == EV_DEVX_SQ || opcode == EV_DEVX_RQ;
}

/* The object id has the opcode of the command that made it above the number (devx.c get_enc_obj_id). */
static __always_inline __u32 opcode_of(__u64 obj_id)
{
	return obj_id >> 32 & 0xffff;
}

static __always_inline __u64 devx_obj_id(const struct ib_uobject *uobj)
{
	const struct devx_obj *obj = BPF_CORE_READ(uobj, object);

	return obj ? BPF_CORE_READ(obj, obj_id) : 0;
}

static __always_inline void send_devx(__u32 what, __u64 uobj, __u32 dev_index, __u64 obj_id)
{
	struct ev_devx *ev = RESERVE(EV_DEVX, ev_devx);

	if (!ev)
		return;
	ev->handle = uobj;
	ev->dev_index = dev_index;
	ev->what = what;
	ev->opcode = opcode_of(obj_id);
	ev->number = obj_id;
	if (what == EV_DEVX_CREATED)
		read_task(&ev->owner, (const void *)bpf_get_current_task(), false);
	bpf_ringbuf_submit(ev, 0);
}

/* Both kinds of attributes have their pointer first (struct uverbs_obj_attr, uverbs_ptr_attr). */
static __always_inline const void *attribute(const struct uverbs_attr_bundle *attrs, __u32 index)
{
	const void *entry = (const void *)attrs + bpf_core_field_offset(struct uverbs_attr_bundle, attrs) +
			    index * bpf_core_type_size(struct uverbs_attr);
	const void *pointer = NULL;

	bpf_probe_read_kernel(&pointer, sizeof(pointer), entry);
	return pointer;
}

static __always_inline int on_devx_created(const struct uverbs_attr_bundle *attrs, long result)
{
	const struct ib_uobject *uobj = attribute(attrs, DEVX_CREATE_HANDLE);
	__u32 dev_index = BPF_CORE_READ(uobj, context, device, index);
	__u64 obj_id;
	__be16 opcode = 0;

	if (result) {
		/* The command begins with its opcode. The kernel's copy, at least 16 bytes long and so never in the attribute itself. */
		bpf_probe_read_kernel(&opcode, sizeof(opcode), attribute(attrs, DEVX_CREATE_CMD_IN));
		if (moves_traffic(bpf_ntohs(opcode)))
			send_failed(EV_CALL_CREATE, dev_index, result);
		return 0;
	}
	obj_id = devx_obj_id(uobj);
	if (moves_traffic(opcode_of(obj_id)))
		send_devx(EV_DEVX_CREATED, (__u64)uobj, dev_index, obj_id);
	return 0;
}

SEC("fexit/mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE")
int BPF_PROG(devx_create_fx, struct uverbs_attr_bundle *attrs, int result)
{
	return on_devx_created(attrs, result);
}

SEC("kprobe/mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE")
int BPF_KPROBE(devx_create_kp, struct uverbs_attr_bundle *attrs)
{
	struct flight f = { .sp = PT_REGS_SP(ctx), .attr = (__u64)attrs };

	flight_begin(VERB_DEVX_CREATE, &f);
	return 0;
}

SEC("kretprobe/mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE")
int BPF_KRETPROBE(devx_create_kr, int result)
{
	struct flight f;

	return flight_end(VERB_DEVX_CREATE, &f) ? on_devx_created((const void *)f.attr, result) : 0;
}

/*
 * The object is freed inside, so all is read at the entry. Its uobject is held by the caller until after the return: until this event is
 * sent, no other object can have its address.
 */
static __always_inline bool devx_destroy_begin(struct flight *f, const struct ib_uobject *uobj)
{
	f->qp = (__u64)uobj;
	f->attr = devx_obj_id(uobj);
	f->dev_index = BPF_CORE_READ(uobj, context, device, index);
	return moves_traffic(opcode_of(f->attr));
}

static __always_inline int devx_destroy_end(const struct flight *f, long result)
{
	if (!result)
		send_devx(EV_DEVX_DESTROYED, f->qp, f->dev_index, f->attr);
	return 0;
}

SEC("fentry/devx_obj_cleanup")
int BPF_PROG(devx_destroy_fe, struct ib_uobject *uobj)
{
	struct flight_key key = { .tid = current_tid(), .frame = (__u64)uobj };
	struct flight f = {};

	if (devx_destroy_begin(&f, uobj))
		flight_store(&key, &f);
	return 0;
}

SEC("fexit/devx_obj_cleanup")
int BPF_PROG(devx_destroy_fx, struct ib_uobject *uobj, int why, void *attrs, int result)
{
	struct flight_key key = { .tid = current_tid(), .frame = (__u64)uobj };
	struct flight *found = bpf_map_lookup_elem(&flights, &key);

	if (!found)
		return 0;
	devx_destroy_end(found, result);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

SEC("kprobe/devx_obj_cleanup")
int BPF_KPROBE(devx_destroy_kp, struct ib_uobject *uobj)
{
	struct flight f = { .sp = PT_REGS_SP(ctx) };

	if (devx_destroy_begin(&f, uobj))
		flight_begin(VERB_DEVX_DESTROY, &f);
	return 0;
}

SEC("kretprobe/devx_obj_cleanup")
int BPF_KRETPROBE(devx_destroy_kr, int result)
{
	struct flight f;

	return flight_end(VERB_DEVX_DESTROY, &f) ? devx_destroy_end(&f, result) : 0;
}
