// SPDX-License-Identifier: Apache-2.0
// A kernel with queue pairs that answers as RDMA netlink does, counts what it is asked and fails on demand.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reconciler.h"

namespace qpscope::test {

class FakeQpSource : public QpSource {
 public:
  // What a thread holds of it.
  std::unique_ptr<QpSource> session() {
    class Session : public QpSource {
     public:
      explicit Session(FakeQpSource& kernel) : kernel_(kernel) {}
      Result<std::vector<std::pair<DeviceIndex, std::string>>> devices() override { return kernel_.devices(); }
      Result<std::unique_ptr<QpDumping>> dump(DeviceIndex device) override { return kernel_.dump(device); }
      Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) override { return kernel_.get(device, port, type, qpn); }
      Result<std::uint32_t> count(DeviceIndex device) override { return kernel_.count(device); }
      void close() override {}

     private:
      FakeQpSource& kernel_;
    };
    return std::make_unique<Session>(*this);
  }

  // As in the kernel: a piece is read when the one before it is taken, and the position is a number in a list that changes.
  class Dumping : public QpDumping {
   public:
    Dumping(FakeQpSource& kernel, DeviceIndex device) : kernel_(kernel), device_(device) { read(); }
    Result<Piece> next() override {
      Piece out = std::move(read_);
      if (!out.last) read();
      return out;
    }

   private:
    void read() {
      read_ = {};
      const auto& list = kernel_.rows[device_];
      const std::size_t end = std::min(list.size(), kernel_.dump_breaks_off_after);
      for (; at_ < end && read_.rows.size() < kernel_.piece; ++at_) read_.rows.push_back(list[at_]);
      read_.last = at_ >= end;
      read_.flawed = read_.last && end < list.size();
      if (kernel_.during_dump) kernel_.during_dump();
    }
    FakeQpSource& kernel_;
    DeviceIndex device_;
    Piece read_;
    std::size_t at_ = 0;
  };

  std::map<DeviceIndex, std::string> names;
  std::map<DeviceIndex, std::vector<QpRow>> rows;
  std::size_t dumps = 0, gets = 0;
  std::map<std::string, Error> failing;  // by call: "devices", "dump", "get", "count"
  std::function<void()> during_dump;     // what happens on the host while a dump runs
  std::function<void(std::uint32_t qpn)> on_get;
  std::function<void()> after_count;     // what happens between a count and its use
  std::size_t dump_breaks_off_after = ~std::size_t{0};
  std::size_t piece = 90;  // rows of a dump that come at once

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
  Result<std::unique_ptr<QpDumping>> dump(DeviceIndex device) override {
    ++dumps;
    if (failing.contains("dump")) return std::unexpected(failing["dump"]);
    return std::make_unique<Dumping>(*this, device);
  }
  Result<QpRow> get(DeviceIndex device, PortNum port, QpType type, Qpn qpn) override {
    ++gets;
    if (on_get) on_get(qpn.value);
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
  void close() override {}
};

}  // namespace qpscope::test
