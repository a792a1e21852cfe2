// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/nldev_parse.h"

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "collectors/host/device_news.h"

namespace qpscope::nldev {
namespace {

// include/uapi/rdma/rdma_netlink.h of 6.12 and 7.2, newer than the header we are built with.
constexpr unsigned kEventType = 102, kMonitorMode = 103;  // RDMA_NLDEV_ATTR_EVENT_TYPE, RDMA_NLDEV_SYS_ATTR_MONITOR_MODE
constexpr std::string_view kEvents[] = {"register", "unregister", "netdev_attach", "netdev_detach", "rename", "netdev_rename"};  // enum rdma_nl_notify_event_type

std::unexpected<Error> bad(std::string what) { return fail(ErrorCode::parse, "RDMA netlink: " + std::move(what)); }

bool aligned(Bytes bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()) % NLMSG_ALIGNTO == 0; }

// Calls each(type, value) -> Result<> for every attribute until one fails.
template <class Each>
Result<> for_each_attribute(Bytes attributes, Each each) {
  if (!aligned(attributes)) return bad("attributes are not aligned");
  while (!attributes.empty()) {
    const auto* attribute = reinterpret_cast<const nlattr*>(attributes.data());
    if (attributes.size() > std::numeric_limits<int>::max() || !mnl_attr_ok(attribute, static_cast<int>(attributes.size()))) {
      return bad("an attribute is cut off");
    }
    const Bytes value = attributes.subspan(MNL_ATTR_HDRLEN, mnl_attr_get_payload_len(attribute));
    if (Result<> result = each(mnl_attr_get_type(attribute), value); !result) return result;
    attributes = attributes.subspan(std::min<std::size_t>(MNL_ALIGN(attribute->nla_len), attributes.size()));
  }
  return {};
}

template <class Number>
Result<> take(Bytes value, std::string_view name, Number& out) {
  if (value.size() != sizeof out) return bad(std::string(name) + " has " + std::to_string(value.size()) + " bytes");
  std::memcpy(&out, value.data(), sizeof out);
  return {};
}

template <class Number>
Result<> take(Bytes value, std::string_view name, std::optional<Number>& out) {
  return take(value, name, out.emplace());
}

// Up to the first NUL or the end of the attribute.
std::string text(Bytes value) {
  const auto* first = reinterpret_cast<const char*>(value.data());
  return {first, ::strnlen(first, value.size())};
}

}  // namespace

Result<NlDevice> parse_device(Bytes attributes) {
  NlDevice device;
  std::optional<std::uint32_t> index;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    switch (type) {
      case RDMA_NLDEV_ATTR_DEV_INDEX:
        return take(value, "DEV_INDEX", index);
      case RDMA_NLDEV_ATTR_DEV_NAME:
        device.name = text(value);
        return {};
      case RDMA_NLDEV_ATTR_PORT_INDEX:
        return take(value, "PORT_INDEX", device.last_port);
      case RDMA_NLDEV_ATTR_FW_VERSION:
        device.fw_version = text(value);
        return {};
      case RDMA_NLDEV_ATTR_NODE_GUID:
        return take(value, "NODE_GUID", device.node_guid);
      case RDMA_NLDEV_ATTR_SYS_IMAGE_GUID:
        return take(value, "SYS_IMAGE_GUID", device.sys_image_guid);
      case RDMA_NLDEV_ATTR_DEV_NODE_TYPE:
        return take(value, "DEV_NODE_TYPE", device.node_type);
      case RDMA_NLDEV_ATTR_DEV_PROTOCOL:
        device.protocol = text(value);
        return {};
      default:
        return {};
    }
  });
  if (!result) return std::unexpected(result.error());
  if (!index || device.name.empty()) return bad("a device without index or name");
  device.index = DeviceIndex{*index};
  return device;
}

Result<NlPort> parse_port(Bytes attributes) {
  NlPort port;
  std::optional<std::uint32_t> number;
  std::optional<std::uint8_t> state, phys_state;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    switch (type) {
      case RDMA_NLDEV_ATTR_PORT_INDEX:
        return take(value, "PORT_INDEX", number);
      case RDMA_NLDEV_ATTR_PORT_STATE:
        return take(value, "PORT_STATE", state);
      case RDMA_NLDEV_ATTR_PORT_PHYS_STATE:
        return take(value, "PORT_PHYS_STATE", phys_state);
      case RDMA_NLDEV_ATTR_LID:
        return take(value, "LID", port.lid);
      case RDMA_NLDEV_ATTR_NDEV_NAME:
        port.netdev = text(value);
        return {};
      default:
        return {};
    }
  });
  if (!result) return std::unexpected(result.error());
  if (!number || !state || !phys_state) return bad("a port without number or state");
  port.number = PortNum{*number};
  port.state = *state;
  port.phys_state = *phys_state;
  return port;
}

Result<QpRow> parse_queue_pair(Bytes attributes) {
  QpRow row;
  std::optional<std::uint32_t> qpn, remote;
  std::optional<std::uint8_t> qp_type, state;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    switch (type) {
      case RDMA_NLDEV_ATTR_RES_LQPN:
        return take(value, "RES_LQPN", qpn);
      case RDMA_NLDEV_ATTR_PORT_INDEX:
        return take(value, "PORT_INDEX", row.port.value);
      case RDMA_NLDEV_ATTR_RES_RQPN:
        return take(value, "RES_RQPN", remote);
      // The last one holds: for its own types mlx5 adds a second one, 0xff, since the first is cut to 8 bits (0x1000, REG_UMR,
      // would read as SMI; hw/mlx5/restrack.c, 6.12).
      case RDMA_NLDEV_ATTR_RES_TYPE:
        return take(value, "RES_TYPE", qp_type);
      case RDMA_NLDEV_ATTR_RES_STATE:
        return take(value, "RES_STATE", state);
      case RDMA_NLDEV_ATTR_RES_PID:
        return take(value, "RES_PID", row.tid.value);
      case RDMA_NLDEV_ATTR_RES_KERN_NAME:
        row.kern_name = text(value);
        return {};
      default:
        return {};
    }
  });
  if (!result) return std::unexpected(result.error());
  if (!qpn || !qp_type) return bad("a queue pair without number or type");
  row.qpn = Qpn{*qpn};
  row.type = static_cast<QpType>(*qp_type);
  if (state) row.state = qp_state_from_number(*state);
  // RC and UC have the attribute in every state: 0 until RTR names the peer.
  if (remote && *remote != 0) row.remote_qpn = Qpn{*remote};
  return row;
}

Result<> parse_queue_pairs(Bytes attributes, std::size_t most, std::vector<QpRow>& rows) {
  std::optional<Error> first;
  const auto entry = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_RES_QP_ENTRY) return {};
    auto row = parse_queue_pair(value);
    if (!row) {
      if (!first) first = std::move(row.error());
      return {};
    }
    if (rows.size() >= most) return fail(ErrorCode::limit, "RDMA netlink: more than " + std::to_string(most) + " queue pairs");
    rows.push_back(std::move(*row));
    return {};
  };
  auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_RES_QP ? for_each_attribute(value, entry) : Result<>{};
  });
  if (result && first) return std::unexpected(std::move(*first));
  return result;
}

Result<> parse_contexts(Bytes attributes, std::size_t most, std::vector<NlContext>& out) {
  const auto entry = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_RES_CTX_ENTRY) return {};
    NlContext context;
    std::optional<std::uint32_t> number;
    const auto result = for_each_attribute(value, [&](unsigned inner, Bytes field) -> Result<> {
      if (inner == RDMA_NLDEV_ATTR_RES_CTXN) return take(field, "RES_CTXN", number);
      if (inner == RDMA_NLDEV_ATTR_RES_PID) return take(field, "RES_PID", context.tid.value);
      return {};
    });
    if (!result) return std::unexpected(result.error());
    if (!number) return bad("a context without number");
    if (out.size() >= most) return fail(ErrorCode::limit, "RDMA netlink: more than " + std::to_string(most) + " contexts");
    context.number = *number;
    out.push_back(context);
    return {};
  };
  return for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_RES_CTX ? for_each_attribute(value, entry) : Result<>{};
  });
}

namespace {

// What a driver adds: pairs of a name and a value, each an attribute. mlx5 says "odp" of regions on demand (hw/mlx5/restrack.c).
Result<bool> on_demand(Bytes driver_entries) {
  bool odp = false;
  const auto result = for_each_attribute(driver_entries, [&](unsigned type, Bytes entry) -> Result<> {
    if (type == RDMA_NLDEV_ATTR_DRIVER_STRING) odp = odp || text(entry) == "odp";
    return {};
  });
  if (!result) return std::unexpected(result.error());
  return odp;
}

Result<MemoryRegion> parse_memory_region(Bytes attributes) {
  MemoryRegion out;
  std::optional<std::uint32_t> number;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    switch (type) {
      case RDMA_NLDEV_ATTR_RES_MRN:
        return take(value, "RES_MRN", number);
      case RDMA_NLDEV_ATTR_RES_MRLEN:
        return take(value, "RES_MRLEN", out.bytes);
      case RDMA_NLDEV_ATTR_RES_PID:
        return take(value, "RES_PID", out.tid.value);
      case RDMA_NLDEV_ATTR_RES_KERN_NAME:
        out.kern_name = text(value);
        return {};
      case RDMA_NLDEV_ATTR_DRIVER: {
        const auto odp = on_demand(value);
        if (!odp) return std::unexpected(odp.error());
        out.on_demand = *odp;
        return {};
      }
      default:
        return {};
    }
  });
  if (!result) return std::unexpected(result.error());
  if (!number) return bad("a memory region without number");
  out.number = *number;
  return out;
}

}  // namespace

Result<> parse_memory_regions(Bytes attributes, std::size_t most, std::vector<MemoryRegion>& out) {
  const auto entry = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_RES_MR_ENTRY) return {};
    auto region = parse_memory_region(value);
    if (!region) return std::unexpected(std::move(region.error()));
    if (out.size() >= most) return fail(ErrorCode::limit, "RDMA netlink: more than " + std::to_string(most) + " memory regions");
    out.push_back(std::move(*region));
    return {};
  };
  return for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_RES_MR ? for_each_attribute(value, entry) : Result<>{};
  });
}

Result<std::uint32_t> parse_driver_id(Bytes attributes) {
  std::optional<std::uint32_t> id;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID ? take(value, "UVERBS_DRIVER_ID", id) : Result<>{};
  });
  if (!result) return std::unexpected(result.error());
  if (!id) return bad("no driver id");
  return *id;
}

Result<bool> parse_monitor_mode(Bytes attributes) {
  std::uint8_t mode = 0;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == kMonitorMode ? take(value, "MONITOR_MODE", mode) : Result<>{};
  });
  if (!result) return std::unexpected(result.error());
  return mode != 0;
}

Result<std::uint32_t> parse_queue_pair_count(Bytes attributes) {
  std::optional<std::uint64_t> count;
  const auto entry = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY) return {};
    std::string name;
    std::optional<std::uint64_t> current;
    const auto result = for_each_attribute(value, [&](unsigned inner, Bytes field) -> Result<> {
      if (inner == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME) name = text(field);
      if (inner == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR) return take(field, "RES_SUMMARY_ENTRY_CURR", current);
      return {};
    });
    if (name == "qp") count = current;
    return result;
  };
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_RES_SUMMARY ? for_each_attribute(value, entry) : Result<>{};
  });
  if (!result) return std::unexpected(result.error());
  if (!count || *count > std::numeric_limits<std::uint32_t>::max()) return bad("no count of queue pairs in the resource summary");
  return static_cast<std::uint32_t>(*count);
}

Result<NlCounters> parse_counters(Bytes attributes) {
  std::optional<NlCounters> counters;
  const auto entry = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY) return {};
    std::string name;
    std::optional<std::uint64_t> counter;
    const auto result = for_each_attribute(value, [&](unsigned inner, Bytes field) -> Result<> {
      if (inner == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME) name = text(field);
      if (inner == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE) return take(field, "STAT_HWCOUNTER_ENTRY_VALUE", counter);
      return {};
    });
    if (!result) return result;
    if (name.empty() || !counter) return bad("a counter without name or value");
    counters->emplace_back(std::move(name), *counter);
    return {};
  };
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS) return {};
    if (!counters) counters.emplace();
    return for_each_attribute(value, entry);
  });
  if (!result) return std::unexpected(result.error());
  if (!counters) return bad("no table of counters");
  return std::move(*counters);
}

Result<NlCounterMode> parse_counter_mode(Bytes attributes) {
  NlCounterMode mode;
  std::optional<std::uint32_t> kind;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    if (type == RDMA_NLDEV_ATTR_STAT_MODE) return take(value, "STAT_MODE", kind);
    if (type == RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK) return take(value, "STAT_AUTO_MODE_MASK", mode.mask);
    return {};
  });
  if (!result) return std::unexpected(result.error());
  if (!kind) return bad("no mode of a port");
  mode.kind = static_cast<NlCounterMode::Kind>(*kind);
  return mode;
}

Result<CounterSetId> parse_counter_set_id(Bytes attributes) {
  std::optional<std::uint32_t> id;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_STAT_COUNTER_ID ? take(value, "STAT_COUNTER_ID", id) : Result<>{};
  });
  if (!result) return std::unexpected(result.error());
  if (!id) return bad("no number of a counter set");
  return CounterSetId{*id};
}

Result<NlCounterSet> parse_counter_set(Bytes attributes) {
  NlCounterSet set;
  std::optional<std::uint32_t> id, mode;
  std::optional<std::uint8_t> qp_type;
  const auto member = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_RES_QP_ENTRY) return {};
    return for_each_attribute(value, [&](unsigned inner, Bytes field) -> Result<> {
      return inner == RDMA_NLDEV_ATTR_RES_LQPN ? take(field, "RES_LQPN", set.members.emplace_back().value) : Result<>{};
    });
  };
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    switch (type) {
      case RDMA_NLDEV_ATTR_STAT_COUNTER_ID:
        return take(value, "STAT_COUNTER_ID", id);
      case RDMA_NLDEV_ATTR_PORT_INDEX:
        return take(value, "PORT_INDEX", set.port.value);
      case RDMA_NLDEV_ATTR_STAT_MODE:
        return take(value, "STAT_MODE", mode);
      case RDMA_NLDEV_ATTR_RES_TYPE:
        return take(value, "RES_TYPE", qp_type);
      case RDMA_NLDEV_ATTR_RES_PID:
        return take(value, "RES_PID", set.tid.value);
      case RDMA_NLDEV_ATTR_RES_QP:
        return for_each_attribute(value, member);
      default:
        return {};
    }
  });
  if (!result) return std::unexpected(result.error());
  if (!id || !mode) return bad("a counter set without number or mode");
  auto counters = parse_counters(attributes);
  if (!counters) return std::unexpected(std::move(counters.error()));
  set.counters = std::move(*counters);
  set.id = CounterSetId{*id};
  set.mode = static_cast<NlCounterMode::Kind>(*mode);
  if (qp_type) set.type = static_cast<QpType>(*qp_type);
  return set;
}

Result<> CounterSetReader::take(Bytes attributes) {
  constexpr unsigned kMostEmpty = 2;
  const std::size_t before = rows_.size();
  const auto entry = [&](unsigned type, Bytes value) -> Result<> {
    if (type != RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY) return {};
    auto set = parse_counter_set(value);
    if (!set) return std::unexpected(std::move(set.error()));
    members_ += set->members.size();
    if (rows_.size() >= most_ || members_ > most_) return fail(ErrorCode::limit, "RDMA netlink: too many counter sets or members of them");
    rows_.push_back(std::move(*set));
    return {};
  };
  auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    return type == RDMA_NLDEV_ATTR_STAT_COUNTER ? for_each_attribute(value, entry) : Result<>{};
  });
  if (!result) return result;
  empty_ = rows_.size() == before ? empty_ + 1 : 0;
  if (empty_ > kMostEmpty) return fail(ErrorCode::limit, "RDMA netlink: a counter set with more queue pairs than fit into a message");
  return {};
}

Result<Progress> AnswerReader::feed(Bytes datagram, const std::function<Result<>(Bytes)>& on_message) {
  bytes_ += datagram.size();
  if (bytes_ > budget_.bytes) return fail(ErrorCode::limit, "more than " + std::to_string(budget_.bytes) + " bytes");
  if (!aligned(datagram) || datagram.size() > std::numeric_limits<int>::max()) return bad("a datagram is misaligned or too long");
  while (!datagram.empty()) {
    const auto* header = reinterpret_cast<const nlmsghdr*>(datagram.data());
    // mnl_nlmsg_ok takes a length from 2 GiB on for a negative one, which is always short enough.
    if (!mnl_nlmsg_ok(header, static_cast<int>(datagram.size())) || header->nlmsg_len > datagram.size()) return bad("a message is cut off");
    const Bytes body = datagram.subspan(MNL_NLMSG_HDRLEN, header->nlmsg_len - MNL_NLMSG_HDRLEN);
    datagram = datagram.subspan(std::min<std::size_t>(MNL_ALIGN(header->nlmsg_len), datagram.size()));
    if (++messages_ > budget_.messages) return fail(ErrorCode::limit, "more than " + std::to_string(budget_.messages) + " messages");
    if (header->nlmsg_type == NLMSG_OVERRUN) return std::unexpected(io_error("answers were lost", ENOBUFS));
    if (header->nlmsg_seq != sequence_ || header->nlmsg_pid != port_id_) continue;
    if (header->nlmsg_flags & NLM_F_DUMP_INTR) interrupted_ = true;

    if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE) {
      // Both begin with 0 or a negative errno: a dump that fails on its way says so in its DONE.
      std::int32_t error = 0;
      if (body.size() >= sizeof error) {
        std::memcpy(&error, body.data(), sizeof error);
      } else if (header->nlmsg_type == NLMSG_ERROR) {
        return bad("an error message without an error");
      }
      finished_ = true;
      if (error == 0) return Progress::done;
      // INT_MIN has no positive twin.
      return std::unexpected(io_error("the kernel says", error == std::numeric_limits<std::int32_t>::min() ? EIO : std::abs(error)));
    }
    if (header->nlmsg_type < NLMSG_MIN_TYPE || RDMA_NL_GET_CLIENT(header->nlmsg_type) != RDMA_NL_NLDEV) continue;
    // One message is the whole answer to a request that is no dump; its number is not always the request's (PORT_GET: GET).
    if (!dump_) finished_ = true;
    if (auto result = on_message(body); !result) return std::unexpected(std::move(result.error()));
    if (finished_) return Progress::done;
  }
  return Progress::more;
}

}  // namespace qpscope::nldev

namespace qpscope::device_news {

Result<DeviceNews> parse_monitor(std::span<const std::byte> attributes) {
  using namespace nldev;
  DeviceNews news;
  std::optional<std::uint8_t> event;
  const auto result = for_each_attribute(attributes, [&](unsigned type, Bytes value) -> Result<> {
    if (type == kEventType) return take(value, "EVENT_TYPE", event);
    if (type == RDMA_NLDEV_ATTR_DEV_NAME) news.device = text(value);
    return {};
  });
  if (!result) return std::unexpected(result.error());
  if (!event) return bad("a notification without an event");
  news.event = *event < std::size(kEvents) ? kEvents[*event] : "other";
  return news;
}

}  // namespace qpscope::device_news
