// SPDX-License-Identifier: Apache-2.0
// --check: our smoke test and support tool. Configuration, roots, devices, netlink and every probe, really loaded and attached.
#pragma once

#include <string>

#include "collectors/host/host.h"
#include "config/config.h"

namespace qpscope {

struct CheckReport {
  std::string table;
  bool degraded = false;
};

CheckReport check(const Config& config, const Host& host, const std::string& config_source);

}  // namespace qpscope
