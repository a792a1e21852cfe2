// SPDX-License-Identifier: Apache-2.0
#include "core/collector.h"

namespace qpscope {

void ReadErrors::add(std::string_view source, const Error& error) {
  counts_[{std::string(source), error.sys_errno ? errno_name(error.sys_errno) : "parse"}]++;
}

void Reading::failed(std::string_view source, const Error& error) {
  errors.add(source, error);
  if (troubles++ == 0) trouble = error.what;
}

}  // namespace qpscope
