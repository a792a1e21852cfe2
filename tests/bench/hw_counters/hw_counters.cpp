// SPDX-License-Identifier: Apache-2.0
// What a pass over a device's hw_counters costs this thread: system calls and CPU time, by netlink, by files, and the floor: the
// bare question without a collector.
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "collectors/host/host.h"
#include "collectors/registry.h"

using namespace qpscope;

namespace {

// System calls of this thread, by the tracepoint raw_syscalls:sys_enter.
class SystemCalls {
 public:
  SystemCalls() {
    perf_event_attr attr{};
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.size = sizeof attr;
    attr.disabled = 1;
    std::ifstream("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id") >> attr.config;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
  }
  bool works() const { return fd_ >= 0; }
  void begin() { ioctl(fd_, PERF_EVENT_IOC_RESET, 0), ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0); }
  std::uint64_t end() {
    ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
    std::uint64_t count = 0;
    if (read(fd_, &count, sizeof count) != sizeof count) return 0;
    return count - 3;  // without the ioctl that ended it and the two looks at the CPU time
  }

 private:
  int fd_;
};

BootTime boot_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return {static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)};
}

double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

template <class Number>
Number middle(std::vector<Number> numbers) {
  std::ranges::nth_element(numbers, numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2));
  return numbers[numbers.size() / 2];
}

// `pass` returns how many values it got.
int measure(std::string_view way, unsigned passes, const std::function<std::size_t()>& pass) {
  SystemCalls counter;
  if (!counter.works()) return std::fprintf(stderr, "no tracepoint raw_syscalls:sys_enter: %s\n", strerror(errno)), 1;
  std::vector<double> microseconds;
  std::vector<std::uint64_t> calls;
  std::size_t values = 0;
  pass();  // opens
  for (unsigned i = 0; i < passes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));  // past the lifespan of the kernel's cache
    counter.begin();
    const double began = cpu_microseconds();
    values = pass();
    microseconds.push_back(cpu_microseconds() - began);
    calls.push_back(counter.end());
  }
  const double least = std::ranges::min(microseconds);
  std::printf("%.*s %u %zu %llu %.0f %.0f\n", static_cast<int>(way.size()), way.data(), passes, values, static_cast<unsigned long long>(middle(calls)), least,
              middle(microseconds));
  return 0;
}

int usage() {
  return std::fputs("usage: qpscope-bench-hw-counters DEVICE netlink|files|floor PASSES\n"
                    "prints: way, passes, values; of a pass: system calls (median), microseconds of CPU (least, median)\n", stderr), 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return usage();
  const std::string device = argv[1];
  const std::string_view way = argv[2];
  const auto passes = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
  if (passes == 0) return usage();
  if (way == "floor") {
    const auto line = device_netlink(device);
    return measure(way, passes, [&] { return line->port_counters(PortNum{1}).value_or(NlCounters{}).size(); });
  }
  if (way != "netlink" && way != "files") return usage();
  const auto root = Sysroot::open("/");
  if (!root) return std::fprintf(stderr, "%s\n", root.error().what.c_str()), 1;
  const Host host{.root = *root, .live = true, .netlink = way == "netlink" ? &device_netlink : nullptr};
  ReadErrors errors;
  CounterLedger ledger;
  const ClockFn now = boot_now;
  const auto collector = kHwCounters.make(host, device);
  return measure(way, passes, [&] {
    Reading reading{.samples = {}, .errors = errors, .ledger = ledger, .now = now};
    if (!collector->collect(reading)) return std::size_t{0};
    return static_cast<std::size_t>(
        std::ranges::count_if(reading.samples, [](const Sample& one) { return one.def->name == "qpscope_hw_counters_total"; }));
  });
}
