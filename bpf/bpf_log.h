// SPDX-License-Identifier: Apache-2.0
// Catches what libbpf prints, so that it never reaches stderr and a failed load can say why.
#pragma once

#include <string>

namespace qpscope {

// libbpf has one print callback for the process: one BpfLog at a time collects, and silence stays afterwards.
class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  void clear();
  // One line: the verifier's last words, or libbpf's, or the errno's name.
  std::string reason(int error) const;
};

}  // namespace qpscope
