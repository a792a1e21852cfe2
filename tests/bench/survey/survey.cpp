// SPDX-License-Identifier: Apache-2.0
// qpscope-bench-survey ROOT: CPU time of one look at which ports go together (collectors/physical_port.h), ms, the least of several. On a
// live host the daemon looks once a second.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>

#include "collectors/physical_port.h"

using namespace qpscope;

namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kLooks = 5;
  const auto root = argc == 2 ? Sysroot::open(argv[1]) : fail(ErrorCode::invalid, "usage: qpscope-bench-survey ROOT");
  const auto names = root ? root->list("/sys/class/infiniband") : std::unexpected(root.error());
  if (!names) return std::fprintf(stderr, "%s\n", names.error().what.c_str()), 2;
  std::vector<DeviceDriver> devices;
  for (const std::string& name : *names) devices.push_back({name, "mlx5_core"});
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < kLooks; ++i) {
    const double began = cpu_ms();
    if (physical_ports(*root, devices).empty()) return 1;
    least = std::min(least, cpu_ms() - began);
  }
  std::printf("%.2f\n", least);
}
