// SPDX-License-Identifier: Apache-2.0
#include "self_check.h"

#include "core/rdma.h"

namespace qpscope {

void SelfCheck::mismatch(const QpRecord& record, std::string what) {
  if (verdict_ == Verdict::mismatch) return;
  verdict_ = Verdict::mismatch;
  owners_verified_ = false;
  reason_ = "BPF and netlink disagree on QP " + std::to_string(record.qpn.value) + " (" + to_string(record.type) + ") of device index " +
            std::to_string(record.key.device.value) + ": " + std::move(what) + "; the running ib_core has another layout than its BTF says";
}

void SelfCheck::compare(const QpRecord& record, const Result<QpRow>& answer) {
  if (verdict_ == Verdict::mismatch || !record.from_bpf || !record.tracked) return;
  if (record.created.value_or(BootTime{}) < trusted_from_) return;
  if (!answer) {
    // Anything but "there is no such QP" says nothing about layouts.
    if (answer.error().code == ErrorCode::not_found && ++absent_in_a_row_ >= kMostAbsent && verdict_ == Verdict::unverified) {
      mismatch(record, "netlink has none of the last " + std::to_string(kMostAbsent) + " QPs that BPF told of");
    }
    return;
  }
  absent_in_a_row_ = 0;
  const QpRow& row = *answer;
  if (row.qpn != record.qpn) return mismatch(record, "netlink says QPN " + std::to_string(row.qpn.value));
  if (row.type != record.type) return mismatch(record, "netlink says type " + to_string(row.type));
  if (record.owner && record.owner->known) {
    const Owner& owner = *record.owner;
    if (owner.user && !row.kern_name.empty()) return mismatch(record, "netlink says that the kernel owns it");
    if (!owner.user && row.tid.value != 0) return mismatch(record, "netlink says that thread " + std::to_string(row.tid.value) + " owns it");
    if (!owner.user && !row.kern_name.empty() && row.kern_name != owner.kern_name) return mismatch(record, "netlink names another kernel owner");
    // A pid that is missing (dead, or not visible from here) is unknown, not a mismatch.
    const bool comparable = pids_comparable_ && row.tid.value != 0;
    if (owner.user && comparable && row.tid != owner.tid) {
      return mismatch(record, "netlink says thread " + std::to_string(row.tid.value) + ", BPF says " + std::to_string(owner.tid.value));
    }
    if (owner.user && (comparable || !pids_comparable_)) owners_verified_ = true;
  }
  verdict_ = Verdict::verified;
}

}  // namespace qpscope
