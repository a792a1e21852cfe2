// SPDX-License-Identifier: Apache-2.0
// Very many queue pairs: the table fed by events, the snapshot, both pages, and what all that holds of memory. Beside them floors
// over the same bytes: copied, and printed line by line. Times are CPU times of the one thread, but for the p99, which is wall clock.
//
//   qpscope-bench-qps QUEUE_PAIRS
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "collectors/host/host.h"
#include "collectors/host/sysroot.h"
#include "clock.h"
#include "exporters/pages.h"
#include "qp_tracker.h"
#include "store.h"

namespace qpscope {
namespace {

constexpr std::size_t kSeriesLimit = 5000;
constexpr int kRuns = 20, kScrapes = 300;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Of /proc/self/status: "VmRSS", "VmHWM"; MB.
double memory(const char* what) {
  double out = 0;
  std::FILE* file = std::fopen("/proc/self/status", "re");
  std::array<char, 256> line;
  while (file && std::fgets(line.data(), line.size(), file)) {
    if (std::strncmp(line.data(), what, std::strlen(what)) == 0) out = std::strtod(line.data() + std::strlen(what) + 1, nullptr) / 1024;
  }
  if (file) std::fclose(file);
  return out;
}
void forget_peak() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "we")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}
double p99(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() * 99 / 100];
}

// CPU milliseconds of `work`, the median of some runs.
template <class Work>
double timed(Work work) {
  std::vector<double> out;
  for (int run = 0; run < kRuns; ++run) {
    const double began = cpu_ms();
    work();
    out.push_back(cpu_ms() - began);
  }
  return median(out);
}

void feed(QpTracker& tracker, std::uint32_t count) {
  for (std::uint32_t n = 1; n <= count; ++n) {
    const QpIdentity qp{.device = {n % 8}, .serial = {n}, .qpn = {0x4000 + n}, .type = QpType::rc, .port = {1}};
    QpCreated created{.at = {n * 1000ULL}, .qp = qp, .owner = {}};
    created.owner.known = created.owner.user = true;
    created.owner.tid = created.owner.tgid = {4000 + n % 64};
    created.owner.comm = "python3";
    created.owner.cgroup = {100 + n % 8};
    tracker.on_event(std::move(created));
    Gid gid{};
    gid.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)};
    tracker.on_event(QpModified{.at = {n * 1000ULL + 1}, .qp = qp, .to = QpState::init});
    tracker.on_event(QpModified{.at = {n * 1000ULL + 2}, .qp = qp, .to = QpState::rtr, .remote_qpn = Qpn{0x8000 + n}, .remote_gid = gid, .local_gid = gid,
                                .traffic_class = 106, .path_mtu = 4096});
    tracker.on_event(QpModified{.at = {n * 1000ULL + 3}, .qp = qp, .to = QpState::rts, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7});
  }
}

// What a host of some size has on /metrics without its queue pairs.
SharedSamples other_series(std::size_t count) {
  static constexpr MetricDef kCounter{"qpscope_hw_counters_total", MetricType::counter, "A port's hardware counter by its kernel name (bench).",
                                      LabelNames{"device", "port", "counter"}};
  SampleList out;
  for (std::size_t n = 0; n < count; ++n) {
    out.push_back(sample(kCounter, {"mlx5_" + std::to_string(n % 8), "1", "req_transport_retries_exceeded_" + std::to_string(n / 8)}, static_cast<double>(n) * 1e6));
  }
  return std::make_shared<const SampleList>(std::move(out));
}

struct PageStats {
  std::size_t bytes = 0, lines = 0, largest = 0;
};
PageStats read_all(const HttpResponse& response, std::string* keep = nullptr) {
  PageStats out;
  for (std::string piece; !(piece = response.pieces()).empty();) {
    out.bytes += piece.size();
    out.lines += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
    out.largest = std::max(out.largest, piece.size());
    if (keep) *keep += piece;
  }
  return out;
}

int run(std::uint32_t count) {
  const auto root = Sysroot::open("/");
  if (!root) return 1;
  const Config config;
  const Host host{.root = *root, .live = false};
  Budgets budgets(host, 0);
  EventHistory history;
  QpTracker tracker(host, config, budgets, history);
  const double empty = memory("VmRSS:");
  const double began = cpu_ms();
  feed(tracker, count);
  const double fed = cpu_ms() - began;
  const double with_table = memory("VmRSS:");

  SnapshotStore store;
  std::uint64_t sequence = 0;
  const SharedSamples others = other_series(kSeriesLimit - 300);
  std::vector<double> fills;
  const auto publish = [&] {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->sequence = ++sequence;
    snapshot->at = {sequence * 1'000'000'000ULL};
    // Something changed: the copy of the table is made anew.
    tracker.on_event(QpModified{.at = {sequence}, .qp = {.device = {1}, .serial = {1}, .qpn = {0x4001}, .port = {1}}});
    const double start = cpu_ms();
    const SampleList own = tracker.fill(*snapshot);
    fills.push_back(cpu_ms() - start);
    snapshot->samples.push_back(others);
    snapshot->tenants = std::make_shared<const std::vector<Tenant>>(std::vector<Tenant>{{"ml-research", "llm-pretrain-70b"}, {"other", "other"}});
    std::map<DeviceIndex, std::string> names;
    for (std::uint32_t n = 0; n < 8; ++n) names.emplace(DeviceIndex{n}, "mlx5_" + std::to_string(n));
    snapshot->devices = std::make_shared<const std::map<DeviceIndex, std::string>>(std::move(names));
    store.publish(std::move(snapshot));
  };
  publish();
  publish();
  const double with_snapshots = memory("VmRSS:");

  Pages pages(store, {.qp_limit = 100, .ready = [] { return true; }, .api = {.wall_minus_boot = [] { return 1.7e9; }, .now = boot_now, .actions = {}}});
  const HttpRequest every{.path = "/metrics/qps", .peer = HttpPeer::allowed};
  forget_peak();
  const double before_page = memory("VmRSS:");
  const PageStats page = read_all(pages.answer(every));
  const double peak = memory("VmHWM:");
  const double qps = timed([&] { read_all(pages.answer(every)); });

  const HttpRequest all{.path = "/metrics", .peer = HttpPeer::allowed};
  std::vector<double> rendered, again;
  for (int n = 0; n < kScrapes; ++n) {
    publish();
    for (auto* times : {&rendered, &again}) {
      const auto start = std::chrono::steady_clock::now();
      const HttpResponse response = pages.answer(all);
      times->push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      if (response.body->empty()) return 1;
    }
  }
  const double at_end = memory("VmRSS:");

  std::string text;
  read_all(pages.answer(every), &text);
  std::string copy(text.size(), 0);
  const double copied = timed([&] { std::memcpy(copy.data(), text.data(), text.size()); });
  const double printed = timed([&] {
    std::size_t at = 0;
    for (std::size_t line = 0; line < text.size();) {
      const std::size_t end = text.find('\n', line), brace = text.find('{', line), value = text.rfind(' ', end);
      const int head = static_cast<int>(std::min(brace, end) - line), labels = static_cast<int>(value > brace ? value - brace : 0);
      std::array<char, 2048> out;
      const int n = std::snprintf(out.data(), out.size(), "%.*s%.*s %.17g\n", head, text.data() + line, labels, text.data() + line + head, 1.7e9);
      std::memcpy(copy.data(), out.data(), std::min(static_cast<std::size_t>(n), out.size()));
      at += static_cast<std::size_t>(n);
      line = end + 1;
    }
    if (at == 0) std::abort();
  });

  std::printf("%u queue pairs\n", count);
  std::printf("| feed: four events each | %.1f ms, %.2f us an event |\n", fed, fed * 1e3 / (4.0 * count));
  std::printf("| copy of the table for a snapshot | %.1f ms |\n", median(fills));
  std::printf("| /metrics/qps | %.1f ms; %zu lines, %.1f MB, largest piece %zu KB |\n", qps, page.lines, static_cast<double>(page.bytes) / 1e6, page.largest >> 10);
  std::printf("| floor: its bytes copied | %.1f ms |\n", copied);
  std::printf("| floor: its lines by snprintf | %.1f ms |\n", printed);
  std::printf("| /metrics at %zu series, a new snapshot: median, p99 | %.2f, %.2f ms |\n", kSeriesLimit, median(rendered), p99(rendered));
  std::printf("| /metrics, already rendered: p99 | %.3f ms |\n", p99(again));
  std::printf("| resident: empty, with table, with two snapshots | %.1f, %.1f, %.1f MB |\n", empty, with_table, with_snapshots);
  std::printf("| resident while /metrics/qps is written: before, peak | %.1f, %.1f MB; after all scrapes %.1f MB |\n", before_page, peak, at_end);
  return 0;
}

}  // namespace
}  // namespace qpscope

int main(int argc, char** argv) {
  const long count = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (count <= 0) {
    std::fprintf(stderr, "usage: qpscope-bench-qps QUEUE_PAIRS\n");
    return 2;
  }
  return qpscope::run(static_cast<std::uint32_t>(count));
}
