// SPDX-License-Identifier: Apache-2.0
#include "complete.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "client.h"
#include "fields.h"

namespace qpscope::cli {
namespace {

constexpr long kMostSeconds = 1;  // somebody waits with a finger on Tab

struct Source {
  const char* list;
  const char* key;
};
Source source_of(Names names) {
  switch (names) {
    case Names::devices: return {"ports", "device"};
    case Names::tenants: return {"tenants", "tenant"};
    case Names::workloads: return {"tenants", "workload"};
    case Names::kinds: return {"events", "kind"};
    case Names::none: break;
  }
  return {"", ""};
}

bool is_plain_word(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'; });
}

void add_names(std::set<std::string>& out, Names names, const std::string& socket) {
  if (names == Names::none) return;
  const auto [list, key] = source_of(names);
  Client client(socket, kMostSeconds);
  const auto answer = client.get(std::string("/api/v1/") + list, names == Names::devices ? ParameterList{{"history", "no"}} : ParameterList{});
  if (!answer) return;
  for (const Json& entry : child(answer->at("data"), list)) {
    if (const auto name = text_of(entry, key)) out.insert(*name);
  }
}

const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  for (const CLI::App* at = &app; at; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (option->nonpositional() && option->check_name(word)) return option;
    }
  }
  return nullptr;
}

const CLI::App* subcommand_of(const CLI::App& app, const std::string& word) {
  for (const CLI::App* one : app.get_subcommands(nullptr)) {
    if (one->get_name() == word) return one;
  }
  return nullptr;
}

void add_options(std::set<std::string>& out, const CLI::App& app) {
  for (const CLI::App* at = &app; at; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) out.insert("--" + name);
    }
  }
}

bool takes_value(const CLI::Option* option) { return option && option->get_items_expected_max() > 0; }

}  // namespace

std::vector<std::string> complete(const CLI::App& app, const Values& values, std::span<const std::string> words, const std::string& default_socket) {
  std::string socket = default_socket, last;
  const CLI::App* at = &app;
  const CLI::Option* open = nullptr;  // the option whose value the next word is
  std::size_t arguments = 0;
  std::vector<std::string> typed(words.begin(), words.end());
  std::erase(typed, "=");  // bash makes three words of --state=ERR
  if (words.empty() || words.back() == "=") typed.emplace_back();
  for (const std::string& word : std::span(typed).first(typed.size() - 1)) {
    if (open) {
      if (open->check_lname("socket")) socket = word;
      open = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* const option = option_of(*at, word);
      open = takes_value(option) ? option : nullptr;
    } else if (const CLI::App* const below = subcommand_of(*at, word)) {
      at = below;
    } else {
      ++arguments;
    }
  }
  last = typed.back();

  std::set<std::string> all;
  const auto add_values = [&](const CLI::Option* option) {
    const auto found = values.find(option);
    if (found == values.end()) return;
    all.insert(found->second.fixed.begin(), found->second.fixed.end());
    add_names(all, found->second.from, socket);
  };
  if (open) {
    add_values(open);
  } else if (last.starts_with('-')) {
    add_options(all, *at);
  } else {
    for (const CLI::App* below : at->get_subcommands(nullptr)) all.insert(below->get_name());
    const auto positional = at->get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (arguments < positional.size()) add_values(positional[arguments]);
  }
  std::vector<std::string> out;
  for (const std::string& word : all) {
    if (word.starts_with(last) && is_plain_word(word)) out.push_back(word);
  }
  return out;
}

}  // namespace qpscope::cli
