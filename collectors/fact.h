// SPDX-License-Identifier: Apache-2.0
// Files that hold one fact about a device or a port: short, read afresh on every pass of the slow clock.
#pragma once

#include <string>
#include <string_view>

#include "collectors/host/host.h"
#include "core/collector.h"

namespace qpscope {

// There is no such file, which is no failure: what a device has depends on its driver. ENODEV is one: the file is there, its device is not.
bool absent(const Error& error);

// The text without blanks around it. "" where there is none, and where it cannot be read, which is counted under `source`.
std::string read_fact(const Host& host, const std::string& path, std::string_view source, Reading& out);

}  // namespace qpscope
