// SPDX-License-Identifier: Apache-2.0
#include "nldev_source.h"

namespace qpscope {
namespace {

class NldevDumping : public QpDumping {
 public:
  explicit NldevDumping(QpDumpReader reader) : reader_(std::move(reader)) {}
  Result<Piece> next() override {
    Piece piece;
    const auto more = reader_.read(piece.rows);
    if (!more) return std::unexpected(more.error());
    piece.last = !*more;
    piece.flawed = reader_.trouble().has_value();
    return piece;
  }

 private:
  QpDumpReader reader_;
};

}  // namespace

template <class Call>
auto NldevSource::with(Call call) -> decltype(call(std::declval<Nldev&>())) {
  if (!nldev_) {
    auto opened = Nldev::open();
    if (!opened) return std::unexpected(std::move(opened.error()));
    nldev_ = std::move(*opened);
  }
  return call(*nldev_);
}

Result<std::vector<std::pair<DeviceIndex, std::string>>> NldevSource::devices() {
  auto found = with([](Nldev& nl) { return nl.devices(); });
  if (!found) return std::unexpected(std::move(found.error()));
  std::vector<std::pair<DeviceIndex, std::string>> out;
  for (NlDevice& device : *found) out.emplace_back(device.index, std::move(device.name));
  return out;
}

Result<std::unique_ptr<QpDumping>> NldevSource::dump(DeviceIndex device) {
  auto reader = QpDumpReader::begin(device);
  if (!reader) return std::unexpected(std::move(reader.error()));
  return std::make_unique<NldevDumping>(std::move(*reader));
}

Result<QpRow> NldevSource::get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) {
  return with([&](Nldev& nl) { return nl.queue_pair(device, port, type, qpn); });
}

Result<std::vector<NlContext>> NldevSource::contexts(DeviceIndex device) {
  const auto ask = [&] { return with([&](Nldev& nl) { return nl.contexts(device); }); };
  auto before = ask();
  for (int tries = 0; before && tries < 3; ++tries) {
    auto again = ask();
    if (!again || *again == *before) return again;
    before = std::move(again);
  }
  if (!before) return before;
  return fail(ErrorCode::io, "RDMA netlink: contexts come and go too fast to be listed");
}

Result<std::vector<MemoryRegion>> NldevSource::memory_regions(DeviceIndex device) {
  return with([&](Nldev& nl) { return nl.memory_regions(device); });
}

Result<std::uint32_t> NldevSource::count(DeviceIndex device) {
  return with([&](Nldev& nl) { return nl.queue_pair_count(device); });
}

}  // namespace qpscope
