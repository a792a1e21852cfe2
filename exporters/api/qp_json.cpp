// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/qp_json.h"

#include "core/text.h"
#include "exporters/api/json.h"
#include "exporters/api/qp_query.h"

namespace qpscope {
namespace {

void put_owner(Json& out, const Owner& owner) {
  if (!owner.known) return;
  if (owner.tgid.value) out["pid"] = owner.tgid.value;
  if (owner.tid.value) out["tid"] = owner.tid.value;
  put(out, "uid", owner.uid);
  put(out, "comm", owner.comm);
  put(out, "cgroup", owner.cgroup_path);
  put(out, "k8s_pod", owner.k8s_pod);
  put(out, "k8s_container", owner.k8s_container);
}

}  // namespace

std::string qp_json(const Snapshot& snapshot, const QpRecord& qp, double wall_minus_boot) {
  Json out;
  if (const auto name = snapshot.devices->find(qp.key.device); name != snapshot.devices->end()) put(out, "device", name->second);
  if (qp.port.value) out["port"] = qp.port.value;
  out["qpn"] = qp.qpn.value;
  out["generation"] = std::to_string(qp.generation);
  out["type"] = to_string(qp.type);
  if (qp.state) out["state"] = to_string(*qp.state);
  if (tenant_known(qp)) {
    const Tenant& tenant = snapshot.tenants->at(qp.tenant);
    out["tenant"] = safe_text(tenant.tenant);
    out["workload"] = safe_text(tenant.workload);
    put(out, "kind", tenant.kind);
  }
  if (qp.owner && qp.owner->known && !qp.owner->user) put(out, "kernel_module", qp.owner->kern_name);
  if (qp.owner && qp.owner->user) put_owner(out, *qp.owner);
  if (qp.remote_qpn) out["remote_qpn"] = qp.remote_qpn->value;
  put(out, "local_gid", qp.local_gid);
  put(out, "remote_gid", qp.remote_gid);
  put(out, "remote_lid", qp.remote_lid);
  put(out, "traffic_class", qp.traffic_class);
  put(out, "path_mtu", qp.path_mtu);
  put(out, "timeout", qp.timeout);
  put(out, "retry_cnt", qp.retry_cnt);
  put(out, "rnr_retry", qp.rnr_retry);
  if (qp.created) out["created_timestamp_seconds"] = unix_seconds(*qp.created, wall_minus_boot);
  out["state_change_timestamp_seconds"] = unix_seconds(qp.changed, wall_minus_boot);
  out["source"] = qp.from_bpf ? "bpf" : "netlink";
  out["serial"] = std::to_string(qp.key.serial.value);
  out["older_than_daemon"] = qp.seeded;
  out["in_netlink"] = qp.tracked;
  return out.dump();
}

}  // namespace qpscope
