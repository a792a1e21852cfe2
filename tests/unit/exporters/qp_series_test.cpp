// SPDX-License-Identifier: Apache-2.0
#include "exporters/qp_series.h"

#include <catch2/catch.hpp>
#include <set>

#include "support/fake_clock.h"
#include "support/qp_events.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

QpRecord record(std::uint64_t serial, QpState state = QpState::rts) {
  return {.key = {kDev, {serial}},
          .qpn = {static_cast<std::uint32_t>(serial)},
          .type = QpType::rc,
          .state = state,
          .port = {1},
          .generation = is_seeded({serial}) ? 0 : serial,
          .owner = owner_of_thread(42),
          .created = BootTime{serial},
          .changed = {2 * kSecond}};
}
std::vector<QpRecord> records(std::uint64_t first, std::uint64_t count) {
  std::vector<QpRecord> out;
  for (std::uint64_t serial = first; serial < first + count; ++serial) out.push_back(record(serial));
  return out;
}

std::set<std::uint64_t> serials(QpSlots& slots, const std::vector<QpRecord>& all, double at_second) {
  std::set<std::uint64_t> out;
  for (const std::size_t i : slots.choose(all, {static_cast<std::uint64_t>(at_second * 1e9)}))
    CHECK(out.insert(all.at(i).key.serial.value).second);
  return out;
}
std::size_t common(const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
  std::size_t out = 0;
  for (const auto one : a) out += b.count(one);
  return out;
}

Snapshot snapshot_of(std::vector<QpRecord> all) {
  Snapshot snapshot;
  snapshot.queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(all));
  snapshot.tenants =
      std::make_shared<const std::vector<Tenant>>(std::vector<Tenant>{{"unknown", "unknown"}, {"other", "other"}, {"ml", "train"}});
  snapshot.devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::map<DeviceIndex, std::string>{{kDev, "mlx5_0"}});
  return snapshot;
}

}  // namespace

TEST_CASE("free slots: those in ERR first, then the longest-lived", "[exporters.qp_series]") {
  QpSlots slots(3);
  auto all = records(1, 6);
  all[5].state = QpState::err;
  CHECK(serials(slots, all, 10) == std::set<std::uint64_t>{1, 2, 6});
  QpSlots others(2);
  all[3].created.reset();  // older than the daemon
  CHECK(serials(others, all, 10) == std::set<std::uint64_t>{4, 6});
}

TEST_CASE("a held slot stays while its queue pair lives", "[exporters.qp_series]") {
  QpSlots slots(3);
  CHECK(serials(slots, records(10, 3), 10) == std::set<std::uint64_t>{10, 11, 12});
  auto more = records(1, 12);  // all older, all healthy
  CHECK(serials(slots, more, 2000) == std::set<std::uint64_t>{10, 11, 12});
}

TEST_CASE("a queue pair in ERR takes a slot that was held for 15 minutes, from a healthy one", "[exporters.qp_series]") {
  QpSlots slots(2);
  auto all = records(1, 3);
  CHECK(serials(slots, all, 10) == std::set<std::uint64_t>{1, 2});
  all[2].state = QpState::err;
  CHECK(serials(slots, all, 900) == std::set<std::uint64_t>{1, 2});
  all[0].state = QpState::err;
  CHECK(serials(slots, all, 911) == std::set<std::uint64_t>{1, 3});
}

TEST_CASE("those whose own counters moved come after those in ERR, and before the longest-lived", "[exporters.qp_series]") {
  auto all = records(1, 6);
  all[5].state = QpState::err;
  const OwnCountersMoved moved = [](const QpRecord& qp) { return qp.key.serial.value == 4 || qp.key.serial.value == 5; };
  const auto chosen = [&](QpSlots& slots, double at, const OwnCountersMoved& who = {}) {
    std::set<std::uint64_t> out;
    for (const std::size_t i : slots.choose(all, {static_cast<std::uint64_t>(at * 1e9)}, who)) out.insert(all.at(i).key.serial.value);
    return out;
  };
  QpSlots fresh(4);
  CHECK(chosen(fresh, 10, moved) == std::set<std::uint64_t>{1, 4, 5, 6});
  QpSlots held(3);
  CHECK(chosen(held, 10) == std::set<std::uint64_t>{1, 2, 6});
  CHECK(chosen(held, 900, moved) == std::set<std::uint64_t>{1, 2, 6});  // 15 minutes are not over
  CHECK(chosen(held, 911, moved) == std::set<std::uint64_t>{4, 5, 6});  // never from one in ERR
  all[0].state = all[1].state = QpState::err;
  CHECK(chosen(held, 1800, moved) == std::set<std::uint64_t>{4, 5, 6});
  CHECK(chosen(held, 1820, moved) == std::set<std::uint64_t>{1, 2, 6});  // ERR goes before
  CHECK(chosen(held, 9999, moved) == std::set<std::uint64_t>{1, 2, 6});
}

TEST_CASE("at most 20 new ones a minute once the slots are taken", "[exporters.qp_series]") {
  QpSlots slots(100);
  const auto before = serials(slots, records(1, 100), 0);
  CHECK(before.size() == 100);
  const auto second_job = records(1000, 100);  // the first one ended
  const auto now = serials(slots, second_job, 10);
  CHECK(now.size() == 20);
  CHECK(serials(slots, second_job, 11) == now);
  CHECK(serials(slots, second_job, 40) == now);
  CHECK(serials(slots, second_job, 71).size() == 40);
  std::set<std::uint64_t> last;
  for (int minute = 2; minute <= 6; ++minute) last = serials(slots, second_job, 11 + minute * 61);
  CHECK(last.size() == 100);
}

TEST_CASE("a dead queue pair's slot is free at once", "[exporters.qp_series]") {
  QpSlots slots(3);
  auto all = records(1, 4);
  CHECK(serials(slots, all, 10) == std::set<std::uint64_t>{1, 2, 3});
  all.erase(all.begin() + 1);
  CHECK(serials(slots, all, 11) == std::set<std::uint64_t>{1, 3, 4});
  CHECK(serials(slots, {}, 12).empty());
}

TEST_CASE("steady under churn of the others", "[exporters.qp_series]") {
  QpSlots slots(50);
  auto all = records(1, 50);
  const auto before = serials(slots, all, 0);
  for (std::uint64_t round = 1; round <= 60; ++round) {
    auto now = all;
    const auto churn = records(1000 * round, 200);
    now.insert(now.end(), churn.begin(), churn.end());
    REQUIRE(common(before, serials(slots, now, static_cast<double>(round))) == 50);
  }
}

TEST_CASE("no slots, no series", "[exporters.qp_series]") {
  QpSlots slots(0);
  auto all = records(1, 3);
  all[0].state = QpState::err;
  CHECK(serials(slots, all, 10).empty());
}

TEST_CASE("the labels of a queue pair and its peer", "[exporters.qp_series]") {
  QpRecord qp = record(7);
  qp.tenant = 2;
  qp.remote_qpn = Qpn{99};
  qp.remote_gid = parse_gid("fe80:0000:0000:0000:0e42:a1ff:fe00:0001");
  qp.traffic_class = 104;
  qp.path_mtu = 4096;
  const Snapshot snapshot = snapshot_of({qp});
  const auto plain = qp_family(QpFamily::info, snapshot, nullptr, QpDetail::plain, 0);
  REQUIRE(plain->size() == 1);
  CHECK(plain->at(0).labels == Labels{"mlx5_0", "1", "7", "7", "RC", "ml", "train", "",
                                                        "fe80:0000:0000:0000:0e42:a1ff:fe00:0001", "", "99", "104", "4096"});
  CHECK(plain->at(0).labels.size() == plain->at(0).def->labels.count);
  const auto process = qp_family(QpFamily::info, snapshot, nullptr, QpDetail::with_process, 0);
  CHECK(process->at(0).labels.size() == 15);
  CHECK(process->at(0).labels[13] == "42");
  CHECK(process->at(0).labels[14] == "job");
  CHECK(process->at(0).def->labels.names[13] == "pid");
}

TEST_CASE("what is not known is empty or absent", "[exporters.qp_series]") {
  QpRecord qp = record(kSeeded | 3);
  qp.state.reset();
  qp.port = {};
  qp.owner.reset();
  const Snapshot snapshot = snapshot_of({qp});
  CHECK(qp_family(QpFamily::state, snapshot, nullptr, QpDetail::plain, 0)->empty());
  const auto info = qp_family(QpFamily::info, snapshot, nullptr, QpDetail::with_process, 0)->at(0).labels;
  CHECK(info[1].empty());
  CHECK(info[3] == "0");
  CHECK(info[5] == "unknown");
  CHECK(info[13].empty());
  CHECK(info[14].empty());
  Snapshot nothing;
  CHECK(qp_family(QpFamily::info, nothing, nullptr, QpDetail::plain, 0)->empty());
}

TEST_CASE("state and time of the chosen ones only", "[exporters.qp_series]") {
  const Snapshot snapshot = snapshot_of({record(1), record(2, QpState::err)});
  const std::vector<std::size_t> chosen{1};
  const auto state = qp_family(QpFamily::state, snapshot, &chosen, QpDetail::plain, 0);
  REQUIRE(state->size() == 1);
  CHECK(state->at(0).labels == Labels{"mlx5_0", "1", "2", "2"});
  CHECK(std::get<double>(state->at(0).value) == 6);
  const auto change = qp_family(QpFamily::state_change, snapshot, &chosen, QpDetail::plain, 1000);
  CHECK(std::get<double>(change->at(0).value) == Approx(1002));
}

namespace {

std::string whole(QpPage page, std::size_t* largest = nullptr) {
  std::string out;
  for (std::string piece; !(piece = page.next()).empty();) {
    out += piece;
    if (largest) *largest = std::max(*largest, piece.size());
  }
  return out;
}
std::size_t count(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}
std::shared_ptr<const Snapshot> shared(std::vector<QpRecord> all) { return std::make_shared<const Snapshot>(snapshot_of(std::move(all))); }

}  // namespace

TEST_CASE("the page of all queue pairs comes by the piece, with one head for each family", "[exporters.qp_series]") {
  std::size_t largest = 0;
  const std::string text = whole(QpPage(shared(records(1, 10'000)), 0), &largest);
  CHECK(largest < 256 << 10);
  CHECK(count(text, "# HELP qpscope_qp_info ") == 1);
  CHECK(count(text, "# TYPE qpscope_qp_state gauge") == 1);
  CHECK(count(text, "\nqpscope_qp_info{") == 10'000);
  CHECK(count(text, "\nqpscope_qp_state{") == 10'000);
  CHECK(count(text, "\nqpscope_qp_state_change_timestamp_seconds{") == 10'000);
  CHECK(count(text, ",pid=\"42\",comm=\"job\"}") == 10'000);
  CHECK(count(text, "qpscope_queue_pairs_omitted") == 0);
}

TEST_CASE("more than the page holds: those in ERR are on it, and it says how many are not", "[exporters.qp_series]") {
  auto all = records(1, QpPage::kMost + 100);
  all.back().state = QpState::err;
  const std::string text = whole(QpPage(shared(std::move(all)), 0));
  CHECK(count(text, "\nqpscope_qp_info{") == QpPage::kMost);
  CHECK(count(text, "qpn=\"20100\"") == 3);
  CHECK(count(text, "qpn=\"20099\"") == 0);
  CHECK(text.ends_with("\nqpscope_queue_pairs_omitted 100\n"));
}

TEST_CASE("no queue pairs, no heads; hostile names are made safe; what reads alike is there once", "[exporters.qp_series]") {
  CHECK(count(whole(QpPage(shared({}), 0)), "qpscope_qp_") == 0);
  CHECK(count(whole(QpPage(std::make_shared<const Snapshot>(), 0)), "qpscope_qp_") == 0);
  auto all = records(kSeeded | 1, 2);
  Owner owner = *all[0].owner;
  owner.comm = "a\nb\xff";
  all[0].owner = std::make_shared<const Owner>(owner);
  all[1].qpn = all[0].qpn;
  const std::string text = whole(QpPage(shared(all), 0));
  CHECK(count(text, "\nqpscope_qp_info{") == 1);
  CHECK(count(text, "comm=\"a\\\\x0Ab\\\\xFF\"") + count(text, "comm=\"a\\\\x0ab\\\\xff\"") == 1);
}
