// SPDX-License-Identifier: Apache-2.0
// The Prometheus text format 0.0.4, as far as it is needed here (prometheus.io/docs/instrumenting/exposition_formats). Its own writer, because a
// library that prints 16 digits shows 2^64-1 as another number, and a total must be the same double in every reader.
// Appends to `out`. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/metric.h"

namespace qpscope::text_format {

// As the TYPE line says it.
std::string_view type_name(MetricType type);

// The HELP and TYPE lines of a family.
void append_head(std::string& out, const MetricDef& def);

// The lines of one series, and how many they are: a histogram has one for its count, one for its sum and one for each bucket.
// `labels` are in the order of def.labels and already safe (core/text.h).
std::size_t append_series(std::string& out, const MetricDef& def, const Labels& labels, const decltype(Sample::value)& value);

// The fewest digits that read back as the same double, without exponent from 1e-4 to 1e21; NaN, +Inf, -Inf.
void append_number(std::string& out, double value);

}  // namespace qpscope::text_format
