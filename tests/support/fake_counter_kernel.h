// SPDX-License-Identifier: Apache-2.0
// ib_core's counter sets (core/counters.c), behind the seams that the daemon sees them by: RDMA netlink and the queue pair directory.
//
// One device, "mlx5_0" with index 0, of two ports. Set ids are those of the device, the lowest first and used again at once; so are QP
// numbers. Two counters that sets have, of 32 bits, and one that they only list.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/host/device_netlink.h"
#include "core/qp_directory.h"
#include "support/fake_clock.h"

namespace qpscope::test {

inline const TenantKey kTenantA{"a", "1"}, kTenantB{"b", "1"}, kTenantC{"c", "1"};

class FakeCounterKernel : public QpDirectory {
 public:
  using Mode = NlCounterMode::Kind;
  static constexpr std::array<const char*, 3> kNames{"out_of_sequence", "np_cnp_sent", "packet_seq_err"};
  static constexpr DeviceIndex kIndex{0};

  struct Qp {
    Qpn qpn;
    PortNum port;  // 0: before INIT
    bool kernel = false, seeded = false;
    std::optional<TenantKey> who;
    Pid tid;
    std::optional<std::uint32_t> set;
    bool told = false;
  };
  struct Set {
    PortNum port;
    bool kernel = false;
    Mode mode = Mode::manual;
    Pid tid;
    std::array<std::uint64_t, 3> values{};
    std::size_t members = 0;
  };
  struct Port {
    Mode mode = Mode::none;
    std::uint32_t mask = 0;
    std::array<std::uint64_t, 3> own{}, history{};  // the default set's, and of sets that are gone
    std::array<std::uint64_t, 3> uncounted{};       // the truth: what came in no set
  };

  explicit FakeCounterKernel(FakeClock& clock) : clock_(clock), now_(clock.fn()) {}

  // --- what applications do
  // With a number of its own choice, or the lowest that is free.
  QpSerial create(std::optional<TenantKey> who, bool kernel = false, std::optional<std::uint32_t> number = {}) {
    std::uint32_t qpn = number.value_or(100);
    while (by_number(Qpn{qpn})) ++qpn;
    const QpSerial serial{++serials_};
    qps[serial] = {.qpn = {qpn}, .port = {}, .kernel = kernel, .who = std::move(who), .tid = {}, .set = {}};
    return serial;
  }
  void init(QpSerial serial, std::uint32_t port = 1) {
    Qp& qp = qps.at(serial);
    qp.port = {port};
    qp.told = false;
    if (qp.kernel || qp.set || ports[qp.port].mode != Mode::automatic) return;
    const auto same = std::ranges::find_if(sets, [&](const auto& entry) { return entry.second.port == qp.port && entry.second.tid == qp.tid; });
    if (same != sets.end()) {
      join(qp, same->first);
    } else if (sets.size() < most_sets) {
      join(qp, make_set(qp.port, false, Mode::automatic, qp.tid));
    }
  }
  QpSerial running(std::optional<TenantKey> who, std::uint32_t port = 1, bool kernel = false) {
    const QpSerial serial = create(std::move(who), kernel);
    init(serial, port);
    return serial;
  }
  void destroy(QpSerial serial) {
    leave_set(qps.at(serial));
    qps.erase(serial);
  }
  void belongs_to(QpSerial serial, TenantKey who) {
    qps.at(serial).who = std::move(who);
    qps.at(serial).told = false;
  }
  void count(QpSerial serial, std::uint64_t events, std::size_t counter = 0) {
    const Qp& qp = qps.at(serial);
    Port& port = ports[qp.port];
    if (qp.set && counter != 1) {
      sets.at(*qp.set).values[counter] = (sets.at(*qp.set).values[counter] + events) % kWrap;
    } else {
      port.own[counter] = (port.own[counter] + events) % kWrap;
      port.uncounted[counter] += events;
    }
  }

  // --- what anybody's netlink does
  Result<std::uint32_t> bind_new(PortNum port, Qpn qpn) {
    if (ports[port].mode == Mode::automatic) return error(EINVAL);
    Qp* qp = by_number(qpn);
    if (!qp) return error(ENOENT);
    if (qp->port.value != 0 && qp->port != port) return error(EINVAL);
    if (!supported || qp->set || sets.size() >= most_sets) return error(ENOMEM);
    ports[port].mode = Mode::manual;
    const std::uint32_t id = make_set(port, qp->kernel, Mode::manual, {});
    join(*qp, id);
    return id;
  }
  Result<> bind(PortNum port, Qpn qpn, std::uint32_t id) {
    if (ports[port].mode == Mode::automatic) return error(EINVAL);
    Qp* qp = by_number(qpn);
    if (!qp || !sets.contains(id)) return error(ENOENT);
    const Set& set = sets.at(id);
    if (set.kernel != qp->kernel || set.port != qp->port || qp->set) return error(EINVAL);
    if (!supported) return error(EOPNOTSUPP);
    join(*qp, id);
    return {};
  }
  Result<> unbind(PortNum port, Qpn qpn, std::uint32_t id) {
    Qp* qp = by_number(qpn);
    if (!qp) return error(ENOENT);
    if ((qp->port.value != 0 && qp->port != port) || qp->set != id || ports[port].mode != Mode::manual) return error(EINVAL);
    leave_set(*qp);
    return {};
  }
  // One set for each thread, or off.
  Result<> automatic(PortNum port, bool on) {
    const bool in_use = std::ranges::any_of(sets, [&](const auto& entry) { return entry.second.port == port; });
    if (on && in_use) return error(EBUSY);
    ports[port].mode = on ? Mode::automatic : in_use ? Mode::manual : Mode::none;
    return {};
  }

  // --- the daemon restarts: it finds the queue pairs there are
  void restart() {
    std::map<QpSerial, Qp> found;
    for (auto& [serial, qp] : qps) {
      qp.seeded = true;
      qp.told = false;
      found.emplace(QpSerial{kSeeded | ++serials_}, qp);
    }
    qps = std::move(found);
    released_ = {};
  }

  // --- netlink, as the daemon has it. This must outlive the line.
  std::unique_ptr<DeviceNetlink> line() { return std::make_unique<Line>(*this); }
  std::map<std::string, int> failing;          // errno by call: "counter_mode", "counter_sets", "bind_new", "bind", "unbind", "port_counters"
  std::map<std::string, int> asked;            // by the same
  std::function<void(const char*)> before;     // a call: what happens meanwhile
  std::optional<std::size_t> dump_breaks_off;  // after so many sets

  std::uint64_t total(PortNum number, std::size_t counter = 0) {
    std::uint64_t out = ports[number].own[counter] + ports[number].history[counter];
    for (const auto& [id, set] : sets) {
      if (set.port == number) out += set.values[counter];
    }
    return out;
  }

  // --- QpDirectory
  void catch_up() override {}
  bool events_on() const override { return with_events; }
  bool all_known() const override { return known; }
  std::vector<CountableQp> take_countable(const std::string&, std::size_t most) override {
    std::vector<CountableQp> out;
    for (auto& [serial, qp] : qps) {
      if (out.size() == most) break;
      if (qp.told || qp.port.value == 0 || !qp.who) continue;
      qp.told = true;
      out.push_back(describe(serial, qp));
    }
    return out;
  }
  void retell(const std::string&) override {
    for (auto& [serial, qp] : qps) qp.told = false;
  }
  std::optional<CountableQp> find(const std::string&, QpKey key) override {
    const auto found = qps.find(key.serial);
    return found == qps.end() || found->second.port.value == 0 ? std::nullopt : std::optional(describe(found->first, found->second));
  }
  std::optional<CountableQp> holder(const std::string&, PortNum port, Qpn qpn) override {
    for (const auto& [serial, qp] : qps) {
      if (qp.port == port && qp.qpn == qpn) return describe(serial, qp);
    }
    return std::nullopt;
  }
  std::size_t countable(const std::string&, PortNum port) override {
    return static_cast<std::size_t>(std::ranges::count_if(qps, [&](const auto& entry) { return entry.second.port == port; }));
  }
  Released take_released(const std::string&) override { return std::exchange(released_, {}); }
  void on_news(const std::string&, std::function<void()>) override {}

  // --- the state of things
  std::map<QpSerial, Qp> qps;
  std::map<std::uint32_t, Set> sets;
  std::map<PortNum, Port> ports{{PortNum{1}, {}}, {PortNum{2}, {}}};
  std::size_t most_sets = 255;
  bool supported = true;  // by the driver; else as rxe: no new set, ENOMEM
  bool with_events = true, known = true;
  bool lose_releases = false;

  const Qp& qp(QpSerial serial) const { return qps.at(serial); }
  // Whom a queue pair shares its set with, itself among them; empty: it is in none.
  std::vector<QpSerial> together_with(QpSerial serial) const {
    std::vector<QpSerial> out;
    for (const auto& [other, one] : qps) {
      if (one.set && one.set == qps.at(serial).set) out.push_back(other);
    }
    return out;
  }

 private:
  static constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;

  class Line : public DeviceNetlink {
   public:
    explicit Line(FakeCounterKernel& kernel) : kernel_(kernel) {}
    Result<NlPort> port(PortNum number) override { return NlPort{.number = number, .state = 4, .phys_state = 5, .lid = {}, .netdev = {}}; }
    Result<NlCounters> port_counters(PortNum number) override {
      return ask<NlCounters>("port_counters", [&]() -> Result<NlCounters> {
        NlCounters out;
        for (std::size_t i = 0; i < kNames.size(); ++i) out.emplace_back(kNames[i], kernel_.total(number, i));
        return out;
      });
    }
    Result<NlCounterMode> counter_mode(PortNum number) override {
      return ask<NlCounterMode>("counter_mode", [&]() -> Result<NlCounterMode> { return NlCounterMode{kernel_.ports[number].mode, 0}; });
    }
    Result<NlCounterSets> counter_sets(PortNum number) override {
      return ask<NlCounterSets>("counter_sets", [&]() -> Result<NlCounterSets> {
        NlCounterSets out;
        for (const auto& [id, set] : kernel_.sets) {
          if (set.port != number) continue;
          if (out.rows.size() == kernel_.dump_breaks_off) {
            out.trouble = io_error("counter sets", EMSGSIZE);
            break;
          }
          NlCounterSet row{.id = {id}, .port = number, .mode = set.mode, .type = {}, .tid = set.tid, .members = {}, .counters = {}};
          for (const auto& [serial, qp] : kernel_.qps) {
            if (qp.set == id) row.members.push_back(qp.qpn);
          }
          for (std::size_t i = 0; i < kNames.size(); ++i) row.counters.emplace_back(kNames[i], set.values[i]);
          out.rows.push_back(std::move(row));
        }
        return out;
      });
    }
    Result<CounterSetId> bind_to_new_set(PortNum number, Qpn qpn) override {
      return ask<CounterSetId>("bind_new", [&]() -> Result<CounterSetId> {
        const auto id = kernel_.bind_new(number, qpn);
        if (!id) return std::unexpected(id.error());
        return CounterSetId{*id};
      });
    }
    Result<> bind_to_set(PortNum number, Qpn qpn, CounterSetId id) override {
      return ask<void>("bind", [&] { return kernel_.bind(number, qpn, id.value); });
    }
    Result<> unbind(PortNum number, Qpn qpn, CounterSetId id) override {
      return ask<void>("unbind", [&] { return kernel_.unbind(number, qpn, id.value); });
    }

   private:
    template <class Value, class Answer>
    Result<Value> ask(const char* call, Answer answer) {
      ++kernel_.asked[call];
      // Once: what happens meanwhile may call, too.
      if (const auto before = kernel_.before) before(call);
      if (const auto found = kernel_.failing.find(call); found != kernel_.failing.end()) return error(found->second);
      return answer();
    }
    FakeCounterKernel& kernel_;
  };

  static std::unexpected<Error> error(int sys_errno) { return std::unexpected(io_error("RDMA netlink", sys_errno)); }
  static CountableQp describe(QpSerial serial, const Qp& qp) {
    return {.key = {kIndex, serial}, .port = qp.port, .qpn = qp.qpn, .kernel = qp.kernel, .seeded = qp.seeded, .who = qp.who};
  }
  Qp* by_number(Qpn qpn) {
    const auto found = std::ranges::find_if(qps, [&](const auto& entry) { return entry.second.qpn == qpn; });
    return found == qps.end() ? nullptr : &found->second;
  }
  std::uint32_t make_set(PortNum port, bool kernel, Mode mode, Pid tid) {
    std::uint32_t id = 1;
    while (sets.contains(id)) ++id;
    sets[id] = {.port = port, .kernel = kernel, .mode = mode, .tid = tid};
    return id;
  }
  void join(Qp& qp, std::uint32_t id) {
    qp.set = id;
    ++sets.at(id).members;
  }
  void leave_set(Qp& qp) {
    if (!qp.set) return;
    const std::uint32_t id = *std::exchange(qp.set, std::nullopt);
    Set& set = sets.at(id);
    if (--set.members > 0) return;
    Port& port = ports[set.port];
    for (std::size_t i = 0; i < kNames.size(); ++i) port.history[i] += set.values[i];
    if (lose_releases) {
      released_.lost = true;
    } else {
      released_.events.push_back({.at = now_(), .device = kIndex, .port = set.port, .counter_id = id, .values = {set.values[0], set.values[1], set.values[2]}, .truncated = false});
    }
    const PortNum number = set.port;
    sets.erase(id);
    const bool in_use = std::ranges::any_of(sets, [&](const auto& entry) { return entry.second.port == number; });
    if (!in_use && port.mode == Mode::manual) port.mode = Mode::none;
  }

  FakeClock& clock_;
  ClockFn now_;
  std::uint64_t serials_ = 0;
  Released released_;
};

}  // namespace qpscope::test
