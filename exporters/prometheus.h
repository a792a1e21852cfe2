// SPDX-License-Identifier: Apache-2.0
// Samples → a page of the Prometheus text format, and one of the doors out for untrusted strings.
// Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/metric.h"
#include "exporters/series_limit.h"

namespace qpscope {

struct Page {
  std::string text;
  std::size_t series = 0;
};

// Without what is left out. Families sorted by name, series by label values, HELP and TYPE for each; every label value through safe_text().
// Two samples of one family with equal labels would make Prometheus refuse the whole page: the first one stays.
Page render(std::span<const SharedSamples> lists, const LeftOut& left_out = {});

// The lines of samples alone, in their order, without HELP and TYPE; every label value through safe_text().
void append_lines(std::string& out, std::span<const Sample> samples);

}  // namespace qpscope
