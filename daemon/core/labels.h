// SPDX-License-Identifier: Apache-2.0
// The label values of a series, raw: the exporter makes them safe (text.h). Immutable and shared: a copy costs no memory, and all of them lie
// in one piece, since a host with many ports has a hundred thousand. Who samples the same series each second may keep its Labels.
// Thread-safe, as what is never changed is.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qpscope {

class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<std::string_view> values) : Labels(make(std::span(values.begin(), values.size()))) {}
  Labels(const std::vector<std::string>& values) : Labels(make(std::span(values))) {}

  std::size_t size() const { return block_ ? block_[0] : 0; }
  bool empty() const { return size() == 0; }
  std::string_view operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : block_[i];
    return {bytes() + begin, block_[i + 1] - begin};
  }
  // All of them, one behind the other.
  std::string_view joined() const { return empty() ? std::string_view() : std::string_view(bytes(), block_[size()]); }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = std::string_view;
    Iterator() = default;
    Iterator(const Labels& labels, std::size_t at) : labels_(&labels), at_(at) {}
    std::string_view operator*() const { return (*labels_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {*labels_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Labels* labels_ = nullptr;
    std::size_t at_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  friend bool operator==(const Labels& a, const Labels& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Labels& a, const Labels& b) {
    if (a.block_ == b.block_) return std::strong_ordering::equal;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (const auto order = a[i] <=> b[i]; order != 0) return order;
    }
    return a.size() <=> b.size();
  }

 private:
  using Block = std::shared_ptr<const std::uint32_t[]>;  // how many, where each ends, their bytes
  explicit Labels(Block block) : block_(std::move(block)) {}
  template <class String>
  static Block make(std::span<const String> values);
  const char* bytes() const { return reinterpret_cast<const char*>(block_.get() + 1 + size()); }

  Block block_;  // null: none
};

template <class String>
Labels::Block Labels::make(std::span<const String> values) {
  if (values.empty()) return nullptr;
  std::size_t bytes = 0;
  for (const auto& value : values) bytes += value.size();
  const std::size_t head = 1 + values.size();
  auto block = std::make_shared_for_overwrite<std::uint32_t[]>(head + (bytes + 3) / 4);
  block[0] = static_cast<std::uint32_t>(values.size());
  char* const text = reinterpret_cast<char*>(block.get() + head);
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    end += static_cast<std::uint32_t>(values[i].copy(text + end, values[i].size()));
    block[i + 1] = end;
  }
  return block;
}

}  // namespace qpscope
