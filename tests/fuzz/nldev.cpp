// SPDX-License-Identifier: Apache-2.0
// The bytes of RDMA netlink: attributes of every message that is asked for, and whole datagrams. The first byte says which.
#include <memory>

#include "collectors/host/device_news.h"
#include "collectors/host/nldev_parse.h"
#include "fuzz/fuzz.h"

using namespace qpscope;
using namespace qpscope::nldev;
using fuzz::check;

namespace {

void plain(std::string_view text) { check(!text.contains('\0'), "a text ends at its first NUL"); }
void bad(const Error& error) { check(error.code == ErrorCode::parse || error.code == ErrorCode::limit, "bad attributes are a parse error, or too many"); }

void attributes(Bytes bytes) {
  if (const auto device = parse_device(bytes)) {
    plain(device->name);
    check(!device->name.empty(), "a device has a name");
  } else {
    bad(device.error());
  }
  if (const auto port = parse_port(bytes)) {
    plain(port->netdev.value_or(""));
  } else {
    bad(port.error());
  }
  if (const auto qp = parse_queue_pair(bytes)) {
    plain(qp->kern_name);
    check(!qp->state || static_cast<unsigned>(*qp->state) <= static_cast<unsigned>(QpState::err), "a state is one of the kernel's");
  } else {
    bad(qp.error());
  }
  if (const auto counters = parse_counters(bytes)) {
    for (const auto& [name, value] : *counters) check(!name.empty() && !name.contains('\0'), "a counter has a plain name");
  } else {
    bad(counters.error());
  }
  if (const auto count = parse_queue_pair_count(bytes); !count) bad(count.error());
  if (const auto id = parse_driver_id(bytes); !id) bad(id.error());
  if (const auto mode = parse_monitor_mode(bytes); !mode) bad(mode.error());
  if (const auto news = device_news::parse_monitor(bytes)) {
    plain(news->device);
    check(!news->event.empty(), "news are of an event");
  } else {
    bad(news.error());
  }
  if (const auto news = device_news::parse_uevent({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
    plain(news->device);
    check(!news->event.empty(), "news are of an event");
  }

  constexpr std::size_t kMost = 4;
  std::vector<QpRow> rows(1);
  if (const auto result = parse_queue_pairs(bytes, kMost, rows); !result) bad(result.error());
  check(!rows.empty() && rows.size() <= kMost, "rows are appended, within the budget");
  std::vector<NlContext> contexts(1);
  if (const auto result = parse_contexts(bytes, kMost, contexts); !result) bad(result.error());
  check(!contexts.empty() && contexts.size() <= kMost, "contexts are appended, within the budget");
  std::vector<MemoryRegion> regions(1);
  if (const auto result = parse_memory_regions(bytes, kMost, regions); !result) bad(result.error());
  check(!regions.empty() && regions.size() <= kMost, "memory regions are appended, within the budget");
}

// Header as the reader expects it: sequence 7, socket 9. Datagrams of at most 64 bytes, so that an answer has several.
void datagrams(Bytes bytes, bool dump) {
  constexpr NldevBudget kBudget{.messages = 16, .bytes = 1024, .rows = 8};
  AnswerReader reader(7, 9, dump, kBudget);
  std::vector<QpRow> rows;
  std::size_t messages = 0;
  while (!bytes.empty()) {
    const Bytes one = bytes.first(std::min<std::size_t>(64, bytes.size()));
    bytes = bytes.subspan(one.size());
    const auto progress = reader.feed(one, [&](Bytes body) -> Result<> {
      check(body.empty() || (body.data() >= one.data() && body.data() + body.size() <= one.data() + one.size()), "a message lies in its datagram");
      check(++messages <= kBudget.messages, "no more messages than the budget has");
      return parse_queue_pairs(body, kBudget.rows, rows);
    });
    if (!progress) return;
    if (*progress == Progress::done) return check(reader.finished(), "done is finished");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // In a block of exactly their size and of malloc's alignment.
  const auto block = std::make_unique_for_overwrite<std::byte[]>(size - 1);
  std::memcpy(block.get(), data + 1, size - 1);
  const Bytes bytes(block.get(), size - 1);
  switch (data[0] % 4) {
    case 0:
      datagrams(bytes, true);
      break;
    case 1:
      datagrams(bytes, false);
      break;
    default:
      attributes(bytes);
  }
  return 0;
}
