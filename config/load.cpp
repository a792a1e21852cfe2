// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "config/keys.h"
#include "core/text.h"

namespace qpscope {
namespace {

struct Bad {
  std::string what;
};  // thrown inside this file only, beside yaml-cpp's own

std::string print_number(double value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};  // the shortest that reads back equal
}

bool parse_duration(std::string_view text, double& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc{}) return false;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, size] : {std::pair("ms", 1e-3), std::pair("s", 1.0), std::pair("m", 60.0), std::pair("h", 3600.0)}) {
    if (unit == name) return out *= size, true;
  }
  return false;
}

std::string print_duration(double value) {
  for (const auto& [unit, size] : {std::pair("h", 3600.0), std::pair("m", 60.0)}) {
    if (value >= size && std::fmod(value, size) == 0) return print_number(value / size) + unit;
  }
  const std::string in_ms = print_number(std::round(value * 1000)) + "ms";
  double back = 0;
  return value < 1 && parse_duration(in_ms, back) && back == value ? in_ms : print_number(value) + "s";
}

class Loader {
 public:
  Loader(YAML::Node root, std::string name, const CheckPattern& check_pattern)
      : node_(std::move(root)), name_(std::move(name)), check_pattern_(check_pattern) {}

  template <class Body>
  void section(const char* key, Body body) {
    const YAML::Node child = take(key);
    if (!child || child.IsNull()) return;
    if (!child.IsMap()) bad(child, std::string(key) + " must be a section with keys of its own");
    descend(child, key, body);
  }

  // The file as a whole: the keys at the top.
  template <class Body>
  void top(Body body) {
    if (!node_ || node_.IsNull()) return;
    if (!node_.IsMap()) bad(node_, "the file must hold sections such as \"sampling:\"");
    const YAML::Node root = node_;
    descend(root, "", body);
  }

  void number(const char* key, std::uint64_t& value, std::uint64_t least, std::uint64_t most) {
    scalar(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), [&](const std::string& text) {
      std::uint64_t parsed = 0;
      const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), parsed);
      if (ec != std::errc{} || end != text.data() + text.size() || parsed < least || parsed > most) return false;
      return value = parsed, true;
    });
  }
  void duration(const char* key, double& value, double least, double most) {
    scalar(key, "a duration from " + print_duration(least) + " to " + print_duration(most) + ", such as 500ms, 15s or 10m", [&](const std::string& text) {
      double parsed = 0;
      if (!parse_duration(text, parsed) || !(parsed >= least && parsed <= most)) return false;
      return value = parsed, true;
    });
  }
  void flag(const char* key, bool& value) {
    scalar(key, "true or false", [&](const std::string& text) {
      if (text != "true" && text != "false") return false;
      return value = text == "true", true;
    });
  }
  void text(const char* key, std::string& value) {
    scalar(key, "a text in UTF-8", [&](const std::string& text) { return is_utf8(text) && (value = text, true); });
  }
  void choice(const char* key, std::string& value, std::initializer_list<std::string_view> allowed) {
    std::string list;
    for (const std::string_view one : allowed) list += (list.empty() ? "" : ", ") + std::string(one);
    scalar(key, "one of " + list, [&](const std::string& text) {
      if (std::ranges::find(allowed, text) == allowed.end()) return false;
      return value = text, true;
    });
  }
  void texts(const char* key, std::vector<std::string>& value) {
    const YAML::Node child = take(key);
    if (!child || child.IsNull()) return;
    const auto texts = [](const YAML::Node& list) {
      return std::all_of(list.begin(), list.end(), [](const YAML::Node& one) { return one.IsScalar() && is_utf8(one.Scalar()); });
    };
    if (!child.IsSequence() || !texts(child)) bad(child, path(key) + " must be a list of texts in UTF-8, such as [a, b]");
    value.clear();
    for (const YAML::Node& one : child) value.push_back(one.Scalar());
  }
  void pattern(const char* key, std::string& value) {
    text(key, value);
    if (const auto checked = check_pattern_(value); !checked) bad_line(line_of(key), path(key) + ": " + checked.error().what);
  }
  void patterns(const char* key, std::vector<std::string>& value) {
    texts(key, value);
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (const auto checked = check_pattern_(value[i]); !checked) bad(take(key)[i], path(key) + ": " + checked.error().what);
    }
  }
  template <class Item, class Body>
  void items(const char* key, std::vector<Item>& value, Body body) {
    const YAML::Node child = take(key);
    if (!child || child.IsNull()) return;
    if (!child.IsSequence()) bad(child, path(key) + " must be a list of sections");
    value.clear();
    for (const YAML::Node& one : child) {
      if (!one.IsMap()) bad(one, path(key) + " must be a list of sections with keys of their own");
      const int line = one.Mark().line + 1;
      descend(one, key, [&] { body(*this, value.emplace_back()); });
      if (const std::string trouble = trouble_with(value.back()); !trouble.empty()) bad_line(line, path(key) + ": " + trouble);
    }
  }

  // What no single key can know. Of two keys at odds the first that the file gives is named.
  void check_together(const Config& config) const {
    const SamplingConfig& sampling = config.sampling;
    if (sampling.slow_interval < sampling.interval) {
      bad({"sampling.slow_interval", "sampling.interval"}, "sampling.slow_interval must not be shorter than sampling.interval");
    }
    if (sampling.stale_after < 2 * sampling.interval) {
      bad({"sampling.stale_after", "sampling.interval"}, "sampling.stale_after must be at least twice sampling.interval");
    }
    if (!std::has_single_bit(config.bpf.ring_kib)) bad({"bpf.ring_kib"}, "bpf.ring_kib must be a power of two, such as 4096 or 8192");
  }

 private:
  static std::string trouble_with(const TenantRule& rule) {
    if (rule.tenant.empty()) return "a rule needs a tenant";
    const bool matches = !(rule.cgroup.empty() && rule.comm.empty() && rule.user.empty() && rule.environment.empty());
    return matches ? "" : "a rule needs one of cgroup, comm, user, environment";
  }
  [[noreturn]] void bad_line(int line, const std::string& what) const { throw Bad{name_ + ":" + std::to_string(line) + ": " + what}; }
  [[noreturn]] void bad(const YAML::Node& at, const std::string& what) const { bad_line(at.Mark().line + 1, what); }
  [[noreturn]] void bad(std::initializer_list<const char*> keys, const std::string& what) const {
    for (const char* key : keys) {
      if (const auto it = lines_.find(key); it != lines_.end()) bad_line(it->second, what);
    }
    bad_line(1, what);
  }
  std::string path(const char* key) const { return path_.empty() ? key : path_ + "." + key; }
  YAML::Node take(const char* key) {
    known_.insert(key);
    const YAML::Node& node = node_;  // operator[] of a non-const node would make the key
    return node[key];
  }
  // The key's, not the value's: yaml-cpp says of an empty value where the next token is.
  int line_of(const std::string& key) const {
    for (const auto& entry : node_) {
      if (entry.first.Scalar() == key) return entry.first.Mark().line + 1;
    }
    return 1;
  }
  template <class Take>
  void scalar(const char* key, const std::string& expected, Take take_text) {
    const YAML::Node child = take(key);
    if (!child) return;
    if (!child.IsScalar() || !take_text(child.Scalar())) {
      bad_line(line_of(key), path(key) + " must be " + expected + (child.IsScalar() ? ", not \"" + safe_text(child.Scalar()) + "\"" : std::string()));
    }
    lines_[path(key)] = line_of(key);
  }
  template <class Body>
  void descend(const YAML::Node& child, const char* key, Body body) {
    const auto outer_node = node_;
    const auto outer_known = std::exchange(known_, {});
    const auto outer_path = path_;
    if (*key) path_ = path(key);
    node_.reset(child);
    body();
    std::set<std::string> seen;
    for (const auto& entry : child) {
      const std::string name = entry.first.Scalar();
      if (!seen.insert(name).second) bad(entry.first, "\"" + safe_text(name) + "\" is given twice");
      if (known_.contains(name)) continue;
      std::string list;
      for (const std::string& one : known_) list += (list.empty() ? "" : ", ") + one;
      bad(entry.first, "unknown key \"" + safe_text(name) + "\"" + (path_.empty() ? "" : " in " + path_) + "; known here: " + list);
    }
    node_.reset(outer_node);
    known_ = outer_known;
    path_ = outer_path;
  }

  YAML::Node node_;
  const std::string name_;
  const CheckPattern& check_pattern_;
  std::string path_;
  std::set<std::string> known_;
  std::map<std::string, int> lines_;  // of the keys that were given
};

class Printer {
 public:
  template <class Body>
  void section(const char* key, Body body) {
    line(key, "");
    ++depth_;
    prefix_.push_back(key);
    body();
    prefix_.pop_back();
    --depth_;
  }
  void number(const char* key, std::uint64_t value, std::uint64_t, std::uint64_t) { leaf(key, std::to_string(value)); }
  void duration(const char* key, double value, double, double) { leaf(key, print_duration(value)); }
  void flag(const char* key, bool value) { leaf(key, value ? "true" : "false"); }
  void text(const char* key, const std::string& value) { leaf(key, quoted(value)); }
  void pattern(const char* key, const std::string& value) { text(key, value); }
  void patterns(const char* key, const std::vector<std::string>& value) { texts(key, value); }
  // Each item on one line, without keys that are empty.
  template <class Item, class Body>
  void items(const char* key, std::vector<Item>& value, Body body) {
    if (value.empty()) return leaf(key, "[]");
    line(key, "");
    for (Item& item : value) {
      Printer one;
      body(one, item);
      out += std::string((depth_ + 1) * 2, ' ') + "- {" + one.flow_ + "}\n";
    }
  }
  void choice(const char* key, const std::string& value, std::initializer_list<std::string_view>) { leaf(key, value); }
  void texts(const char* key, const std::vector<std::string>& value) {
    std::string list;
    for (const std::string& one : value) list += (list.empty() ? "" : ", ") + quoted(one);
    leaf(key, "[" + list + "]");
  }

  std::string out;
  std::vector<std::string> keys;

 private:
  static std::string quoted(const std::string& value) {
    YAML::Emitter emitter;
    emitter << YAML::DoubleQuoted << value;
    return emitter.c_str();
  }
  void leaf(const char* key, const std::string& value) {
    if (value != "\"\"") flow_ += (flow_.empty() ? "" : ", ") + std::string(key) + ": " + value;
    std::string full;
    for (const std::string& part : prefix_) full += part + ".";
    keys.push_back(full + key);
    line(key, " " + value);
  }
  void line(const std::string& key, const std::string& value) { out += std::string(depth_ * 2, ' ') + key + ":" + value + "\n"; }

  std::size_t depth_ = 0;
  std::vector<std::string> prefix_;
  std::string flow_;  // the leaves as "key: value, …"
};

// Takes note of where the last document began, and of nothing else.
class DocumentStart : public YAML::EventHandler {
 public:
  int line = 0;

  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// The line of a second document, 0 if there is none. Not YAML::LoadAll: on a text such as ", a" yaml-cpp 0.7 finds empty
// documents without end, until memory is gone.
int second_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentStart start;
  return parser.HandleNextDocument(start) && parser.HandleNextDocument(start) ? start.line : 0;
}

}  // namespace

Result<Config> load_config_text(const std::string& text, const std::string& name, const CheckPattern& check_pattern) {
  try {
    if (const int line = second_document(text)) {
      return fail(ErrorCode::invalid, name + ":" + std::to_string(line) + ": a second YAML document begins here; keep one");
    }
    Config config;
    Loader loader(YAML::Load(text), name, check_pattern);
    loader.top([&] { visit_keys(loader, config); });
    loader.check_together(config);
    return config;
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid, bad.what);
  } catch (const YAML::Exception& bad) {
    return fail(ErrorCode::invalid, name + ":" + std::to_string(bad.mark.line + 1) + ": " + bad.msg);
  }
}

Result<Config> load_config_file(const std::string& path, const CheckPattern& check_pattern) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::unexpected(io_error("cannot read the configuration " + path, errno));
  std::ostringstream text;
  // An empty file is a configuration of defaults, but inserting nothing is a failure to ostream.
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || text.fail()) return std::unexpected(io_error("cannot read the configuration " + path, errno ? errno : EIO));
  return load_config_text(text.str(), path, check_pattern);
}

std::string print_config(const Config& config) {
  Printer printer;
  Config copy = config;
  visit_keys(printer, copy);
  return printer.out;
}

std::vector<std::string> config_keys() {
  Printer printer;
  Config defaults;
  visit_keys(printer, defaults);
  return printer.keys;
}

}  // namespace qpscope
