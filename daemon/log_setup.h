// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qpscope::log {

// Once, before the first message and the first thread. `level`: debug, info, warning or error.
void setup(const std::string& level);

}  // namespace qpscope::log
