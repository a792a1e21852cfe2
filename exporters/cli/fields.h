// SPDX-License-Identifier: Apache-2.0
// Fields of the daemon's answer, read without trust: what is missing or of another type is not known, and text cannot break a line. Pure.
#pragma once

#include <optional>
#include <string>

#include "client.h"

namespace qpscope::cli {

// Null where `object` is none or does not have it.
const Json& child(const Json& object, const char* key);

// A string as displayable() makes it; a number or a truth value as JSON writes it.
std::optional<std::string> text_of(const Json& object, const char* key);
std::string text_or(const Json& object, const char* key, const char* otherwise);

// A number, or a string that is one as a whole: 64-bit counters are sent so. For people: what is above 2^53 is rounded. Never NaN, never infinite.
std::optional<double> number_of(const Json& value);
std::optional<double> number_of(const Json& object, const char* key);

}  // namespace qpscope::cli
