// SPDX-License-Identifier: Apache-2.0
#include "collectors/netlink_first.h"

#include <cerrno>

namespace qpscope {

bool NetlinkFirst::due(Reading& out) {
  if (never_) return false;
  if (!error_ || back_off_.due(out.now())) return true;
  if (!files_) out.not_tried(*error_);
  return false;
}

void NetlinkFirst::succeeded() {
  back_off_.succeeded();
  error_.reset();
  files_ = false;
}

void NetlinkFirst::failed(Reading& out, std::string_view source, Error error) {
  back_off_.failed(out.now());
  never_ = error.code == ErrorCode::unsupported || error.sys_errno == EMSGSIZE;
  files_ = never_ || error.sys_errno == EINVAL || error.code == ErrorCode::not_found;
  if (!files_) out.failed(source, error);
  error_ = std::move(error);
}

}  // namespace qpscope
