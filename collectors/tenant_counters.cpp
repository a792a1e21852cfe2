// SPDX-License-Identifier: Apache-2.0
#include "collectors/tenant_counters.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/vocabulary.h"

namespace qpscope {
namespace {

constexpr std::string_view kPrefix = "qpscope_port_";
constexpr LabelNames kTenant{"tenant", "workload", "device", "port", "method"};

struct Twin {
  std::string tenant_name, rest_name, tenant_help, rest_help;
  MetricDef tenant, rest;
};

class Twins {
 public:
  Twins() {
    for (const MetricDef* family : vocabulary_metrics()) {
      if (family->type == MetricType::counter) add(*family);
    }
  }
  const Twin& of(const MetricDef& family) const { return *by_family_.at(&family); }
  MetricList metrics() const { return defs_; }

 private:
  void add(const MetricDef& family) {
    const std::string_view stem = family.name.substr(kPrefix.size());
    const std::string family_name(family.name);
    Twin& twin = twins_.emplace_back();
    twin.tenant_name = "qpscope_tenant_" + std::string(stem);
    twin.rest_name = "qpscope_port_unattributed_" + std::string(stem);
    twin.tenant_help = "What of " + family_name + " is a tenant's: counted in a set of its own, or while it was the only owner of queue pairs (RDMA netlink STAT_GET).";
    twin.rest_help = "What of " + family_name + " no tenant is credited with (RDMA netlink STAT_GET).";
    LabelNames tenant = kTenant, rest = family.labels;
    for (const std::string_view more : family.labels.list().subspan(2)) tenant = tenant.with(more);
    twin.tenant = {twin.tenant_name, MetricType::counter, twin.tenant_help, tenant};
    twin.rest = {twin.rest_name, MetricType::counter, twin.rest_help, rest};
    by_family_[&family] = &twin;
    defs_.push_back(&twin.tenant);
    defs_.push_back(&twin.rest);
  }

  std::deque<Twin> twins_;  // they do not move: samples point to them
  std::map<const MetricDef*, const Twin*> by_family_;
  std::vector<const MetricDef*> defs_;
};

const Twins& twins() {
  static const Twins all;
  return all;
}

}  // namespace

MetricList tenant_counter_metrics() { return twins().metrics(); }

const MetricDef& tenant_twin(const MetricDef& family) { return twins().of(family).tenant; }
const MetricDef& unattributed_twin(const MetricDef& family) { return twins().of(family).rest; }

void add_tenant_counters(Reading& out, std::string_view driver, const std::string& device, const std::string& port) {
  const TenantLedger& ledger = out.ledger.tenants();
  std::map<std::pair<const MetricDef*, std::vector<std::string>>, double> sums;  // of counters that make one series together
  const auto add = [&](const CounterRow& meaning, const MetricDef& twin, std::vector<std::string> labels, std::uint64_t total) {
    append_labels(meaning, labels);
    const double value = static_cast<double>(total) * meaning.scale();
    if (!meaning.summed) return out.add(twin, std::move(labels), value);
    sums[{&twin, std::move(labels)}] += value;
  };
  ledger.each(port, [&](const TenantKey& who, CreditMethod method, const PortCounter& counter, std::uint64_t total) {
    const CounterRow* meaning = counter_meaning(driver, counter);
    if (meaning) add(*meaning, twins().of(*meaning->family).tenant, {who.tenant, who.workload, device, port, std::string(to_string(method))}, total);
  });
  ledger.each_rest(port, [&](const PortCounter& counter, std::uint64_t unattributed) {
    const CounterRow* meaning = counter_meaning(driver, counter);
    if (meaning) add(*meaning, twins().of(*meaning->family).rest, {device, port}, unattributed);
  });
  for (const auto& [series, value] : sums) out.add(*series.first, series.second, value);
}

}  // namespace qpscope
