// SPDX-License-Identifier: Apache-2.0
// A hierarchy of cgroups with any names, one path a line, and the walk over it. The first byte: the walk's bounds.
#include "collectors/host/cgroup.h"

#include <set>

#include "fuzz/fuzz.h"
#include "unit/collectors/host/temp_tree.h"

using namespace qpscope;
using fuzz::check;

namespace {

constexpr std::size_t kMostFolders = 24, kMostPath = 400;

std::string parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const CgroupBudget budget{.entries = 1 + data[0] % 16U, .depth = 1 + data[0] / 16U};
  std::string_view text = fuzz::text_of(data + 1, size - 1);

  const test::TempTree tree;
  tree.file("sys/fs/cgroup/cgroup.controllers", "");
  const std::filesystem::path top = tree.at("sys/fs/cgroup");
  for (std::size_t n = 0; n < kMostFolders && !text.empty(); ++n) {
    const std::filesystem::path below = std::filesystem::path(fuzz::next_line(text)).lexically_normal().relative_path();
    if (below.native().size() > kMostPath || below.native().contains('\0') || *below.begin() == "..") continue;
    std::error_code refused;  // a name that is too long
    std::filesystem::create_directories(top / below, refused);
  }

  const auto root = Sysroot::open(tree.path());
  check(root.has_value(), "the root opens");
  const auto walk = CgroupWalk::open(*root);
  check(walk && walk->v2(), "the hierarchy opens");
  const CgroupListing listing = walk->walk(budget);
  check(!listing.entries.empty() && listing.entries.size() <= budget.entries, "the walk keeps its bound");
  check(listing.complete == listing.trouble.empty(), "what is not complete has its reason");
  std::set<std::string> seen;
  for (const CgroupEntry& one : listing.entries) {
    check(one.id.value != 0 && std::filesystem::is_directory(top.native() + one.path), "an entry is a folder");
    check(one.path == "/" || seen.contains(parent(one.path)), "a parent comes before its children");
    check(seen.insert(one.path).second, "every folder comes once");
  }
  return 0;
}
