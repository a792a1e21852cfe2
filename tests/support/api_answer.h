// SPDX-License-Identifier: Apache-2.0
// Answers of the JSON API over a snapshot that a test makes.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/snapshot.h"
#include "exporters/http.h"

namespace qpscope::test {

// All pieces; `most`: the longest of them.
inline std::string whole(const HttpResponse& response, std::size_t* most = nullptr) {
  if (!response.pieces) return *response.body;
  std::string out;
  for (std::string piece; !(piece = response.pieces()).empty(); out += piece) {
    if (most) *most = std::max(*most, piece.size());
  }
  return out;
}

// Of a response that was given `{"data":` for its head.
inline nlohmann::json data_of(const HttpResponse& response) { return nlohmann::json::parse(whole(response)).at("data"); }

inline std::shared_ptr<Snapshot> snapshot_of(SampleList samples, std::vector<QpRecord> queue_pairs = {}, std::vector<Tenant> tenants = {{"unknown", "unknown"}},
                                             std::map<DeviceIndex, std::string> devices = {}) {
  auto out = std::make_shared<Snapshot>();
  out->samples.push_back(std::make_shared<const SampleList>(std::move(samples)));
  out->queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(queue_pairs));
  out->tenants = std::make_shared<const std::vector<Tenant>>(std::move(tenants));
  out->devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::move(devices));
  return out;
}

}  // namespace qpscope::test
