// SPDX-License-Identifier: Apache-2.0
// The way of queue pair events from the ring to the table, on one thread: a BPF program fills the daemon's kind of ring with
// the lives of queue pairs (BPF_PROG_TEST_RUN, this host's kernel), then the ring is emptied against the clock.
#include <benchmark/benchmark.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bpf/decode.h"
#include "bpf/events.h"
#include "bpf/losses.h"
#include "bpf/ring_reader.h"
#include "collectors/host/host.h"
#include "collectors/host/sysroot.h"
#include "inject.skel.h"
#include "qp_tracker.h"
#include "tests/bench/event_path/inject.h"

namespace qpscope {
namespace {

constexpr std::size_t kRing = 8U << 20;
constexpr std::size_t kHeader = 8;  // BPF_RINGBUF_HDR_SZ
constexpr std::size_t kLifeBytes = sizeof(ev_qp_create) + 3 * sizeof(ev_qp_modify) + sizeof(ev_qp_destroy) + INJECT_EVENTS_A_LIFE * kHeader;
constexpr std::uint64_t kLives = kRing / kLifeBytes;  // that fill the ring

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

class Injector {
 public:
  // Destroys begin once `alive` queue pairs were made.
  explicit Injector(std::uint64_t alive) : bpf_(inject_bpf__open()), alive_(alive) {
    if (!bpf_ || bpf_map__set_max_entries(bpf_->maps.events, kRing) != 0 || inject_bpf__load(bpf_.get()) != 0) die("BPF does not load: root?");
    auto reader = RingReader::open(bpf_map__fd(bpf_->maps.events), kRing);
    if (!reader) die(reader.error().what);
    reader_ = std::make_unique<RingReader>(std::move(*reader));
  }

  RingReader& reader() { return *reader_; }

  void fill() {
    inject_request request{.first = made_ + 1, .lives = kLives, .alive = alive_};
    LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
    if (bpf_prog_test_run_opts(bpf_program__fd(bpf_->progs.inject), &options) != 0) die("BPF_PROG_TEST_RUN failed");
    made_ += kLives;
  }

  std::uint64_t alive() const { return std::min(made_, alive_); }
  std::uint64_t sent() const { return made_ * INJECT_EVENTS_A_LIFE - alive(); }

  std::uint64_t lost() const {
    const __u32 key = LOSS_RING_FULL;
    std::vector<std::uint64_t> per_cpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    if (bpf_map_lookup_elem(bpf_map__fd(bpf_->maps.losses), &key, per_cpu.data()) != 0) die("no losses");
    std::uint64_t sum = 0;
    for (const std::uint64_t n : per_cpu) sum += n;
    return sum;
  }

 private:
  struct Closer {
    void operator()(inject_bpf* bpf) const { inject_bpf__destroy(bpf); }
  };
  std::unique_ptr<inject_bpf, Closer> bpf_;
  std::unique_ptr<RingReader> reader_;
  const std::uint64_t alive_;
  std::uint64_t made_ = 0;
};

// Not the wall clock: the machine may have other work.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Fills the ring and empties it into `sink`, which alone is timed; nothing may be lost.
void empty_full_rings(benchmark::State& state, Injector& injector, const RingReader::Sink& sink) {
  std::size_t events = 0;
  for (auto _ : state) {
    injector.fill();
    const double start = thread_seconds();
    events += injector.reader().consume(sink);
    state.SetIterationTime(thread_seconds() - start);
  }
  if (injector.lost() != 0 || events != injector.sent()) state.SkipWithError("events were lost");
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kRing));
}

// The floor: every record is copied, no more.
void ring(benchmark::State& state) {
  Injector injector(0);
  std::array<std::byte, sizeof(ev_counter_released)> copy{};
  empty_full_rings(state, injector, [&copy](std::span<const std::byte> record) {
    std::ranges::copy(record, copy.begin());
    benchmark::DoNotOptimize(copy);
  });
}

void ring_decode(benchmark::State& state) {
  Injector injector(0);
  empty_full_rings(state, injector, [](std::span<const std::byte> record) {
    auto event = decode(record);
    benchmark::DoNotOptimize(event);
  });
}

// All that the events thread does: ProbeSet::deliver, EventLoop::deliver, QpTracker; owners are named by another thread. The argument: queue pairs in the table.
void ring_decode_apply(benchmark::State& state) {
  Injector injector(static_cast<std::uint64_t>(state.range(0)));
  const auto root = Sysroot::open("/");
  if (!root) die(root.error().what);
  const Config config;
  const Host host{.root = *root, .live = false};
  Budgets budgets(host, 0);
  EventHistory history;
  QpTracker tracker(host, config, budgets, history);
  for (std::uint64_t i = 0; i < INJECT_CGROUPS; ++i) {
    tracker.on_event(CgroupChanged{.at = {}, .id = {INJECT_FIRST_CGROUP + i}, .path = "/system.slice/slurmstepd.scope/job_" + std::to_string(4711 + i)});
  }
  std::atomic<std::uint64_t> count = 0;
  const std::function<void(Event&&)> loop = [&](Event&& event) {
    count.fetch_add(1, std::memory_order_relaxed);
    tracker.on_event(std::move(event));
  };
  empty_full_rings(state, injector, [&loop](std::span<const std::byte> record) {
    if (auto event = decode(record)) loop(std::move(*event));
  });
  Snapshot snapshot;
  tracker.fill(snapshot);
  if (snapshot.queue_pairs->size() != injector.alive()) state.SkipWithError("the table is wrong");
}

BENCHMARK(ring)->UseManualTime();
BENCHMARK(ring_decode)->UseManualTime();
BENCHMARK(ring_decode_apply)->Arg(1000)->Arg(10000)->Arg(60000)->UseManualTime();

}  // namespace
}  // namespace qpscope

BENCHMARK_MAIN();
