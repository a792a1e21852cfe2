// SPDX-License-Identifier: Apache-2.0
#include "top_model.h"

#include <algorithm>
#include <utility>

#include "ports.h"
#include "qps.h"
#include "tenants.h"
#include "text_width.h"
#include "units.h"

namespace qpscope::cli {
namespace {

struct KeyName {
  std::string_view bytes;
  Key key;
};
// Escape sequences before the keys that are a part of them.
constexpr KeyName kKeys[] = {
    {"\x1b[A", Key::up}, {"\x1bOA", Key::up}, {"\x1b[B", Key::down}, {"\x1bOB", Key::down}, {"\x1b[5~", Key::page_up}, {"\x1b[6~", Key::page_down},
    {"\x1b[H", Key::home}, {"\x1bOH", Key::home}, {"\x1b[1~", Key::home}, {"\x1b[F", Key::end}, {"\x1bOF", Key::end}, {"\x1b[4~", Key::end},
    {"\x1b[C", Key::next_sort}, {"\x1bOC", Key::next_sort}, {"\x1b[D", Key::previous_sort}, {"\x1bOD", Key::previous_sort},
    {"q", Key::quit}, {"Q", Key::quit}, {"h", Key::help}, {"?", Key::help}, {" ", Key::pause}, {"r", Key::reverse}, {">", Key::next_sort}, {"s", Key::next_sort},
    {"<", Key::previous_sort}, {"e", Key::errors}, {"x", Key::retransmits}, {"b", Key::bandwidth}, {"\t", Key::next_view}, {"p", Key::ports}, {"t", Key::tenants},
    {"u", Key::qps}, {"k", Key::up}, {"j", Key::down}, {"g", Key::home}, {"G", Key::end},
};

constexpr std::string_view kHelp[] = {
    "p t u  Tab     ports, tenants, queue pairs; the next of them",
    "< >  or arrows sort by the column to the left, to the right",
    "e              sort by errors: completions, or queue pairs in ERR",
    "x              sort by retransmits",
    "b              sort by bandwidth: received; once more: sent",
    "r              the other way round",
    "up down PgUp PgDn Home End   (also k j g G)",
    "space          pause, and go on",
    "h ?            this; any key ends it",
    "q  Ctrl-C      quit",
};

const Table& empty_table(TopView view) {
  static const std::array kTables{port_table({}), tenant_table({}), qp_table({}, {})};
  return kTables[static_cast<std::size_t>(view)];
}

std::string sort_name(std::string_view head) {
  std::string name(head);
  for (char& c : name) c = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return name;
}

std::optional<std::size_t> column_with(TopView view, std::string_view name) {
  const auto& columns = empty_table(view).columns();
  const auto found = std::ranges::find_if(columns, [&](const Column& column) { return sort_name(column.head) == name; });
  return found == columns.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - columns.begin()));
}

}  // namespace

std::vector<Key> keys_of(std::string_view bytes) {
  std::vector<Key> keys;
  while (!bytes.empty()) {
    const auto* const found = std::ranges::find_if(kKeys, [&](const KeyName& name) { return bytes.starts_with(name.bytes); });
    if (found != std::end(kKeys)) {
      keys.push_back(found->key);
      bytes.remove_prefix(found->bytes.size());
    } else if (bytes.starts_with("\x1b[") || bytes.starts_with("\x1bO")) {  // another key of many bytes: none of them is a key by itself
      const auto end = bytes.find_first_not_of("0123456789;", 2);
      bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    } else {
      bytes.remove_prefix(1);
    }
  }
  return keys;
}

TopModel::TopModel(TopView view) : view_(view) {
  for (const auto& [of, column] : {std::pair(TopView::ports, "retrans"), std::pair(TopView::tenants, "retrans"), std::pair(TopView::qps, "state")}) {
    orders_[static_cast<std::size_t>(of)].column = column_with(of, column).value_or(0);
  }
}

bool TopModel::sort_by(std::string_view column) {
  const auto found = column_with(view_, sort_name(column));
  if (!found) return false;
  order() = {*found, false};
  sort();
  return true;
}

std::vector<std::string> TopModel::sort_names(TopView view) {
  std::vector<std::string> names;
  for (const Column& column : empty_table(view).columns()) names.push_back(sort_name(column.head));
  return names;
}

// The first that the view has and that it is not sorted by already.
void TopModel::sort_by_head(std::initializer_list<std::string_view> heads) {
  for (const std::string_view head : heads) {
    if (const auto column = column_with(view_, head); column && *column != order().column) {
      sort_by(head);
      return;
    }
  }
}

bool TopModel::change(TopView view) {
  if (view == view_) return false;
  view_ = view;
  paused_ = false;
  first_ = 0;
  rounds_ = 0;
  rates_ = {};
  table_.reset();
  return true;
}

void TopModel::scroll(Key key) {
  const std::size_t last = table_ && table_->size() > page_ ? table_->size() - page_ : 0;
  switch (key) {
    case Key::up: first_ -= std::min<std::size_t>(first_, 1); break;
    case Key::down: ++first_; break;
    case Key::page_up: first_ -= std::min(first_, page_); break;
    case Key::page_down: first_ += page_; break;
    case Key::home: first_ = 0; break;
    default: first_ = last; break;
  }
  first_ = std::min(first_, last);
}

bool TopModel::press(Key key) {
  if (std::exchange(help_, false)) return false;
  const std::size_t columns = empty_table(view_).columns().size();
  switch (key) {
    case Key::quit: break;
    case Key::help: help_ = true; break;
    case Key::pause: paused_ = !paused_; break;
    case Key::reverse: order().reverse = !order().reverse; break;
    case Key::next_sort: order() = {(order().column + 1) % columns, false}; break;
    case Key::previous_sort: order() = {(order().column + columns - 1) % columns, false}; break;
    case Key::errors: sort_by_head({"cq-errors", "state"}); break;
    case Key::retransmits: sort_by_head({"retrans"}); break;
    case Key::bandwidth: sort_by_head({"rx", "tx"}); break;
    case Key::next_view: return change(static_cast<TopView>((static_cast<std::size_t>(view_) + 1) % kTopViews.size()));
    case Key::ports: return change(TopView::ports);
    case Key::tenants: return change(TopView::tenants);
    case Key::qps: return change(TopView::qps);
    default: scroll(key); break;
  }
  sort();
  return false;
}

void TopModel::sort() {
  if (table_) table_->sort(order().column, order().reverse);
}

void TopModel::show(const Json& status, const Json& list) {
  failure_.clear();
  status_ = status;
  ++rounds_;
  const Json& data = child(list, "data");
  const auto time = number_of(list, "time");
  switch (view_) {
    case TopView::ports: table_ = port_table(data); break;
    case TopView::tenants:
      note_tenants(rates_, child(data, "tenants"), time.value_or(0));
      table_ = tenant_table(child(data, "tenants"), &rates_);
      break;
    case TopView::qps: table_ = qp_table(child(data, "qps"), time); break;
  }
  sort();
}

std::string TopModel::title(const Screen& screen) const {
  const Json& data = child(status_, "data");
  std::string text = "qpscope top  " + text_or(data, "host", "this host");
  if (const auto time = number_of(status_, "time")) text += "  " + clock_time(*time);
  if (const auto total = number_of(child(data, "queue_pairs"), "total")) text += "  " + amount(*total) + " queue pairs";
  const double dead = number_of(child(child(data, "queue_pairs"), "by_state"), "ERR").value_or(0);
  if (dead > 0) text += ", " + amount(dead) + " in ERR";
  const std::size_t troubles = child(data, "troubles").size();
  if (troubles) text += "  " + std::to_string(troubles) + (troubles == 1 ? " trouble" : " troubles") + ": qpscope status";
  return toned(screen.columns ? fit(text, screen.columns) : text, dead > 0 ? Tone::bad : troubles ? Tone::warning : Tone::strong, screen);
}

std::string TopModel::bar(const Screen& screen, std::size_t shown) {
  if (!failure_.empty()) return toned(screen.columns ? fit(displayable(failure_), screen.columns) : displayable(failure_), Tone::bad, screen);
  std::string text = std::string(kTopViews[static_cast<std::size_t>(view_)]) + " by " + empty_table(view_).columns()[order().column].head + (order().reverse ? " (reversed)" : "");
  if (table_ && table_->size() > 0) text += "  " + std::to_string(first_ + 1) + "-" + std::to_string(first_ + shown) + " of " + std::to_string(table_->size());
  text += paused_ ? "  PAUSED (space goes on)" : "  h help, q quit";
  return toned(screen.columns ? fit(text, screen.columns) : text, paused_ ? Tone::warning : Tone::dim, screen);
}

std::vector<std::string> TopModel::lines(const Screen& screen) {
  constexpr std::size_t kAbove = 4;  // title, bar, a blank line, the head
  page_ = screen.rows ? std::max<std::size_t>(screen.rows, kAbove + 1) - kAbove : SIZE_MAX;
  const std::size_t rows = table_ ? table_->size() : 0;
  first_ = std::min(first_, rows > page_ ? rows - page_ : 0);
  std::vector<std::string> out{title(screen), bar(screen, std::min(page_, rows - first_)), ""};
  if (help_) {
    for (const std::string_view text : kHelp) out.push_back(screen.columns ? fit(text, screen.columns) : std::string(text));
  } else if (!table_) {
    out.emplace_back("...");
  } else {
    const auto table = table_->lines(screen, {.first = first_, .count = page_, .marked = order().column});
    out.insert(out.end(), table.begin(), table.end());
    if (rows == 0) out.push_back(view_ == TopView::ports ? "No ports." : view_ == TopView::tenants ? "No tenants with queue pairs or counters." : "No queue pairs.");
  }
  if (screen.rows && out.size() > screen.rows) out.resize(screen.rows);
  return out;
}

}  // namespace qpscope::cli
