// SPDX-License-Identifier: Apache-2.0
#include "exporters/text_format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace qpscope::text_format {
namespace {

void append_escaped(std::string& out, std::string_view text, std::string_view special) {
  while (true) {
    const auto at = text.find_first_of(special);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return;
    out += '\\';
    out += text[at] == '\n' ? 'n' : text[at];
    text.remove_prefix(at + 1);
  }
}

void append_count(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits;
  out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

// Name and labels of one line, up to its value. `bound`: of a bucket.
void append_name(std::string& out, const MetricDef& def, std::string_view suffix, std::span<const std::string> labels, const double* bound = nullptr) {
  out += def.name;
  out += suffix;
  char before = '{';
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out += before;
    out += def.labels.names[i];
    out += "=\"";
    append_label_value(out, labels[i]);
    out += '"';
    before = ',';
  }
  if (bound) {
    out += before;
    out += "le=\"";
    append_number(out, *bound);
    out += '"';
    before = ',';
  }
  out += before == '{' ? " " : "} ";
}

std::size_t append_value(std::string& out, const MetricDef& def, std::span<const std::string> labels, double value) {
  append_name(out, def, "", labels);
  append_number(out, value);
  out += '\n';
  return 1;
}

std::size_t append_value(std::string& out, const MetricDef& def, std::span<const std::string> labels, const HistogramValue& value) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : value.counts) all += count;
  append_name(out, def, "_count", labels);
  append_count(out, all);
  out += '\n';
  append_name(out, def, "_sum", labels);
  append_number(out, value.sum);
  out += '\n';
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < value.counts.size(); ++i) {
    below += value.counts[i];
    const double bound = i < value.bounds.size() ? value.bounds[i] : HUGE_VAL;
    append_name(out, def, "_bucket", labels, &bound);
    append_count(out, below);
    out += '\n';
  }
  return value.counts.size() + 2;
}

}  // namespace

std::string_view type_name(MetricType type) {
  switch (type) {
    case MetricType::counter: return "counter";
    case MetricType::gauge: return "gauge";
    case MetricType::histogram: return "histogram";
  }
  return "untyped";
}

void append_head(std::string& out, const MetricDef& def) {
  out += "# HELP ";
  out += def.name;
  out += ' ';
  append_escaped(out, def.help, "\\\n");
  out += "\n# TYPE ";
  out += def.name;
  out += ' ';
  out += type_name(def.type);
  out += '\n';
}

std::size_t append_series(std::string& out, const MetricDef& def, std::span<const std::string> labels, const decltype(Sample::value)& value) {
  return std::visit([&](const auto& one) { return append_value(out, def, labels, one); }, value);
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e21);
  std::array<char, 32> digits;  // the longest: -2.2250738585072014e-308
  const auto end = std::to_chars(digits.begin(), digits.end(), value, plain ? std::chars_format::fixed : std::chars_format::scientific).ptr;
  out.append(digits.data(), end);
}

void append_label_value(std::string& out, std::string_view value) { append_escaped(out, value, "\\\"\n"); }

}  // namespace qpscope::text_format
