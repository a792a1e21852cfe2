// SPDX-License-Identifier: Apache-2.0
#include "core/collector.h"

namespace qpscope {

void ReadErrors::add(std::string_view source, const Error& error) {
  const char* without_errno = error.code == ErrorCode::limit ? "limit" : "parse";
  counts_[{std::string(source), error.sys_errno ? errno_name(error.sys_errno) : without_errno}]++;
}

void Reading::failed(std::string_view source, const Error& error) {
  errors.add(source, error);
  not_tried(error);
}

void Reading::not_tried(const Error& error) {
  if (troubles++ == 0) trouble = error.what;
}

std::optional<double> Reading::count(const CounterKeyView& key, std::uint64_t raw, CounterKind kind, bool settles) {
  const auto total = ledger.count(key, raw, kind, now(), settles);
  if (!total) failed(key.source, {ErrorCode::limit, 0, std::string(key.name) + ": more counters than totals are kept of"});
  return total;
}

}  // namespace qpscope
