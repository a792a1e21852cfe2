// SPDX-License-Identifier: Apache-2.0
#include "port_rates.h"

#include <algorithm>

namespace qpscope::cli {

std::optional<double> recent_rate(const Json& port, const char* name, std::optional<double> interval, double seconds) {
  const Json& values = child(child(port, "history"), name);
  if (!values.is_array() || !interval || *interval <= 0) return std::nullopt;
  const auto steps = static_cast<std::size_t>(std::clamp(seconds / *interval, 1.0, 1e6));
  double sum = 0;
  std::size_t known = 0;
  for (std::size_t at = values.size() - std::min(steps, values.size()); at < values.size(); ++at) {
    if (const auto value = number_of(values[at])) sum += *value, ++known;
  }
  return known ? std::optional(sum / static_cast<double>(known)) : std::nullopt;
}

}  // namespace qpscope::cli
