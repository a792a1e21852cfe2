// SPDX-License-Identifier: Apache-2.0
// One factory per source, each in the .cpp file of its name.
#pragma once

#include <memory>

#include "core/tenant.h"

namespace qpscope {

std::unique_ptr<TenantResolver> make_kernel_consumer();
std::unique_ptr<TenantResolver> make_cgroup_path();

}  // namespace qpscope
