// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/tenants: who has queue pairs where, and what of the ports' totals is whose. Pure; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "core/snapshot.h"
#include "exporters/http.h"

namespace qpscope {

// `head`: the envelope up to the value of "data". Rendered tenant by tenant while it is sent.
HttpResponse tenants_response(std::shared_ptr<const Snapshot> snapshot, std::string head);

}  // namespace qpscope
