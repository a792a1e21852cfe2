// SPDX-License-Identifier: Apache-2.0
// Names of what the kernel tells of: its own, in small letters. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qpscope {

// include/rdma/ib_verbs.h enum ib_event_type
enum class AsyncKind : std::uint8_t { queue_pair, completion_queue, shared_receive_queue, work_queue, port, gid, device };
struct AsyncEventRow {
  std::string_view name;  // "qp_fatal"
  AsyncKind kind;
  bool fault = false;
};
// Null for a number that has no name yet.
const AsyncEventRow* async_event_row(std::uint32_t event);
std::string async_event_name(std::uint32_t event);  // "event_37" where there is none
inline constexpr std::uint32_t kPortActive = 9, kPortErr = 10;

// include/rdma/rdma_cm.h enum rdma_cm_event_type
std::string cm_event_name(std::uint32_t event);
enum class CmTone : std::uint8_t { step, connection, failure };  // on the way to a connection; it came or ended; it failed
CmTone cm_event_tone(std::uint32_t event);
// Of an event with this status: "consumer_defined" of a rejection, "ETIMEDOUT" else, empty for 0. A bounded number of them.
std::string cm_reason(std::uint32_t event, int status);

}  // namespace qpscope
