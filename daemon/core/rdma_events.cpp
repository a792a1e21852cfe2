// SPDX-License-Identifier: Apache-2.0
#include "core/rdma_events.h"

#include <array>

#include "core/error.h"

namespace qpscope {
namespace {

using enum AsyncKind;

constexpr std::array<AsyncEventRow, 21> kAsync{{
    {"cq_err", completion_queue, true},
    {"qp_fatal", queue_pair, true},
    {"qp_req_err", queue_pair, true},
    {"qp_access_err", queue_pair, true},
    {"comm_est", queue_pair},
    {"sq_drained", queue_pair},
    {"path_mig", queue_pair},
    {"path_mig_err", queue_pair, true},
    {"device_fatal", device, true},
    {"port_active", port},
    {"port_err", port, true},
    {"lid_change", port},
    {"pkey_change", port},
    {"sm_change", port},
    {"srq_err", shared_receive_queue, true},
    {"srq_limit_reached", shared_receive_queue},
    {"qp_last_wqe_reached", queue_pair},
    {"client_reregister", port},
    {"gid_change", gid},
    {"wq_fatal", work_queue, true},
    {"device_speed_change", port},
}};

constexpr std::array<std::string_view, 20> kCm{"addr_resolved", "addr_error",     "route_resolved", "route_error",    "connect_request", "connect_response", "connect_error",
                                               "unreachable",   "rejected",       "established",    "disconnected",   "device_removal",  "multicast_join",   "multicast_error",
                                               "addr_change",   "timewait_exit",  "addrinfo_resolved", "addrinfo_error", "user",         "internal"};
constexpr std::uint32_t kRejected = 8;

// include/rdma/ib_cm.h enum ib_cm_rej_reason, from 1 on
constexpr std::array<std::string_view, 33> kReasons{
    "no_qp", "no_eec", "no_resources", "timeout", "unsupported", "invalid_comm_id", "invalid_comm_instance", "invalid_service_id", "invalid_transport_type", "stale_conn",
    "rdc_not_exist", "invalid_gid", "invalid_lid", "invalid_sl", "invalid_traffic_class", "invalid_hop_limit", "invalid_packet_rate", "invalid_alt_gid", "invalid_alt_lid",
    "invalid_alt_sl", "invalid_alt_traffic_class", "invalid_alt_hop_limit", "invalid_alt_packet_rate", "port_cm_redirect", "port_redirect", "invalid_mtu",
    "insufficient_resp_resources", "consumer_defined", "invalid_rnr_retry", "duplicate_local_comm_id", "invalid_class_version", "invalid_flow_label", "invalid_alt_flow_label"};

}  // namespace

const AsyncEventRow* async_event_row(std::uint32_t event) { return event < kAsync.size() ? &kAsync[event] : nullptr; }

std::string async_event_name(std::uint32_t event) {
  const AsyncEventRow* row = async_event_row(event);
  return row ? std::string(row->name) : "event_" + std::to_string(event);
}

std::string cm_event_name(std::uint32_t event) { return event < kCm.size() ? std::string(kCm[event]) : "event_" + std::to_string(event); }

CmTone cm_event_tone(std::uint32_t event) {
  switch (event) {
    case 5:  // connect_response: all that the kernel says of it to a program that connects; the library makes it "established"
    case 9:
    case 10: return CmTone::connection;
    case 1:
    case 3:
    case 6:
    case 7:
    case 8:
    case 11:
    case 13:
    case 14:
    case 17: return CmTone::failure;
    default: return CmTone::step;
  }
}

std::string cm_reason(std::uint32_t event, int status) {
  if (status == 0) return {};
  if (status < 0) return status >= -4095 ? errno_name(-status) : "other";
  if (event == kRejected && static_cast<std::size_t>(status) <= kReasons.size()) return std::string(kReasons[static_cast<std::size_t>(status) - 1]);
  return "other";
}

}  // namespace qpscope
