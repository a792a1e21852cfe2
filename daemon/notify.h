// SPDX-License-Identifier: Apache-2.0
// What systemd is told (sd_notify(3)). Outside systemd these do nothing. The only libsystemd include.
#pragma once

#include <string>

namespace qpscope::notify {

void ready(const std::string& status);
void status(const std::string& text);
void stopping();
void alive();  // WATCHDOG=1

}  // namespace qpscope::notify
