// SPDX-License-Identifier: Apache-2.0
#include "set_binder.h"

#include <catch2/catch.hpp>
#include <set>

#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

constexpr PortNum kPort{1};
const TenantKey kA{"a", "1"}, kB{"b", "1"};

// The kernel's side and what is known of it, which may lag behind. On the kernel a number has one holder; a set, members by number.
struct Kernel : QpDirectory {
  std::map<std::uint32_t, QpKey> holders;  // of all numbers
  std::map<QpKey, std::uint32_t> in;       // the set of a queue pair
  std::map<QpKey, CountableQp> known;      // countable, as the directory says
  std::function<void()> before_bind, on_catch_up;

  void create(const CountableQp& qp) { holders[qp.qpn.value] = qp.key; }
  void destroy(const CountableQp& qp) {
    in.erase(qp.key);
    if (holders[qp.qpn.value] == qp.key) holders.erase(qp.qpn.value);
  }
  std::size_t members(std::uint32_t set) const {
    return static_cast<std::size_t>(std::ranges::count(in, set, [](const auto& entry) { return entry.second; }));
  }

  void catch_up() override {
    if (on_catch_up) on_catch_up();
  }
  bool events_on() const override { return true; }
  bool all_known() const override { return true; }
  std::vector<CountableQp> take_countable(const std::string&, std::size_t) override { return {}; }
  void retell(const std::string&) override {}
  std::optional<CountableQp> find(const std::string&, QpKey key) override {
    return known.contains(key) ? std::optional(known.at(key)) : std::nullopt;
  }
  std::optional<CountableQp> holder(const std::string&, PortNum, Qpn qpn) override {
    for (const auto& [key, qp] : known) {
      if (qp.qpn == qpn) return qp;
    }
    return std::nullopt;
  }
  std::size_t countable(const std::string&, PortNum) override { return known.size(); }
  Released take_released(const std::string&) override { return {}; }
  void on_news(const std::string&, std::function<void()>) override {}

  class Line : public DeviceNetlink {
   public:
    explicit Line(Kernel& kernel) : kernel_(kernel) {}
    Result<NlPort> port(PortNum) override { return NlPort{}; }
    Result<NlCounters> port_counters(PortNum) override { return NlCounters{}; }
    Result<NlCounterMode> counter_mode(PortNum) override { return NlCounterMode{}; }
    Result<NlCounterSets> counter_sets(PortNum) override { return NlCounterSets{}; }
    Result<CounterSetId> bind_to_new_set(PortNum port, Qpn qpn) override {
      if (const auto done = bind_to_set(port, qpn, {next_}); !done) return std::unexpected(done.error());
      return CounterSetId{next_++};
    }
    Result<> bind_to_set(PortNum, Qpn qpn, CounterSetId id) override {
      if (kernel_.before_bind) std::exchange(kernel_.before_bind, {})();
      const auto holder = kernel_.holders.find(qpn.value);
      if (holder == kernel_.holders.end()) return std::unexpected(io_error("bind", ENOENT));
      if (!kernel_.in.emplace(holder->second, id.value).second) return std::unexpected(io_error("bind", EINVAL));
      return {};
    }
    Result<> unbind(PortNum, Qpn qpn, CounterSetId id) override {
      const auto holder = kernel_.holders.find(qpn.value);
      if (holder == kernel_.holders.end()) return std::unexpected(io_error("unbind", ENOENT));
      const auto in = kernel_.in.find(holder->second);
      if (in == kernel_.in.end() || in->second != id.value) return std::unexpected(io_error("unbind", EINVAL));
      kernel_.in.erase(in);
      return {};
    }

   private:
    Kernel& kernel_;
    std::uint32_t next_ = 1;
  };
};

CountableQp qp(std::uint64_t serial, std::uint32_t qpn, std::optional<TenantKey> who) {
  return {.key = {{0}, {serial}}, .port = kPort, .qpn = {qpn}, .who = std::move(who)};
}

struct Fixture {
  Site site;
  Kernel kernel;
  Host host{.root = site.host.root,
            .live = true,
            .netlink = [this](const std::string&) { return std::make_unique<Kernel::Line>(kernel); },
            .queue_pairs = &kernel};
  CounterLedger ledger;
  CommandBudget budget{1000, true};
  SetBinder::Books books{ledger, budget};
  SetBinder binder{host, "mlx5_0", site.clock.fn()};
  const CountableQp first = qp(1, 100, kA);

  Fixture() {
    ledger.sets().manage(kPort);
    kernel.create(first);
    kernel.known[first.key] = first;
  }
  // Between what is known and the call, the number goes to another queue pair.
  void hand_over(const CountableQp& next) {
    kernel.before_bind = [this, next] {
      kernel.destroy(first);
      kernel.create(next);
    };
    kernel.on_catch_up = [this] { kernel.known.erase(first.key); };
  }
};

}  // namespace

TEST_CASE("what was bound and is still what it was stays", "[daemon.set_binder]") {
  Fixture f;
  REQUIRE(f.binder.bind_new(f.books, f.first, kA, false));
  f.binder.verify(f.books);
  CHECK(f.kernel.members(1) == 1);
  CHECK(f.binder.strangers() == 0);
}

TEST_CASE("a number that went to another while it was bound is unbound, whether or not the other is known", "[daemon.set_binder]") {
  const bool known = GENERATE(true, false);
  Fixture f;
  const CountableQp next = qp(2, 100, kB);
  f.hand_over(next);
  REQUIRE(f.binder.bind_new(f.books, f.first, kA, false));
  REQUIRE(f.kernel.in.contains(next.key));
  if (known) f.kernel.known[next.key] = next;
  f.binder.verify(f.books);
  CHECK(f.kernel.members(1) == 0);
  CHECK(f.binder.strangers() == 1);
}

TEST_CASE("one that died as it was bound is no stranger, and its number's next holder stays where it was put", "[daemon.set_binder]") {
  Fixture f;
  REQUIRE(f.binder.bind_new(f.books, f.first, kA, false));
  f.kernel.destroy(f.first);
  f.kernel.known.erase(f.first.key);
  const CountableQp next = qp(2, 100, kA);
  f.kernel.create(next);
  f.kernel.known[next.key] = next;
  REQUIRE(f.binder.bind(f.books, next, {kPort, {1}}));
  f.binder.verify(f.books);
  CHECK(f.kernel.members(1) == 1);
  CHECK(f.binder.strangers() == 0);
}

TEST_CASE("what we did not put into a set of ours leaves it at the second look", "[daemon.set_binder]") {
  Fixture f;
  REQUIRE(f.binder.bind_new(f.books, f.first, kA, false));
  const CountableQp stranger = qp(2, 200, kB);
  f.kernel.create(stranger);
  f.kernel.known[stranger.key] = stranger;
  f.kernel.in[stranger.key] = 1;
  const std::vector<SetBook::Row> rows{{.id = {1}, .members = {{100}, {200}}, .counters = {}}};
  f.ledger.sets().read(kPort, rows, true, {}, f.ledger.tenants(), [](PortNum, Qpn) { return std::nullopt; });
  f.binder.evict_strangers(f.books);
  CHECK(f.kernel.members(1) == 2);
  f.site.clock.pass(10);
  f.binder.evict_strangers(f.books);
  CHECK(f.kernel.members(1) == 1);
  CHECK(f.kernel.in.contains(f.first.key));
  CHECK(f.binder.strangers() == 1);
}

TEST_CASE("one that was there before us and is in a set of ours belongs there until its place says otherwise", "[daemon.set_binder]") {
  Fixture f;
  REQUIRE(f.binder.bind_new(f.books, f.first, kA, false));
  CountableQp old = qp(2, 200, kA);
  old.seeded = true;
  f.kernel.create(old);
  f.kernel.known[old.key] = old;
  f.kernel.in[old.key] = 1;
  f.ledger.sets().join({kPort, {1}}, {200});
  f.binder.evict_strangers(f.books);
  f.site.clock.pass(10);
  f.binder.evict_strangers(f.books);
  CHECK(f.kernel.members(1) == 2);
  CHECK(f.binder.set_of(f.ledger.sets(), old) == SetKey{kPort, {1}});
}
