// SPDX-License-Identifier: Apache-2.0
// Does the BPF side read the kernel's structs rightly? A vendor's ib_core has another layout than the distribution's BTF
// says, and CO-RE then reads wrong offsets without any error. So what BPF told of a QP is compared with netlink's answer for
// it: QPN, type and the creating thread. Until one QP has verified, owners are withheld; one mismatch and BPF is off.
// Pure; not thread-safe: the owner of the table guards it with the table.
#pragma once

#include <cstddef>
#include <string>

#include "core/error.h"
#include "core/qp_record.h"

namespace qpscope {

class SelfCheck {
 public:
  enum class Verdict : std::uint8_t { unverified, verified, mismatch };

  // `initial_pid_namespace`: netlink's pid is the reader's view of the thread and means something only there.
  explicit SelfCheck(bool initial_pid_namespace) : pids_comparable_(initial_pid_namespace) {}

  // `record` as BPF told it, `answer` of RES_QP_GET asked afterwards; the record must still be in the table then.
  void compare(const QpRecord& record, const Result<QpRow>& answer);

  // Events were lost: QPs created before `at` may have been replaced without our knowing, and prove nothing.
  void trust_from(BootTime at) { trusted_from_ = at; }

  Verdict verdict() const { return verdict_; }
  // A user QP whose creator agreed was seen (where pids cannot be compared: any user QP that agreed in the rest).
  bool owners_verified() const { return owners_verified_; }
  const std::string& reason() const { return reason_; }  // of a mismatch

 private:
  // One QP may vanish between two looks; this many in a row, all still in the table, may not.
  static constexpr std::size_t kMostAbsent = 8;

  void mismatch(const QpRecord& record, std::string what);

  bool pids_comparable_;
  BootTime trusted_from_;
  bool owners_verified_ = false;
  Verdict verdict_ = Verdict::unverified;
  std::size_t absent_in_a_row_ = 0;
  std::string reason_;
};

}  // namespace qpscope
