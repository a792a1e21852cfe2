// SPDX-License-Identifier: Apache-2.0
// The canonical port families, and their twins by tenant, as "totals" of the API: summed over the labels that they have beyond the port's. Pure.
#pragma once

#include <span>

#include "core/metric.h"
#include "exporters/api/json.h"

namespace qpscope {

enum class TotalsOf : std::uint8_t { port, tenant };

// Whether the family is one of totals: qpscope_port_…_total, qpscope_tenant_…_total.
bool has_total(TotalsOf of, const MetricDef& def);
// Of samples of such families, all of one port or of one tenant on it. Only what there are samples of.
Json totals_json(TotalsOf of, std::span<const Sample* const> samples);

}  // namespace qpscope
