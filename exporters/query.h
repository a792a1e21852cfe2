// SPDX-License-Identifier: Apache-2.0
// What stands behind the "?" of a request: name=value&name=value, percent-encoded, "+" for a blank. Any bytes may come out.
#pragma once

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

}  // namespace qpscope
