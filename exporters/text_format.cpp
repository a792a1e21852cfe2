// SPDX-License-Identifier: Apache-2.0
#include "exporters/text_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace qpscope::text_format {
namespace {

constexpr double kExact = 9007199254740992;  // 2^53: below it no two whole numbers are one double, so none has fewer digits that read back

void append_count(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits;
  out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

// Appends what write(to) puts there, at most so many bytes; it returns the end.
template <class Write>
void append(std::string& out, std::size_t most, Write write) {
  const std::size_t begin = out.size();
  out.resize_and_overwrite(begin + most, [&](char* text, std::size_t) { return static_cast<std::size_t>(write(text + begin) - text); });
}

char* put(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

// At most twice as long. `also`: a character that is escaped beside backslash and line feed.
char* put_escaped(char* to, std::string_view text, char also) {
  for (const char c : text) {
    if (c == '\\' || c == '\n' || c == also) *to++ = '\\';
    *to++ = c == '\n' ? 'n' : c;
  }
  return to;
}

// Name and labels of one line, up to its value. `bound`: of a bucket.
void append_name(std::string& out, const MetricDef& def, std::string_view suffix, const Labels& labels, std::string_view bound = {}) {
  const auto names = def.labels.list();
  std::size_t most = def.name.size() + suffix.size() + 2 * labels.joined().size() + 4 * labels.size() + bound.size() + 8;
  for (std::size_t i = 0; i < labels.size(); ++i) most += names[i].size();
  append(out, most, [&](char* to) {
    to = put(put(to, def.name), suffix);
    char before = '{';
    for (std::size_t i = 0; i < labels.size(); ++i) {
      *to++ = before;
      to = put_escaped(put(put(to, names[i]), "=\""), labels[i], '"');
      *to++ = '"';
      before = ',';
    }
    if (!bound.empty()) {
      *to++ = before;
      to = put(put(put(to, "le=\""), bound), "\"");
      before = ',';
    }
    if (before == ',') *to++ = '}';
    *to++ = ' ';
    return to;
  });
}

std::size_t append_value(std::string& out, const MetricDef& def, const Labels& labels, double value) {
  append_name(out, def, "", labels);
  append_number(out, value);
  out += '\n';
  return 1;
}

std::size_t append_value(std::string& out, const MetricDef& def, const Labels& labels, const HistogramValue& value) {
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
    std::string bound;
    append_number(bound, i < value.bounds.size() ? value.bounds[i] : HUGE_VAL);
    append_name(out, def, "_bucket", labels, bound);
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
  append(out, 2 * def.name.size() + 2 * def.help.size() + 40, [&](char* to) {
    to = put_escaped(put(put(put(to, "# HELP "), def.name), " "), def.help, '\n');
    return put(put(put(put(put(to, "\n# TYPE "), def.name), " "), type_name(def.type)), "\n");
  });
}

std::size_t append_series(std::string& out, const MetricDef& def, const Labels& labels, const decltype(Sample::value)& value) {
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
  std::array<char, 32> digits;  // the longest: -2.2250738585072014e-308
  if (size < kExact && size == std::floor(size) && !std::signbit(value)) {  // as nearly every value is: a tenth of the work
    out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), static_cast<std::uint64_t>(value)).ptr);
    return;
  }
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e21);
  const auto end = std::to_chars(digits.begin(), digits.end(), value, plain ? std::chars_format::fixed : std::chars_format::scientific).ptr;
  out.append(digits.data(), end);
}

}  // namespace qpscope::text_format
