// SPDX-License-Identifier: Apache-2.0
// Counter sets of queue pairs (rdma statistic qp …): reads those of every port, credits what they count to the tenants of their
// members, and yields the tenants' twins of the port families. Firmware: one query a set; without sets nothing.
//
// A port's totals are read before its sets, by another collector or in an earlier pass: so what is credited is never less than what the
// total includes, and what is left as nobody's never too much.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/read_sets.h"
#include "collectors/registry.h"
#include "collectors/set_counters.h"
#include "collectors/tenant_counters.h"
#include "collectors/vocabulary/vocabulary.h"
#include "core/back_off.h"

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kSets{"qpscope_counter_sets", MetricType::gauge,
                          "Live counter sets of queue pairs, by who made them: self, or others (RDMA netlink STAT_GET).", kPort.with("by")};
constexpr MetricDef kRatio{"qpscope_port_counted_qps_ratio", MetricType::gauge,
                           "Queue pairs in counter sets over queue pairs known, those that cannot be in one left out (RDMA netlink STAT_GET, BPF ib_core).", kPort};
constexpr MetricDef kMissed{"qpscope_counter_sets_last_word_missed_total", MetricType::counter,
                            "Counter sets that went away without telling what they had counted since they were last read: that is nobody's (BPF rdma_restrack_del).",
                            LabelNames{"device"}};
constexpr std::array<const MetricDef*, 3> kMetrics{&kSets, &kRatio, &kMissed};
constexpr double kPatienceSeconds = 30;
const ObservedKey kMissedKey{"", "counter sets missed"};

class QpStatistics : public Collector {
 public:
  QpStatistics(const Host& host, const std::string& device) : host_(host), device_(device) {
    if (host.netlink) netlink_ = host.netlink(device);
  }

  Result<> collect(Reading& out) override {
    if (!driver_) {
      auto driver = driver_of(host_, device_);
      if (!driver) return std::unexpected(std::move(driver.error()));
      driver_ = std::move(*driver);
      for (std::string& name : port_numbers(host_, device_).value_or(std::vector<std::string>())) ports_.push_back({.name = std::move(name), .back_off = {}});
    }
    // The ledger may be another's copy by now.
    out.ledger.sets().counts([driver = *driver_](std::string_view counter) { return part_in_sets(driver, counter); });
    out.ledger.tenants().expire(out.now());
    for (Port& port : ports_) {
      // Sets that were not read now have counted what the port's totals may have already.
      if (!netlink_ || read(port, out)) balance(port, out);
      add_tenant_counters(out, *driver_, device_, port.name);
    }
    add_missed(out);
    std::erase_if(alone_, [&](const auto& entry) { return std::ranges::find(out.qp_counters, entry.first, &QpCounters::key) == out.qp_counters.end(); });
    return {};
  }

 private:
  struct Port {
    std::string name;
    BackOff back_off;
  };

  // True: all of the port's sets were.
  bool read(Port& port, Reading& out) {
    const SetBook& book = out.ledger.sets();
    const PortNum number = port_number(port.name);
    const BootTime asked = out.now();
    if (!port.back_off.due(asked)) return false;
    // Sets from before a restart are known by their members' tenants.
    if (!first_asked_.value) first_asked_ = asked;
    const bool patient = seconds(asked, first_asked_) < kPatienceSeconds;
    if (book.managed(number) && !book.known(number) && host_.queue_pairs && !host_.queue_pairs->all_known() && patient) return false;
    const auto done = read_sets(host_, device_, *netlink_, number, out.ledger, out.now);
    if (!done) {
      port.back_off.failed(asked);  // nothing is lost
      return false;
    }
    port.back_off.succeeded();
    out.firmware_commands += done->commands;
    if (done->trouble) out.failed("counter_sets", *done->trouble);
    add_sets(number, port.name, out);
    return !done->trouble;
  }

  BootTime moved(QpKey key, const std::map<std::string, std::uint64_t>& totals, BootTime now) {
    std::uint64_t sum = 0;
    for (const auto& [name, total] : totals) sum += total;
    const auto [known, fresh] = alone_.try_emplace(key, sum, now);
    if (known->second.first != sum) known->second = {sum, now};
    return known->second.second;
  }

  void add_sets(PortNum number, const std::string& port, Reading& out) {
    std::size_t ours = 0, others = 0, members = 0;
    for (const CounterSet* set : out.ledger.sets().sets(number)) {
      ++(set->ours ? ours : others);
      members += set->members.size();
      if (!set->only || set->only_totals.empty() || !host_.queue_pairs) continue;
      const auto qp = host_.queue_pairs->holder(device_, number, *set->only);
      if (qp && set->members == std::vector{*set->only}) {
        out.qp_counters.push_back({qp->key, {set->only_totals.begin(), set->only_totals.end()}, moved(qp->key, set->only_totals, out.now())});
      }
    }
    if (ours + others > 0 || out.ledger.sets().managed(number)) {
      out.add(kSets, {device_, port, "self"}, static_cast<double>(ours));
      out.add(kSets, {device_, port, "others"}, static_cast<double>(others));
    }
    const std::size_t known = host_.queue_pairs ? host_.queue_pairs->countable(device_, number) : 0;
    if (known > 0) out.add(kRatio, {device_, port}, std::min(1.0, static_cast<double>(members) / static_cast<double>(known)));
  }

  // What no tenant is credited with, where there are tenants at all.
  void balance(const Port& port, Reading& out) const {
    const SetBook& book = out.ledger.sets();
    TenantLedger& tenants = out.ledger.tenants();
    const PortNum number = port_number(port.name);
    if (!tenants.has_tenants(port.name) && !book.managed(number)) return;
    if (netlink_ && !book.settled(number)) return;
    out.ledger.each(port.name, [&](const CounterKeyView& key, std::uint64_t total) {
      const PortCounter counter{std::string(key.source), std::string(key.name)};
      if (!counter_meaning(*driver_, counter)) return;
      const auto decided = tenants.mark(port.name, counter);
      tenants.balance(port.name, counter, decided ? decided->total : total);
    });
  }

  void add_missed(Reading& out) {
    SetBook& book = out.ledger.sets();
    const std::uint64_t missed = book.take_missed();
    if (missed == 0 && book.size() == 0 && !book.any_managed() && !out.ledger.observed(kMissedKey)) return;
    const auto total = out.add_events(kMissedKey, missed);
    if (total) out.add(kMissed, {device_}, *total);
  }

  const Host& host_;
  const std::string device_;
  std::optional<std::string> driver_;
  std::unique_ptr<DeviceNetlink> netlink_;
  std::vector<Port> ports_;
  BootTime first_asked_;
  std::map<QpKey, std::pair<std::uint64_t, BootTime>> alone_;  // the sum of a queue pair's own counters, and since when
};

}  // namespace

const CollectorRow kQpStatistics{"qp_statistics", Clock::fast, kMetrics, [](const Host& host, const std::string& device) -> std::unique_ptr<Collector> {
                                   return std::make_unique<QpStatistics>(host, device);
                                 }};

}  // namespace qpscope
