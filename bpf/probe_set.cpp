// SPDX-License-Identifier: Apache-2.0
#include "bpf/probe_set.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "bpf/commands.h"
#include "bpf/decode.h"
#include "bpf/events.h"
#include "bpf/kernel_facts.h"
#include "bpf/losses.h"
#include "bpf/probe_loader.h"
#include "bpf/ring_reader.h"

namespace qpscope {
namespace {

// The kernel wakes a reader that had read everything, and each wake-up is an interrupt within the verb it watches. So
// one that was woken lets events gather for a moment: a burst costs one wake-up per this time. drain() does not wait.
constexpr int kGatherMilliseconds = 10;

}  // namespace

class ProbeSet::Impl {
 public:
  Impl(LoadedProbes probes, std::string sys_root, Sink sink)
      : probes_(std::move(probes)), sys_root_(std::move(sys_root)), sink_(std::move(sink)) {}
  ~Impl() {
    if (stop_fd_ >= 0) close(stop_fd_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<> start(std::size_t ring_bytes) {
    stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_fd_ < 0) return std::unexpected(io_error("making an eventfd", errno));
    if (!probes_.object) return {};
    ring_fd_ = map_fd("events");
    const std::uint32_t zero = 0, own = static_cast<std::uint32_t>(getpid());
    if (bpf_map_update_elem(map_fd("own_process"), &zero, &own, BPF_ANY) != 0) return std::unexpected(io_error("telling BPF who we are", errno));
    auto reader = RingReader::open(ring_fd_, ring_bytes);
    if (!reader) return std::unexpected(reader.error());
    reader_.emplace(std::move(*reader));
    return {};
  }

  const std::vector<ProbeStatus>& status() const { return probes_.status; }
  bool outdated() const { return module_identities(sys_root_) != probes_.modules; }

  Result<std::size_t> poll(std::chrono::milliseconds timeout) {
    // The wait is outside the mutex: a drain() in another thread need not sit it out. A negative descriptor is ignored.
    pollfd descriptors[] = {{stop_fd_, POLLIN, 0}, {ring_fd_, POLLIN, 0}};
    const int ready = ::poll(descriptors, std::size(descriptors), static_cast<int>(timeout.count()));
    if (ready < 0 && errno != EINTR) return std::unexpected(io_error("waiting for BPF events", errno));
    if (ready > 0 && descriptors[0].revents == 0) ::poll(descriptors, 1, kGatherMilliseconds);
    const std::lock_guard lock(mutex_);
    return reader_ ? reader_->consume([this](auto record) { deliver(record); }) : 0;
  }

  void drain() {
    const std::lock_guard lock(mutex_);
    if (reader_) reader_->drain([this](auto record) { deliver(record); });
  }

  EventLosses losses(std::map<std::string, ProbeRuns, std::less<>>* runs) const {
    EventLosses out;
    out.decode = undecoded_;
    if (!probes_.object) return out;
    // A QP that got no serial is as lost to the caller as an event that got no room.
    out.ring_full = counted(LOSS_RING_FULL) + counted(LOSS_SERIALS_FULL);
    out.kretprobe_missed = counted(LOSS_KRETPROBE);
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, probes_.object.get()) {
      bpf_prog_info info{};
      __u32 size = sizeof(info);
      const int fd = bpf_program__fd(program);
      if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) != 0) continue;
      out.recursion += info.recursion_misses;
      if (runs) (*runs)[bpf_program__name(program)] = {.runs = info.run_cnt, .nanoseconds = info.run_time_ns, .missed = info.recursion_misses};
    }
    return out;
  }

  std::vector<EventCount> counts() const {
    std::vector<EventCount> out;
    if (!probes_.object) return out;
    std::vector<ev_count_key> keys(EV_MOST_COUNTS);
    std::vector<std::uint64_t> values(EV_MOST_COUNTS);
    __u32 count = EV_MOST_COUNTS, batch = 0;
    // ENOENT: that was all of them. One call, since it is made once a second.
    const int error = bpf_map_lookup_batch(map_fd("event_counts"), nullptr, &batch, keys.data(), values.data(), &count, nullptr);
    if (error != 0 && error != -ENOENT) return out;
    for (__u32 i = 0; i < count; ++i) {
      const ev_count_key& key = keys[i];
      EventCount& one = out.emplace_back(EventCount{.kind = key.kind == EV_ASYNC ? EventCount::Kind::async : EventCount::Kind::cm, .device = std::nullopt, .port = {key.port},
                                                    .event = key.event, .status = key.status, .count = values[i]});
      if (key.dev_index != EV_NO_DEVICE) one.device = DeviceIndex{key.dev_index};
    }
    return out;
  }

  FirmwareCommands commands() const {
    FirmwareCommands out;
    if (!probes_.object) return out;
    static_assert(COMMAND_BOUNDS == kCommandBoundsNs.size());
    each<command_key, command_count>("commands", [&](const command_key& key, const command_count& count) {
      FirmwareCommands::Device& device = out.devices[{key.device, strnlen(key.device, sizeof(key.device))}];
      FirmwareCommands::Calls calls{.counts = {}, .sum_ns = count.sum_ns};
      std::ranges::copy(count.counts, calls.counts.begin());
      (key.ours ? device.ours : device.others) += calls;
    });
    each<command_failure_key, std::uint64_t>("command_fails", [&](const command_failure_key& key, std::uint64_t count) {
      out.devices[{key.device, strnlen(key.device, sizeof(key.device))}].failures[key.opcode] += count;
    });
    out.uncounted = counted(LOSS_COMMANDS_FULL);
    return out;
  }

  void stop() const {
    const std::uint64_t one = 1;
    // Fails only when it was called 2^64 times.
    [[maybe_unused]] const ssize_t written = write(stop_fd_, &one, sizeof(one));
  }

 private:
  // Entries are never removed, so that every one is met.
  template <class Key, class Value, class Take>
  void each(const char* map, Take take) const {
    const int fd = map_fd(map);
    Key key{};
    for (Key* before = nullptr; bpf_map_get_next_key(fd, before, &key) == 0; before = &key) {
      Value value{};
      if (bpf_map_lookup_elem(fd, &key, &value) == 0) take(key, value);
    }
  }
  int map_fd(const char* name) const { return bpf_object__find_map_fd_by_name(probes_.object.get(), name); }

  void deliver(std::span<const std::byte> record) {
    if (auto event = decode(record)) {
      sink_(std::move(*event));
    } else {
      ++undecoded_;
    }
  }

  std::uint64_t counted(__u32 reason) const {
    std::vector<std::uint64_t> per_cpu(static_cast<std::size_t>(std::max(libbpf_num_possible_cpus(), 1)));
    if (bpf_map_lookup_elem(map_fd("losses"), &reason, per_cpu.data()) != 0) return 0;
    std::uint64_t sum = 0;
    for (const std::uint64_t n : per_cpu) sum += n;
    return sum;
  }

  LoadedProbes probes_;
  const std::string sys_root_;
  Sink sink_;
  int stop_fd_ = -1, ring_fd_ = -1;
  std::mutex mutex_;  // the reader, and the sink's order
  std::optional<RingReader> reader_;
  std::atomic<std::uint64_t> undecoded_ = 0;
};

Result<std::unique_ptr<ProbeSet>> ProbeSet::open(const ProbeOptions& options, Sink sink) {
  if (auto usable = bpf_usable(); !usable) return std::unexpected(usable.error());
  auto impl = std::make_unique<Impl>(load_probes(options), options.sys_root, std::move(sink));
  // Parsing BTF takes megabytes for a moment; without this they stay ours.
  malloc_trim(0);
  if (auto started = impl->start(options.ring_bytes); !started) return std::unexpected(started.error());
  return std::unique_ptr<ProbeSet>(new ProbeSet(std::move(impl)));
}

ProbeSet::ProbeSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProbeSet::~ProbeSet() = default;

const std::vector<ProbeStatus>& ProbeSet::status() const { return impl_->status(); }
bool ProbeSet::outdated() const { return impl_->outdated(); }
Result<std::size_t> ProbeSet::poll(std::chrono::milliseconds timeout) { return impl_->poll(timeout); }
void ProbeSet::drain() { impl_->drain(); }
EventLosses ProbeSet::losses(std::map<std::string, ProbeRuns, std::less<>>* runs) const { return impl_->losses(runs); }
std::vector<EventCount> ProbeSet::counts() const { return impl_->counts(); }
FirmwareCommands ProbeSet::commands() const { return impl_->commands(); }
void ProbeSet::stop() { impl_->stop(); }

}  // namespace qpscope
