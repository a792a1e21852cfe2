// SPDX-License-Identifier: Apache-2.0
// What stands behind the "?" of a request: name=value&name=value, percent-encoded, "+" for a blank. Any bytes may come out.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace qpscope {

struct Parameter {
  std::string name, value;
};

// In their order, repeated ones too; "a" is a parameter without a value. ErrorCode::invalid, with the parameter's name, for a "%" without
// two hexadecimal digits. As long as the caller lets it be: the server bounds a request.
Result<std::vector<Parameter>> parse_query(std::string_view query);

// ErrorCode::invalid: what the parameter's value is not ("a number"); a name that nobody knows; one that may be there only once.
std::unexpected<Error> not_a(const Parameter& one, std::string_view wanted);
std::unexpected<Error> unknown_parameter(const Parameter& one);
std::unexpected<Error> given_twice(const Parameter& one);

// Digits from end to end.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

}  // namespace qpscope
