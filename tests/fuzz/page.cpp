// SPDX-License-Identifier: Apache-2.0
// Any values and label bytes, and queue pairs of any owner: both pages must read back, with as many series as they say, and so must the API's JSON.
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "exporters/pages.h"
#include "exporters/prometheus.h"
#include "fuzz/fuzz.h"
#include "fuzz/page_parser.h"

using namespace qpscope;
using fuzz::check;

namespace {

constexpr MetricDef kCount{"qpscope_c_total", MetricType::counter, "Counts (source).", LabelNames{"device", "port"}};
constexpr MetricDef kGauge{"qpscope_a", MetricType::gauge, "Gauges (source).", LabelNames{"name"}};
constexpr std::array<double, 3> kBounds{0.5, 1, 2.5};
constexpr MetricDef kHistogram{"qpscope_b_seconds", MetricType::histogram, "Times (source).", LabelNames{"device"}};
constexpr MetricDef kPlain{"qpscope_d", MetricType::gauge, "Has no labels (source).", {}};

Sample make_sample(fuzz::Input& in) {
  switch (in.below(4)) {
    case 0:
      return sample(kCount, {in.text(), in.text()}, static_cast<double>(in.number<std::uint64_t>()));
    case 1: {
      HistogramValue value{.bounds = kBounds, .counts = {}, .sum = in.number<double>()};
      for (std::size_t i = 0; i <= kBounds.size(); ++i) value.counts.push_back(in.number<std::uint32_t>());
      return {&kHistogram, {in.text()}, std::move(value)};
    }
    case 2:
      return sample(kPlain, {}, in.number<double>());
    default:
      return sample(kGauge, {in.text()}, in.number<double>());
  }
}

QpRecord make_queue_pair(fuzz::Input& in, std::uint64_t serial, std::size_t tenants) {
  QpRecord qp{.key = {{in.number<std::uint8_t>()}, {serial}}, .qpn = {in.number<std::uint32_t>()}, .type = static_cast<QpType>(in.number<std::uint8_t>())};
  qp.generation = serial;
  qp.port = {in.number<std::uint8_t>()};
  qp.state = qp_state_from_number(in.number<std::uint8_t>());
  qp.changed = {in.number<std::uint64_t>()};
  qp.tenant = static_cast<TenantId>(in.below(tenants));
  const auto has = in.number<std::uint8_t>();
  if (has & 1) qp.remote_qpn = Qpn{in.number<std::uint32_t>()};
  if (has & 2) qp.remote_lid = in.number<std::uint32_t>();
  if (has & 4) std::ranges::copy(in.bytes(16), qp.remote_gid.emplace().bytes.begin());
  if (has & 8) qp.created = BootTime{in.number<std::uint64_t>()};
  if (has & 16) qp.owner = std::make_shared<const Owner>(Owner{.known = true, .user = (has & 32) != 0, .tgid = {in.number<std::uint32_t>()}, .comm = in.text()});
  return qp;
}

class Source : public SnapshotSource {
 public:
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Snapshot> latest() const override { return snapshot; }
};

std::string whole(const HttpResponse& response) {
  if (response.body) return *response.body;
  std::string out;
  for (std::string piece = response.pieces(); !piece.empty(); piece = response.pieces()) out += piece;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->sequence = 1;
  snapshot->at = {in.number<std::uint64_t>()};
  for (std::size_t list = in.below(3); list > 0; --list) {
    SampleList samples;
    for (std::size_t n = in.below(8); n > 0; --n) samples.push_back(make_sample(in));
    snapshot->samples.push_back(std::make_shared<const SampleList>(std::move(samples)));
  }
  const Page page = render(snapshot->samples);
  check(fuzz::PageParser::series(page.text) == page.series, "a page has as many series as it says");

  std::vector<Tenant> tenants{{"unknown", "unknown"}};
  for (std::size_t n = in.below(4); n > 0; --n) tenants.push_back({in.text(), in.text()});
  std::map<DeviceIndex, std::string> devices;
  for (std::size_t n = in.below(3); n > 0; --n) devices.emplace(DeviceIndex{in.number<std::uint8_t>()}, in.text());
  std::vector<QpRecord> queue_pairs;
  while (!in.empty() && queue_pairs.size() < 8) queue_pairs.push_back(make_queue_pair(in, queue_pairs.size() + 1, tenants.size()));
  std::ranges::sort(queue_pairs, {}, &QpRecord::key);
  const std::size_t all = queue_pairs.size();
  snapshot->tenants = std::make_shared<const std::vector<Tenant>>(std::move(tenants));
  snapshot->devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::move(devices));
  snapshot->queue_pairs = std::make_shared<const std::vector<QpRecord>>(std::move(queue_pairs));

  Source source;
  source.snapshot = snapshot;
  constexpr std::size_t kLimit = 4;
  const BootTime now = snapshot->at;
  Pages pages(source, {.qp_limit = kLimit,
                       .ready = [] { return true; },
                       .api = {.wall_minus_boot = [] { return 1.7e9; }, .now = [now] { return now; }, .actions = {}}});
  const std::string metrics = whole(pages.answer({.path = "/metrics", .peer = HttpPeer::stranger}));
  const std::size_t series = fuzz::PageParser::series(metrics);
  check(metrics.ends_with("\nqpscope_series " + std::to_string(series) + "\n"), "qpscope_series is how many there are");
  check(series <= page.series + 3 * std::min(all, kLimit) + 1, "no more queue pairs than the limit");
  check(fuzz::PageParser::series(whole(pages.answer({.path = "/metrics/qps", .peer = HttpPeer::allowed}))) <= 3 * all, "at most three series a queue pair");
  const auto answer = nlohmann::json::parse(whole(pages.answer({.path = "/api/v1/qps", .peer = HttpPeer::on_socket})), nullptr, false);
  check(answer.is_object() && answer["data"]["qps"].size() == all, "the API has every queue pair");
  return 0;
}
