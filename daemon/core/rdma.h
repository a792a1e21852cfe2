// SPDX-License-Identifier: Apache-2.0
// RDMA words, spelled as the `rdma` tool spells them (iproute2 rdma/res-qp.c); numbers as in the kernel's
// include/rdma/ib_verbs.h and include/uapi/rdma/ib_user_ioctl_verbs.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.h"

namespace qpscope {

enum class QpState : std::uint8_t { reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, sqe = 5, err = 6 };

// Values of enum ib_qp_type. An unknown number is kept as it is: newer kernels may add types.
enum class QpType : std::uint32_t {
  smi = 0, gsi = 1, rc = 2, uc = 3, ud = 4, raw_ipv6 = 5, raw_ethertype = 6, raw_packet = 8, xrc_ini = 9, xrc_tgt = 10, driver = 0xff,
};

std::string_view to_string(QpState state);                  // "RTS"
std::optional<QpState> qp_state_from_number(unsigned number);  // nullopt for a number the kernel does not have
std::string to_string(QpType type);                         // "RC"; "DRIVER" from 0xff on; "UNKNOWN" else

// SMI and GSI queue pairs have QPN 0 and 1 on every port of a device.
constexpr bool is_special(QpType type) { return type == QpType::smi || type == QpType::gsi; }

// The number that names a QP within a device while it lives: the QPN, with the port above bit 24 for SMI and GSI, as
// the kernel does it (core/restrack.c rdma_restrack_add).
constexpr std::uint32_t restrack_id(QpType type, Qpn qpn, PortNum port) {
  return is_special(type) ? qpn.value | port.value << 24 : qpn.value;
}

// enum ib_mtu → bytes; nullopt outside 1..5.
std::optional<std::uint32_t> mtu_bytes(unsigned ib_mtu);

// States of a port as sysfs spells them (core/sysfs.c state_show, phys_state_to_str); empty for a number that the kernel does not have.
std::string_view port_state_name(unsigned number);           // "ACTIVE"
std::string_view port_physical_state_name(unsigned number);  // "LinkUp"

// As the kernel prints a GID in sysfs: eight groups of four hexadecimal digits.
std::string to_string(const Gid& gid);
std::optional<Gid> parse_gid(std::string_view text);

}  // namespace qpscope
