// SPDX-License-Identifier: Apache-2.0
// A request to the API: its Host header, its cursor and its query string as each page reads it, a line each. What is accepted says what was written.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <memory>
#include <set>

#include "core/text.h"
#include "exporters/api/events.h"
#include "exporters/api/ports.h"
#include "exporters/api/qp_query.h"
#include "exporters/host_names.h"
#include "exporters/query.h"
#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

namespace {

// A second opinion, the long way round: the header less its port is an address, or has its last labels in the list.
void check_host(std::string_view header) {
  static const HostNames names = *HostNames::make(std::vector<std::string>{"node7.example", "*.cluster.example"}, "own.example");
  if (!names.contains(header)) return;
  check(header.find_first_of(std::string_view(" /@,\0\r\n%", 8)) == std::string_view::npos, "a host of this machine is no URL and no list");
  std::string host(header.substr(0, header.starts_with('[') ? header.find(']') + 1 : header.find(':')));
  check(header.size() - host.size() <= 6, "behind a host is a port at most");
  for (char& c : host) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  in6_addr address{};
  if (host.starts_with('[')) {
    check(inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1, "in brackets is an address");
    return;
  }
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return;
  if (host.ends_with('.')) host.pop_back();
  const std::set<std::string> exact{"localhost", "own", "own.example", "node7.example"};
  check(exact.contains(host) || (host.ends_with(".cluster.example") && host.size() > 16), "a name is one of this machine's");
}

void check_cursor(std::string_view text) {
  if (const auto key = parse_cursor(text)) check(cursor_text(*key) == text, "a cursor has one spelling");
}

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%%%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += digits;
  }
  return out;
}

void check_query(std::string_view text) {
  const auto parsed = parse_query(text);
  check(parsed || parsed.error().code == ErrorCode::invalid, "what is no query is ErrorCode::invalid");
  const auto query = parse_qp_query(text);
  if (!parsed) return check(!query, "a filter is a query");
  std::string again;
  for (const Parameter& one : *parsed) again += encode(one.name) + "=" + encode(one.value) + "&";
  const auto reread = parse_query(again);
  check(reread && std::ranges::equal(*reread, *parsed, [](const Parameter& a, const Parameter& b) { return a.name == b.name && a.value == b.value; }),
        "a query written anew is the same");
  if (!query) return check(query.error().code == ErrorCode::invalid && !query.error().what.empty(), "what is no filter is told as such");
  check(query->limit >= 1 && query->limit <= QpQuery::kMostLimit, "the limit is within its range");
  const std::size_t values = query->devices.size() + query->types.size() + query->tenants.size() + query->workloads.size() + query->ports.size() +
                             query->qpns.size() + query->pids.size() + query->states.size() + query->remote_gids.size();
  check(values <= parsed->size(), "no more filters than parameters");

  // One queue pair that has everything asked for, as far as one can.
  const auto first = [](const auto& set, auto usual) { return set.empty() ? usual : typename std::decay_t<decltype(usual)>(*set.begin()); };
  Snapshot snapshot;
  snapshot.tenants = std::make_shared<const std::vector<Tenant>>(std::vector<Tenant>{{first(query->tenants, std::string("a")), first(query->workloads, std::string("b"))}});
  snapshot.devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::map<DeviceIndex, std::string>{{{1}, first(query->devices, std::string("c"))}});
  QpRecord qp{.key = {{1}, {1}}, .qpn = {first(query->qpns, 1U)}, .state = first(query->states, QpState::rts), .port = {first(query->ports, 1U)}, .attributed = true};
  qp.remote_gid = first(query->remote_gids, Gid{});
  qp.owner = std::make_shared<const Owner>(Owner{.known = true, .user = true, .tgid = {first(query->pids, 1U)}});
  const auto plain = [](const auto& set) { return std::ranges::all_of(set, [](const std::string& one) { return is_plain(one); }); };
  const bool askable = plain(query->tenants) && plain(query->workloads) && plain(query->devices) && !query->pids.contains(0) && query->types.empty();
  check(!askable || QpFilter(*query, snapshot)(qp), "a queue pair that has all of it is found");
  if (!query->qpns.empty()) {
    qp.qpn.value = 0x1000000;
    check(query->qpns.contains(qp.qpn.value) || !QpFilter(*query, snapshot)(qp), "one with another number is not");
  }
}

// What is accepted was written, the rest is told.
void check_others(std::string_view text) {
  const auto parsed = parse_query(text);
  const auto events = parse_event_query(text);
  const auto ports = parse_port_query(text);
  if (!parsed) return check(!events && !ports, "a filter is a query");
  check(events || (events.error().code == ErrorCode::invalid && !events.error().what.empty()), "what is no filter of events is told as such");
  check(ports || (ports.error().code == ErrorCode::invalid && !ports.error().what.empty()), "what is no filter of ports is told as such");
  if (events) {
    check(events->limit >= 1 && events->limit <= EventQuery::kMostLimit, "the limit of events is within its range");
    check(events->kinds.size() + events->devices.size() <= parsed->size(), "no more filters of events than parameters");
  }
  if (ports) check(ports->devices.size() + ports->ports.size() <= parsed->size(), "no more filters of ports than parameters");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  check_host(fuzz::next_line(rest));
  check_cursor(fuzz::next_line(rest));
  check_query(rest);
  check_others(rest);
  return 0;
}
