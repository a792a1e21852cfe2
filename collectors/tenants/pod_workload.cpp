// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenants/pod_workload.h"

#include <algorithm>
#include <array>

#include "collectors/tenants/path.h"

namespace qpscope {
namespace {

bool all_of(std::string_view text, std::string_view alphabet) { return text.find_first_not_of(alphabet) == std::string_view::npos; }
bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

// k8s.io/apimachinery pkg/util/rand: no vowels, so that no word comes about, and nothing that looks like another. Tools that
// make names of their own use any letters, but hardly ever without a digit, whereas people's words have none.
bool is_random(std::string_view text) {
  return text.size() == 5 &&
         (all_of(text, "bcdfghjklmnpqrstvwxz2456789") || (has_digit(text) && all_of(text, "abcdefghijklmnopqrstuvwxyz0123456789")));
}

// The same package's SafeEncodeString of a decimal number gives ten characters only; older clusters have hexadecimal.
bool is_template_hash(std::string_view text) {
  return text.size() >= 6 && text.size() <= 10 && has_digit(text) && (all_of(text, "bcdf456789") || all_of(text, "abcdef0123456789"));
}

// Kubeflow (PyTorchJob, MPIJob, TFJob, …): replica types of one job.
bool is_role(std::string_view text) {
  constexpr std::array<std::string_view, 6> roles{"master", "worker", "launcher", "chief", "ps", "evaluator"};
  return std::ranges::find(roles, text) != roles.end();
}

std::string_view last_part(std::string_view name) {
  const auto dash = name.rfind('-');
  return dash == std::string_view::npos || dash == 0 ? std::string_view() : name.substr(dash + 1);
}

}  // namespace

std::string pod_workload(std::string_view pod) {
  std::string_view name = pod;
  const auto drop = [&](auto&& is) {
    const std::string_view part = last_part(name);
    if (part.empty() || !is(part)) return false;
    name.remove_suffix(part.size() + 1);
    return true;
  };
  bool numbered = false;
  const auto drop_ordinals = [&] {
    for (int i = 0; i < 2 && drop(is_number); ++i) numbered = true;  // two: a group and a place in it
  };
  drop_ordinals();
  // After an ordinal, a role or a template hash the last five characters are generated, whatever they are.
  const std::string_view before = name.substr(0, name.size() - std::min(name.size(), last_part(name).size() + 1));
  const std::string_view last = last_part(before);
  const bool surely = last_part(name).size() == 5 && (is_number(last) || is_role(last) || is_template_hash(last));
  if (!numbered && drop([&](std::string_view part) { return surely || is_random(part); })) {
    numbered = true;
    if (!drop(is_template_hash)) drop_ordinals();
  }
  if (numbered) drop(is_role);
  return std::string(name);
}

}  // namespace qpscope
