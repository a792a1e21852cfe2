// SPDX-License-Identifier: Apache-2.0
#include "bpf/bpf_log.h"

#include <bpf/libbpf.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "core/error.h"

namespace qpscope {
namespace {

constexpr std::size_t kKept = 4096;      // of the end: a verifier log can be megabytes
constexpr std::size_t kReasonMax = 240;  // a reason is one line of a table

std::mutex g_mutex;
std::string g_text;
bool g_collecting = false;

int collect(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  const std::lock_guard lock(g_mutex);
  if (!g_collecting) return 0;
  char* text = nullptr;
  const int length = vasprintf(&text, format, arguments);
  if (length < 0) return 0;
  g_text.append(text, static_cast<std::size_t>(length));
  std::free(text);
  if (g_text.size() > kKept) g_text.erase(0, g_text.size() - kKept);
  return length;
}

// Lines that surround the cause: the verifier's statistics, libbpf's frame and what it says at the end of every failure.
bool is_noise(std::string_view line) {
  constexpr std::string_view noise[] = {"processed ",           "verification time",     "stack depth",      "-- BEGIN PROG LOAD LOG",
                                        "-- END PROG LOAD LOG", "failed to load object", "failed to load: -"};
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  for (const auto text : noise) {
    if (line.find(text) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

BpfLog::BpfLog() {
  const std::lock_guard lock(g_mutex);
  g_text.clear();
  g_collecting = true;
  libbpf_set_print(collect);
}

BpfLog::~BpfLog() {
  const std::lock_guard lock(g_mutex);
  g_collecting = false;
  std::string().swap(g_text);
}

void BpfLog::clear() {
  const std::lock_guard lock(g_mutex);
  g_text.clear();
}

std::string BpfLog::reason(int error) const {
  const std::lock_guard lock(g_mutex);
  std::string_view rest = g_text, last;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!is_noise(line)) last = line;
  }
  std::string out = errno_name(error);
  if (!last.empty()) out += ": " + std::string(last.substr(0, kReasonMax));
  return out;
}

}  // namespace qpscope
