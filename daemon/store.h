// SPDX-License-Identifier: Apache-2.0
// The newest snapshot, behind one small mutex. Thread-safe.
#pragma once

#include <memory>
#include <mutex>

#include "core/snapshot.h"

namespace qpscope {

class SnapshotStore : public SnapshotSource {
 public:
  std::shared_ptr<const Snapshot> latest() const override {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  void publish(std::shared_ptr<const Snapshot> snapshot) {
    const std::lock_guard lock(mutex_);
    latest_.swap(snapshot);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> latest_;
};

}  // namespace qpscope
