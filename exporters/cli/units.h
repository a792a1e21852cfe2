// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three digits that count, and the unit. Exact ones are in --json. Pure; finite numbers only.
#pragma once

#include <string>

namespace qpscope::cli {

std::string bit_rate(double bytes_per_second);  // 12.3 Gbit/s; thousands, as links are named
std::string bytes(double bytes);                // 13.2 MiB
std::string amount(double number);              // 812, 12345, 1.23M: exact below a hundred thousand
std::string per_second(double rate);            // 0/s, 0.02/s, 1.23k/s
std::string percent(double ratio);              // 0 %, 12.3 %
std::string duration(double seconds);           // 12s, 3m12s, 5h03m, 4d02h
std::string clock_time(double unix_seconds);    // 11-30 22:48:16, of this host's time zone
std::string exact_time(double unix_seconds);    // 22:48:16.123, the same
std::string short_gid(const std::string& gid);  // as short as it can be written: ::ffff:192.0.2.7; what is no GID stays

}  // namespace qpscope::cli
