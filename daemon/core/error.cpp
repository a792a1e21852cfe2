// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"

#include <cerrno>
#include <cstring>

namespace qpscope {

Error io_error(std::string what, int sys_errno) {
  ErrorCode code = ErrorCode::io;
  if (sys_errno == ENOENT || sys_errno == ENODEV || sys_errno == ENOTDIR || sys_errno == ESRCH) code = ErrorCode::not_found;
  if (sys_errno == EACCES || sys_errno == EPERM) code = ErrorCode::permission;
  if (sys_errno == EOPNOTSUPP || sys_errno == ENOSYS) code = ErrorCode::unsupported;
  what += ": ";
  what += std::strerror(sys_errno);
  return Error{code, sys_errno, std::move(what)};
}

std::string errno_name(int sys_errno) {
  if (const char* name = strerrorname_np(sys_errno)) return name;
  return "errno " + std::to_string(sys_errno);
}

}  // namespace qpscope
