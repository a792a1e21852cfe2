// SPDX-License-Identifier: Apache-2.0
#include "bpf/probe_table.h"

namespace qpscope {
namespace {

using Alternatives = std::string_view[];

constexpr Alternatives kDestroy = {"qp_destroy_fx qp_destroy_fe", "qp_destroy_kr qp_destroy_kp"};
constexpr Alternatives kModify = {"qp_modify_fx", "qp_modify_kr qp_modify_kp", "qp_mod_user_fx qp_mod_kern_fx",
                                  "qp_mod_user_kr qp_mod_user_kp qp_mod_kern_kr qp_mod_kern_kp"};
constexpr Alternatives kCreate = {"qp_create_fx", "qp_create_kp"};
constexpr Alternatives kNewUser = {"qp_new_user_fx", "qp_new_user_kr qp_new_user_kp"};
constexpr Alternatives kNewKernel = {"qp_new_kern_fx", "qp_new_kern_kr qp_new_kern_kp"};
constexpr Alternatives kCounterDel = {"counter_del_fe", "counter_del_kp"};
constexpr Alternatives kDevxDestroy = {"devx_destroy_fx devx_destroy_fe", "devx_destroy_kr devx_destroy_kp"};
constexpr Alternatives kDevxCreate = {"devx_create_fx", "devx_create_kr devx_create_kp"};
// A kprobe on the one handler that all queue pairs share before the one of user space: it is in ib_core, and not on every kernel.
constexpr Alternatives kQpEvent = {"qp_event_kp", "uqp_event_fe", "uqp_event_kp"};
constexpr Alternatives kCqEvent = {"cq_event_fe", "cq_event_kp"};
constexpr Alternatives kSrqEvent = {"srq_event_fe", "srq_event_kp"};
constexpr Alternatives kWqEvent = {"wq_event_fe", "wq_event_kp"};
constexpr Alternatives kDeviceEvent = {"dev_event_fe", "dev_event_kp"};
constexpr Alternatives kCmEvent = {"cm_event"};
constexpr Alternatives kCommand = {"command_do_fx command_do_fe", "command_do_kr command_do_kp", "command_exec_kr command_exec_kp"};
constexpr Alternatives kMkdir = {"cgroup_mkdir"};
constexpr Alternatives kRename = {"cgroup_rename"};
constexpr Alternatives kRmdir = {"cgroup_rmdir"};

constexpr ProbeRow kRows[] = {
    {"cgroup_mkdir", Feature::cgroups, kMkdir},
    {"cgroup_rename", Feature::cgroups, kRename},
    {"cgroup_rmdir", Feature::cgroups, kRmdir},
    {"counter_del", Feature::counter_sets, kCounterDel},
    {"devx_destroy", Feature::devx, kDevxDestroy},
    {"devx_create", Feature::devx, kDevxCreate},
    {"mlx5_command", Feature::commands, kCommand},
    {"qp_destroy", Feature::qp, kDestroy},
    {"qp_modify", Feature::qp, kModify},
    {"qp_create", Feature::qp, kCreate},
    {"qp_event", Feature::object_events, kQpEvent},
    {"cq_event", Feature::object_events, kCqEvent},
    {"srq_event", Feature::object_events, kSrqEvent},
    {"wq_event", Feature::object_events, kWqEvent},
    {"device_event", Feature::device_events, kDeviceEvent},
    {"cm_event", Feature::connections, kCmEvent},
    {"qp_create_user_failed", Feature::qp_failures, kNewUser},
    {"qp_create_kernel_failed", Feature::qp_failures, kNewKernel},
};

}  // namespace

std::span<const ProbeRow> probe_table() { return kRows; }

}  // namespace qpscope
