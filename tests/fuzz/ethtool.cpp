// SPDX-License-Identifier: Apache-2.0
// What a netdev's driver tells: the first byte says whether the rest is the text of `ethtool -S`, names as the kernel writes them, or an answer of DCB.
#include "collectors/host/ethtool.h"

#include <cstring>
#include <vector>

#include "collectors/host/dcb.h"
#include "collectors/vocabulary/netdev_statistics.h"
#include "fuzz/fuzz.h"

using namespace qpscope;
using fuzz::check;

namespace {

void names(const NetdevStatistics& read) {
  check(read.names.size() == read.values.size() * kStatisticName && read.values.size() <= kMostStatistics, "as many names as values, and not too many");
  for (std::size_t i = 0; i < read.values.size(); ++i) {
    const std::string_view name = read.name(i);
    check(name.size() <= kStatisticName && !name.contains('\0'), "a name ends with its slot or its NUL");
    for (const char* driver : {"mlx5_core", "bnxt_en", "ice", "ena"}) {
      const auto match = match_statistic(netdev_table(driver), name);
      if (!match) continue;
      std::string row(match->meaning->statistic);
      if (const auto mark = row.find('#'); mark != std::string::npos) row.replace(mark, 1, std::to_string(match->number));
      check(row == name, "a meaning is that of the row of this name");
      check(match->number <= 15 && !match->label().contains('#'), "a label is a word or a small number");
    }
  }
}

void text(std::string_view text) {
  const auto read = parse_ethtool_text(text, "text");
  if (!read) {
    const ErrorCode code = read.error().code;
    return check(code == ErrorCode::parse || code == ErrorCode::unsupported || code == ErrorCode::limit, "a bad text is a parse error, too long, or none");
  }
  check(!read->values.empty(), "a text without statistics has none");
  names(*read);
  std::string again = "NIC statistics:\n";
  for (std::size_t i = 0; i < read->values.size(); ++i) again.append("     ").append(read->name(i)).append(": ").append(std::to_string(read->values[i])).append("\n");
  const auto back = parse_ethtool_text(again, "again");
  check(back && back->names == read->names && back->values == read->values, "what was read and is written reads back");
}

void dcb(std::string_view bytes) {
  std::vector<std::uint64_t> aligned((bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto read = parse_dcb_pfc({reinterpret_cast<const std::byte*>(aligned.data()), bytes.size()});
  if (!read) return check(read.error().code == ErrorCode::parse || read.error().code == ErrorCode::unsupported, "a bad answer is a parse error, or without PFC");
  // sent and received lie in the answer as they are.
  const auto text_of = [](const auto& frames) { return std::string(reinterpret_cast<const char*>(frames.data()), sizeof frames); };
  check(bytes.contains(text_of(read->sent) + text_of(read->received)), "frames are what stands in the answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  if (input.empty()) return 0;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 0: text(rest); break;
    case 1: {
      const std::size_t count = std::min(rest.size() / kStatisticName, kMostStatistics);
      names({.names = std::string(rest.substr(0, count * kStatisticName)), .values = std::vector<std::uint64_t>(count)});
      break;
    }
    case 2: dcb(rest); break;
    default: break;
  }
  return 0;
}
