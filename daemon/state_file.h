// SPDX-License-Identifier: Apache-2.0
// /run/qpscope/state: the only file that the daemon writes. What is in it: core/state_image.h. It speaks of this boot alone.
//
// Main thread only. The root must outlive it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectors/host/sysroot.h"
#include "core/state_image.h"

namespace qpscope {

class StateFile {
 public:
  explicit StateFile(const Sysroot& root);

  // What an earlier run of this boot left. A file that is damaged, strange or of another boot is ignored, with one log line.
  StateImage load() const;

  // Writes the file anew (temporary file and rename, mode 0600) unless it holds these very images and totals. False: it does not hold
  // them, because it cannot be written, or because the boot has no name here; logged once, tried again the next time.
  bool save(std::vector<DeviceLedger> ledgers, SharedCarriedTotals own);

 private:
  Result<> write(std::string_view text) const;
  Result<std::string> read() const;

  const Sysroot& root_;
  std::string boot_id_;               // "": unknown, and then nothing is kept
  std::vector<DeviceLedger> saved_;
  SharedCarriedTotals saved_own_;
  bool failed_ = false;
};

}  // namespace qpscope
