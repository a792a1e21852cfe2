// SPDX-License-Identifier: Apache-2.0
// Four functions, so that only daemon/log.cpp knows the logging library. Library code returns errors; only daemon/ logs above debug.
#pragma once

#include <string_view>

namespace qpscope::log {

void debug(std::string_view message);
void info(std::string_view message);
void warning(std::string_view message);
void error(std::string_view message);

}  // namespace qpscope::log
