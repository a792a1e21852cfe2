// SPDX-License-Identifier: Apache-2.0
#include "error_watch.h"

#include <catch2/catch.hpp>

#include "collectors/tenant_counters.h"
#include "collectors/vocabulary/vocabulary.h"

using namespace qpscope;

namespace {

SharedSamples page(std::initializer_list<std::pair<const char*, double>> counters, const char* device = "mlx5_0", const char* driver = "mlx5_core",
                   const char* port = "1") {
  SampleList out;
  for (const auto& [name, value] : counters) out.push_back(canonical_sample(*hw_counter_meaning(driver, name), device, port, value));
  return std::make_shared<const SampleList>(std::move(out));
}
std::vector<Suspicion> look(ErrorWatch& watch, std::initializer_list<SharedSamples> lists, std::uint64_t at) {
  Suspicions found;
  const std::vector<SharedSamples> all(lists);
  watch.look(all, {at}, found);
  return found.take("mlx5_0");
}

}  // namespace

TEST_CASE("completion errors that grow make their port suspect", "[daemon.error_watch]") {
  ErrorWatch watch;
  CHECK(look(watch, {page({{"req_transport_retries_exceeded", 7}, {"resp_remote_access_errors", 1}})}, 10).empty());  // the first sight
  CHECK(look(watch, {page({{"req_transport_retries_exceeded", 7}, {"resp_remote_access_errors", 1}})}, 11).empty());
  const auto grown = look(watch, {page({{"req_transport_retries_exceeded", 7}, {"resp_remote_access_errors", 2}})}, 12);
  REQUIRE(grown.size() == 1);
  CHECK(grown[0].whom == Suspect{.port = {1}, .tenant = std::nullopt});
  CHECK(grown[0].at == BootTime{12});
  CHECK(look(watch, {page({{"req_transport_retries_exceeded", 7}, {"resp_remote_access_errors", 2}})}, 13).empty());
  CHECK(look(watch, {page({{"req_transport_retries_exceeded", 8}, {"resp_remote_access_errors", 3}})}, 14).size() == 1);
}

TEST_CASE("completion errors of the device alone make all of its ports suspect", "[daemon.error_watch]") {
  ErrorWatch watch;
  look(watch, {page({{"req_rnr_retries_exceeded", 1}}, "mlx5_0", "mlx5_core", "")}, 10);
  const auto grown = look(watch, {page({{"req_rnr_retries_exceeded", 2}}, "mlx5_0", "mlx5_core", "")}, 11);
  REQUIRE(grown.size() == 1);
  CHECK(grown[0].whom.covers(QpRecord{.port = {2}}));
}

TEST_CASE("a device whose samples are missing for a while is compared with what it had before", "[daemon.error_watch]") {
  ErrorWatch watch;
  look(watch, {page({{"req_rnr_retries_exceeded", 1}})}, 10);
  look(watch, {page({{"req_rnr_retries_exceeded", 1}}, "mlx5_1")}, 11);
  CHECK(look(watch, {page({{"req_rnr_retries_exceeded", 2}})}, 12).size() == 1);
}

TEST_CASE("other counters are no reason, flushed work requests neither; soft-RoCE's own are", "[daemon.error_watch]") {
  ErrorWatch watch;
  look(watch, {page({{"packet_seq_err", 1}, {"req_cqe_flush_error", 1}})}, 10);
  CHECK(look(watch, {page({{"packet_seq_err", 2}, {"req_cqe_flush_error", 2}})}, 11).empty());
  look(watch, {page({{"retry_exceeded_err", 1}}, "mlx5_0", "rdma_rxe")}, 12);
  CHECK(look(watch, {page({{"retry_exceeded_err", 2}}, "mlx5_0", "rdma_rxe")}, 13).size() == 1);
}

TEST_CASE("ever new series do not grow the watch", "[daemon.error_watch]") {
  ErrorWatch watch;
  for (std::size_t n = 0; n < ErrorWatch::kMost + 10; ++n) look(watch, {page({{"req_rnr_retries_exceeded", 1}}, ("d" + std::to_string(n)).c_str())}, n);
  look(watch, {page({{"req_rnr_retries_exceeded", 1}})}, 10);
  CHECK(look(watch, {page({{"req_rnr_retries_exceeded", 2}})}, 12).size() == 1);
}

namespace {

// What a port's tenants have: completion errors of `a`, of `b` (below 0: it has no series), and nobody's.
SharedSamples divided(double port, double a, double b, double nobody) {
  const CounterRow& meaning = *hw_counter_meaning("mlx5_core", "req_transport_retries_exceeded");
  SampleList out{canonical_sample(meaning, "mlx5_0", "1", port)};
  const auto add = [&](const MetricDef& twin, std::vector<std::string> labels, double value) {
    append_labels(meaning, labels);
    if (value >= 0) out.push_back(sample(twin, std::move(labels), value));
  };
  add(tenant_twin(*meaning.family), {"a", "1", "mlx5_0", "1", "set"}, a);
  add(tenant_twin(*meaning.family), {"b", "1", "mlx5_0", "1", "set"}, b);
  add(unattributed_twin(*meaning.family), {"mlx5_0", "1"}, nobody);
  return std::make_shared<const SampleList>(std::move(out));
}

}  // namespace

TEST_CASE("where it is known whose errors grow, nobody else is suspect", "[daemon.error_watch]") {
  ErrorWatch watch([](const std::string& tenant, const std::string&) { return tenant == "a" ? std::optional<TenantId>(7) : std::nullopt; });
  const auto suspects = [&](const SharedSamples& list, std::uint64_t at) {
    std::vector<Suspect> out;
    for (const Suspicion& one : look(watch, {list}, at)) out.push_back(one.whom);
    return out;
  };
  const Suspect all{.port = {1}, .tenant = std::nullopt}, only_a{.port = {1}, .tenant = 7};
  CHECK(suspects(divided(10, 6, -1, 4), 1).empty());
  CHECK(suspects(divided(12, 8, -1, 4), 2) == std::vector{only_a});
  CHECK(suspects(divided(13, 8, -1, 5), 3) == std::vector{all});
  CHECK(suspects(divided(15, 8, -1, 5), 4).empty());            // not yet known whose
  CHECK(suspects(divided(15, 8, 2, 5), 5) == std::vector{all});  // of one who came since, and has no number any more
  CHECK(suspects(divided(15, 8, 2, 5), 6).empty());
}
