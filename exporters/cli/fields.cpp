// SPDX-License-Identifier: Apache-2.0
#include "fields.h"

#include <charconv>
#include <cmath>

#include "text_width.h"

namespace qpscope::cli {

const Json& child(const Json& object, const char* key) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNothing : *found;
}

std::optional<std::string> text_of(const Json& object, const char* key) {
  const Json& value = child(object, key);
  if (value.is_string()) return displayable(value.get_ref<const std::string&>());
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

std::string text_or(const Json& object, const char* key, const char* otherwise) { return text_of(object, key).value_or(otherwise); }

std::optional<double> number_of(const Json& value) {
  double number = 0;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  } else {
    return std::nullopt;
  }
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<double> number_of(const Json& object, const char* key) { return number_of(child(object, key)); }

}  // namespace qpscope::cli
