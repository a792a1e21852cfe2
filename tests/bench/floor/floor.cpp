// SPDX-License-Identifier: Apache-2.0
// The least that sampling a host costs: a thread for each device, which once a second reads every file that qpscoped reads then, opened once,
// by pread, and does nothing with what it has read.
//
//   qpscope-bench-floor ROOT       prints the number of files, then reads until it is killed
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

namespace {

// What is on the fast clock of collectors/: hw_counters, traffic, state.
std::vector<int> files_of(const fs::path& device) {
  std::vector<fs::path> paths;
  for (const auto& port : fs::directory_iterator(device / "ports")) {
    for (const auto& file : fs::directory_iterator(port.path() / "hw_counters")) paths.push_back(file.path());
    for (const char* name : {"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets", "unicast_xmit_packets", "unicast_rcv_packets",
                             "multicast_xmit_packets", "multicast_rcv_packets"}) {
      paths.push_back(port.path() / "counters" / name);
    }
    paths.push_back(port.path() / "state");
    paths.push_back(port.path() / "phys_state");
  }
  std::vector<int> out;
  for (const fs::path& path : paths) {
    if (const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) out.push_back(fd);
  }
  return out;
}

void sample(const std::vector<int>& files) {
  timespec due{};
  ::clock_gettime(CLOCK_MONOTONIC, &due);
  std::array<char, 64> buffer;
  while (true) {
    for (const int fd : files) {
      if (::pread(fd, buffer.data(), buffer.size(), 0) < 0) std::perror("pread");
    }
    due.tv_sec++;
    due.tv_nsec = 0;  // one grid for all, as theirs
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: qpscope-bench-floor ROOT\n", stderr), 2;
  std::size_t files = 0;
  std::vector<std::jthread> threads;
  for (const auto& device : fs::directory_iterator(fs::path(argv[1]) / "sys/class/infiniband")) {
    std::vector<int> own = files_of(device.path());
    files += own.size();
    threads.emplace_back(sample, std::move(own));
  }
  std::printf("%zu files\n", files);
  std::fflush(stdout);
}
