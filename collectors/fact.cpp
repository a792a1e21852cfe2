// SPDX-License-Identifier: Apache-2.0
#include "collectors/fact.h"

#include <cerrno>

#include "core/text.h"

namespace qpscope {

bool absent(const Error& error) { return error.sys_errno == ENOENT || error.sys_errno == ENOTDIR; }

std::string read_fact(const Host& host, const std::string& path, std::string_view source, Reading& out) {
  const auto text = host.root.read_text(path);
  if (text) return std::string(trim(*text));
  if (!absent(text.error())) out.failed(source, text.error());
  return {};
}

}  // namespace qpscope
