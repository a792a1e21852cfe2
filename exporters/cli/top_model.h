// SPDX-License-Identifier: Apache-2.0
// What `qpscope top` shows: answers of the daemon and keys → lines. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rate_book.h"
#include "table.h"

namespace qpscope::cli {

enum class TopView : std::uint8_t { ports, tenants, qps };
inline constexpr std::array kTopViews{"ports", "tenants", "qps"};

enum class Key : std::uint8_t {
  quit, help, pause, reverse, next_sort, previous_sort, errors, retransmits, bandwidth, next_view, ports, tenants, qps, up, down, page_up, page_down, home, end
};

// What a terminal in raw mode sent (ECMA-48 and xterm's keys). What means nothing here is left out.
std::vector<Key> keys_of(std::string_view bytes);

class TopModel {
 public:
  explicit TopModel(TopView view);

  // By a column's name as in the head, in any case, with "-" for a blank: rx, retrans, cq-errors. False where the view has none.
  bool sort_by(std::string_view column);
  // All of the names, as sort_by() takes them.
  static std::vector<std::string> sort_names(TopView view);

  TopView view() const { return view_; }
  bool paused() const { return paused_; }
  // True where the view is another one now: it has nothing to show until show().
  bool press(Key key);

  // Whole answers: of /api/v1/status, and of the view's list with all of its pages.
  void show(const Json& status, const Json& list);
  // In place of an answer. What was there stays.
  void fail(std::string message) { failure_ = std::move(message); }

  // As many as the screen has rows, at most; none is wider than it. Where it has no limit: all.
  std::vector<std::string> lines(const Screen& screen);
  bool has_rates() const { return view_ != TopView::tenants || rounds_ > 1; }  // a tenant's need two answers

 private:
  struct Order {
    std::size_t column = 0;
    bool reverse = false;
  };
  Order& order() { return orders_[static_cast<std::size_t>(view_)]; }
  void sort_by_head(std::initializer_list<std::string_view> heads);
  bool change(TopView view);
  void scroll(Key key);
  void sort();
  std::string title(const Screen& screen) const;
  std::string bar(const Screen& screen, std::size_t shown);

  TopView view_;
  std::array<Order, kTopViews.size()> orders_;
  bool paused_ = false, help_ = false;
  std::size_t first_ = 0, page_ = 1;  // rows
  std::string failure_;
  Json status_;
  std::optional<Table> table_;
  RateBook rates_;
  unsigned rounds_ = 0;  // of the view
};

}  // namespace qpscope::cli
