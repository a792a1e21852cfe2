// SPDX-License-Identifier: Apache-2.0
// Errors as values: every recoverable failure in qpscope is a Result<T>; exceptions never cross a room.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace qpscope {

enum class ErrorCode : std::uint8_t {
  io,           // a system call failed; Error::sys_errno says how
  parse,        // the bytes are not what they should be
  invalid,      // the caller or the configuration asked for something that cannot be
  not_found,    // the thing does not exist (never an alarm by itself)
  permission,   // a capability or a mode is missing
  unsupported,  // this kernel or driver does not have it
  limit,        // a bound of ours was reached
};

struct Error {
  ErrorCode code = ErrorCode::io;
  int sys_errno = 0;  // 0 where no system call was involved
  std::string what;   // what was tried, on which object, and what to do about it: good enough for the log
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string what, int sys_errno = 0) {
  return std::unexpected(Error{code, sys_errno, std::move(what)});
}

// An I/O failure: the code follows from errno (ENOENT, ENODEV: not_found; EACCES, EPERM: permission), and the
// errno's own text is appended to `what`.
Error io_error(std::string what, int sys_errno);

// "EINVAL"; "errno 599" for one that has no name.
std::string errno_name(int sys_errno);

}  // namespace qpscope
