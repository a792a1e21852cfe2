// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer's main where there is no clang: every file of the given folders, and no bytes at all, once through the target.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::filesystem::is_regular_file(argv[i])) {
      files.emplace_back(argv[i]);
    } else if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
  }
  if (files.empty()) return std::fprintf(stderr, "usage: %s FILE_OR_FOLDER...\n(no input there)\n", argv[0]), 2;
  std::ranges::sort(files);
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (const auto& file : files) {
    std::printf("%s\n", file.c_str());  // the last one is the culprit
    std::fflush(stdout);
    std::ifstream in(file, std::ios::binary);
    // Exactly as long as the input: a sanitizer sees what reads beyond it.
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", files.size());
}
