// SPDX-License-Identifier: Apache-2.0
// From the bytes of RDMA netlink messages to values. Pure functions without a socket: tested and fuzzed from bytes.
// Unknown attributes are ignored, the NESTED and BYTEORDER bits of a type too (the kernel sets them on statistics
// tables, not on resource tables). An attribute that is cut off or of a wrong size is ErrorCode::parse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectors/host/nldev.h"
#include "core/error.h"

namespace qpscope::nldev {

using Bytes = std::span<const std::byte>;  // 4-byte aligned, as netlink is: else ErrorCode::parse

// On the attributes of one message, that is what follows its nlmsghdr.
Result<NlDevice> parse_device(Bytes attributes);                 // GET
Result<NlPort> parse_port(Bytes attributes);                     // PORT_GET
Result<QpRow> parse_queue_pair(Bytes attributes);                // RES_QP_GET without dump, or one entry of a dump
Result<std::uint32_t> parse_queue_pair_count(Bytes attributes);  // RES_GET
Result<std::uint32_t> parse_driver_id(Bytes attributes);         // GET_CHARDEV of uverbs
Result<NlCounters> parse_counters(Bytes attributes);             // STAT_GET
Result<NlCounterMode> parse_counter_mode(Bytes attributes);      // STAT_GET of the mode
Result<NlCounterSet> parse_counter_set(Bytes attributes);        // STAT_GET of one set, or one entry of a dump
Result<CounterSetId> parse_counter_set_id(Bytes attributes);     // STAT_SET
Result<bool> parse_monitor_mode(Bytes attributes);               // SYS_GET

// One message of a RES_QP_GET dump; appends to `rows`. An entry that cannot be read is left out: the first such error
// is returned once the others are taken. ErrorCode::limit: rows.size() would pass `most`.
Result<> parse_queue_pairs(Bytes attributes, std::size_t most, std::vector<QpRow>& rows);

// One message of a RES_CTX_GET dump; appends. ErrorCode::limit: out.size() would pass `most`.
Result<> parse_contexts(Bytes attributes, std::size_t most, std::vector<NlContext>& out);

// One message of a RES_MR_GET dump; appends. ErrorCode::limit: out.size() would pass `most`.
Result<> parse_memory_regions(Bytes attributes, std::size_t most, std::vector<MemoryRegion>& out);

// The messages of a dump of counter sets; appends to `rows`, which must outlive it. ErrorCode::limit: more than `most` sets, or of
// members of all sets; or messages without a set that do not end, which is how the kernel deals with one that does not fit
// (res_get_common_dumpit). Two in a row can be an honest answer: nothing of this port, and a first datagram that is smaller than
// the later ones.
class CounterSetReader {
 public:
  CounterSetReader(std::size_t most, std::vector<NlCounterSet>& rows) : most_(most), rows_(rows) {}
  Result<> take(Bytes attributes);

 private:
  std::size_t most_;
  std::vector<NlCounterSet>& rows_;
  std::size_t members_ = 0;
  unsigned empty_ = 0;  // messages in a row
};

enum class Progress : bool { more, done };

// Takes the datagrams of one answer apart: sequence numbers, errors, the end, the budget. Not thread-safe.
class AnswerReader {
 public:
  AnswerReader(std::uint32_t sequence, std::uint32_t port_id, bool dump, NldevBudget budget)
      : sequence_(sequence), port_id_(port_id), dump_(dump), budget_(budget) {}

  // Messages for another sequence number or socket are counted and skipped. An error is the kernel's (finished() is
  // true then), that of `on_message`, or that of the datagram.
  Result<Progress> feed(Bytes datagram, const std::function<Result<>(Bytes)>& on_message);

  bool finished() const { return finished_; }        // the kernel has nothing more to say: the socket can be used again
  bool interrupted() const { return interrupted_; }  // NLM_F_DUMP_INTR: something changed during the dump

 private:
  std::uint32_t sequence_, port_id_;
  bool dump_;
  NldevBudget budget_;
  std::size_t messages_ = 0, bytes_ = 0;
  bool finished_ = false, interrupted_ = false;
};

}  // namespace qpscope::nldev
