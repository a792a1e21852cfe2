// SPDX-License-Identifier: Apache-2.0
#include "own_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

using namespace qpscope;

namespace {

bool open_here(int fd) { return fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("a thread with files of its own keeps what it was told to and takes nothing from the others", "[daemon.own_files]") {
  const int kept = open("/dev/null", O_RDONLY | O_CLOEXEC), other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int far = fcntl(kept, F_DUPFD_CLOEXEC, 200);
  bool has_kept = false, has_other = true, has_far = false;
  std::thread([&] {
    REQUIRE(keep_only({far, kept}));
    has_kept = open_here(kept);
    has_far = open_here(far);
    has_other = open_here(other);
    close(kept);
  }).join();
  CHECK(has_kept);
  CHECK(has_far);
  CHECK_FALSE(has_other);
  for (const int fd : {kept, other, far}) {
    CHECK(open_here(fd));
    close(fd);
  }
}
