// SPDX-License-Identifier: Apache-2.0
#include "core/sample_places.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

using namespace qpscope;

namespace {

constexpr MetricDef kA{"t_a_total", MetricType::counter, "(test).", LabelNames{"device"}};
constexpr MetricDef kB{"t_b_total", MetricType::counter, "(test).", LabelNames{"device"}};
constexpr MetricDef kNoise{"t_noise_total", MetricType::counter, "(test).", LabelNames{"device"}};

SharedSamples list(SampleList samples) { return std::make_shared<const SampleList>(std::move(samples)); }

struct Watched {
  std::size_t asked = 0;
  SamplePlaces places{[this](std::string_view name) {
    ++asked;
    return name == "t_a_total" ? std::uint8_t{0} : name == "t_b_total" ? std::uint8_t{1} : SamplePlaces::kNone;
  }};
  // "0:x=1 " for every sample
  std::string look(std::vector<SharedSamples> lists) {
    std::string out;
    places.each_new(lists, [&](std::uint8_t family, const Sample& one) {
      out += std::to_string(family) + ":" + std::string(one.labels[0]) + "=" + std::to_string(static_cast<int>(std::get<double>(one.value))) + " ";
    });
    return out;
  }
};

}  // namespace

TEST_CASE("samples of the wanted families, of lists that are new", "[core.sample_places]") {
  Watched w;
  const auto still = list({sample(kA, {"y"}, 7)});
  CHECK(w.look({list({sample(kNoise, {"x"}, 0), sample(kA, {"x"}, 1), sample(kB, {"x"}, 2)}), still}) == "0:x=1 1:x=2 0:y=7 ");
  CHECK(w.look({list({sample(kNoise, {"x"}, 0), sample(kA, {"x"}, 3), sample(kB, {"x"}, 4)}), still}) == "0:x=3 1:x=4 ");
  CHECK(w.look({}).empty());
  CHECK(w.asked == 3);  // once each
}

TEST_CASE("a list whose samples moved is searched again", "[core.sample_places]") {
  Watched w;
  CHECK(w.look({list({sample(kA, {"x"}, 1), sample(kB, {"x"}, 2)})}) == "0:x=1 1:x=2 ");
  CHECK(w.look({list({sample(kB, {"x"}, 2), sample(kA, {"x"}, 1)})}) == "1:x=2 0:x=1 ");     // another order
  CHECK(w.look({list({sample(kNoise, {"x"}, 1), sample(kA, {"x"}, 5)})}) == "0:x=5 ");       // one went
  CHECK(w.look({list({sample(kNoise, {"x"}, 1), sample(kA, {"z"}, 5)})}) == "0:z=5 ");       // another device
  CHECK(w.look({list({sample(kA, {"z"}, 5)})}) == "0:z=5 ");                                 // shorter
  CHECK(w.look({list({})}).empty());
}

TEST_CASE("lists that change places are told apart", "[core.sample_places]") {
  Watched w;
  CHECK(w.look({list({sample(kA, {"x"}, 1)}), list({sample(kA, {"y"}, 2)})}) == "0:x=1 0:y=2 ");
  CHECK(w.look({list({sample(kA, {"y"}, 3)})}) == "0:y=3 ");
}

TEST_CASE("a series that took another's place is found before long", "[core.sample_places]") {
  Watched w;
  w.look({list({sample(kA, {"x"}, 1), sample(kNoise, {"x"}, 2)})});
  std::string seen;
  for (int i = 0; i < 20 && seen.empty(); ++i) {
    if (w.look({list({sample(kA, {"x"}, 1), sample(kB, {"x"}, 2)})}).contains("1:x=2")) seen = "yes";
  }
  CHECK(seen == "yes");
}

TEST_CASE("a new list at an old one's address is new", "[core.sample_places]") {
  Watched w;
  for (int i = 0; i < 50; ++i) CHECK(w.look({list({sample(kA, {"x"}, i)})}) == "0:x=" + std::to_string(i) + " ");
}
