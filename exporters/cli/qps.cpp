// SPDX-License-Identifier: Apache-2.0
#include "qps.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

#include "core/text.h"
#include "table.h"

namespace qpscope::cli {
namespace {

constexpr std::size_t kPage = 10000;  // what the daemon gives at once

// What the daemon sends is text that is safe already; what somebody else sends in its place is not.
std::string cell(const Json& qp, const char* key) {
  if (!qp.is_object() || !qp.contains(key)) return "-";
  const Json& value = qp.at(key);
  return safe_message(value.is_string() ? value.get<std::string>() : value.dump());
}

// As short as a GID can be written: ::ffff:192.0.2.7.
std::string gid(const Json& qp) {
  const std::string text = cell(qp, "remote_gid");
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1 && inet_ntop(AF_INET6, &address, out.data(), out.size()) ? out.data() : text;
}

std::string queue_pair_table(const Json& queue_pairs) {
  std::vector<Row> rows{{"DEVICE", "PORT", "QPN", "TYPE", "STATE", "TENANT", "WORKLOAD", "PID", "COMM", "REMOTE QPN", "REMOTE GID"}};
  for (const Json& qp : queue_pairs) {
    rows.push_back({cell(qp, "device"), cell(qp, "port"), cell(qp, "qpn"), cell(qp, "type"), cell(qp, "state"), cell(qp, "tenant"), cell(qp, "workload"),
                    cell(qp, "pid"), cell(qp, "comm"), cell(qp, "remote_qpn"), gid(qp)});
  }
  return table(rows);
}

}  // namespace

Outcome<std::string> queue_pairs(Client& client, const QpsOptions& options) {
  Json whole, all = Json::array();
  std::string cursor;
  do {
    auto parameters = options.filters;
    parameters.emplace_back("limit", std::to_string(options.limit ? std::min(kPage, options.limit - all.size()) : kPage));
    if (!cursor.empty()) parameters.emplace_back("cursor", cursor);
    auto page = client.get("/api/v1/qps", parameters);
    if (!page) return std::unexpected(std::move(page.error()));
    Json& data = page->at("data");
    if (!data.is_object() || !data.contains("qps") || !data["qps"].is_array()) return std::unexpected(Failure{kRefused, "no queue pairs in the answer"});
    for (Json& qp : data["qps"]) all.push_back(std::move(qp));
    cursor = data.contains("next") && data["next"].is_string() ? data["next"].get<std::string>() : std::string();
    if (whole.is_null()) whole = std::move(*page);
  } while (!cursor.empty() && (options.limit == 0 || all.size() < options.limit));
  if (!options.json) return queue_pair_table(all);
  whole["data"] = Json{{"qps", std::move(all)}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace qpscope::cli
