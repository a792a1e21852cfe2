// SPDX-License-Identifier: Apache-2.0
// The site's own rules (tenants.rules), before every other source. All expressions of a rule must be found; the first rule wins.
// \1 to \9 in a rule's names stand for the groups of its cgroup expression. A rule without a workload leaves that to the source
// that answers next.
// Whoever writes a rule on comm or environment trusts the tenants: both are theirs to choose.
#include "collectors/host/proc.h"
#include "collectors/tenants/path.h"
#include "collectors/tenants/pattern.h"
#include "collectors/tenants/sources.h"

namespace qpscope {
namespace {

struct Rule {
  std::string tenant, workload;
  std::optional<Pattern> cgroup, comm, user, environment;
};

std::optional<Pattern> compiled(const std::string& text) {
  if (text.empty()) return std::nullopt;
  auto pattern = Pattern::compile(text);  // the configuration was refused if this fails
  return pattern ? std::optional(std::move(*pattern)) : std::nullopt;
}

std::string filled(const std::string& text, const std::vector<std::string>& groups) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool group = text[i] == '\\' && i + 1 < text.size() && text[i + 1] >= '1' && text[i + 1] <= '9';
    if (!group) {
      out += text[i];
      continue;
    }
    const auto number = static_cast<std::size_t>(text[++i] - '0');
    if (number < groups.size()) out += groups[number];
  }
  return out;
}

class Rules : public TenantResolver {
 public:
  explicit Rules(const SourceContext& context) : context_(context) {
    for (const TenantRule& rule : context.config.rules) {
      rules_.push_back(
          {rule.tenant, rule.workload, compiled(rule.cgroup), compiled(rule.comm), compiled(rule.user), compiled(rule.environment)});
    }
  }
  std::string_view name() const override { return "rule"; }

  std::optional<Attribution> resolve(const Owner& owner) override {
    if (!owner.known || !owner.user) return std::nullopt;
    std::optional<std::string> environment;  // read when the first rule wants it
    for (const Rule& rule : rules_) {
      std::vector<std::string> groups;
      if (rule.cgroup) {
        auto found = rule.cgroup->search(owner.cgroup_path);
        if (!found) continue;
        groups = std::move(*found);
      }
      if (rule.comm && !rule.comm->search(owner.comm)) continue;
      if (rule.user && (!owner.uid || !is_user(*rule.user, *owner.uid))) continue;
      if (rule.environment) {
        if (!environment) environment = environment_of(owner);
        if (!in_environment(*rule.environment, *environment)) continue;
      }
      Attribution out{.tenant = {.tenant = filled(rule.tenant, groups), .workload = filled(rule.workload, groups), .kind = "rule"}};
      if (!out.tenant.tenant.empty()) return out;
    }
    return std::nullopt;
  }

 private:
  bool is_user(const Pattern& pattern, std::uint32_t uid) const {
    return pattern.search(context_.users->name(uid)) || pattern.search(std::to_string(uid));
  }
  std::string environment_of(const Owner& owner) const { return read_environment(context_.root, owner).value_or(std::string()); }
  static bool in_environment(const Pattern& pattern, std::string_view environment) {
    while (!environment.empty()) {
      const auto end = environment.find('\0');
      if (pattern.search(environment.substr(0, end))) return true;
      environment.remove_prefix(end == std::string_view::npos ? environment.size() : end + 1);
    }
    return false;
  }

  const SourceContext context_;
  std::vector<Rule> rules_;
};

}  // namespace

std::unique_ptr<TenantResolver> make_rules(const SourceContext& context) { return std::make_unique<Rules>(context); }

}  // namespace qpscope
