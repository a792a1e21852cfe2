// SPDX-License-Identifier: Apache-2.0
// A snapshot's samples by the port that they are of. Pure; points into the snapshot, which must outlive it.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/snapshot.h"

namespace qpscope {

using PortKey = std::pair<std::string_view, std::uint32_t>;  // device, port

// Empty where the family has no such label.
inline std::string_view label_of(const Sample& one, std::string_view name) {
  const auto names = one.def->labels.list();
  for (std::size_t i = 0; i < names.size() && i < one.labels.size(); ++i) {
    if (names[i] == name) return one.labels[i];
  }
  return {};
}

// nullopt: it is a device's, or none's.
inline std::optional<PortKey> port_of(const Sample& one) {
  const std::string_view text = label_of(one, "port");
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return PortKey(label_of(one, "device"), number);
}

// Every sample of a family that `wanted` has a role for: a value other than Role{}. A family is looked up once.
template <class Role>
void each_sample(const Snapshot& snapshot, const std::function<Role(const MetricDef&)>& wanted, const std::function<void(Role, const Sample&)>& visit) {
  std::unordered_map<const MetricDef*, Role> roles;
  const MetricDef* last = nullptr;
  Role role{};
  for (const SharedSamples& list : snapshot.samples) {
    for (const Sample& one : *list) {
      if (one.def != last) {
        last = one.def;
        const auto [at, fresh] = roles.try_emplace(last);
        if (fresh) at->second = wanted(*last);
        role = at->second;
      }
      if (role != Role{}) visit(role, one);
    }
  }
}

}  // namespace qpscope
