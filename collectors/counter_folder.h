// SPDX-License-Identifier: Apache-2.0
// The counters in one sysfs folder: opened once, re-read by pread. Not thread-safe: one device's thread uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/host.h"
#include "collectors/read_cost.h"
#include "core/back_off.h"
#include "core/collector.h"

namespace qpscope {

// A file that is read on every pass, and less often while that fails.
class PolledFile {
 public:
  PolledFile(const Sysroot& root, std::string path) : file_(KeptFile::later(root, std::move(path))) {}

  // nullopt: it failed, now or when it was tried last; `out` knows. The text lives as long as `buffer`. `commands`: what a read asks
  // of the firmware, counted where it is tried.
  std::optional<std::string_view> read(std::span<char> buffer, Reading& out, std::string_view source, unsigned commands);
  const std::string& path() const { return file_.path(); }

 private:
  KeptFile file_;
  BackOff back_off_;
  std::optional<Error> error_;  // of the last try
};

class CounterFolder {
 public:
  using Wanted = std::function<bool(std::string_view name)>;
  using Take = std::function<void(const std::string& name, std::uint64_t value)>;

  // A folder that does not exist holds no counters: many drivers have none. `source` names it in read_errors_total.
  CounterFolder(const Host& host, const std::string& path, std::string_view source, const Wanted& wanted, ReadCost cost);

  // A file that cannot be read, or holds no number, is counted and loses that value alone; where reading fails it is tried
  // again less and less often.
  void read(Reading& out, const Take& take);
  std::size_t size() const { return files_.size(); }
  void lifespan(double seconds) { cost_.lifespan(seconds); }

 private:
  struct Named {
    std::string name;
    PolledFile file;
  };
  std::optional<std::string_view> read(Named& one, std::span<char> buffer, Reading& out);

  std::string source_;
  std::vector<Named> files_;
  ReadCost cost_;
  BootTime now_;  // when the last read ended: where there is a cache, whose age decides
  std::optional<Error> unlisted_;  // counted once, on the first read: the folder is listed again when the device's shape changes
  bool counted_ = false;
};

// A device's folder in the class, and the numbers of its ports, rising. A device without ports/ has none.
std::string device_path(const std::string& device);
Result<std::vector<std::string>> port_numbers(const Host& host, const std::string& device);
PortNum port_number(const std::string& port);  // 0, which is no port, for what is none

// Which folders and files a device has, as one text: ports and counters are registered after the device itself, and a driver
// reload can change them under the same name. A folder that cannot be
// listed is part of it, so that one that can be listed again is another shape. Lists folders only; asks no hardware.
std::string device_shape(const Host& host, const std::string& device);

}  // namespace qpscope
