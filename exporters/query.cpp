// SPDX-License-Identifier: Apache-2.0
#include "exporters/query.h"

#include <algorithm>

#include "core/text.h"

namespace qpscope {
namespace {

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

}  // namespace

Result<std::vector<Parameter>> parse_query(std::string_view query) {
  std::vector<Parameter> out;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.empty()) continue;
    const auto equals = one.find('=');
    auto name = decode(one.substr(0, equals)), value = decode(equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1));
    if (!name || !value) return fail(ErrorCode::invalid, safe_text(one.substr(0, equals)) + ": \"%\" needs two hexadecimal digits behind it");
    out.push_back({.name = std::move(*name), .value = std::move(*value)});
  }
  return out;
}

std::unexpected<Error> not_a(const Parameter& one, std::string_view wanted) {
  return fail(ErrorCode::invalid, safe_text(one.name) + ": \"" + safe_text(one.value) + "\" is not " + std::string(wanted));
}

std::unexpected<Error> unknown_parameter(const Parameter& one) { return fail(ErrorCode::invalid, "unknown parameter \"" + safe_text(one.name) + "\""); }

std::unexpected<Error> given_twice(const Parameter& one) { return fail(ErrorCode::invalid, safe_text(one.name) + " is given twice"); }

}  // namespace qpscope
