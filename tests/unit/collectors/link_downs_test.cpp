// SPDX-License-Identifier: Apache-2.0
#include "collectors/link_downs.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "support/fake_host.h"

using namespace qpscope;
using namespace qpscope::test;

namespace {

struct Book {
  ReadErrors errors;
  CounterLedger ledger;
  ClockFn now = [] { return BootTime{}; };
  Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
  std::optional<LinkDowns> downs{std::in_place, "1"};

  double saw(bool active) { return downs->saw(reading, active), total(); }
  double told(std::uint64_t count, const std::string& source = "eth0") { return downs->told(reading, source, count), total(); }
  double total() { return downs->total(reading).value(); }
  void restart() {
    ledger = CounterLedger(ledger.image());
    downs.emplace("1");
  }
};

// A port on the fast clock, with or without a netdev: a pass a second.
struct Port {
  Site site;
  std::unique_ptr<DeviceSampler> sampler;

  explicit Port(const std::string& link_layer) {
    add_device(site.tree);
    put("link_layer", link_layer);
    restart({.name = "mlx5_0"});
  }
  void restart(DeviceLedger ledger) { sampler = std::make_unique<DeviceSampler>(site.host, std::move(ledger), Config{}, site.budgets, site.clock.fn()); }
  void put(const std::string& file, const std::string& text) const { site.tree.file(kDevice + "/ports/1/" + file, text + "\n"); }
  void state(bool active) const { put("state", active ? "4: ACTIVE" : "1: DOWN"); }
  void netdev(const std::string& name) const { put("gid_attrs/ndevs/0", name); }
  void carrier(const std::string& name, std::uint64_t count) const {
    site.tree.file("sys/class/net/" + name + "/carrier_down_count", std::to_string(count) + "\n");
  }
  std::optional<double> pass(double seconds = 1) {
    site.clock.pass(seconds);
    sampler->pass();
    return value(sampler->state(), "port_state", "qpscope_port_link_downs_total");
  }
};

}  // namespace

TEST_CASE("without a hardware source we count what we see", "[collectors.link_downs]") {
  Book book;
  CHECK(book.saw(false) == 0);  // never seen up
  CHECK(book.saw(true) == 0);
  CHECK(book.saw(false) == 1);
  CHECK(book.saw(false) == 1);
  CHECK(book.saw(true) == 1);
  CHECK(book.saw(false) == 2);
}

TEST_CASE("in each interval the greater of the two counts", "[collectors.link_downs]") {
  Book book;
  book.downs->saw(book.reading, true);
  CHECK(book.told(7) == 7);  // starts where the source is
  CHECK((book.saw(true), book.told(9)) == 9);    // two that we missed
  CHECK((book.saw(true), book.told(9)) == 9);
  CHECK((book.saw(false), book.told(10)) == 10);  // one that both saw
  CHECK((book.saw(true), book.told(10)) == 10);
  CHECK(book.saw(false) == 11);                   // at once, before the source is read
  CHECK((book.saw(true), book.told(10)) == 11);   // one that the source does not count
  CHECK((book.saw(true), book.told(11)) == 12);
}

TEST_CASE("a link that goes down between the two reads counts once", "[collectors.link_downs]") {
  Book book;
  book.saw(true);
  book.told(0);
  CHECK((book.saw(true), book.told(1)) == 1);   // the source is first
  CHECK((book.saw(false), book.told(1)) == 1);
  CHECK((book.saw(true), book.told(1)) == 1);
  CHECK((book.saw(false), book.told(1)) == 2);  // we are first
  CHECK((book.saw(false), book.told(2)) == 2);
  CHECK((book.saw(true), book.told(2)) == 2);
  CHECK((book.saw(true), book.told(3)) == 3);   // one that was over before we looked
  CHECK((book.saw(true), book.told(3)) == 3);
  CHECK((book.saw(false), book.told(4)) == 4);
  CHECK((book.saw(false), book.told(4)) == 4);
  CHECK((book.saw(true), book.told(6)) == 6);
}

TEST_CASE("a source that is read slowly, or sticks, does not hide what we see", "[collectors.link_downs]") {
  Book book;
  book.downs->saw(book.reading, true);
  book.told(254, "link_downed");
  for (int i = 0; i < 5; ++i) {
    book.saw(false);
    book.saw(true);
  }
  CHECK(book.total() == 259);
  CHECK(book.told(255, "link_downed") == 259);
  book.saw(false);
  book.saw(true);
  CHECK(book.told(255, "link_downed") == 260);
}

TEST_CASE("a restart forgets nothing and counts nothing twice", "[collectors.link_downs]") {
  Book book;
  book.downs->saw(book.reading, true);
  book.told(5);
  book.saw(false);
  book.restart();
  CHECK(book.total() == 6);
  CHECK((book.saw(false), book.told(6)) == 6);  // the one that we saw before
  book.restart();
  CHECK((book.saw(true), book.told(9)) == 9);   // what happened meanwhile
}

TEST_CASE("another source counts from where it is", "[collectors.link_downs]") {
  Book book;
  book.saw(true);
  CHECK(book.total() == 0);
  CHECK(book.told(50) == 0);  // late: the total has begun
  CHECK(book.told(51) == 1);
  CHECK(book.told(1000, "bond0") == 1);
  CHECK(book.told(1001, "bond0") == 2);
  CHECK(book.told(60) == 2);
  CHECK(book.told(61) == 3);
}

TEST_CASE("whatever the order, no flap counts twice and none that the source has is lost", "[collectors.link_downs]") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Book book;
    std::uint64_t truth = 0;
    bool up = true;
    double before = 0;
    book.saw(true);
    book.told(0);
    const auto flap = [&] {
      if (random() % 4) return;
      if (up) ++truth;
      up = !up;
    };
    for (int step = 0; step < 50; ++step) {
      flap();
      book.saw(up);
      flap();
      if (random() % 3) {
        book.told(truth);
        CHECK(book.total() >= before);
        CHECK(book.total() <= static_cast<double>(truth));
      }
      before = book.total();
    }
    book.saw(up);
    book.told(truth);
    CHECK(book.total() == static_cast<double>(truth));
  }
}

TEST_CASE("on Ethernet the netdev's carrier is the hardware source", "[collectors.link_downs]") {
  Port port("Ethernet");
  port.netdev("eth0");
  port.carrier("eth0", 3);
  port.put("counters/link_downed", "200");  // not the port's own
  CHECK(port.pass() == 3);
  port.carrier("eth0", 5);
  CHECK(port.pass() == 5);
  CHECK(port.pass() == 5);
  port.state(false);
  CHECK(port.pass() == 6);
  port.carrier("eth0", 6);
  CHECK(port.pass() == 6);
  port.state(true);
  CHECK(port.pass() == 6);
  port.restart(port.sampler->state().ledger);
  port.carrier("eth0", 8);
  CHECK(port.pass() == 8);
  port.carrier("eth0", 0);  // the driver was loaded again
  CHECK(port.pass() == 8);
  CHECK(port.pass() == 8);
  port.carrier("eth0", 1);
  CHECK(port.pass() == 9);
}

TEST_CASE("the carrier count wraps at 32 bits", "[collectors.link_downs]") {
  Port port("Ethernet");
  port.netdev("eth0");
  port.carrier("eth0", 4294967295);
  CHECK(port.pass() == 4294967295.0);
  port.carrier("eth0", 1);
  CHECK(port.pass() == 4294967297.0);
}

TEST_CASE("netdevs are renamed, become a bond, or are missing", "[collectors.link_downs]") {
  Port port("Ethernet");
  CHECK(port.pass() == 0);
  port.netdev("eth0");
  CHECK(port.pass(20) == 0);  // it has no such file
  port.carrier("eth0", 7);
  CHECK(port.pass(20) == 0);
  port.carrier("eth0", 8);
  CHECK(port.pass() == 1);
  port.netdev("bond0");
  port.carrier("bond0", 100);
  CHECK(port.pass(20) == 1);
  port.carrier("bond0", 101);
  CHECK(port.pass() == 2);
  std::filesystem::remove_all(port.site.tree.at("sys/class/net/bond0"));
  CHECK(port.pass(20) == 2);
  port.state(false);
  CHECK(port.pass() == 3);
  CHECK(port.sampler->state().errors.empty());  // absent is no error
}

TEST_CASE("a netdev of the same name on another device is not asked", "[collectors.link_downs]") {
  Port port("Ethernet");
  port.netdev("eth0");
  port.carrier("eth0", 7);
  port.site.tree.link(kDevice + "/device", "../../../0000:3b:00.0");
  port.site.tree.link("sys/class/net/eth0/device", "../../../0000:5e:00.0");
  CHECK(port.pass() == 0);
}

TEST_CASE("on InfiniBand link_downed is the hardware source, also when it is full", "[collectors.link_downs]") {
  Port port("InfiniBand");
  port.netdev("eth0");
  port.carrier("eth0", 100);  // not the port's link
  port.put("counters/link_downed", "253");
  CHECK(port.pass() == 253);
  port.put("counters/link_downed", "255");
  CHECK(port.pass() == 255);
  port.state(false);
  CHECK(port.pass() == 255);  // may be one of the two
  for (int i = 1; i <= 3; ++i) {
    port.state(true);
    port.pass();
    port.state(false);
    CHECK(port.pass() == 255 + i);
  }
}
