// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/qp_query.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "core/text.h"
#include "exporters/query.h"

namespace qpscope {
namespace {

// The format of a cursor, its device index and its serial, in hexadecimal.
constexpr std::string_view kCursorFormat = "1-";
constexpr std::size_t kDeviceDigits = 8, kSerialDigits = 16;

std::optional<QpState> parse_state(std::string_view text) {
  for (unsigned n = 0; const auto state = qp_state_from_number(n); ++n) {
    if (to_string(*state) == text) return state;
  }
  return std::nullopt;
}

bool is_type(std::string_view text) {
  for (unsigned n = 0; n <= static_cast<unsigned>(QpType::driver); ++n) {
    if (to_string(static_cast<QpType>(n)) == text) return true;
  }
  return false;
}

// Any spelling of an IPv6 address, ::ffff:192.0.2.7 too.
std::optional<Gid> parse_any_gid(const std::string& text) {
  Gid gid;
  if (text.contains('\0') || inet_pton(AF_INET6, text.c_str(), gid.bytes.data()) != 1) return std::nullopt;
  return gid;
}

// Adds the value to the set of its parameter; what it should have been, if it cannot be.
const char* add(QpQuery& query, const Parameter& one) {
  const auto text = [&](auto& set) -> const char* {
    if (one.value.empty()) return "a name";
    set.insert(one.value);
    return nullptr;
  };
  const auto number = [&](auto& set) -> const char* {
    const auto value = whole_number<std::uint32_t>(one.value);
    if (!value) return "a number";
    set.insert(*value);
    return nullptr;
  };
  if (one.name == "device") return text(query.devices);
  if (one.name == "tenant") return text(query.tenants);
  if (one.name == "workload") return text(query.workloads);
  if (one.name == "port") return number(query.ports);
  if (one.name == "qpn") return number(query.qpns);
  if (one.name == "pid") return number(query.pids);
  if (one.name == "type") return is_type(one.value) ? text(query.types) : "a type such as RC, UD or XRC_INI";
  if (one.name == "state") {
    const auto state = parse_state(one.value);
    if (!state) return "RESET, INIT, RTR, RTS, SQD, SQE or ERR";
    query.states.insert(*state);
    return nullptr;
  }
  if (one.name == "remote_gid") {
    const auto gid = parse_any_gid(one.value);
    if (!gid) return "a GID such as fe80::1 or ::ffff:192.0.2.7";
    query.remote_gids.insert(*gid);
    return nullptr;
  }
  if (one.name == "limit") {
    query.limit = whole_number<std::size_t>(one.value).value_or(0);
    return query.limit >= 1 && query.limit <= QpQuery::kMostLimit ? nullptr : "a number from 1 to 10000";
  }
  if (one.name == "cursor") {
    query.after = parse_cursor(one.value);
    return query.after ? nullptr : "what the page before gave as data.next";
  }
  return "";
}

}  // namespace

Result<QpQuery> parse_qp_query(std::string_view text) {
  const auto parameters = parse_query(text);
  if (!parameters) return std::unexpected(parameters.error());
  QpQuery out;
  std::set<std::string_view> single;
  for (const Parameter& one : *parameters) {
    if ((one.name == "limit" || one.name == "cursor") && !single.insert(one.name).second) return given_twice(one);
    const char* const wanted = add(out, one);
    if (!wanted) continue;
    return *wanted == '\0' ? unknown_parameter(one) : not_a(one, wanted);
  }
  return out;
}

std::string cursor_text(QpKey key) {
  std::array<char, kCursorFormat.size() + kDeviceDigits + kSerialDigits + 1> out{};
  std::snprintf(out.data(), out.size(), "1-%08x%016llx", static_cast<unsigned>(key.device.value), static_cast<unsigned long long>(key.serial.value));
  return out.data();
}

std::optional<QpKey> parse_cursor(std::string_view text) {
  if (text.size() != kCursorFormat.size() + kDeviceDigits + kSerialDigits) return std::nullopt;
  const auto device = whole_number<std::uint32_t>(text.substr(kCursorFormat.size(), kDeviceDigits), 16);
  const auto serial = whole_number<std::uint64_t>(text.substr(kCursorFormat.size() + kDeviceDigits), 16);
  if (!device || !serial) return std::nullopt;
  const QpKey key{{*device}, {*serial}};
  return cursor_text(key) == text ? std::optional(key) : std::nullopt;
}

QpFilter::QpFilter(QpQuery query, const Snapshot& snapshot) : query_(std::move(query)) {
  for (const auto& [index, name] : *snapshot.devices) {
    if (query_.devices.contains(safe_text(name))) devices_.insert(index);
  }
  const auto wanted = [](const auto& set, const std::string& name) { return set.empty() || set.contains(safe_text(name)); };
  for (TenantId id = 0; id < snapshot.tenants->size(); ++id) {
    const Tenant& tenant = (*snapshot.tenants)[id];
    if (wanted(query_.tenants, tenant.tenant) && wanted(query_.workloads, tenant.workload)) tenants_.insert(id);
  }
}

bool QpFilter::operator()(const QpRecord& qp) const {
  if (!query_.devices.empty() && !devices_.contains(qp.key.device)) return false;
  if (!query_.ports.empty() && !query_.ports.contains(qp.port.value)) return false;
  if (!query_.qpns.empty() && !query_.qpns.contains(qp.qpn.value)) return false;
  if (!query_.types.empty() && !query_.types.contains(to_string(qp.type))) return false;
  if (!query_.states.empty() && !(qp.state && query_.states.contains(*qp.state))) return false;
  if (!query_.remote_gids.empty() && !(qp.remote_gid && query_.remote_gids.contains(*qp.remote_gid))) return false;
  if (!query_.tenants.empty() || !query_.workloads.empty()) {
    if (!tenant_known(qp) || !tenants_.contains(qp.tenant)) return false;
  }
  if (query_.pids.empty()) return true;
  const auto process = process_of(qp);
  return process && query_.pids.contains(process->value);
}

std::optional<Pid> process_of(const QpRecord& qp) {
  if (!qp.owner || !qp.owner->known || !qp.owner->user || qp.owner->tgid.value == 0) return std::nullopt;
  return qp.owner->tgid;
}

}  // namespace qpscope
