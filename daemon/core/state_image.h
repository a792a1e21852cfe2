// SPDX-License-Identifier: Apache-2.0
// What outlives a restart, as text: the totals of every device and of the daemon itself, one a line. state_file.h says where it lies.
//
//   qpscope-state 1
//   boot 7c3a…                                   boot id
//   own qpscope_read_errors_total 4014… mlx5_0 port EINVAL          family, value as bits of a double, labels
//   own_histogram qpscope_queue_pair_setup_seconds 3fe0… 1 3fb9… 4 1 mlx5_0   family, a histogram as below, labels
//   device mlx5_0 0c42:a103:0065:1a2b            name, node GUID
//   port 1 0 0                                   number ("-": the device's own), resets, gaps
//   counter 1 counters port_rcv_data 7b 7b 1f4   port, source, name, total, last raw value, when (CLOCK_BOOTTIME ns); hexadecimal
//   observed 1 link_downs 2                      port, name, total of what we observed ourselves
//   histogram 1 rx 3fe0… 1 3fb9… 4 1             port, name, sum, number of bounds, bounds, counts; sum and bounds as bits of a double
//   tenant 1 root 4711 set 5a2e8                 port, tenant, workload, method, last used; below it its totals
//   credit hw_counters packet_seq_err 7          source, name, total
//   unattributed 1 hw_counters packet_seq_err 7b port, source, name, total
//   managed 1                                     port whose counter sets are ours,
//   foreign 1 5                                   but for this one: port, id
//   set 1 4 0 root 4711                           port, id, 1 for kernel queue pairs, tenant, workload; below it what it last showed
//   value packet_seq_err 7                        name, raw value
//   end 9ae1…                                    FNV-1a of all before
//
// Words are escaped byte by byte (%20), as names are the driver's to choose. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/carried_totals.h"
#include "core/counter_ledger.h"
#include "core/error.h"

namespace qpscope {

// A device and its totals. The image is shared and never changes: the same pointer means that nothing moved.
struct DeviceLedger {
  std::string name;
  std::string guid;  // node_guid as sysfs shows it; "" where it cannot be read
  std::shared_ptr<const LedgerImage> image;  // null: nothing counted yet
  friend bool operator==(const DeviceLedger&, const DeviceLedger&) = default;
};

struct StateImage {
  std::string boot_id;
  SharedCarriedTotals own;  // null: none
  std::vector<DeviceLedger> devices;
};

inline constexpr std::size_t kMostStateBytes = std::size_t{8} << 20;  // about 100,000 counters

std::string state_text(const StateImage& state);
// Takes nothing from a text that is not, byte for byte, what state_text() makes. ErrorCode::parse with the line, or ::limit.
Result<StateImage> parse_state(std::string_view text);

// Moves the image of a device out of `from`; null where it has none. Name and GUID must agree; where the GUID is not zero and
// nobody else's, another name will do, unless a device that is `present` bears that one: the device was renamed.
std::shared_ptr<const LedgerImage> take_image(std::vector<DeviceLedger>& from, const std::string& name, const std::string& guid,
                                              const std::function<bool(const std::string& name)>& present);

}  // namespace qpscope
