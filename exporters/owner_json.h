// SPDX-License-Identifier: Apache-2.0
// --owner PID: how a process would be attributed, as JSON. One of the doors out for untrusted strings.
#pragma once

#include <cstdint>
#include <string>

#include "core/owner.h"
#include "core/tenant.h"

namespace qpscope {

std::string owner_json(const Owner& owner, const Tenant& tenant);

}  // namespace qpscope
