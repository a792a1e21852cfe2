// SPDX-License-Identifier: Apache-2.0
#include "bpf/ring_reader.h"

#include <linux/bpf.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace qpscope {
namespace {

// A program that is preempted between reserve and submit holds back what came after it; not for long.
constexpr auto kDrainLimit = std::chrono::milliseconds(200);

template <class T>
T load_acquire(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const T*>(at), __ATOMIC_ACQUIRE);
}

constexpr std::uint64_t aligned8(std::uint64_t n) { return (n + 7) & ~std::uint64_t{7}; }

}  // namespace

Result<RingReader> RingReader::open(int map_fd, std::size_t bytes) {
  RingReader reader(bytes, static_cast<std::size_t>(getpagesize()));
  void* consumer = mmap(nullptr, reader.page_, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
  if (consumer == MAP_FAILED) return std::unexpected(io_error("mapping the BPF ring's consumer page", errno));
  reader.consumer_ = static_cast<std::byte*>(consumer);
  void* producer = mmap(nullptr, reader.page_ + bytes, PROT_READ, MAP_SHARED, map_fd, static_cast<off_t>(reader.page_));
  if (producer == MAP_FAILED) return std::unexpected(io_error("mapping the BPF ring", errno));
  reader.producer_ = static_cast<const std::byte*>(producer);
  reader.position_ = load_acquire<std::uint64_t>(reader.consumer_);
  return reader;
}

RingReader::RingReader(RingReader&& other) noexcept
    : bytes_(other.bytes_),
      page_(other.page_),
      consumer_(std::exchange(other.consumer_, nullptr)),
      producer_(std::exchange(other.producer_, nullptr)),
      position_(other.position_) {}

RingReader::~RingReader() {
  if (consumer_) munmap(consumer_, page_);
  if (producer_) munmap(const_cast<std::byte*>(producer_), page_ + bytes_);
}

std::uint64_t RingReader::produced() const { return load_acquire<std::uint64_t>(producer_); }

std::span<const std::byte> RingReader::record(std::uint64_t offset, std::size_t length) {
  const std::byte* data = producer_ + page_;
  const std::size_t start = offset & (bytes_ - 1);
  if (start + length <= bytes_) return {data + start, length};
  wrapped_.resize(length);
  const std::size_t first = bytes_ - start;
  std::memcpy(wrapped_.data(), data + start, first);
  std::memcpy(wrapped_.data() + first, data, length - first);
  return wrapped_;
}

std::size_t RingReader::consume(const Sink& sink) {
  std::size_t count = 0;
  for (std::uint64_t end = produced(); position_ < end; end = produced()) {
    while (position_ < end) {
      // Headers are 8 bytes and 8-aligned: they never wrap.
      const auto header = load_acquire<std::uint32_t>(producer_ + page_ + (position_ & (bytes_ - 1)));
      if (header & BPF_RINGBUF_BUSY_BIT) return count;
      const std::uint32_t length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
      if (!(header & BPF_RINGBUF_DISCARD_BIT)) {
        sink(record(position_ + BPF_RINGBUF_HDR_SZ, length));
        ++count;
      }
      position_ += aligned8(std::uint64_t{length} + BPF_RINGBUF_HDR_SZ);
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(consumer_), position_, __ATOMIC_RELEASE);
    }
  }
  return count;
}

std::size_t RingReader::drain(const Sink& sink) {
  const std::uint64_t goal = produced();
  const auto deadline = std::chrono::steady_clock::now() + kDrainLimit;
  std::size_t count = consume(sink);
  while (position_ < goal && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
    count += consume(sink);
  }
  return count;
}

}  // namespace qpscope
