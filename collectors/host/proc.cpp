// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/proc.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>

#include "core/text.h"

namespace qpscope {
namespace {

// Cuts the first line off `text`, without its newline.
std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Cuts the first blank-separated word off `text`.
std::string_view next_word(std::string_view& text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return text = {};
  text.remove_prefix(first);
  const auto end = text.find_first_of(" \t\n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

template <class Number>
std::optional<Number> number(std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool has_controller(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == wanted) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

}  // namespace

Result<> parse_stat(std::string_view text, ProcTask& task) {
  // "1234 (comm) S 1 …": comm is raw and may hold blanks, newlines and parentheses. Nothing after it has a ")", so the
  // last one ends it (fs/proc/array.c do_task_stat).
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return fail(ErrorCode::parse, "/proc stat: no (comm) in " + quoted(text));
  }
  std::string_view rest = text.substr(close + 1);
  constexpr int kState = 3, kStartTime = 22;  // fields as proc(5) counts them
  std::string_view word;
  for (int field = kState; field <= kStartTime; ++field) word = next_word(rest);
  const auto ticks = number<std::uint64_t>(word);
  static const long per_second = ::sysconf(_SC_CLK_TCK);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (!ticks || per_second <= 0) return fail(ErrorCode::parse, "/proc stat: no start time (field 22) after the comm");
  const std::uint64_t nanoseconds = kSecond / static_cast<std::uint64_t>(per_second);
  if (*ticks > std::numeric_limits<std::uint64_t>::max() / nanoseconds)
    return fail(ErrorCode::parse, "/proc stat: start time out of range");
  task.comm = text.substr(open + 1, close - open - 1);
  task.start_time = BootTime{*ticks * nanoseconds};
  return {};
}

Result<> parse_status(std::string_view text, ProcTask& task) {
  std::optional<std::uint32_t> tgid, uid;
  next_line(text);  // "Name:": a tenant's; the kernel escapes its newlines (fs/proc/array.c proc_task_name)
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    if (key == "Tgid:" && !tgid) tgid = number<std::uint32_t>(next_word(line));
    if (key == "Uid:" && !uid) uid = number<std::uint32_t>(next_word(line));
  }
  if (!tgid || !uid) return fail(ErrorCode::parse, "/proc status: no Tgid or Uid");
  task.tgid = Pid{*tgid};
  task.uid = *uid;
  return {};
}

std::string parse_cgroup(std::string_view text) {
  std::string_view pids, memory, unified;
  while (!text.empty()) {
    // "hierarchy:controllers:path"; the path may hold colons, never a newline (cgroup_mkdir refuses it).
    const std::string_view line = next_line(text);
    const auto first = line.find(':');
    if (first == std::string_view::npos) continue;
    const auto second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view hierarchy = line.substr(0, first), controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (!path.starts_with('/')) continue;
    if (hierarchy == "0" && controllers.empty()) unified = path;
    if (has_controller(controllers, "pids")) pids = path;
    if (has_controller(controllers, "memory")) memory = path;
  }
  return std::string(!pids.empty() ? pids : !memory.empty() ? memory : unified);
}

Result<ProcTask> read_task(const Sysroot& root, Pid tid) {
  auto folder = root.folder("/proc/" + std::to_string(tid.value));
  if (!folder) return std::unexpected(std::move(folder.error()));
  ProcTask task;
  task.tid = tid;
  auto text = folder->read_text("stat");
  if (!text) return std::unexpected(std::move(text.error()));
  if (auto parsed = parse_stat(*text, task); !parsed) return std::unexpected(std::move(parsed.error()));
  text = folder->read_text("status");
  if (!text) return std::unexpected(std::move(text.error()));
  if (auto parsed = parse_status(*text, task); !parsed) return std::unexpected(std::move(parsed.error()));
  text = folder->read_text("cgroup");
  // No such file: the task has died, or the kernel has no cgroups.
  if (!text && (text.error().code != ErrorCode::not_found || !folder->exists("stat"))) return std::unexpected(std::move(text.error()));
  if (text) task.cgroup_path = parse_cgroup(*text);
  return task;
}

Owner owner_of(const ProcTask& task) {
  Owner owner;
  owner.known = true;
  owner.user = true;
  owner.tid = task.tid;
  owner.tgid = task.tgid;
  owner.comm = task.comm;
  owner.cgroup_path = task.cgroup_path;
  owner.uid = task.uid;
  owner.start_time = task.start_time;
  return owner;
}

bool complete(Owner& owner, const ProcTask& task, BootTime seen) {
  const bool known = owner.tgid.value != 0;
  if (task.start_time > seen || (known && task.tgid != owner.tgid)) return false;
  if (owner.start_time && task.tid == owner.tid && task.start_time != *owner.start_time) return false;
  owner.uid = task.uid;
  owner.start_time = task.start_time;
  if (!known) {  // netlink gave the thread alone
    owner.tgid = task.tgid;
    owner.comm = task.comm;
  }
  if (owner.cgroup_path.empty()) owner.cgroup_path = task.cgroup_path;
  return true;
}

Result<std::string> read_environment(const Sysroot& root, const Owner& owner) {
  constexpr std::size_t kMost = 256 * 1024;
  for (const Pid pid : {owner.tid, owner.tgid}) {
    const auto folder = root.folder("/proc/" + std::to_string(pid.value));
    const auto stat = folder ? folder->read_text("stat") : std::unexpected(folder.error());
    ProcTask task;
    if (stat && parse_stat(*stat, task) && task.start_time == owner.start_time) return folder->read_text("environ", kMost);
  }
  return fail(ErrorCode::not_found, "process " + std::to_string(owner.tgid.value) + " is gone");
}

std::optional<std::string_view> environment_value(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const auto end = environment.find('\0');
    const std::string_view entry = environment.substr(0, end);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') return entry.substr(name.size() + 1);
    environment.remove_prefix(end == std::string_view::npos ? environment.size() : end + 1);
  }
  return std::nullopt;
}

}  // namespace qpscope
