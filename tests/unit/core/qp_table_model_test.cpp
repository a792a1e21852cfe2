// SPDX-License-Identifier: Apache-2.0
// A host that makes, moves and destroys queue pairs at random, and the table that follows its events: at every moment both
// must hold the same queue pairs, and seeded + created - destroyed = present for every device and type.
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/qp_table.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

class RandomHost {
 public:
  explicit RandomHost(unsigned seed_value) : random_(seed_value) {}

  // Queue pairs older than the daemon: the first dump shows them, events know them by number until they are found.
  void seed_some() {
    table.dump_begins(kDev);
    std::vector<QpRow> rows;
    for (std::uint32_t qpn = 1; qpn <= 8; ++qpn) {
      rows.push_back(row(qpn));
      alive_.push_back({{.serial = 0, .qpn = qpn, .port = 1}, QpState::rts});
      used_.insert({kDev, qpn});
    }
    for (const QpRow& one : dump(table, ++now_, rows).unknown) seed(table, one, ++now_);
  }

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
        return make();
      case 2:
        return end();
      case 3:
        return reuse();
      case 4:
        return stray();
      default:
        return move();
    }
  }

  void check() const {
    REQUIRE(table.size() == alive_.size());
    std::map<QpTotals::Kind, std::uint64_t> present;
    std::map<DeviceIndex, std::size_t> tracked;
    for (const Alive& one : alive_) {
      const QpRecord* record =
          one.who.serial ? table.find(one.who.key()) : table.holder(one.who.device, one.who.type, {one.who.qpn}, {one.who.port});
      REQUIRE(record);
      REQUIRE(record->qpn.value == one.who.qpn);
      REQUIRE(record->type == one.who.type);
      REQUIRE(record->state == one.state);
      ++present[{one.who.device, one.who.type}];
      tracked[one.who.device] += one.who.tracked ? 1 : 0;
    }
    const QpTotals& t = table.totals();
    for (const DeviceIndex device : {kDev, kOtherDev}) {
      REQUIRE(table.tracked(device) == tracked[device]);
      for (const QpType type : {QpType::rc, QpType::ud, QpType::driver}) {
        REQUIRE(of(t.seeded, type, device) + of(t.created, type, device) - of(t.destroyed, type, device) == present[{device, type}]);
      }
    }
    REQUIRE(t.evicted == 0);
    REQUIRE(t.drift_kernel_only + t.drift_table_only == 0);
  }

  QpTable table{1000};

 private:
  struct Alive {
    Who who;
    QpState state = QpState::reset;
  };

  std::size_t any() { return random_() % alive_.size(); }
  Who fresh() {
    const DeviceIndex device = random_() % 2 ? kDev : kOtherDev;
    if (random_() % 10 == 0) return {.serial = ++serial_, .qpn = 0, .type = QpType::driver, .tracked = false, .device = device};
    std::uint32_t qpn = 0;
    do qpn = 1 + static_cast<std::uint32_t>(random_() % 400);
    while (!used_.insert({device, qpn}).second);
    return {.serial = ++serial_, .qpn = qpn, .type = random_() % 4 ? QpType::rc : QpType::ud, .device = device};
  }
  void make() {
    if (alive_.size() > 150) return end();
    const Who who = fresh();
    create(table, who, ++now_);
    if (random_() % 10 == 0) create(table, who, now_);
    alive_.push_back({who});
  }
  void end() {
    if (alive_.empty()) return;
    const std::size_t i = any();
    if (alive_[i].who.tracked) used_.erase({alive_[i].who.device, alive_[i].who.qpn});
    destroy(table, alive_[i].who, ++now_);
    if (random_() % 10 == 0 && alive_[i].who.serial) destroy(table, alive_[i].who, now_);
    dead_.push_back(alive_[i].who);
    alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // The driver gives the number away before the old destroy returns.
  void reuse() {
    if (alive_.empty()) return;
    Alive& one = alive_[any()];
    if (!one.who.tracked || one.who.serial == 0) return;
    const Who old = one.who;
    one.who.serial = ++serial_;
    one.who.type = random_() % 2 ? QpType::rc : QpType::ud;
    one.who.port = 0;
    one.state = QpState::reset;
    create(table, one.who, ++now_);
    destroy(table, old, ++now_);
    dead_.push_back(old);
  }
  void stray() {
    if (dead_.empty()) return;
    const Who& who = dead_[random_() % dead_.size()];
    if (who.serial) destroy(table, who, ++now_);
    table.apply(QpCallFailed{.at = {++now_}, .device = who.device, .call = QpCallFailed::Call::modify, .error = 22});
  }
  void move() {
    if (alive_.empty()) return;
    Alive& one = alive_[any()];
    if (one.who.serial == 0 && random_() % 2) {  // BPF sees it for the first time
      one.who.serial = ++serial_;
      found(table, one.who, ++now_);
    }
    one.who.port = 1;
    one.state = static_cast<QpState>(random_() % 7);
    modify(table, one.who, one.state, ++now_);
  }

  std::mt19937 random_;
  std::vector<Alive> alive_;
  std::vector<Who> dead_;
  std::set<std::pair<DeviceIndex, std::uint32_t>> used_;
  std::uint64_t serial_ = 0, now_ = 0;
};

}  // namespace

TEST_CASE("the table follows a random host", "[core.qp_table_model]") {
  for (unsigned seed_value = 1; seed_value <= 5; ++seed_value) {
    INFO("seed " << seed_value);
    RandomHost host(seed_value);
    host.seed_some();
    for (int i = 0; i < 4000; ++i) {
      host.step();
      if (i % 20 == 0) host.check();
    }
    host.check();
  }
}

TEST_CASE("any events in any order leave the totals and the table consistent", "[core.qp_table_model]") {
  std::mt19937 random(7);
  QpTable table(40);
  for (std::uint64_t now = 1; now < 30000; ++now) {
    const Who who{.serial = random() % 60,
                  .qpn = static_cast<std::uint32_t>(random() % 25),
                  .type = random() % 2 ? QpType::rc : QpType::gsi,
                  .port = static_cast<std::uint32_t>(random() % 3),
                  .tracked = random() % 5 != 0,
                  .device = random() % 2 ? kDev : kOtherDev};
    const auto tenant = static_cast<TenantId>(random() % 4);
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
        create(table, who, now, tenant);
        break;
      case 3:
        found(table, who, now);
        break;
      case 4:
      case 5:
      case 6:
        modify(table, who, static_cast<QpState>(random() % 7), now);
        break;
      case 7:
      case 8:
        destroy(table, who, now);
        break;
      case 9:
        table.attribute(who.key(), owner_of_thread(1), tenant);
        break;
      case 10: {
        table.dump_begins(kDev);
        destroy(table, who, now);
        const auto verdict = dump(table, now, {row(who.qpn), row(static_cast<std::uint32_t>(random() % 25), QpState::err)}, random() % 2);
        for (const QpRow& one : verdict.unknown) seed(table, one, now, random() % 2 ? QpTable::Why::seed : QpTable::Why::drift);
        for (const QpRecord& one : verdict.unseen) {
          if (random() % 4 == 0) table.remove_vanished(one.key, QpTable::Why::drift);
        }
        break;
      }
      default:
        if (random() % 200 == 0) table.drop_device(who.device);
        if (random() % 200 == 0) table.drop_bpf();
        if (random() % 200 == 0) table.forget_serials();
    }
    REQUIRE(table.size() <= 40);
    const QpTotals& t = table.totals();
    const std::uint64_t balance = sum(t.seeded) + sum(t.created) - sum(t.destroyed);
    REQUIRE(balance >= table.size());
    REQUIRE(balance <= table.size() + t.evicted);
    for (const auto* counts : {&t.seeded, &t.created, &t.destroyed}) {
      for (const auto& [kind, count] : *counts) REQUIRE(count < 1'000'000);  // never below zero
    }
    if (now % 50 != 0) continue;
    std::map<DeviceIndex, std::size_t> tracked;
    for (const QpRecord& record : table.all()) {
      REQUIRE(table.find(record.key));
      if (record.tracked) {
        ++tracked[record.key.device];
        REQUIRE(table.holder(record.key.device, record.type, record.qpn, record.port)->key == record.key);
      }
    }
    for (const DeviceIndex device : {kDev, kOtherDev}) REQUIRE(table.tracked(device) == tracked[device]);
  }
}
