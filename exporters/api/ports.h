// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/ports: what each port is, its totals and the rates of the last minutes. Pure; thread-safe.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/snapshot.h"
#include "exporters/http.h"

namespace qpscope {

// An empty set is no filter.
struct PortQuery {
  std::set<std::string, std::less<>> devices;  // as they are shown
  std::set<std::uint32_t> ports;
  bool history = true;
};
// ErrorCode::invalid, with the parameter's name.
Result<PortQuery> parse_port_query(std::string_view query);

// `head`: the envelope up to the value of "data". Rendered port by port while it is sent.
HttpResponse ports_response(std::shared_ptr<const Snapshot> snapshot, std::string head, PortQuery query);

}  // namespace qpscope
