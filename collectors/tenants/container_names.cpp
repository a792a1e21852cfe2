// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/container_names.h"

#include <nlohmann/json.hpp>

namespace qpscope {
namespace {

using nlohmann::json;

constexpr bool kNoExceptions = false;

// The text of a string that is not empty.
std::optional<std::string> text(const json& value) {
  const auto* string = value.get_ptr<const json::string_t*>();
  return string && !string->empty() ? std::optional(*string) : std::nullopt;
}
const json& member(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

}  // namespace

std::optional<std::string> docker_name(std::string_view document) {
  auto name = text(member(json::parse(document, nullptr, kNoExceptions), "Name"));
  if (name && name->starts_with('/')) name->erase(0, 1);
  return name && !name->empty() ? name : std::nullopt;
}

std::optional<std::string> podman_name(std::string_view document, std::string_view id) {
  const json containers = json::parse(document, nullptr, kNoExceptions);
  if (!containers.is_array()) return std::nullopt;
  for (const json& container : containers) {
    if (text(member(container, "id")) != id) continue;
    const json& names = member(container, "names");
    return names.is_array() && !names.empty() ? text(names.front()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace qpscope
