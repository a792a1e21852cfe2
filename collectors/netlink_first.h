// SPDX-License-Identifier: Apache-2.0
// For what both RDMA netlink and sysfs can tell: one question to netlink while that works, the files where it does not.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/back_off.h"
#include "core/collector.h"

namespace qpscope {

// Of one port and subject. Not thread-safe.
//
// The files take over
// - for good, where netlink cannot answer at all: ErrorCode::unsupported, EMSGSIZE (more counters than fit into a message);
// - until netlink has been tried again, which is done less and less often, where it may be the wrong place to ask: EINVAL, which is
//   no statistics of this port as well as any failure of the driver (stat_get_doit_default_counter), or a device that it does not
//   know. If it is the card that fails, the files say how.
// Any other error is a read that failed: counted, tried again as a file is.
class NetlinkFirst {
 public:
  // Where there is no netlink, it is the files.
  explicit NetlinkFirst(bool netlink) : never_(!netlink), files_(!netlink) {}

  // Calls question() -> Result<Value> and returns the value. nullopt: then files() says whether to read them in this pass; if not,
  // `out` knows that it failed. `commands`: what the question asks of the firmware.
  template <class Question>
  auto ask(Reading& out, std::string_view source, unsigned commands, Question question) {
    std::optional<typename std::invoke_result_t<Question>::value_type> value;
    if (!due(out)) return value;
    out.firmware_commands += commands;
    auto answer = question();
    if (answer) {
      value = std::move(*answer);
      succeeded();
    } else {
      failed(out, source, std::move(answer.error()));
    }
    return value;
  }
  bool files() const { return files_; }

 private:
  bool due(Reading& out);
  void succeeded();
  void failed(Reading& out, std::string_view source, Error error);

  bool never_;  // ask netlink
  bool files_;
  BackOff back_off_;
  std::optional<Error> error_;  // of the last question
};

}  // namespace qpscope
