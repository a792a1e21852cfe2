// SPDX-License-Identifier: Apache-2.0
#include "bpf/decode.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <string>

#include "bpf/events.h"
#include "core/qp_record.h"

namespace qpscope {
namespace {

// The numbers of enum ib_qp_attr_mask whose fields we carry.
constexpr std::uint32_t kMaskState = 1U << 0;
constexpr std::uint32_t kMaskPathMtu = 1U << 8;
constexpr std::uint32_t kMaskTimeout = 1U << 9;
constexpr std::uint32_t kMaskRetryCnt = 1U << 10;
constexpr std::uint32_t kMaskRnrRetry = 1U << 11;
constexpr std::uint32_t kMaskDestQpn = 1U << 20;

// A record of exactly this length, else nullopt. Copied, so that alignment does not matter.
template <class Wire>
std::optional<Wire> wire(std::span<const std::byte> record) {
  if (record.size() != sizeof(Wire)) return std::nullopt;
  Wire out;
  std::memcpy(&out, record.data(), sizeof(out));
  return out;
}

template <std::size_t N>
std::string bounded_string(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

Gid gid(const __u8 (&raw)[16]) {
  Gid out;
  std::memcpy(out.bytes.data(), raw, sizeof(raw));
  return out;
}

// Serials with that bit are the table's own, for what netlink alone tells of: no event can name one.
bool possible(const ev_qp& qp) { return !is_seeded({qp.serial}); }

QpIdentity identity(const ev_qp& qp) {
  return {.device = {qp.dev_index},
          .serial = {qp.serial},
          .qpn = {qp.qpn},
          .type = static_cast<QpType>(qp.type),
          .port = {qp.port},
          .tracked = (qp.flags & EV_QP_TRACKED) != 0};
}

Owner owner(const ev_owner& from) {
  Owner out;
  out.known = (from.flags & EV_OWNER_KNOWN) != 0;
  if (!out.known) return out;
  out.user = (from.flags & EV_OWNER_USER) != 0;
  if (out.user) {
    out.tid = {from.tid};
    out.tgid = {from.tgid};
    out.comm = bounded_string(from.comm);
    out.cgroup = {from.cgroup};
  } else {
    out.kern_name = bounded_string(from.kern_name);
  }
  return out;
}

std::optional<Event> created(std::span<const std::byte> record) {
  const auto ev = wire<ev_qp_create>(record);
  if (!ev || !possible(ev->qp)) return std::nullopt;
  return QpCreated{.at = {ev->head.time},
                   .qp = identity(ev->qp),
                   .owner = owner(ev->owner),
                   .found = (ev->qp.flags & EV_QP_FOUND) != 0,
                   .state = QpState::reset};
}

std::optional<Event> modified(std::span<const std::byte> record) {
  const auto ev = wire<ev_qp_modify>(record);
  if (!ev || !possible(ev->qp)) return std::nullopt;
  QpModified out;
  out.at = {ev->head.time};
  out.qp = identity(ev->qp);
  out.mask = ev->attr_mask;
  if (out.mask & kMaskState) {
    out.to = qp_state_from_number(ev->state);
    if (!out.to) return std::nullopt;
  }
  if (out.mask & kMaskDestQpn) out.remote_qpn = Qpn{ev->dest_qpn};
  if (out.mask & kMaskPathMtu) out.path_mtu = mtu_bytes(ev->path_mtu);
  if (out.mask & kMaskTimeout) out.timeout = ev->timeout;
  if (out.mask & kMaskRetryCnt) out.retry_cnt = ev->retry_cnt;
  if (out.mask & kMaskRnrRetry) out.rnr_retry = ev->rnr_retry;
  if (ev->has & EV_HAS_GRH) {
    out.remote_gid = gid(ev->dgid);
    out.traffic_class = ev->traffic_class;
  }
  if (ev->has & EV_HAS_SGID) out.local_gid = gid(ev->sgid);
  if (ev->has & EV_HAS_DLID) out.remote_lid = ev->dlid;
  return out;
}

std::optional<Event> destroyed(std::span<const std::byte> record) {
  const auto ev = wire<ev_qp_destroy>(record);
  if (!ev || !possible(ev->qp)) return std::nullopt;
  return QpDestroyed{.at = {ev->head.time}, .qp = identity(ev->qp)};
}

std::optional<Event> call_failed(std::span<const std::byte> record) {
  const auto ev = wire<ev_call_failed>(record);
  if (!ev || ev->error > 4095) return std::nullopt;  // MAX_ERRNO
  QpCallFailed out{.at = {ev->head.time}, .device = {ev->dev_index}, .error = static_cast<int>(ev->error)};
  switch (ev->call) {
    case EV_CALL_CREATE:
      out.call = QpCallFailed::Call::create;
      return out;
    case EV_CALL_MODIFY:
      out.call = QpCallFailed::Call::modify;
      return out;
    case EV_CALL_DESTROY:
      out.call = QpCallFailed::Call::destroy;
      return out;
    default:
      return std::nullopt;
  }
}

std::optional<Event> cgroup_changed(std::span<const std::byte> record) {
  constexpr std::size_t fixed = offsetof(ev_cgroup, path);
  ev_cgroup ev{};
  if (record.size() <= fixed || record.size() > sizeof(ev)) return std::nullopt;
  std::memcpy(&ev, record.data(), record.size());
  if (ev.path_len != record.size() - fixed) return std::nullopt;
  CgroupChanged out{.at = {ev.head.time}, .id = {ev.id}, .path = {ev.path, strnlen(ev.path, ev.path_len)}};
  switch (ev.what) {
    case EV_CGROUP_MADE:
      out.what = CgroupChanged::What::made;
      return out;
    case EV_CGROUP_RENAMED:
      out.what = CgroupChanged::What::renamed;
      return out;
    case EV_CGROUP_REMOVED:
      out.what = CgroupChanged::What::removed;
      return out;
    default:
      return std::nullopt;
  }
}

std::optional<Event> counter_released(std::span<const std::byte> record) {
  const auto ev = wire<ev_counter_released>(record);
  if (!ev) return std::nullopt;
  CounterReleased out{.at = {ev->head.time}, .device = {ev->dev_index}, .port = {ev->port}, .counter_id = ev->id, .values = {}};
  out.truncated = ev->num_counters > EV_COUNTER_VALUES;
  out.values.resize(out.truncated ? EV_COUNTER_VALUES : ev->num_counters);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const bool disabled = (ev->disabled[i / 64] >> (i % 64) & 1) != 0;
    if (!disabled) out.values[i] = ev->values[i];
  }
  return out;
}

std::optional<DevxObject::Kind> devx_kind(__u32 opcode) {
  switch (opcode) {
    case EV_DEVX_QP:
      return DevxObject::Kind::qp;
    case EV_DEVX_DCT:
      return DevxObject::Kind::dct;
    case EV_DEVX_SQ:
      return DevxObject::Kind::sq;
    case EV_DEVX_RQ:
      return DevxObject::Kind::rq;
    default:
      return std::nullopt;
  }
}

std::optional<Event> devx_object(std::span<const std::byte> record) {
  const auto ev = wire<ev_devx>(record);
  if (!ev || ev->what > EV_DEVX_DESTROYED) return std::nullopt;
  const auto kind = devx_kind(ev->opcode);
  if (!kind) return std::nullopt;
  DevxObject out{.at = {ev->head.time}, .device = {ev->dev_index}, .handle = {ev->handle}, .kind = *kind, .number = {ev->number}, .owner = {}};
  out.what = ev->what == EV_DEVX_CREATED ? DevxObject::What::created : DevxObject::What::destroyed;
  out.owner = owner(ev->owner);
  return out;
}

// "192.0.2.7:4791", "[2001:db8::7]:4791"; empty for what is none.
std::string address(const __u8 (&raw)[EV_ADDRESS_LEN]) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  sa_family_t family = 0;
  std::memcpy(&family, raw, sizeof(family));
  if (family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, raw, sizeof(in));
    inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(in.sin_port));
  }
  if (family != AF_INET6) return {};
  sockaddr_in6 in{};
  static_assert(sizeof(in) == EV_ADDRESS_LEN);
  std::memcpy(&in, raw, sizeof(in));
  inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size());
  return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(in.sin6_port));
}

std::optional<Event> async_event(std::span<const std::byte> record) {
  const auto ev = wire<ev_async>(record);
  if (!ev || ev->event >= EV_ASYNC_EVENTS) return std::nullopt;
  AsyncEvent out{.at = {ev->head.time}, .event = ev->event, .device = {ev->dev_index}, .port = {ev->port}, .qp = std::nullopt, .number = std::nullopt, .owner = owner(ev->owner)};
  if (ev->has & EV_ASYNC_QP) {
    if (!possible(ev->qp)) return std::nullopt;
    out.qp = identity(ev->qp);
  }
  if (ev->has & EV_ASYNC_NUMBER) out.number = ev->number;
  return out;
}

std::optional<Event> cm_event(std::span<const std::byte> record) {
  const auto ev = wire<ev_cm>(record);
  if (!ev || ev->event >= EV_ASYNC_EVENTS) return std::nullopt;
  CmEvent out{.at = {ev->head.time}, .event = ev->event, .status = ev->status, .device = std::nullopt, .qpn = {ev->qpn}, .source = address(ev->source),
              .destination = address(ev->destination), .owner = owner(ev->owner)};
  if (ev->dev_index != EV_NO_DEVICE) out.device = DeviceIndex{ev->dev_index};
  return out;
}

}  // namespace

std::optional<Event> decode(std::span<const std::byte> record) {
  ev_head head;
  if (record.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, record.data(), sizeof(head));
  if (head.len != record.size()) return std::nullopt;
  switch (head.kind) {
    case EV_QP_CREATE:
      return created(record);
    case EV_QP_MODIFY:
      return modified(record);
    case EV_QP_DESTROY:
      return destroyed(record);
    case EV_CALL_FAILED:
      return call_failed(record);
    case EV_CGROUP:
      return cgroup_changed(record);
    case EV_COUNTER_RELEASED:
      return counter_released(record);
    case EV_DEVX:
      return devx_object(record);
    case EV_ASYNC:
      return async_event(record);
    case EV_CM:
      return cm_event(record);
    default:
      return std::nullopt;
  }
}

}  // namespace qpscope
