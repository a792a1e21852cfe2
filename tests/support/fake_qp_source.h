// SPDX-License-Identifier: Apache-2.0
// A kernel with queue pairs that answers as RDMA netlink does, counts what it is asked and fails on demand.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reconciler.h"

namespace qpscope::test {

class FakeQpSource : public QpSource {
 public:
  std::map<DeviceIndex, std::string> names;
  std::map<DeviceIndex, std::vector<QpRow>> rows;
  std::size_t dumps = 0, gets = 0;
  std::map<std::string, Error> failing;  // by call: "devices", "dump", "get", "count"
  std::function<void()> during_dump;     // what happens on the host while a dump runs
  std::function<void()> after_count;     // what happens between a count and its use
  std::size_t dump_breaks_off_after = ~std::size_t{0};

  QpRow* find(DeviceIndex device, std::uint32_t qpn) {
    auto& list = rows[device];
    const auto it = std::ranges::find(list, Qpn{qpn}, &QpRow::qpn);
    return it == list.end() ? nullptr : &*it;
  }
  void erase(DeviceIndex device, std::uint32_t qpn) {
    std::erase_if(rows[device], [&](const QpRow& row) { return row.qpn.value == qpn; });
  }

  Result<std::vector<std::pair<DeviceIndex, std::string>>> devices() override {
    if (failing.contains("devices")) return std::unexpected(failing["devices"]);
    return std::vector<std::pair<DeviceIndex, std::string>>(names.begin(), names.end());
  }
  Result<QpDump> dump(DeviceIndex device, BootTime began) override {
    ++dumps;
    if (failing.contains("dump")) return std::unexpected(failing["dump"]);
    QpDump out{.device = device, .began = began, .complete = true, .rows = rows[device]};
    if (out.rows.size() > dump_breaks_off_after) {
      out.rows.resize(dump_breaks_off_after);
      out.complete = false;
    }
    if (during_dump) during_dump();
    return out;
  }
  Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) override {
    ++gets;
    if (failing.contains("get")) return std::unexpected(failing["get"]);
    const QpRow* row = find(device, qpn.value);
    // The kernel looks by restrack id: a special QP without a port is not found under a number that holds one.
    if (!row || restrack_id(row->type, row->qpn, row->port) != restrack_id(type, qpn, port)) return std::unexpected(io_error("get QP", ENOENT));
    if (row->port != port) return std::unexpected(io_error("get QP", EAGAIN));
    return *row;
  }
  Result<std::uint32_t> count(DeviceIndex device) override {
    if (failing.contains("count")) return std::unexpected(failing["count"]);
    const auto answer = static_cast<std::uint32_t>(rows[device].size());
    if (after_count) after_count();
    return answer;
  }
};

}  // namespace qpscope::test
