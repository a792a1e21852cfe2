// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using Catch::Contains;
using qpscope::test::TempTree;

namespace {

std::string error_of(const std::string& text) {
  const auto config = load_config_text(text, "q.yaml");
  if (config) return "";
  CHECK(config.error().code == ErrorCode::invalid);
  return config.error().what;
}

std::string default_yaml() {
  std::ifstream in(QPSCOPE_SOURCE_DIR "/config/default.yaml");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// "sampling.interval", … of a file whose sections are indented by two blanks.
std::vector<std::string> keys_in(const std::string& yaml) {
  std::vector<std::string> out, path;
  std::istringstream in(yaml);
  for (std::string line; std::getline(in, line);) {
    const auto indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || line[indent] == '#') continue;
    path.resize(indent / 2);
    const auto colon = line.find(':', indent);
    path.push_back(line.substr(indent, colon - indent));
    if (line.find_first_not_of(' ', colon + 1) == std::string::npos) continue;  // a section
    std::string full;
    for (const std::string& part : path) full += (full.empty() ? "" : ".") + part;
    out.push_back(full);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

TEST_CASE("default.yaml is the defaults, with every key and no other", "[config.load]") {
  const std::string text = default_yaml();
  REQUIRE_FALSE(text.empty());
  const auto config = load_config_text(text, "default.yaml");
  REQUIRE(config);
  CHECK(*config == Config{});
  auto keys = config_keys();
  std::ranges::sort(keys);
  CHECK(keys_in(text) == keys);
  CHECK(std::set(keys.begin(), keys.end()).size() == keys.size());
}

TEST_CASE("nothing given is the defaults", "[config.load]") {
  for (const char* text : {"", "\n", "# only words\n", "---\n", "sampling:\n", "{}", "api: {allow: }\n"}) {
    INFO(text);
    const auto config = load_config_text(text, "q.yaml");
    REQUIRE(config);
    CHECK(*config == Config{});
  }
}

TEST_CASE("values arrive where they belong", "[config.load]") {
  const auto config = load_config_text(
      "sampling: {interval: 500ms, slow_interval: 2m, stale_after: 1h}\nreconcile:\n  polls_per_second: 0\napi:\n  allow: []\n"
      "exporters: {prometheus: {listen: \"[::1]:0\", qp_limit: 0}}\nbpf: {enabled: false, ring_kib: 64}\nlog: {level: debug}\n"
      "devices:\n  exclude: [mlx5_bond_*, \"rxe?\"]\n",
      "q.yaml");
  REQUIRE(config);
  CHECK(config->sampling.interval == 0.5);
  CHECK(config->sampling.slow_interval == 120);
  CHECK(config->sampling.stale_after == 3600);
  CHECK(config->reconcile.polls_per_second == 0);
  CHECK(config->api.allow.empty());
  CHECK(config->exporters.prometheus.listen == "[::1]:0");
  CHECK_FALSE(config->bpf.enabled);
  CHECK(config->bpf.ring_kib == 64);
  CHECK(config->log.level == "debug");
  CHECK(config->devices.exclude == std::vector<std::string>{"mlx5_bond_*", "rxe?"});
  CHECK(config->tenants == TenantsConfig{});
}

TEST_CASE("what is printed loads back equal", "[config.load]") {
  CHECK(*load_config_text(print_config(Config{}), "p") == Config{});
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    Config config;
    const auto between = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
    config.sampling.interval = random() % 2 ? between(0.1, 10) : static_cast<double>(random() % 900 + 100) / 1000;
    config.sampling.slow_interval = random() % 2 ? between(10, 86400) : static_cast<double>(random() % 1000 + 10) * 60;
    config.sampling.stale_after = between(20, 86400);
    config.reconcile.interval = static_cast<double>(random() % 24 + 1) * 3600;
    config.bpf.qp_table_limit = random() % 1000000 + 16;
    config.exporters.prometheus.listen = "a\"b\\c: #\té\n";
    config.devices.exclude = {"", "- x", "*", "'q'", "[a]", "日本"};
    config.api.allow = {};
    const auto back = load_config_text(print_config(config), "p");
    REQUIRE(back);
    REQUIRE(*back == config);
  }
}

TEST_CASE("unknown keys name their line and what is known", "[config.load]") {
  CHECK_THAT(error_of("log:\n  level: info\nsampling:\n  intervall: 1s\n"),
             Contains("q.yaml:4:") && Contains("\"intervall\"") && Contains("in sampling") && Contains("slow_interval"));
  CHECK_THAT(error_of("\nnonsense: 1\n"), Contains("q.yaml:2:") && Contains("\"nonsense\"") && Contains("sampling"));
  CHECK_THAT(error_of("exporters:\n  prometheus:\n    lisen: x\n"),
             Contains("q.yaml:3:") && Contains("exporters.prometheus") && Contains("listen"));
  CHECK_THAT(error_of("sampling:\n  ? [a, b]\n  : 1\n"), Contains("q.yaml:2:") && Contains("unknown key"));
  CHECK_THAT(error_of("\"a\\nb\\e\": 1\n"), Contains("\"a\\x0ab\\x1b\""));  // what is quoted back is made safe
}

TEST_CASE("repeated keys", "[config.load]") {
  CHECK_THAT(error_of("log:\n  level: info\n  level: debug\n"), Contains("q.yaml:3:") && Contains("\"level\" is given twice"));
  CHECK_THAT(error_of("log: {level: info}\nbpf: {enabled: true}\nlog: {level: debug}\n"), Contains("q.yaml:3:") && Contains("twice"));
}

TEST_CASE("wrong types and values say what would be right", "[config.load]") {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"sampling:\n  interval: 5\n", "such as 500ms, 15s or 10m"},
      {"sampling:\n  interval: 5 s\n", "such as 500ms"},
      {"sampling:\n  interval: 5d\n", "such as 500ms"},
      {"sampling:\n  interval: s\n", "such as 500ms"},
      {"sampling:\n  interval: -1s\n", "from 100ms to 24h"},
      {"sampling:\n  interval: 10ms\n", "from 100ms to 24h"},
      {"sampling:\n  interval: 25h\n", "from 100ms to 24h"},
      {"sampling:\n  interval: nans\n", "from 100ms to 24h"},
      {"sampling:\n  interval: infs\n", "from 100ms to 24h"},
      {"sampling:\n  interval:\n", "must be a duration"},
      {"sampling:\n  interval: [1s]\n", "must be a duration"},
      {"sampling:\n  interval: {a: 1s}\n", "must be a duration"},
      {"reconcile:\n  polls_per_second: -1\n", "a whole number from 0 to 10000"},
      {"reconcile:\n  polls_per_second: 1.5\n", "a whole number from 0 to 10000"},
      {"reconcile:\n  polls_per_second: 10001\n", "a whole number from 0 to 10000"},
      {"reconcile:\n  polls_per_second: 99999999999999999999\n", "a whole number"},
      {"tenants:\n  limit: 0\n", "from 1 to 4096"},
      {"bpf:\n  enabled: yes\n", "true or false"},
      {"bpf:\n  ring_kib: 100\n", "a power of two, such as 4096"},
      {"log:\n  level: loud\n", "one of debug, info, warning, error, not \"loud\""},
      {"api:\n  allow: 10.0.0.0/8\n", "must be a list of texts"},
      {"api:\n  allow: [[a]]\n", "must be a list of texts"},
      {"api:\n  allow: {a: b}\n", "must be a list of texts"},
      {"api:\n  allow: [\"\xff\"]\n", "must be a list of texts in UTF-8"},
      {"exporters:\n  prometheus: {listen: \"\xc0\xaf\"}\n", "must be a text in UTF-8"},
      {"exporters:\n  prometheus: [listen]\n", "section with keys of its own"},
      {"\nsampling: 1s\n", "section with keys of its own"},
      {"sampling:\n  slow_interval: 500ms\n", "must not be shorter than sampling.interval"},
      {"sampling:\n  stale_after: 1s\n", "at least twice sampling.interval"},
  };
  for (const auto& [text, right] : cases) {
    INFO(text);
    CHECK_THAT(error_of(text), Contains("q.yaml:2:") && Contains(right));
  }
}

TEST_CASE("what is no map at all", "[config.load]") {
  CHECK_THAT(error_of("just words\n"), Contains("q.yaml:1:") && Contains("sections"));
  CHECK_THAT(error_of("- a\n- b\n"), Contains("q.yaml:1:") && Contains("sections"));
  CHECK_THAT(error_of("log: {level: info}\n---\nlog: {level: debug}\n"), Contains("q.yaml:2:") && Contains("document"));
  CHECK_THAT(error_of("log:\n\tlevel: info\n"), Contains("q.yaml:2:"));
  CHECK_THAT(error_of("log: {level: info\n"), Contains("q.yaml:"));
  CHECK_THAT(error_of("a: &x [*x]\n"), Contains("q.yaml:1:"));
  CHECK_FALSE(error_of("log: *nobody\n").empty());
  CHECK_THAT(error_of(", a\n"), Contains("q.yaml:1:"));  // yaml-cpp sees empty documents without end here
}

TEST_CASE("files: empty, missing, a folder", "[config.load]") {
  const TempTree tree;
  tree.file("empty.yaml", "");
  const auto empty = load_config_file(tree.at("empty.yaml"));
  REQUIRE(empty);
  CHECK(*empty == Config{});
  tree.file("good.yaml", "log: {level: debug}");
  CHECK(load_config_file(tree.at("good.yaml"))->log.level == "debug");
  tree.file("bad.yaml", "\nlog: {level: loud}\n");
  CHECK_THAT(load_config_file(tree.at("bad.yaml")).error().what, Contains((tree.path() + "/bad.yaml:2: log.level")));
  const auto missing = load_config_file(tree.at("none.yaml"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK_THAT(missing.error().what, Contains("none.yaml") && Contains("No such file"));
  const auto folder = load_config_file(tree.path());
  REQUIRE_FALSE(folder);
  CHECK_THAT(folder.error().what, Contains(tree.path()) && Contains("Is a directory"));
}

TEST_CASE("garbage is an error and never a crash", "[config.load]") {
  std::mt19937 random(3);
  const std::string good = default_yaml();
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = round % 3 ? good.substr(random() % good.size(), random() % 400) : std::string(random() % 200, ' ');
    for (unsigned k = 0; !text.empty() && k < (round % 3 ? 4 : text.size()); ++k)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    const auto config = load_config_text(text, "q.yaml");
    if (config) continue;
    ++refused;
    REQUIRE_THAT(config.error().what, Catch::StartsWith("q.yaml:"));
  }
  CHECK(refused > 500);
  CHECK_FALSE(error_of(std::string(5'000, '[')).empty());
  CHECK_FALSE(error_of(std::string(5'000, '{')).empty());
}

TEST_CASE("rules of tenants", "[config.load]") {
  const std::string text =
      "tenants:\n  rules:\n    - {tenant: a, cgroup: '^/x'}\n    - tenant: 'b\\1'\n      workload: \"w\\n\"\n      comm: c\n      user: u\n      environment: e\n"
      "  kubernetes: {workload_patterns: ['(.*)-x', y]}\n  slurm_account_from_environment: true\n";
  const auto config = load_config_text(text, "q.yaml");
  REQUIRE(config);
  REQUIRE(config->tenants.rules.size() == 2);
  CHECK(config->tenants.rules[0] == TenantRule{.tenant = "a", .cgroup = "^/x"});
  CHECK(config->tenants.rules[1] == TenantRule{.tenant = "b\\1", .workload = "w\n", .comm = "c", .user = "u", .environment = "e"});
  CHECK(config->tenants.kubernetes.workload_patterns == std::vector<std::string>{"(.*)-x", "y"});
  CHECK(load_config_text(print_config(*config), "p") == *config);

  CHECK_THAT(error_of("tenants:\n  rules: {tenant: a}\n"), Contains("q.yaml:2: tenants.rules must be a list"));
  CHECK_THAT(error_of("tenants:\n  rules:\n    - a\n"), Contains("q.yaml:3: tenants.rules"));
  CHECK_THAT(error_of("tenants:\n  rules:\n    - {tenant: a, cgroup: b}\n    - {cgroup: b}\n"), Contains("q.yaml:4: tenants.rules: a rule needs a tenant"));
  CHECK_THAT(error_of("tenants:\n  rules:\n    - {tenant: a}\n"), Contains("q.yaml:3: tenants.rules: a rule needs one of cgroup"));
  CHECK_THAT(error_of("tenants:\n  rules:\n    - {tenant: a, cgroup: b,\n       cgruop: c}\n"), Contains("q.yaml:4: unknown key \"cgruop\" in tenants.rules"));
}

TEST_CASE("a regular expression that is none is refused with its line", "[config.load]") {
  const CheckPattern no_x = [](const std::string& pattern) -> Result<> {
    return pattern.find('x') == std::string::npos ? Result<>() : fail(ErrorCode::invalid, "bad: x");
  };
  const auto error = [&](const std::string& text) { return load_config_text(text, "q.yaml", no_x).error().what; };
  CHECK(error("tenants:\n  rules:\n    - tenant: x\n      cgroup: a\n      comm: 'x'\n") == "q.yaml:5: tenants.rules.comm: bad: x");
  CHECK(error("tenants:\n  kubernetes:\n    workload_patterns:\n      - a\n      - x\n") == "q.yaml:5: tenants.kubernetes.workload_patterns: bad: x");
  CHECK(load_config_text("tenants: {rules: [{tenant: x, cgroup: a}]}", "q.yaml", no_x));
}
