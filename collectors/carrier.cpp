// SPDX-License-Identifier: Apache-2.0
#include "collectors/carrier.h"

#include <array>

#include "collectors/driver.h"

namespace qpscope {
namespace {

constexpr std::uint64_t kLookNs = 15'000'000'000;

std::string folder(const std::string& netdev) { return "/sys/class/net/" + netdev; }

}  // namespace

std::optional<double> Carrier::count(Reading& out) {
  if (const BootTime now = out.now(); look_at_ <= now) {
    look_at_.value = now.value + kLookNs;
    look();
  }
  if (!file_) return std::nullopt;
  std::array<char, 64> buffer;
  const auto text = file_->read(buffer, out, "net", 0);
  if (!text) return std::nullopt;
  const auto raw = parse_u64(*text, file_->path());
  if (!raw) return out.failed("net", raw.error()), std::nullopt;
  const auto counted = out.count({port_, "net", netdev_}, *raw, kWraps32);
  return counted ? std::optional(counted->total) : std::nullopt;
}

void Carrier::look() {
  std::string netdev = netdev_of(host_, device_, port_, [](const Error&) {});
  const std::string path = folder(netdev) + "/carrier_down_count";
  if (netdev.empty() || !host_.root.exists(path) || !is_ours(netdev)) {
    netdev_.clear();
    file_.reset();
  } else if (netdev != netdev_) {
    netdev_ = std::move(netdev);
    file_.emplace(host_.root, path);
  }
}

// A netdev that was given to a container keeps its name there, and another one may bear it here. Bonds and other virtual netdevs
// have no parent to tell them by.
bool Carrier::is_ours(const std::string& netdev) const {
  const auto parent = host_.root.link_name(folder(netdev) + "/device"), mine = host_.root.link_name(device_path(device_) + "/device");
  return !parent || !mine || *parent == *mine;
}

}  // namespace qpscope
