// SPDX-License-Identifier: Apache-2.0
// Where the wire format ends: bytes of one ring record → core Event. Pure; trusts no length and no string.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/event.h"

namespace qpscope {

// nullopt: not an event of bpf/events.h (unknown kind, wrong length, a value outside its range). The caller counts it.
std::optional<Event> decode(std::span<const std::byte> record);

}  // namespace qpscope
