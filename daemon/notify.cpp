// SPDX-License-Identifier: Apache-2.0
#include "notify.h"

#include <systemd/sd-daemon.h>

namespace qpscope::notify {

void ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }
void status(const std::string& text) { sd_notify(0, ("STATUS=" + text).c_str()); }
void stopping() { sd_notify(0, "STOPPING=1"); }
void alive() { sd_notify(0, "WATCHDOG=1"); }

}  // namespace qpscope::notify
