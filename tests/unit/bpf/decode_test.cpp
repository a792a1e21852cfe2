// SPDX-License-Identifier: Apache-2.0
#include "bpf/decode.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "bpf/events.h"

namespace qpscope {
namespace {

template <class Wire>
Wire wire(__u16 kind) {
  Wire out{};
  out.head.time = 123456789;
  out.head.kind = kind;
  out.head.len = sizeof(Wire);
  return out;
}

template <class Wire>
std::vector<std::byte> bytes(const Wire& record, std::size_t length = sizeof(Wire)) {
  std::vector<std::byte> out(length);
  if (length > 0) std::memcpy(out.data(), &record, std::min(length, sizeof(record)));
  return out;
}

template <class T, class Wire>
T decoded(const Wire& record) {
  const auto event = decode(bytes(record));
  REQUIRE(event);
  REQUIRE(std::holds_alternative<T>(*event));
  return std::get<T>(*event);
}

ev_qp sample_qp() {
  return {.serial = 1ULL << 40 | 7, .dev_index = 3, .qpn = 0x11, .type = 2, .port = 1, .flags = EV_QP_TRACKED, .pad = 0};
}

ev_cgroup sample_cgroup(const std::string& path) {
  auto ev = wire<ev_cgroup>(EV_CGROUP);
  ev.id = 4242;
  ev.what = EV_CGROUP_REMOVED;
  std::memcpy(ev.path, path.c_str(), path.size() + 1);
  ev.path_len = static_cast<__u32>(path.size() + 1);
  ev.head.len = static_cast<__u16>(offsetof(ev_cgroup, path) + ev.path_len);
  return ev;
}

}  // namespace

TEST_CASE("a serial that only the table gives is no event's", "[bpf.decode]") {
  auto made = wire<ev_qp_create>(EV_QP_CREATE);
  made.qp = sample_qp();
  CHECK(decode(bytes(made)));
  made.qp.serial |= 1ULL << 63;
  CHECK_FALSE(decode(bytes(made)));
  auto gone = wire<ev_qp_destroy>(EV_QP_DESTROY);
  gone.qp = made.qp;
  CHECK_FALSE(decode(bytes(gone)));
}

TEST_CASE("a user's QP is created", "[bpf.decode]") {
  auto ev = wire<ev_qp_create>(EV_QP_CREATE);
  ev.qp = sample_qp();
  ev.owner = {
      .cgroup = 99, .tid = 1001, .tgid = 1000, .flags = EV_OWNER_KNOWN | EV_OWNER_USER, .pad = 0, .comm = "train", .kern_name = "x"};
  const auto got = decoded<QpCreated>(ev);
  CHECK(got.at.value == 123456789);
  CHECK(got.qp.device.value == 3);
  CHECK(got.qp.serial.value == (1ULL << 40 | 7));
  CHECK(got.qp.qpn.value == 0x11);
  CHECK(got.qp.type == QpType::rc);
  CHECK(got.qp.port.value == 1);
  CHECK(got.qp.tracked);
  CHECK_FALSE(got.found);
  CHECK(got.owner.known);
  CHECK(got.owner.user);
  CHECK(got.owner.tid.value == 1001);
  CHECK(got.owner.tgid.value == 1000);
  CHECK(got.owner.cgroup.value == 99);
  CHECK(got.owner.comm == "train");
  CHECK(got.owner.kern_name.empty());
  CHECK(got.owner.cgroup_path.empty());
}

TEST_CASE("a kernel module's QP, untracked and found", "[bpf.decode]") {
  auto ev = wire<ev_qp_create>(EV_QP_CREATE);
  ev.qp = sample_qp();
  ev.qp.flags = EV_QP_FOUND;
  ev.qp.type = 0x1001;  // a driver's own type stays what it is
  ev.owner = {.cgroup = 0, .tid = 5, .tgid = 5, .flags = EV_OWNER_KNOWN, .pad = 0, .comm = "x", .kern_name = "nvme_rdma"};
  const auto got = decoded<QpCreated>(ev);
  CHECK(got.found);
  CHECK_FALSE(got.qp.tracked);
  CHECK(static_cast<unsigned>(got.qp.type) == 0x1001);
  CHECK_FALSE(got.owner.user);
  CHECK(got.owner.kern_name == "nvme_rdma");
  CHECK(got.owner.comm.empty());
  CHECK(got.owner.tgid.value == 0);
}

TEST_CASE("an unknown owner says nothing", "[bpf.decode]") {
  auto ev = wire<ev_qp_create>(EV_QP_CREATE);
  ev.owner = {.cgroup = 9, .tid = 9, .tgid = 9, .flags = 0, .pad = 0, .comm = "x", .kern_name = "x"};
  const auto got = decoded<QpCreated>(ev);
  CHECK_FALSE(got.owner.known);
  CHECK(got.owner.comm.empty());
  CHECK(got.owner.cgroup.value == 0);
}

TEST_CASE("strings without an end stop at their field", "[bpf.decode]") {
  auto ev = wire<ev_qp_create>(EV_QP_CREATE);
  ev.owner.flags = EV_OWNER_KNOWN | EV_OWNER_USER;
  std::memset(ev.owner.comm, 'c', sizeof(ev.owner.comm));
  std::memset(ev.owner.kern_name, 'k', sizeof(ev.owner.kern_name));
  CHECK(decoded<QpCreated>(ev).owner.comm == std::string(16, 'c'));
  ev.owner.flags = EV_OWNER_KNOWN;
  CHECK(decoded<QpCreated>(ev).owner.kern_name == std::string(64, 'k'));
}

TEST_CASE("a modify sets only what its mask names", "[bpf.decode]") {
  auto ev = wire<ev_qp_modify>(EV_QP_MODIFY);
  ev.qp = sample_qp();
  ev.attr_mask = 1U << 15;
  ev.state = 3;
  ev.dest_qpn = 1;
  ev.path_mtu = 1;
  ev.timeout = ev.retry_cnt = ev.rnr_retry = 1;
  const auto got = decoded<QpModified>(ev);
  CHECK(got.mask == 1U << 15);
  CHECK_FALSE(got.to);
  CHECK_FALSE(got.remote_qpn);
  CHECK_FALSE(got.remote_gid);
  CHECK_FALSE(got.local_gid);
  CHECK_FALSE(got.remote_lid);
  CHECK_FALSE(got.traffic_class);
  CHECK_FALSE(got.path_mtu);
  CHECK_FALSE(got.timeout);
  CHECK_FALSE(got.retry_cnt);
  CHECK_FALSE(got.rnr_retry);
}

TEST_CASE("a modify to RTR over RoCE", "[bpf.decode]") {
  auto ev = wire<ev_qp_modify>(EV_QP_MODIFY);
  ev.qp = sample_qp();
  ev.attr_mask = 0x129181;
  ev.has = EV_HAS_GRH | EV_HAS_SGID;
  ev.state = 2;
  ev.dest_qpn = 0x12;
  ev.path_mtu = 3;
  ev.traffic_class = 104;
  ev.dgid[15] = 1;
  ev.sgid[15] = 2;
  const auto got = decoded<QpModified>(ev);
  CHECK(got.to == QpState::rtr);
  CHECK(got.path_mtu == 1024U);
  CHECK(got.traffic_class == 104U);
  REQUIRE(got.remote_gid);
  CHECK(got.remote_gid->bytes[15] == 1);
  REQUIRE(got.local_gid);
  CHECK(got.local_gid->bytes[15] == 2);
  CHECK_FALSE(got.remote_lid);
}

TEST_CASE("a modify over InfiniBand without a GRH", "[bpf.decode]") {
  auto ev = wire<ev_qp_modify>(EV_QP_MODIFY);
  ev.attr_mask = 1U << 0 | 1U << 7 | 1U << 9 | 1U << 10 | 1U << 11 | 1U << 20;
  ev.has = EV_HAS_DLID;
  ev.state = 3;
  ev.dlid = 77;
  ev.dest_qpn = 0x12;
  ev.timeout = 14;
  ev.retry_cnt = 7;
  ev.rnr_retry = 6;
  const auto got = decoded<QpModified>(ev);
  CHECK(got.to == QpState::rts);
  CHECK(got.remote_qpn == Qpn{0x12});
  CHECK(got.remote_lid == 77U);
  CHECK_FALSE(got.remote_gid);
  CHECK_FALSE(got.traffic_class);
  CHECK(got.timeout == 14U);
  CHECK(got.retry_cnt == 7U);
  CHECK(got.rnr_retry == 6U);
}

TEST_CASE("a state the kernel does not have is no event", "[bpf.decode]") {
  auto ev = wire<ev_qp_modify>(EV_QP_MODIFY);
  ev.attr_mask = 1;
  ev.state = 7;
  CHECK_FALSE(decode(bytes(ev)));
}

TEST_CASE("a destroy and a failed call", "[bpf.decode]") {
  auto destroy = wire<ev_qp_destroy>(EV_QP_DESTROY);
  destroy.qp = sample_qp();
  CHECK(decoded<QpDestroyed>(destroy).qp.qpn.value == 0x11);

  auto failed = wire<ev_call_failed>(EV_CALL_FAILED);
  failed.dev_index = 4;
  failed.error = 22;
  constexpr QpCallFailed::Call calls[] = {QpCallFailed::Call::create, QpCallFailed::Call::modify, QpCallFailed::Call::destroy};
  for (const __u32 call : {EV_CALL_CREATE, EV_CALL_MODIFY, EV_CALL_DESTROY}) {
    failed.call = call;
    const auto got = decoded<QpCallFailed>(failed);
    CHECK(got.call == calls[call]);
    CHECK(got.error == 22);
    CHECK(got.device.value == 4);
  }
  failed.call = 3;
  CHECK_FALSE(decode(bytes(failed)));
  failed.call = EV_CALL_MODIFY;
  failed.error = 4096;
  CHECK_FALSE(decode(bytes(failed)));
}

TEST_CASE("a cgroup event carries the used part of its path", "[bpf.decode]") {
  auto ev = sample_cgroup("/system.slice/a.service");
  auto event = decode(bytes(ev, ev.head.len));
  REQUIRE(event);
  CHECK(std::get<CgroupChanged>(*event).path == "/system.slice/a.service");
  CHECK(std::get<CgroupChanged>(*event).id.value == 4242);
  CHECK(std::get<CgroupChanged>(*event).what == CgroupChanged::What::removed);

  ev = sample_cgroup(std::string(511, 'p'));
  event = decode(bytes(ev, ev.head.len));
  REQUIRE(event);
  CHECK(std::get<CgroupChanged>(*event).path == std::string(511, 'p'));
  ev.path[511] = 'p';  // no terminator anywhere
  event = decode(bytes(ev, ev.head.len));
  REQUIRE(event);
  CHECK(std::get<CgroupChanged>(*event).path.size() == 512);
}

TEST_CASE("a cgroup event whose lengths disagree is no event", "[bpf.decode]") {
  auto ev = sample_cgroup("/a");
  const auto length = ev.head.len;
  ev.path_len += 1;
  CHECK_FALSE(decode(bytes(ev, length)));
  ev = sample_cgroup("/a");
  ev.head.len = offsetof(ev_cgroup, path);
  ev.path_len = 0;
  CHECK_FALSE(decode(bytes(ev, ev.head.len)));
  ev = sample_cgroup("/a");
  ev.what = 3;
  CHECK_FALSE(decode(bytes(ev, length)));
  ev = sample_cgroup("/a");
  ev.head.len = sizeof(ev) + 1;
  ev.path_len = EV_PATH_LEN + 1;
  CHECK_FALSE(decode(bytes(ev, ev.head.len)));
}

TEST_CASE("a released counter set has its values by index, and none for a counter that is off", "[bpf.decode]") {
  auto ev = wire<ev_counter_released>(EV_COUNTER_RELEASED);
  ev.dev_index = 3;
  ev.port = 2;
  ev.id = 17;
  ev.num_counters = 66;
  for (__u64 i = 0; i < EV_COUNTER_VALUES; ++i) ev.values[i] = 0xFFFFFFFF00000000ULL + i;
  ev.disabled[0] = 1ULL << 0 | 1ULL << 63;
  ev.disabled[1] = 1ULL << 1 | 1ULL << 2;  // the last is behind the end
  const auto got = decoded<CounterReleased>(ev);
  CHECK(got.at.value == 123456789);
  CHECK(got.device.value == 3);
  CHECK(got.port.value == 2);
  CHECK(got.counter_id == 17);
  CHECK_FALSE(got.truncated);
  REQUIRE(got.values.size() == 66);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const bool off = i == 0 || i == 63 || i == 65;
    CHECK(got.values[i] == (off ? std::nullopt : std::optional<std::uint64_t>(0xFFFFFFFF00000000ULL + i)));
  }
}

TEST_CASE("a released counter set says when it had more or no values", "[bpf.decode]") {
  auto ev = wire<ev_counter_released>(EV_COUNTER_RELEASED);
  CHECK(decoded<CounterReleased>(ev).values.empty());
  ev.num_counters = EV_COUNTER_VALUES;
  CHECK(decoded<CounterReleased>(ev).values.size() == EV_COUNTER_VALUES);
  CHECK_FALSE(decoded<CounterReleased>(ev).truncated);
  for (const __u32 more : {EV_COUNTER_VALUES + 1U, 0xFFFFFFFFU}) {
    ev.num_counters = more;
    CHECK(decoded<CounterReleased>(ev).values.size() == EV_COUNTER_VALUES);
    CHECK(decoded<CounterReleased>(ev).truncated);
  }
  CHECK_FALSE(decode(bytes(ev, sizeof(ev) - 8)));
}

TEST_CASE("a DEVX object comes with its owner and goes without", "[bpf.decode]") {
  auto made = wire<ev_devx>(EV_DEVX);
  made.head.time = 77;
  made.handle = 0xffff888012345678;
  made.dev_index = 4;
  made.what = EV_DEVX_CREATED;
  made.opcode = EV_DEVX_DCT;
  made.number = 0x1234;
  made.owner = {.cgroup = 99, .tid = 12, .tgid = 11, .flags = EV_OWNER_KNOWN | EV_OWNER_USER, .pad = 0, .comm = "dpdk", .kern_name = ""};
  const auto created = decoded<DevxObject>(made);
  CHECK(created.at == BootTime{77});
  CHECK(created.what == DevxObject::What::created);
  CHECK(created.device == DeviceIndex{4});
  CHECK(created.handle == QpSerial{0xffff888012345678});
  CHECK(created.kind == DevxObject::Kind::dct);
  CHECK(created.number == Qpn{0x1234});
  CHECK(created.owner.known);
  CHECK(created.owner.tgid == Pid{11});
  CHECK(created.owner.cgroup == CgroupId{99});
  CHECK(created.owner.comm == "dpdk");

  auto gone = made;
  gone.what = EV_DEVX_DESTROYED;
  gone.owner = {};
  CHECK(decoded<DevxObject>(gone).what == DevxObject::What::destroyed);
  CHECK_FALSE(decoded<DevxObject>(gone).owner.known);
}

TEST_CASE("a DEVX object is a QP, a DCT, an SQ or an RQ by its opcode", "[bpf.decode]") {
  auto made = wire<ev_devx>(EV_DEVX);
  const auto kind = [&](__u32 opcode) {
    made.opcode = opcode;
    return decoded<DevxObject>(made).kind;
  };
  // mlx5_ifc.h MLX5_CMD_OP_CREATE_QP, _DCT, _SQ, _RQ
  CHECK(kind(0x500) == DevxObject::Kind::qp);
  CHECK(kind(0x710) == DevxObject::Kind::dct);
  CHECK(kind(0x904) == DevxObject::Kind::sq);
  CHECK(kind(0x908) == DevxObject::Kind::rq);
  made.opcode = 0x400;  // a CQ
  CHECK_FALSE(decode(bytes(made)));
  made.opcode = 0x500;
  made.what = 2;
  CHECK_FALSE(decode(bytes(made)));
}

TEST_CASE("unknown kinds and wrong lengths are no events", "[bpf.decode]") {
  CHECK_FALSE(decode({}));
  auto ev = wire<ev_qp_destroy>(EV_QP_DESTROY);
  for (std::size_t length = 0; length < sizeof(ev); ++length) {
    ev.head.len = static_cast<__u16>(length);
    CHECK_FALSE(decode(bytes(ev, length)));
  }
  ev.head.len = sizeof(ev) + 8;
  CHECK_FALSE(decode(bytes(ev, sizeof(ev) + 8)));
  ev.head.len = sizeof(ev);
  CHECK_FALSE(decode(bytes(ev, sizeof(ev) + 8)));
  for (const int kind : {0, 7, 65535}) {
    ev.head.kind = static_cast<__u16>(kind);
    CHECK_FALSE(decode(bytes(ev)));
  }
}

TEST_CASE("an asynchronous event", "[bpf.decode]") {
  auto ev = wire<ev_async>(EV_ASYNC);
  ev.event = 1;
  ev.has = EV_ASYNC_QP;
  ev.dev_index = 3;
  ev.port = 1;
  ev.number = 12;
  ev.qp = sample_qp();
  ev.owner.flags = EV_OWNER_KNOWN | EV_OWNER_USER;
  ev.owner.tgid = 812;
  const auto of_qp = decoded<AsyncEvent>(ev);
  CHECK(of_qp.event == 1);
  CHECK(of_qp.device == DeviceIndex{3});
  CHECK(of_qp.port == PortNum{1});
  REQUIRE(of_qp.qp);
  CHECK(of_qp.qp->qpn == Qpn{0x11});
  CHECK_FALSE(of_qp.number);
  CHECK(of_qp.owner.tgid == Pid{812});
  ev.has = EV_ASYNC_NUMBER;
  const auto of_cq = decoded<AsyncEvent>(ev);
  CHECK_FALSE(of_cq.qp);
  CHECK(of_cq.number == 12);
  ev.event = EV_ASYNC_EVENTS;
  CHECK_FALSE(decode(bytes(ev)));
  ev.event = 1;
  CHECK_FALSE(decode(bytes(ev, sizeof(ev) - 1)));
}

TEST_CASE("what the connection manager said, with addresses of either kind", "[bpf.decode]") {
  auto ev = wire<ev_cm>(EV_CM);
  ev.event = 8;
  ev.status = 28;
  ev.dev_index = 3;
  ev.qpn = 17;
  const std::array<__u8, 8> in{2, 0, 0x4b, 0x01, 192, 0, 2, 7};  // AF_INET, port 19201
  std::memcpy(ev.source, in.data(), in.size());
  ev.destination[0] = 10;  // AF_INET6
  ev.destination[2] = 0x12;
  ev.destination[3] = 0xb7;
  ev.destination[8] = 0x20;
  ev.destination[9] = 0x01;
  ev.destination[23] = 0x07;
  const auto rejected = decoded<CmEvent>(ev);
  CHECK(rejected.event == 8);
  CHECK(rejected.status == 28);
  CHECK(rejected.device == DeviceIndex{3});
  CHECK(rejected.qpn == Qpn{17});
  CHECK(rejected.source == "192.0.2.7:19201");
  CHECK(rejected.destination == "[2001::7]:4791");
  ev.dev_index = EV_NO_DEVICE;
  ev.source[0] = 77;
  CHECK_FALSE(decoded<CmEvent>(ev).device);
  CHECK(decoded<CmEvent>(ev).source.empty());
  ev.event = EV_ASYNC_EVENTS;
  CHECK_FALSE(decode(bytes(ev)));
}

}  // namespace qpscope
