// SPDX-License-Identifier: Apache-2.0
// A strict reader of the Prometheus text format, written from its description and sharing nothing with the exporter: what it
// accepts, Prometheus does.
#pragma once

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.h"
#include "support/utf8.h"

namespace qpscope::fuzz {

class PageParser {
 public:
  // How many series the page has; ends the process where the page is none.
  static std::size_t series(std::string_view page) { return PageParser().read(page); }

 private:
  using Labels = std::map<std::string, std::string>;

  std::size_t read(std::string_view page) {
    check(page.empty() || page.ends_with('\n'), "a page ends with a newline");
    while (!page.empty()) {
      const std::string_view line = next_line(page);
      check(test::clean_line(line), "a page is lines of UTF-8");
      if (line.starts_with("# HELP ")) {
        end_family();
        name_ = std::string(line.substr(7, line.find(' ', 7) - 7));
        check(families_.insert(name_).second, "a family stands on one place");
      } else if (line.starts_with("# TYPE ")) {
        check(line.substr(7, line.find(' ', 7) - 7) == name_, "TYPE follows its HELP");
        type_ = std::string(line.substr(8 + name_.size()));
        check(type_ == "counter" || type_ == "gauge" || type_ == "histogram", "a type is one of Prometheus'");
      } else {
        read_series(line);
      }
    }
    end_family();
    return series_.size();
  }

  void read_series(std::string_view line) {
    const std::string name(line.substr(0, line.find_first_of("{ ")));
    line.remove_prefix(name.size());
    Labels labels;
    if (line.starts_with('{')) labels = read_labels(line);
    check(line.starts_with(' '), "a value follows a blank");
    const std::string number(line.substr(1));
    check(!number.empty() && number[0] != ' ', "a series has a value");
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    check(*end == '\0', "a value is a number and nothing else");
    check(series_.emplace(name, labels).second, "a series stands once");

    check(!type_.empty(), "a series stands below its TYPE");
    if (type_ != "histogram") {
      check(name == name_, "a series stands below its family");
      check(type_ != "counter" || (std::isfinite(value) && value >= 0), "a counter's value is a count");
      return;
    }
    if (name == name_ + "_sum") return;
    check(name == name_ + "_bucket" || name == name_ + "_count", "a histogram has buckets, a sum and a count");
    std::optional<double> bound;
    if (name.ends_with("_bucket")) {
      check(labels.contains("le"), "a bucket has a bound");
      bound = labels["le"] == "+Inf" ? INFINITY : std::strtod(labels["le"].c_str(), nullptr);
      labels.erase("le");
    }
    Buckets& of = buckets_[labels];
    if (!bound) {
      of.count = value;
      return;
    }
    check(of.bounds.empty() || (*bound > of.bounds.back() && value >= of.last), "bounds rise, and so do the counts");
    of.bounds.push_back(*bound);
    of.last = value;
  }

  // From the opening bracket to behind the closing one.
  static Labels read_labels(std::string_view& line) {
    Labels labels;
    do {
      line.remove_prefix(1);
      const std::string name(line.substr(0, line.find('=')));
      check(!name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos, "a label has a plain name");
      line.remove_prefix(name.size());
      check(line.starts_with("=\""), "a label's value is quoted");
      line.remove_prefix(2);
      std::string value;
      while (!line.empty() && line[0] != '"') {
        if (line[0] == '\\') {
          check(line.size() > 1 && std::string_view("\\\"n").contains(line[1]), "an escape is one of the three that there are");
          line.remove_prefix(1);
        }
        value += line[0];
        line.remove_prefix(1);
      }
      check(!line.empty(), "a label's value ends");
      line.remove_prefix(1);
      check(labels.emplace(name, value).second, "a label stands once");
    } while (line.starts_with(','));
    check(line.starts_with('}'), "labels end with a bracket");
    line.remove_prefix(1);
    return labels;
  }

  void end_family() {
    for (const auto& [labels, of] : buckets_) {
      check(!of.bounds.empty() && std::isinf(of.bounds.back()), "the last bucket has no bound");
      check(of.count == of.last, "the count is that of the last bucket");
    }
    buckets_.clear();
    type_.clear();
  }

  struct Buckets {
    std::vector<double> bounds;
    double last = 0;
    std::optional<double> count;
  };
  std::string name_, type_;  // of the family that is being read
  std::map<Labels, Buckets> buckets_;
  std::set<std::string> families_;
  std::set<std::pair<std::string, Labels>> series_;
};

}  // namespace qpscope::fuzz
