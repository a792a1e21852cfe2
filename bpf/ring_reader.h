// SPDX-License-Identifier: Apache-2.0
// Reads a BPF ring buffer. libbpf's own reader maps the data twice, which counts twice as our memory, and cannot say
// whether everything up to now was read; this one maps it once and copies the record that wraps around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/error.h"

namespace qpscope {

// Not thread-safe.
class RingReader {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  // `bytes` is the map's max_entries. The descriptor stays the caller's.
  static Result<RingReader> open(int map_fd, std::size_t bytes);
  RingReader(RingReader&& other) noexcept;
  RingReader& operator=(RingReader&&) = delete;
  ~RingReader();

  // Hands out every record that is complete. A record still being written ends it: order is kept.
  std::size_t consume(const Sink& sink);
  // Hands out at least what was reserved before the call, waiting a moment for those still being written.
  std::size_t drain(const Sink& sink);

 private:
  RingReader(std::size_t bytes, std::size_t page) : bytes_(bytes), page_(page) {}
  std::uint64_t produced() const;
  std::span<const std::byte> record(std::uint64_t offset, std::size_t length);

  std::size_t bytes_, page_;
  std::byte* consumer_ = nullptr;        // one page, ours to write: the consumer position
  const std::byte* producer_ = nullptr;  // one page with the producer position, then the data
  std::uint64_t position_ = 0;
  std::vector<std::byte> wrapped_;
};

}  // namespace qpscope
