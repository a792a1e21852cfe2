// SPDX-License-Identifier: Apache-2.0
#include "core/firmware_commands.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace qpscope {
namespace {

// include/linux/mlx5/mlx5_ifc.h; rising.
constexpr std::pair<std::uint32_t, const char*> kNames[] = {
    {0x200, "CREATE_MKEY"},        {0x202, "DESTROY_MKEY"},         {0x204, "PAGE_FAULT_RESUME"},   {0x301, "CREATE_EQ"},          {0x400, "CREATE_CQ"},
    {0x401, "DESTROY_CQ"},         {0x500, "CREATE_QP"},            {0x501, "DESTROY_QP"},          {0x502, "RST2INIT_QP"},        {0x503, "INIT2RTR_QP"},
    {0x504, "RTR2RTS_QP"},         {0x505, "RTS2RTS_QP"},           {0x506, "SQERR2RTS_QP"},        {0x507, "2ERR_QP"},            {0x50a, "2RST_QP"},
    {0x50b, "QUERY_QP"},           {0x50e, "INIT2INIT_QP"},         {0x710, "CREATE_DCT"},          {0x770, "QUERY_VPORT_COUNTER"}, {0x771, "ALLOC_Q_COUNTER"},
    {0x772, "DEALLOC_Q_COUNTER"},  {0x773, "QUERY_Q_COUNTER"},      {0x800, "ALLOC_PD"},            {0x805, "ACCESS_REG"},         {0x822, "QUERY_CONG_STATUS"},
    {0x824, "QUERY_CONG_PARAMS"},  {0x825, "MODIFY_CONG_PARAMS"},   {0x826, "QUERY_CONG_STATISTICS"}, {0x904, "CREATE_SQ"},        {0x908, "CREATE_RQ"},
    {0xa00, "CREATE_GENERAL_OBJECT"}, {0xa08, "CREATE_UMEM"},
};
static_assert(std::ranges::is_sorted(kNames, {}, [](const auto& row) { return row.first; }));

}  // namespace

FirmwareCommands::Calls& FirmwareCommands::Calls::operator+=(const Calls& more) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += more.counts[i];
  sum_ns += more.sum_ns;
  return *this;
}

std::uint64_t FirmwareCommands::Calls::count() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

std::uint64_t FirmwareCommands::Calls::longer_than(std::uint64_t nanoseconds) const {
  std::uint64_t out = counts.back();
  for (std::size_t i = 0; i < kCommandBoundsNs.size(); ++i) out += kCommandBoundsNs[i] > nanoseconds ? counts[i] : 0;
  return out;
}

FirmwareCommands& FirmwareCommands::operator+=(const FirmwareCommands& more) {
  for (const auto& [name, from] : more.devices) {
    Device& to = devices[name];
    to.ours += from.ours;
    to.others += from.others;
    for (const auto& [opcode, count] : from.failures) to.failures[opcode] += count;
  }
  uncounted += more.uncounted;
  return *this;
}

std::string command_name(std::uint32_t opcode) {
  const auto row = std::ranges::lower_bound(kNames, opcode, {}, [](const auto& one) { return one.first; });
  if (row != std::end(kNames) && row->first == opcode) return row->second;
  char text[16];
  std::snprintf(text, sizeof(text), "0x%x", opcode);
  return text;
}

}  // namespace qpscope
