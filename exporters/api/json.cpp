// SPDX-License-Identifier: Apache-2.0
#include "exporters/api/json.h"

#include <cmath>
#include <memory>
#include <utility>

#include "core/text.h"
#include "exporters/text_format.h"

namespace qpscope {
namespace {

constexpr std::size_t kPieceBytes = 64U << 10;
constexpr const char* kJsonType = "application/json";

}  // namespace

void put(Json& out, const char* key, std::string_view untrusted) {
  if (!untrusted.empty()) out[key] = safe_text(untrusted);
}

void put(Json& out, const char* key, std::optional<std::uint32_t> number) {
  if (number) out[key] = *number;
}

void put(Json& out, const char* key, const std::optional<Gid>& gid) {
  if (gid) out[key] = to_string(*gid);
}

std::string total_text(double total) {
  std::string out;
  text_format::append_number(out, total);
  return out;
}

double milliseconds(double seconds) { return std::round(seconds * 1e3) / 1e3; }

double unix_seconds(BootTime at, double wall_minus_boot) { return milliseconds(static_cast<double>(at.value) / 1e9 + wall_minus_boot); }

HttpResponse json_response(std::string text) {
  HttpResponse out;
  out.content_type = kJsonType;
  out.body = std::make_shared<const std::string>(std::move(text));
  return out;
}

HttpResponse json_response(JsonList list) {
  struct Page {
    JsonList list;
    std::size_t sent = 0;
    bool ended = false;
    std::string next() {
      std::string piece = std::exchange(list.head, {});
      while (!ended && piece.size() < kPieceBytes) {
        if (const auto item = list.item()) {
          if (sent++ > 0) piece += ',';
          piece += *item;
        } else {
          piece += list.tail();
          ended = true;
        }
      }
      return piece;
    }
  };
  auto page = std::make_shared<Page>(Page{.list = std::move(list)});
  HttpResponse out;
  out.content_type = kJsonType;
  out.pieces = [page] { return page->next(); };
  return out;
}

}  // namespace qpscope
