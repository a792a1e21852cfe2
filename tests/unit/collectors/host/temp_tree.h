// SPDX-License-Identifier: Apache-2.0
// A folder of its own for one test, removed with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace qpscope::test {

class TempTree {
 public:
  TempTree() {
    std::string name = (std::filesystem::temp_directory_path() / "qpscope-unit-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  std::string path() const { return path_.string(); }
  std::filesystem::path at(std::string_view relative) const { return path_ / relative; }

  void file(std::string_view relative, std::string_view text) const {
    std::filesystem::create_directories(at(relative).parent_path());
    std::ofstream(at(relative), std::ios::binary) << text;
  }
  void folder(std::string_view relative) const { std::filesystem::create_directories(at(relative)); }
  void link(std::string_view relative, std::string_view target) const {
    std::filesystem::create_directories(at(relative).parent_path());
    std::filesystem::create_symlink(target, at(relative));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace qpscope::test
