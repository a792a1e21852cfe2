// SPDX-License-Identifier: Apache-2.0
// /run/qpscope/api.sock, mode 0660: who may open it may ask everything. The file of a daemon that ended without removing it is replaced; one
// that another daemon serves is left alone. (Two that start within the same instant are not told apart: one of them is then not reached.)
//
// Main thread only.
#pragma once

#include <sys/types.h>

#include "collectors/host/sysroot.h"

namespace qpscope {

class ApiSocket {
 public:
  // ErrorCode::limit: another daemon serves it.
  static Result<ApiSocket> open(const Sysroot& root);
  ApiSocket(ApiSocket&&) = default;
  // Removes the file, unless it is another's by now.
  ~ApiSocket();

  // The listening descriptor, once: whoever serves it closes it.
  int release() { return listening_.release(); }

 private:
  ApiSocket(Fd folder, Fd listening) : folder_(std::move(folder)), listening_(std::move(listening)) {}
  Fd folder_, listening_;
  dev_t device_ = 0;  // the file, with inode_
  ino_t inode_ = 0;
};

}  // namespace qpscope
