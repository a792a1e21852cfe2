// SPDX-License-Identifier: Apache-2.0
// Random lives of queue pairs, tenants, other tools and daemons against the model's truth.
#include <catch2/catch.hpp>
#include <deque>
#include <random>

#include "support/counter_machine.h"

using namespace qpscope;
using namespace qpscope::test;
using Mode = NlCounterMode::Kind;

namespace {

constexpr PortNum kPort = CounterMachine::kPort;

struct Play {
  std::mt19937 random;
  CounterMachine m;
  std::map<TenantKey, std::uint64_t> truth;   // by tenant at the time
  std::map<QpSerial, std::uint32_t> foreign;  // bound by another tool, and where
  std::deque<LedgerImage> images;             // of the last rounds
  bool exact = true;                          // nothing was missed, and all sets are ours
  bool stale = false;                         // a run began with what was known some rounds before the end of the last

  explicit Play(unsigned seed) : random(seed) {
    m.config.max_sets = 1 + pick(6);
    m.config.qp_focus = pick(2);
    m.kernel.most_sets = pick(3) == 0 ? 1 + pick(4) : 255;
    m.start();
  }
  std::uint32_t pick(std::size_t n) { return static_cast<std::uint32_t>(random() % n); }
  TenantKey any_tenant() { return {"t" + std::to_string(pick(6)), "w"}; }
  bool is_kernels(const TenantKey& who) { return who.tenant == "t5"; }
  std::optional<QpSerial> any() {
    if (m.kernel.qps.empty()) return std::nullopt;
    return std::next(m.kernel.qps.begin(), pick(m.kernel.qps.size()))->first;
  }

  void create() {
    if (m.kernel.qps.size() > 30) return;
    const TenantKey who = any_tenant();
    const QpSerial qp = m.kernel.create(who, is_kernels(who), 100 + pick(20));
    if (pick(4) != 0) m.kernel.init(qp);
  }
  void destroy(QpSerial qp) {
    foreign.erase(qp);
    m.kernel.destroy(qp);
  }
  void traffic() {
    for (int i = 0; i < 4; ++i) {
      const auto qp = any();
      if (!qp || m.kernel.qp(*qp).port.value == 0) continue;
      const std::uint64_t events = pick(3) == 0 ? pick(50'000'000) : pick(1000);
      m.kernel.count(*qp, events);
      truth[*m.kernel.qp(*qp).who] += events;
    }
  }
  // While the daemon binds, the number goes to another.
  void race() {
    m.kernel.before = [this](const char* call) {
      if (!std::string(call).starts_with("bind") || pick(3) != 0) return;
      m.kernel.before = {};
      const auto qp = any();
      if (!qp) return;
      const std::uint32_t number = m.kernel.qp(*qp).qpn.value;
      destroy(*qp);
      const TenantKey who = any_tenant();
      const QpSerial next = m.kernel.create(who, is_kernels(who), number);
      if (pick(2) == 0) m.kernel.init(next);
    };
  }
  void other_tool() {
    exact = false;
    const auto qp = any();
    if (!qp || m.kernel.qp(*qp).port != kPort || m.kernel.qp(*qp).set) return;
    if (const auto id = m.kernel.bind_new(kPort, m.kernel.qp(*qp).qpn)) foreign[*qp] = *id;
  }
  void restart() {
    const std::size_t age = pick(images.size() + 1);
    m.read();
    const LedgerImage image = age == images.size() ? m.ledger.image() : images[age];
    if (age != images.size()) {
      exact = false;
      stale = true;
    }
    // Another tool's set that the state file does not know of would be taken for ours.
    for (const auto& [qp, id] : foreign) {
      if (!image.sets.foreign.contains({kPort, {id}})) return;
    }
    std::map<QpSerial, std::uint32_t> kept;
    const auto before = m.kernel.qps;
    m.kernel.restart();
    for (const auto& [qp, id] : foreign) {
      for (const auto& [serial, now] : m.kernel.qps) {
        if (now.qpn == before.at(qp).qpn) kept[serial] = id;
      }
    }
    foreign = std::move(kept);
    images.clear();
    m.start(image);
    m.pass();  // who a queue pair is now is who it was
  }

  void step() {
    switch (pick(12)) {
      case 0:
      case 1: create(); break;
      case 2:
        if (const auto qp = any()) destroy(*qp);
        break;
      case 3:
        if (const auto qp = any(); qp && m.kernel.qp(*qp).port.value == 0) m.kernel.init(*qp);
        break;
      case 4:
        if (const auto qp = any(); qp && !m.kernel.qp(*qp).kernel && !foreign.contains(*qp) && pick(2) == 0) {
          m.kernel.belongs_to(*qp, {"t" + std::to_string(pick(5)), "w"});
          // It is told before more comes.
          if (m.kernel.qp(*qp).port.value != 0) m.act();
        }
        break;
      case 5: race(); break;
      case 6:
        if (const auto qp = any()) (void)m.sets->focus_on(m.kernel.qp(*qp).qpn, 1 + pick(20));
        break;
      case 7: m.act(); break;
      default: traffic();
    }
    if (pick(2) == 0) {
      m.pass(pick(10) == 0 ? 12 : 1);
      images.push_back(m.ledger.image());
      if (images.size() > 4) images.pop_front();
    }
  }
  void quiet_point() {
    m.kernel.before = {};
    m.passes(14);  // more than the totals of the port wait for
    if (m.value("qpscope_counter_sets_last_word_missed_total", {"mlx5_0"}, m.samples) > 0) exact = false;
    const std::uint64_t rest = m.unattributed().value_or(0);
    CHECK(m.all_credited() + rest == m.port_total());
    if (exact) CHECK(rest == m.kernel.ports[kPort].uncounted[0]);
    std::uint64_t all = 0;
    for (const auto& [who, events] : truth) {
      all += events;
      if (!stale) CHECK(m.credited(who) <= events);
    }
    CHECK(m.port_total() == all);
    for (const auto& [qp, id] : foreign) CHECK(m.kernel.qp(qp).set == id);
  }
  void end() {
    int rounds = 0;
    while (!m.give_back() && ++rounds < 50) m.clock.pass(1);
    CHECK(rounds < 50);
    for (const auto& [serial, qp] : m.kernel.qps) {
      if (!foreign.contains(serial)) CHECK_FALSE(qp.set);
    }
    if (foreign.empty()) CHECK(m.kernel.ports[kPort].mode == Mode::none);
    CHECK(m.ledger.image().sets.managed.empty());
  }
};

}  // namespace

TEST_CASE("whatever happens, the port is divided among tenants and nobody, and everything is given back", "[daemon.counter_sets_model]") {
  int exact = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Play play(seed);
    play.m.settle();
    const bool tools = play.pick(4) == 0, restarts = play.pick(2) == 0;
    for (int i = 0; i < 200; ++i) {
      play.step();
      if (tools && play.pick(20) == 0) play.other_tool();
      if (restarts && play.pick(40) == 0) play.restart();
      if (play.pick(60) == 0) play.quiet_point();
    }
    play.quiet_point();
    exact += play.exact ? 1 : 0;
    play.end();
  }
  CHECK(exact > 10);  // else it would say little
}
