// SPDX-License-Identifier: Apache-2.0
#include "units.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <span>

namespace qpscope::cli {
namespace {

template <class... T>
std::string print(const char* format, T... values) {
  std::array<char, 400> text{};  // the longest double has 309 digits
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

// 1.23, 12.3, 123; no zeros that say nothing.
std::string digits(double value) {
  std::string text = print(std::abs(value) < 9.995 ? "%.2f" : std::abs(value) < 99.95 ? "%.1f" : "%.0f", value);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string scaled(double value, double step, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= step - 0.5) {
    value /= step;
    ++unit;
  }
  return digits(value) + units[unit];
}

constexpr std::array kThousands{"", "k", "M", "G", "T", "P", "E"};

std::string local_time(double unix_seconds, const char* format) {
  if (std::abs(unix_seconds) > 1e11) return "-";  // no time of ours, and none that fits
  const auto seconds = static_cast<std::time_t>(std::floor(unix_seconds));
  std::tm local{};
  std::array<char, 32> text{};
  if (!localtime_r(&seconds, &local) || std::strftime(text.data(), text.size(), format, &local) == 0) return "-";
  return text.data();
}

}  // namespace

std::string bit_rate(double bytes_per_second) {
  constexpr std::array units{" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s", " Pbit/s"};
  return scaled(bytes_per_second * 8, 1000, units);
}

std::string bytes(double bytes) {
  constexpr std::array units{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  return scaled(bytes, 1024, units);
}

std::string amount(double number) { return std::abs(number) < 1e5 && number == std::floor(number) ? print("%.0f", number) : scaled(number, 1000, kThousands); }

std::string per_second(double rate) {
  if (rate > 0 && rate < 0.01) return "<0.01/s";
  return scaled(rate, 1000, kThousands) + "/s";
}

std::string percent(double ratio) {
  if (ratio > 0 && ratio < 0.0001) return "<0.01 %";
  return digits(ratio * 100) + " %";
}

std::string duration(double seconds) {
  const double whole = std::floor(std::clamp(seconds, 0.0, 1e10));
  const auto part = [&](double unit, double of) { return std::fmod(std::floor(whole / unit), of); };
  if (whole < 60) return print("%.0fs", whole);
  if (whole < 3600) return print("%.0fm%02.0fs", part(60, 60), part(1, 60));
  if (whole < 86400) return print("%.0fh%02.0fm", part(3600, 24), part(60, 60));
  return print("%.0fd%02.0fh", std::floor(whole / 86400), part(3600, 24));
}

std::string clock_time(double unix_seconds) { return local_time(unix_seconds, "%m-%d %H:%M:%S"); }

std::string exact_time(double unix_seconds) {
  const double whole = std::floor(unix_seconds);
  return local_time(unix_seconds, "%H:%M:%S") + print(".%03.0f", std::floor((unix_seconds - whole) * 1000));
}

std::string short_gid(const std::string& gid) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  return inet_pton(AF_INET6, gid.c_str(), &address) == 1 && inet_ntop(AF_INET6, &address, out.data(), out.size()) ? out.data() : gid;
}

}  // namespace qpscope::cli
