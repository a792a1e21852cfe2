// SPDX-License-Identifier: Apache-2.0
#include "core/state_image.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <random>

using namespace qpscope;

namespace {

std::shared_ptr<const LedgerImage> image(std::uint64_t last, std::string name = "out_of_sequence") {
  LedgerImage out;
  out.counters.push_back({std::make_shared<CounterKey>("1", "hw_counters", std::move(name)), {.total = last, .last = last}, {123}});
  out.ports["1"] = {.resets = 2, .gaps = 3};
  return std::make_shared<const LedgerImage>(std::move(out));
}

StateImage full() {
  StateImage state{.boot_id = "7c3a9d5e-0000-4000-8000-123456789abc", .own = nullptr, .devices = {}};
  state.devices.push_back({.name = "mlx5_0", .guid = "0c42:a103:0065:1a2b", .image = image(5)});
  LedgerImage odd;
  for (const char* name : {"", "-", "a b", "a_b", "a,b", "a%20b", "\"\\\n", "\xff\xc3\xa4"}) {
    constexpr std::uint64_t kGreatest = ~std::uint64_t{0};
    odd.counters.push_back({std::make_shared<CounterKey>("", "hw_counters", name), {.total = static_cast<unsigned __int128>(kGreatest) * 5, .last = kGreatest}, {kGreatest}});
  }
  odd.ports[""] = {};
  odd.observed[{"1", "link downs"}] = ~std::uint64_t{0};
  odd.observed[{"", "-"}] = 0;
  const double bounds[] = {-0.5, 0.1, 1e300};
  Histogram& histogram = odd.histograms[{"2", "rx"}] = Histogram(bounds);
  for (const double value : {-1.0, 0.1, 0.2, 1e308}) histogram.add(value);
  odd.histograms[{"2", ""}] = Histogram(std::span<const double>());
  odd.tenants.accounts.push_back({"1", {"a b", "-"}, CreditMethod::set, {7}, {{{"hw_counters", "packet seq"}, ~std::uint64_t{0}}, {{"", ""}, 0}}});
  odd.tenants.accounts.push_back({"", {"", "\n"}, CreditMethod::sole_owner, {0}, {}});
  odd.sets.managed = {{1}, {~0U}};
  odd.sets.foreign = {{{1}, {2}}, {{1}, {3}}};
  odd.sets.sets = {{{{1}, {4}}, true, {"a b", ""}, {{"packet_seq_err", ~std::uint64_t{0}}, {"", 0}}}, {{{2}, {~0U}}, false, {"", "-"}, {}}};
  odd.tenants.unattributed["2"] = {{{"counters", "x"}, 5}, {{"counters", "y"}, 0}};
  Histogram setup(bounds);
  setup.add(7);
  state.own = std::make_shared<const std::vector<CarriedTotal>>(std::vector<CarriedTotal>{
      {"qpscope_read_errors_total", {"mlx5_0", "", "a b"}, 5.25}, {"x", {}, 0.0}, {"qpscope_setup_seconds", {"-"}, setup}, {"", {""}, Histogram(bounds)}});
  state.devices.push_back({.name = "a\nname", .guid = "", .image = std::make_shared<const LedgerImage>(std::move(odd))});
  return state;
}

// With the checksum that belongs to it: what only the lines themselves can refuse.
std::string sealed(const std::string& lines) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : lines) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char end[32];
  std::snprintf(end, sizeof end, "end %llx\n", static_cast<unsigned long long>(h));
  return lines + end;
}

bool nobody(const std::string&) { return false; }

}  // namespace

TEST_CASE("state survives being text", "[core.state_image]") {
  const StateImage state = full();
  const auto back = parse_state(state_text(state));
  REQUIRE(back);
  CHECK(back->boot_id == state.boot_id);
  REQUIRE(back->own);
  CHECK(*back->own == *state.own);
  REQUIRE(back->devices.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(back->devices[i].name == state.devices[i].name);
    CHECK(back->devices[i].guid == state.devices[i].guid);
    CHECK(*back->devices[i].image == *state.devices[i].image);
  }
  CHECK(state_text(*back) == state_text(state));
  // A device of which nothing is counted yet has nothing to keep.
  CHECK(parse_state(state_text({.boot_id = "b", .devices = {{.name = "mlx5_0"}}}))->devices.empty());
  CHECK(parse_state(state_text({}))->boot_id.empty());
}

TEST_CASE("the text is what the header shows", "[core.state_image]") {
  CHECK(state_text({.boot_id = "b", .devices = {{.name = "mlx5 0", .guid = "0c42:a103", .image = image(26)}}}) ==
        sealed("qpscope-state 1\nboot b\ndevice mlx5%200 0c42:a103\nport 1 2 3\ncounter 1 hw_counters out_of_sequence 1a 1a 7b\n"));
}

TEST_CASE("what we observed ourselves has lines of its own", "[core.state_image]") {
  LedgerImage ours;
  ours.observed[{"1", "link_downs"}] = 42;
  const double bounds[] = {0.5, 1};
  for (const double value : {0.5, 0.25, 2.0}) (ours.histograms.try_emplace({"1", "rx"}, Histogram(bounds)).first->second).add(value);
  CHECK(state_text({.boot_id = "b", .devices = {{.name = "d", .guid = "", .image = std::make_shared<const LedgerImage>(ours)}}}) ==
        sealed("qpscope-state 1\nboot b\ndevice d -\nobserved 1 link_downs 2a\n"
               "histogram 1 rx 4006000000000000 2 3fe0000000000000 3ff0000000000000 2 0 1\n"));
}

TEST_CASE("a tenant's line has its totals below it", "[core.state_image]") {
  LedgerImage ours;
  ours.tenants.accounts.push_back({"1", {"root", "7"}, CreditMethod::set, {16}, {{{"hw_counters", "a"}, 10}, {{"hw_counters", "b"}, 0}}});
  ours.tenants.unattributed["1"] = {{{"hw_counters", "a"}, 255}};
  CHECK(state_text({.boot_id = "b", .devices = {{.name = "d", .guid = "", .image = std::make_shared<const LedgerImage>(ours)}}}) ==
        sealed("qpscope-state 1\nboot b\ndevice d -\ntenant 1 root 7 set 10\ncredit hw_counters a a\ncredit hw_counters b 0\n"
               "unattributed 1 hw_counters a ff\n"));
}

TEST_CASE("a counter set's line has its values below it", "[core.state_image]") {
  LedgerImage ours;
  ours.sets.managed = {{1}};
  ours.sets.foreign = {{{1}, {5}}};
  ours.sets.sets = {{{{1}, {4}}, false, {"root", "7"}, {{"packet_seq_err", 10}}}};
  CHECK(state_text({.boot_id = "b", .devices = {{.name = "d", .guid = "", .image = std::make_shared<const LedgerImage>(ours)}}}) ==
        sealed("qpscope-state 1\nboot b\ndevice d -\nmanaged 1\nforeign 1 5\nset 1 4 0 root 7\nvalue packet_seq_err a\n"));
}

TEST_CASE("the daemon's own totals come before the devices", "[core.state_image]") {
  const double bounds[] = {1};
  auto own = std::make_shared<const std::vector<CarriedTotal>>(std::vector<CarriedTotal>{{"a_total", {"x", ""}, 1.0}, {"b", {}, Histogram(bounds)}});
  CHECK(state_text({.boot_id = "b", .own = own, .devices = {}}) ==
        sealed("qpscope-state 1\nboot b\nown a_total 3ff0000000000000 x -\nown_histogram b 0 1 3ff0000000000000 0 0\n"));
}

TEST_CASE("damage takes the whole file", "[core.state_image]") {
  const std::string text = state_text(full());
  for (std::size_t i = 0; i < text.size(); ++i) {
    CHECK_FALSE(parse_state(text.substr(0, i)));
    for (const int flip : {1, 0x20, 0x80}) {
      std::string bad = text;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      CHECK_FALSE(parse_state(bad));
    }
  }
  CHECK_FALSE(parse_state(text + "\n"));
  CHECK_FALSE(parse_state(text + text));
  CHECK(parse_state(sealed("qpscope-state 2\nboot b\n")).error().what == "of another version, or no state at all");
  CHECK(parse_state(std::string(kMostStateBytes + 1, 'x')).error().code == ErrorCode::limit);
}

TEST_CASE("lines that are none are refused though the checksum is right", "[core.state_image]") {
  const std::string header = "qpscope-state 1\n", device = header + "boot b\ndevice d -\n";
  REQUIRE(parse_state(sealed(header + "boot b\n")));
  REQUIRE(parse_state(sealed(device + "port 1 0 0\ncounter 1 counters x 1 1 1\nobserved 1 x 1\nhistogram 1 x 0 1 1 0 0\n")));
  REQUIRE(parse_state(sealed(header + "boot b\nown x 0\nown x 0 a -\nown_histogram x 0 0 1 a\n")));
  for (const char* line : {"own", "own x", "own x g", "own x 7ff0000000000000", "own x 0 ", "own x 0 /", "own x 0 a b c d e f g h i j k l m n o p q",
                           "own_histogram x", "own_histogram x 0 0", "own_histogram x 0 1 0 1", "", " ", "boot", "boot b c", "boot b ", "boot  b", "boot %", "boot %4", "boot %zz", "boot a/b",
                           "port 1 0 0", "counter 1 c x 1 1 1", "observed 1 x 1", "histogram 1 x 0 0 1", "nonsense 1"}) {
    INFO(line);
    CHECK_FALSE(parse_state(sealed(header + line + "\n")));
  }
  for (const char* line : {"device", "device d", "device d - -", "port 1 0", "port 1 0 0 0", "port 1 g 0", "port 1 -1 0", "counter 1 c x 1 1",
                           "counter 1 c x 1 1 1 1", "counter 1 c x 1 10000000000000000 1", "counter 1 c x 100000000000000000000000000000000 1 1",
                           "counter 1 c x 1 F 1", "counter 1 c x 1  1", "observed 1 x", "observed 1 x 1 1", "observed 1 x 10000000000000000",
                           "histogram 1 x 0", "histogram 1 x 0 0", "histogram 1 x 0 0 1 1", "histogram 1 x 0 1 0 1", "histogram 1 x 0 41 0",
                           "histogram 1 x 0 ffffffffffffffff 0", "tenant 1 a b set", "tenant 1 a b all 0", "tenant 1 a b set 0\ncredit h x",
                           "credit h x 1", "tenant 1 a b set 0\ncredit h x 1\ncredit h x 1", "unattributed 1 h x", "managed", "managed 100000000", "foreign 1", "set 1 4 2 a b",
                           "set 1 4 0 a", "value x 1", "set 1 4 0 a b\nvalue x", "managed 1\nmanaged 1",
                           "histogram 1 x 7ff0000000000000 0 1",     // an infinite sum
                           "histogram 1 x 0 1 7ff8000000000000 1 1", "histogram 1 x 0 2 1 1 0 0 0"}) {  // no number, not rising
    INFO(line);
    CHECK_FALSE(parse_state(sealed(device + line + "\n")));
  }
  // Lines that are each in order, and still not what state_text makes.
  for (const char* line : {"boot c", "port 1 0 0\nport 1 0 0", "port 2 0 0\nport 1 0 0", "port 1 00 0", "port %31 0 0", "counter 1 c x 1 1 1\nport 1 0 0"}) {
    INFO(line);
    CHECK_FALSE(parse_state(sealed(device + line + "\n")));
  }
  CHECK_FALSE(parse_state(sealed(header)));
  std::string many = device;
  for (std::size_t i = 0; i <= CounterLedger::kMost; ++i) many += "counter 1 c x 1 1 1\n";
  CHECK_FALSE(parse_state(sealed(many)));
  many = header + "boot b\n";
  for (std::size_t i = 0; i <= CarriedTotals::kMost; ++i) many += "own x 0\n";
  CHECK_FALSE(parse_state(sealed(many)));
  for (const std::string kind : {"observed", "histogram"}) {
    many = device;
    for (std::size_t i = 0; i <= CounterLedger::kMostObserved; ++i) many += kind + " 1 x" + std::to_string(i) + (kind == "observed" ? " 1\n" : " 0 0 1\n");
    CHECK_FALSE(parse_state(sealed(many)));
  }
}

TEST_CASE("random bytes do no harm", "[core.state_image]") {
  std::mt19937 random(1);
  const std::string good = state_text(full());
  const std::string bytes = "0a %-\n:boot device port counter observed histogram own own_histogram end qpscope-state 1\xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string body = round % 2 ? good.substr(0, random() % good.size()) : "qpscope-state 1\n";
    for (auto n = random() % 60; n > 0; --n) {
      const char c = random() % 4 ? bytes[random() % bytes.size()] : static_cast<char>(random());
      if (!body.empty() && random() % 2) {
        body[random() % body.size()] = c;
      } else {
        body += c;
      }
    }
    CHECK_FALSE(parse_state(body));
    (void)parse_state(sealed(body + "\n"));
  }
}

TEST_CASE("a device finds its totals by GUID and name", "[core.state_image]") {
  const auto a = image(1), b = image(2), c = image(3);
  const std::string guid_a = "0c42:a103:0000:0001", guid_b = "0c42:a103:0000:0002", zero = "0000:0000:0000:0000";
  std::vector<DeviceLedger> kept{{"mlx5_0", guid_a, a}, {"mlx5_1", guid_b, b}, {"vf0", zero, c}};
  const std::vector<DeviceLedger> all = kept;
  CHECK(take_image(kept, "mlx5_0", guid_a, nobody) == a);
  CHECK(kept.size() == 2);
  CHECK(take_image(kept, "mlx5_0", guid_a, nobody) == nullptr);  // taken
  kept = all;
  CHECK(take_image(kept, "renamed", guid_b, nobody) == b);
  kept = all;
  CHECK(take_image(kept, "twin", guid_b, [](const std::string& name) { return name == "mlx5_1"; }) == nullptr);
  CHECK(take_image(kept, "mlx5_0", guid_b, [](const std::string& name) { return name == "mlx5_1"; }) == nullptr);  // another card, that name
  CHECK(take_image(kept, "vf9", zero, nobody) == nullptr);
  CHECK(take_image(kept, "vf9", "", nobody) == nullptr);
  CHECK(take_image(kept, "vf0", zero, nobody) == c);
  kept = {{"vf0", guid_a, a}, {"vf1", guid_a, b}};
  CHECK(take_image(kept, "vf2", guid_a, nobody) == nullptr);  // whose?
  CHECK(take_image(kept, "vf1", guid_a, nobody) == b);
}
