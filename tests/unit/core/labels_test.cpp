// SPDX-License-Identifier: Apache-2.0
#include "core/labels.h"

#include <catch2/catch.hpp>
#include <random>

using namespace qpscope;

TEST_CASE("label values are kept as they are, whatever their bytes", "[core.labels]") {
  const std::string odd("a\0\"\n\xff", 5);
  const Labels labels{"mlx5_0", "", odd, std::string(300, 'x')};
  REQUIRE(labels.size() == 4);
  CHECK(labels[0] == "mlx5_0");
  CHECK(labels[1].empty());
  CHECK(labels[2] == odd);
  CHECK(labels[3] == std::string(300, 'x'));
  CHECK(labels.joined() == "mlx5_0" + odd + std::string(300, 'x'));
  CHECK(std::vector<std::string>(labels.begin(), labels.end()) == std::vector<std::string>{"mlx5_0", "", odd, std::string(300, 'x')});
  const Labels copy = labels;
  CHECK(copy[0].data() == labels[0].data());
}

TEST_CASE("without labels there is nothing", "[core.labels]") {
  for (const Labels& none : {Labels(), Labels(std::vector<std::string>())}) {
    CHECK(none.empty());
    CHECK(none.joined().empty());
    CHECK(none.begin() == none.end());
    CHECK(none == Labels());
    CHECK(none < Labels{""});
  }
}

TEST_CASE("labels compare as lists of strings do", "[core.labels]") {
  std::mt19937 random(1);
  const auto some = [&] {
    std::vector<std::string> out(random() % 4);
    for (std::string& one : out) {
      for (auto n = random() % 3; n > 0; --n) one += static_cast<char>("ab\xff"[random() % 3]);
    }
    return out;
  };
  for (int i = 0; i < 5000; ++i) {
    const auto a = some(), b = some();
    REQUIRE((Labels(a) <=> Labels(b)) == (a <=> b));
    REQUIRE((Labels(a) == Labels(b)) == (a == b));
  }
}
