// SPDX-License-Identifier: Apache-2.0
// What the answers of the API have in common: what is not known is left out, untrusted strings are made safe, 64-bit totals are strings,
// since JavaScript and others would round them. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.h"
#include "core/rdma.h"
#include "exporters/http.h"

namespace qpscope {

using Json = nlohmann::ordered_json;

// Nothing where it is empty.
void put(Json& out, const char* key, std::string_view untrusted);
void put(Json& out, const char* key, std::optional<std::uint32_t> number);
void put(Json& out, const char* key, const std::optional<Gid>& gid);

// A whole number, or one with decimals, as text.
std::string total_text(double total);
double milliseconds(double seconds);  // rounded to them
double unix_seconds(BootTime at, double wall_minus_boot);

HttpResponse json_response(std::string text);

// A list that is written while it is sent, so that a piece of it and one item are in memory, however long it is.
struct JsonList {
  std::string head;                                 // up to the "[" of the list
  std::function<std::optional<std::string>()> item;  // nullopt: that was the last one
  std::function<std::string()> tail;                // from the "]" on
};
HttpResponse json_response(JsonList list);

}  // namespace qpscope
