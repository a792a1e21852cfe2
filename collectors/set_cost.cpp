// SPDX-License-Identifier: Apache-2.0
#include "collectors/set_cost.h"

namespace qpscope {
namespace {

constexpr double kSettleSeconds = 10;
constexpr double kCountSeconds = 15;

}  // namespace

void SetCost::look(Reading& out, DeviceNetlink& netlink, PortNum port) {
  const BootTime now = out.now();
  if (back_off_.due(now)) {
    const auto mode = netlink.counter_mode(port);
    if (!mode) {
      back_off_.failed(now);  // loses no value: what was known stays
    } else if (back_off_.succeeded(); mode->kind == NlCounterMode::Kind::none) {
      sets_ = 0;
      counted_.reset();
    } else {
      in_use_ = now;
      if (out.ledger.sets().known(port)) {
        sets_ = out.ledger.sets().sets(port).size();
      } else if (!counted_ || seconds(now, *counted_) >= kCountSeconds) {
        counted_ = now;
        if (const auto sets = netlink.counter_sets(port)) sets_ = sets->rows.size();
        out.firmware_commands += sets_;
      }
    }
  }
  settles_ = in_use_ && seconds(now, *in_use_) <= kSettleSeconds;
}

}  // namespace qpscope
