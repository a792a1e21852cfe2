// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/pod_names.h"

namespace qpscope {
namespace {

constexpr double kTtlSeconds = 60, kNegativeTtlSeconds = 1;
const std::string kPods = "/var/log/pods";

// A pod's only container needs no id to be told.
std::string only_folder(const Sysroot& root, const std::string& path) {
  const auto names = root.list(path);
  return names && names->size() == 1 ? names->front() : std::string();
}

}  // namespace

std::optional<std::pair<std::string, PodName>> parse_pod_folder(std::string_view name) {
  const auto first = name.find('_'), last = name.rfind('_');
  if (first == std::string_view::npos || first == last || first == 0 || last == first + 1 || last + 1 == name.size()) return std::nullopt;
  return std::pair(std::string(name.substr(last + 1)),
                   PodName{std::string(name.substr(0, first)), std::string(name.substr(first + 1, last - first - 1)), {}});
}

std::optional<std::pair<std::string, PodName>> parse_container_log(std::string_view name) {
  constexpr std::string_view kSuffix = ".log";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto first = name.find('_'), last = name.rfind('_'), dash = name.rfind('-');
  if (first == std::string_view::npos || first == last || first == 0 || last == first + 1) return std::nullopt;
  if (dash == std::string_view::npos || dash <= last + 1 || dash + 1 == name.size()) return std::nullopt;
  return std::pair(std::string(name.substr(dash + 1)),
                   PodName{std::string(name.substr(first + 1, last - first - 1)), std::string(name.substr(0, first)),
                           std::string(name.substr(last + 1, dash - last - 1))});
}

void PodNames::refresh() {
  by_uid_.clear();
  by_container_.clear();
  for (const std::string& name : root_.list(kPods).value_or(std::vector<std::string>())) {
    if (auto pod = parse_pod_folder(name)) by_uid_.insert(std::move(*pod));
  }
  for (const std::string& name : root_.list("/var/log/containers").value_or(std::vector<std::string>())) {
    if (auto container = parse_container_log(name)) by_container_.insert(std::move(*container));
  }
  listed_ = now_();
}

std::optional<PodName> PodNames::look_up(std::string_view uid, std::string_view container_id) const {
  const auto container = by_container_.find(container_id);
  const auto pod = by_uid_.find(uid);
  if (pod == by_uid_.end()) return container == by_container_.end() ? std::nullopt : std::optional(container->second);
  PodName name = pod->second;
  if (container != by_container_.end()) {
    name.container = container->second.container;
  } else if (!container_id.empty()) {
    name.container = only_folder(root_, kPods + "/" + name.k8s_namespace + "_" + name.pod + "_" + std::string(uid));
  }
  return name;
}

std::optional<PodName> PodNames::find(std::string_view uid, std::string_view container_id) {
  if (!listed_ || seconds(now_(), *listed_) >= kTtlSeconds) refresh();
  auto name = look_up(uid, container_id);
  if ((!name || (name->container.empty() && !container_id.empty())) && seconds(now_(), *listed_) >= kNegativeTtlSeconds) {
    refresh();
    name = look_up(uid, container_id);
  }
  return name;
}

}  // namespace qpscope
