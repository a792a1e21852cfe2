// SPDX-License-Identifier: Apache-2.0
#include "core/collector.h"

namespace qpscope {
namespace {

void no_room(Reading& out, std::string_view source, std::string_view name) {
  out.failed(source, {ErrorCode::limit, 0, std::string(name) + ": more counters than totals are kept of"});
}

}  // namespace

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

std::optional<CounterLedger::Counted> Reading::count(const CounterKeyView& key, std::uint64_t raw, CounterKind kind, bool settles) {
  const auto counted = ledger.count(key, raw, kind, now(), settles);
  if (!counted) return no_room(*this, key.source, key.name), std::nullopt;
  ++this->counted;
  return counted;
}

std::optional<double> Reading::add_events(const ObservedKey& key, std::uint64_t events) {
  const auto total = ledger.add(key, events);
  if (!total) return no_room(*this, "observed", key.name), std::nullopt;
  return static_cast<double>(*total);
}

std::optional<HistogramValue> Reading::observe(const ObservedKey& key, std::span<const double> bounds, std::optional<double> value) {
  if (value && !ledger.observe(key, bounds, *value)) no_room(*this, "observed", key.name);
  const Histogram* histogram = ledger.histogram(key);
  if (!histogram || !histogram->has(bounds)) return std::nullopt;
  return histogram->value(bounds);
}

}  // namespace qpscope
