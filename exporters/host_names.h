// SPDX-License-Identifier: Apache-2.0
// Is this machine meant by a request's Host header? A page that a browser was tricked into loading reaches every address its user can
// reach, also loopback, by letting its own name resolve to it (DNS rebinding); but the Host header then still names that page's server.
// An address, or a name that nobody else can claim, is no such name.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace qpscope {

// Immutable, thread-safe.
class HostNames {
 public:
  // `listed`: "node7", "node7.example.org", or "*.example.org" for every name below. `own`: gethostname(2), which counts in full and
  // without its domain.
  static Result<HostNames> make(std::span<const std::string> listed, std::string_view own);
  // The header's value with or without a port: an address, localhost, or a name from above. Any bytes.
  bool contains(std::string_view header) const;

 private:
  std::set<std::string, std::less<>> names_;  // in lower case, as all that follows
  std::vector<std::string> domains_;          // ".example.org"
};

}  // namespace qpscope
