// SPDX-License-Identifier: Apache-2.0
#include "collectors/driver.h"

#include "collectors/counter_folder.h"
#include "core/text.h"

namespace qpscope {

std::string driver_of(const Host& host, const std::string& device) {
  const std::string path = device_path(device);
  // Software devices first: over a real NIC some kernels give them that NIC as parent device.
  if (host.root.exists(path + "/parent")) return "rdma_rxe";  // an attribute only rxe has (sw/rxe/rxe_verbs.c parent_show)
  if (auto name = host.root.link_name(path + "/device/driver")) return *name;
  // siw has no attribute of its own: an iWARP device (node type RNIC) without a parent device is it.
  const auto type = host.root.read_text(path + "/node_type");
  if (type && trim(*type).starts_with("4:") && !host.root.exists(path + "/device")) return "siw";
  return {};
}

}  // namespace qpscope
