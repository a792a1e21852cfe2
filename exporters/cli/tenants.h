// SPDX-License-Identifier: Apache-2.0
// `qpscope tenants`: who has queue pairs here, and what they did.
#pragma once

#include "rate_book.h"
#include "session.h"

namespace qpscope::cli {

// `tenants` of /api/v1/tenants. Traffic: since the daemon knows of it; with `rates`, which note_tenants() fed, per second.
Table tenant_table(const Json& tenants, const RateBook* rates = nullptr);
void note_tenants(RateBook& rates, const Json& tenants, double unix_seconds);
Outcome<Exit> tenants(Session& session, const ListOptions& options);

}  // namespace qpscope::cli
