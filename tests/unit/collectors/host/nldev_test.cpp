// SPDX-License-Identifier: Apache-2.0
// The parsers of RDMA netlink on messages built here. The socket itself is tested in the guest (tests/guest/tools).
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <random>

#include "collectors/host/nldev_parse.h"

using namespace qpscope;
using namespace qpscope::nldev;

namespace {

// Messages one after the other, as a datagram holds them.
class Messages {
 public:
  explicit Messages(std::size_t space = 64 * 1024) : bytes_(space) {}

  nlmsghdr* begin(std::uint32_t sequence, std::uint16_t type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET),
                  std::uint16_t flags = NLM_F_MULTI, std::uint32_t port_id = kPortId) {
    end();
    now_ = mnl_nlmsg_put_header(bytes_.data() + size_);
    now_->nlmsg_type = type;
    now_->nlmsg_flags = flags;
    now_->nlmsg_seq = sequence;
    now_->nlmsg_pid = port_id;
    return now_;
  }
  Messages& error(std::uint32_t sequence, std::uint16_t type, std::int32_t value) {
    std::memcpy(mnl_nlmsg_put_extra_header(begin(sequence, type), sizeof value), &value, sizeof value);
    return *this;
  }
  Bytes datagram() {
    end();
    return {bytes_.data(), size_};
  }
  Bytes attributes() const { return {static_cast<const std::byte*>(mnl_nlmsg_get_payload(now_)), mnl_nlmsg_get_payload_len(now_)}; }

  static constexpr std::uint32_t kPortId = 4711;

 private:
  void end() {
    if (now_) size_ += MNL_ALIGN(now_->nlmsg_len);
    now_ = nullptr;
  }
  std::vector<std::byte> bytes_;
  std::size_t size_ = 0;
  nlmsghdr* now_ = nullptr;
};

void put_queue_pair(nlmsghdr* message, std::uint32_t qpn, std::uint8_t type = 2, std::uint8_t state = 3) {
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_PID, 1234);
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_RQPN, 99);
  mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_TYPE, type);
  mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_STATE, state);
}

// A table of entries without NLA_F_NESTED, as the kernel sends it; mnl_attr_nest_start would set the flag.
template <class Fill>
void nest(nlmsghdr* message, std::uint16_t type, Fill fill) {
  nlattr* table = mnl_attr_nest_start(message, type);
  table->nla_type = type;
  fill();
  mnl_attr_nest_end(message, table);
}

constexpr auto kIgnore = [](Bytes) -> Result<> { return {}; };

AnswerReader dump_reader(NldevBudget budget = {}) { return {7, Messages::kPortId, true, budget}; }

}  // namespace

TEST_CASE("a device", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
  mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
  mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_NODE_GUID, 0x506b4b0300c0ffee);
  mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
  mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
  mnl_attr_put_u32(header, 1000, 5);  // of a later kernel
  auto device = parse_device(m.attributes());
  REQUIRE(device);
  CHECK(device->index.value == 3);
  CHECK(device->name == "mlx5_0");
  CHECK(device->last_port == 2);
  CHECK(device->node_guid == 0x506b4b0300c0ffee);
  CHECK(device->node_type == 1);
  CHECK(device->protocol == "roce");
  CHECK_FALSE(device->fw_version);

  mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_FW_VERSION, "28.39.1002");
  CHECK(parse_device(m.attributes()).value().fw_version == "28.39.1002");
  mnl_attr_put(header, RDMA_NLDEV_ATTR_DEV_PROTOCOL, 2, "ib");  // without its NUL
  CHECK(parse_device(m.attributes()).value().protocol == "ib");
  mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_NODE_GUID, 1);
  CHECK(parse_device(m.attributes()).error().code == ErrorCode::parse);
}

TEST_CASE("a device without index or name is an error", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  CHECK(parse_device(m.attributes()).error().code == ErrorCode::parse);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
  CHECK_FALSE(parse_device(m.attributes()));
  mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DEV_NAME, "");
  CHECK_FALSE(parse_device(m.attributes()));
}

TEST_CASE("a port", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
  mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_PORT_STATE, 4);
  CHECK(parse_port(m.attributes()).error().code == ErrorCode::parse);
  mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
  auto port = parse_port(m.attributes());
  REQUIRE(port);
  CHECK(port->number == PortNum{1});
  CHECK(port->state == 4);
  CHECK(port->phys_state == 5);
  CHECK_FALSE(port->lid);
  CHECK_FALSE(port->netdev);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_LID, 17);
  mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_NDEV_NAME, "ens1f0np0");
  port = parse_port(m.attributes());
  REQUIRE(port);
  CHECK(port->lid == 17);
  CHECK(port->netdev == "ens1f0np0");
}

TEST_CASE("a queue pair in every state that the wire can express", "[host.nldev]") {
  Messages m;
  put_queue_pair(m.begin(1), 0x11);
  const auto row = parse_queue_pair(m.attributes());
  REQUIRE(row);
  CHECK(row->qpn == Qpn{0x11});
  CHECK(row->port == PortNum{1});
  CHECK(row->type == QpType::rc);
  CHECK(row->state == QpState::rts);
  CHECK(row->remote_qpn == Qpn{99});
  CHECK(row->tid == Pid{1234});
  CHECK(row->kern_name.empty());

  SECTION("before INIT: no port; no peer yet; its task is gone") {
    nlmsghdr* header = m.begin(1);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_LQPN, 5);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_RQPN, 0);
    mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_TYPE, 2);
    mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_STATE, 0);
    const auto early = parse_queue_pair(m.attributes());
    REQUIRE(early);
    CHECK(early->port == PortNum{0});
    CHECK(early->state == QpState::reset);
    CHECK_FALSE(early->remote_qpn);
    CHECK(early->tid == Pid{0});
  }
  SECTION("of a kernel module") {
    nlmsghdr* header = m.begin(1);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_LQPN, 1);
    mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_core");
    mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_TYPE, 1);
    const auto gsi = parse_queue_pair(m.attributes());
    REQUIRE(gsi);
    CHECK(gsi->type == QpType::gsi);
    CHECK(gsi->kern_name == "ib_core");
    CHECK_FALSE(gsi->state);
  }
  SECTION("types and states this program has never heard of") {
    put_queue_pair(m.begin(1), 6, 77, 99);
    const auto odd = parse_queue_pair(m.attributes());
    REQUIRE(odd);
    CHECK(static_cast<unsigned>(odd->type) == 77);
    CHECK_FALSE(odd->state);
  }
  SECTION("the last type holds") {
    nlmsghdr* header = m.begin(1);
    put_queue_pair(header, 6, 0);
    mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_RES_SUBTYPE, "REG_UMR");
    mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_TYPE, 0xff);
    CHECK(parse_queue_pair(m.attributes()).value().type == QpType::driver);
  }
  SECTION("without its number or type") {
    mnl_attr_put_u32(m.begin(1), RDMA_NLDEV_ATTR_RES_LQPN, 5);
    CHECK(parse_queue_pair(m.attributes()).error().code == ErrorCode::parse);
    mnl_attr_put_u8(m.begin(1), RDMA_NLDEV_ATTR_RES_TYPE, 2);
    CHECK(parse_queue_pair(m.attributes()).error().code == ErrorCode::parse);
  }
  SECTION("with attributes of a wrong size") {
    nlmsghdr* header = m.begin(1);
    mnl_attr_put_u16(header, RDMA_NLDEV_ATTR_RES_LQPN, 5);
    mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_TYPE, 2);
    const auto wrong = parse_queue_pair(m.attributes());
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().what.find("RES_LQPN") != std::string::npos);
  }
}

TEST_CASE("a table of queue pairs, with and without the NESTED flag", "[host.nldev]") {
  for (const int flag : {0, NLA_F_NESTED}) {
    Messages m;
    nlmsghdr* header = m.begin(1);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
    nest(header, static_cast<std::uint16_t>(RDMA_NLDEV_ATTR_RES_QP | flag), [&] {
      for (std::uint32_t qpn = 10; qpn < 13; ++qpn) {
        nest(header, static_cast<std::uint16_t>(RDMA_NLDEV_ATTR_RES_QP_ENTRY | flag), [&] { put_queue_pair(header, qpn); });
      }
    });
    std::vector<QpRow> rows;
    REQUIRE(parse_queue_pairs(m.attributes(), 100, rows));
    REQUIRE(rows.size() == 3);
    CHECK(rows[2].qpn == Qpn{12});
    CHECK(parse_queue_pairs(m.attributes(), 5, rows).error().code == ErrorCode::limit);
    CHECK(rows.size() == 5);
  }
}

TEST_CASE("a bad entry loses itself and not its neighbours", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_QP, [&] {
    nest(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&] { put_queue_pair(header, 1); });
    nest(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&] { mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_TYPE, 2); });
    nest(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&] { put_queue_pair(header, 3); });
  });
  std::vector<QpRow> rows;
  CHECK(parse_queue_pairs(m.attributes(), 100, rows).error().code == ErrorCode::parse);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].qpn == Qpn{3});
}

TEST_CASE("a message without a table has no queue pairs", "[host.nldev]") {
  Messages m;
  mnl_attr_put_u32(m.begin(1), RDMA_NLDEV_ATTR_DEV_INDEX, 0);
  std::vector<QpRow> rows;
  CHECK(parse_queue_pairs(m.attributes(), 100, rows));
  CHECK(parse_queue_pairs({}, 100, rows));
  CHECK(rows.empty());
}

TEST_CASE("the driver's number", "[host.nldev]") {
  Messages m;
  mnl_attr_put_u32(m.begin(1), RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 14);
  CHECK(parse_driver_id(m.attributes()).value() == 14);
  mnl_attr_put_u64(m.begin(1), RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 14);
  CHECK(parse_driver_id(m.attributes()).error().code == ErrorCode::parse);
  mnl_attr_put_u32(m.begin(1), RDMA_NLDEV_ATTR_DEV_INDEX, 14);
  CHECK(parse_driver_id(m.attributes()).error().code == ErrorCode::parse);
}

TEST_CASE("contexts with and without a process", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_CTX, [&] {
    nest(header, RDMA_NLDEV_ATTR_RES_CTX_ENTRY, [&] {
      mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_CTXN, 7);
      mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_PID, 4711);
    });
    nest(header, RDMA_NLDEV_ATTR_RES_CTX_ENTRY, [&] { mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_CTXN, 8); });
  });
  std::vector<NlContext> contexts;
  REQUIRE(parse_contexts(m.attributes(), 100, contexts));
  CHECK(contexts == std::vector<NlContext>{{7, {4711}}, {8, {0}}});
  CHECK(parse_contexts(m.attributes(), 3, contexts).error().code == ErrorCode::limit);
  CHECK(contexts.size() == 3);
  CHECK(parse_contexts({}, 100, contexts));
  header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_CTX,
       [&] { nest(header, RDMA_NLDEV_ATTR_RES_CTX_ENTRY, [&] { mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_PID, 1); }); });
  CHECK(parse_contexts(m.attributes(), 100, contexts).error().code == ErrorCode::parse);
}

TEST_CASE("memory regions of a process, a kernel module and of nobody who lives", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_MR, [&] {
    nest(header, RDMA_NLDEV_ATTR_RES_MR_ENTRY, [&] {
      mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_RES_MRLEN, 1ULL << 33);
      mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_MRN, 7);
      mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_PDN, 1);
      mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_PID, 4711);
      nest(header, RDMA_NLDEV_ATTR_DRIVER, [&] {
        mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DRIVER_STRING, "odp");
        mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DRIVER_STRING, "explicit");
      });
    });
    nest(header, RDMA_NLDEV_ATTR_RES_MR_ENTRY, [&] {
      mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_RES_MRLEN, 0);
      mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_MRN, 8);
      mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_RES_KERN_NAME, "nvme_rdma");
    });
    nest(header, RDMA_NLDEV_ATTR_RES_MR_ENTRY, [&] { mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_MRN, 9); });
  });
  std::vector<MemoryRegion> regions;
  REQUIRE(parse_memory_regions(m.attributes(), 100, regions));
  CHECK(regions == std::vector<MemoryRegion>{{7, {4711}, "", 1ULL << 33, true}, {8, {0}, "nvme_rdma", 0, false}, {9, {0}, "", 0, false}});
  CHECK(parse_memory_regions(m.attributes(), 4, regions).error().code == ErrorCode::limit);
  CHECK(regions.size() == 4);
  header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_MR,
       [&] { nest(header, RDMA_NLDEV_ATTR_RES_MR_ENTRY, [&] { mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_RES_MRLEN, 1); }); });
  CHECK(parse_memory_regions(m.attributes(), 100, regions).error().code == ErrorCode::parse);
}

TEST_CASE("the count of queue pairs", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  const auto summary = [&](const char* name, std::uint64_t count) {
    nest(header, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, [&] {
      mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
      mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
    });
  };
  nest(header, RDMA_NLDEV_ATTR_RES_SUMMARY, [&] { summary("pd", 4), summary("qp", 10007), summary("mr", 1); });
  CHECK(parse_queue_pair_count(m.attributes()).value() == 10007);
  header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_SUMMARY, [&] { summary("pd", 4); });
  CHECK(parse_queue_pair_count(m.attributes()).error().code == ErrorCode::parse);
  header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_SUMMARY, [&] { summary("qp", 1ULL << 40); });
  CHECK(parse_queue_pair_count(m.attributes()).error().code == ErrorCode::parse);
}

TEST_CASE("port counters", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  const auto counter = [&](const char* name, std::uint64_t value) {
    nest(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED, [&] {
      mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
      mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
    });
  };
  nest(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, [&] { counter("out_of_sequence", 17), counter("np_cnp_sent", UINT64_MAX); });
  CHECK(parse_counters(m.attributes()).value() == NlCounters{{"out_of_sequence", 17}, {"np_cnp_sent", UINT64_MAX}});
  header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, [] {});
  CHECK(parse_counters(m.attributes()).value().empty());
  m.begin(1);
  CHECK(parse_counters(m.attributes()).error().code == ErrorCode::parse);
  header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, [&] { counter("", 17); });
  CHECK(parse_counters(m.attributes()).error().code == ErrorCode::parse);
}

namespace {

void put_counters(nlmsghdr* message, const NlCounters& counters) {
  nest(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, [&] {
    for (const auto& [name, value] : counters) {
      nest(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED, [&] {
        mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name.c_str());
        mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
      });
    }
  });
}

void put_set(nlmsghdr* message, std::uint32_t id, std::uint32_t mode, std::initializer_list<std::uint32_t> members, const NlCounters& counters = {}) {
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
  mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_MODE, mode);
  nest(message, RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED, [&] {
    for (const std::uint32_t qpn : members) {
      nest(message, RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED, [&] { mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, qpn); });
    }
  });
  put_counters(message, counters);
}

// A message of a dump with these sets.
Bytes sets_message(Messages& m, std::initializer_list<std::uint32_t> ids) {
  nlmsghdr* header = m.begin(7);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
  nest(header, RDMA_NLDEV_ATTR_STAT_COUNTER, [&] {
    for (const std::uint32_t id : ids) nest(header, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY, [&] { put_set(header, id, 2, {100, 101}); });
  });
  return m.attributes();
}

}  // namespace

TEST_CASE("how a port binds its queue pairs to counter sets", "[host.nldev]") {
  using Kind = NlCounterMode::Kind;
  Messages m;
  nlmsghdr* header = m.begin(1);
  CHECK(parse_counter_mode(m.attributes()).error().code == ErrorCode::parse);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_STAT_MODE, 0);
  CHECK(parse_counter_mode(m.attributes()).value() == NlCounterMode{});
  header = m.begin(1);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_STAT_MODE, 1);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, 3);
  CHECK(parse_counter_mode(m.attributes()).value() == NlCounterMode{.kind = Kind::automatic, .mask = 3});
  mnl_attr_put_u32(m.begin(1), RDMA_NLDEV_ATTR_STAT_MODE, 2);
  CHECK(parse_counter_mode(m.attributes()).value().kind == Kind::manual);
  mnl_attr_put_u8(m.begin(1), RDMA_NLDEV_ATTR_STAT_MODE, 2);
  CHECK(parse_counter_mode(m.attributes()).error().code == ErrorCode::parse);
}

TEST_CASE("a counter set", "[host.nldev]") {
  using Kind = NlCounterMode::Kind;
  Messages m;
  nlmsghdr* header = m.begin(1);
  put_set(header, 7, 2, {100, 104}, {{"packet_seq_err", 11}, {"np_cnp_sent", 0}});
  auto set = parse_counter_set(m.attributes());
  REQUIRE(set);
  CHECK(set->id == CounterSetId{7});
  CHECK(set->port == PortNum{2});
  CHECK(set->mode == Kind::manual);
  CHECK(set->members == std::vector{Qpn{100}, Qpn{104}});
  CHECK(set->counters == NlCounters{{"packet_seq_err", 11}, {"np_cnp_sent", 0}});
  CHECK_FALSE(set->type);
  CHECK(set->tid == Pid{0});
  CHECK(parse_counter_set_id(m.attributes()).value() == CounterSetId{7});

  header = m.begin(1);
  put_set(header, 8, 1, {});
  mnl_attr_put_u8(header, RDMA_NLDEV_ATTR_RES_TYPE, 2);
  mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_RES_PID, 4242);
  set = parse_counter_set(m.attributes());
  REQUIRE(set);
  CHECK(set->mode == Kind::automatic);
  CHECK(set->type == QpType::rc);
  CHECK(set->tid == Pid{4242});
  CHECK(set->members.empty());

  SECTION("without what it cannot be without") {
    header = m.begin(1);
    CHECK(parse_counter_set_id(m.attributes()).error().code == ErrorCode::parse);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, 7);
    put_counters(header, {});
    CHECK(parse_counter_set(m.attributes()).error().code == ErrorCode::parse);  // no mode
    header = m.begin(1);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, 7);
    mnl_attr_put_u32(header, RDMA_NLDEV_ATTR_STAT_MODE, 2);
    CHECK(parse_counter_set(m.attributes()).error().code == ErrorCode::parse);  // no counters
  }
}

TEST_CASE("a dump of counter sets ends where it stops to advance", "[host.nldev]") {
  Messages m;
  std::vector<NlCounterSet> rows;
  CounterSetReader reader(100, rows);
  REQUIRE(reader.take(sets_message(m, {})));
  REQUIRE(reader.take(sets_message(m, {1, 2})));
  REQUIRE(reader.take(sets_message(m, {})));
  REQUIRE(reader.take(sets_message(m, {})));
  REQUIRE(reader.take(sets_message(m, {3})));
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].id == CounterSetId{3});
  REQUIRE(reader.take(sets_message(m, {})));
  REQUIRE(reader.take(sets_message(m, {})));
  CHECK(reader.take(sets_message(m, {})).error().code == ErrorCode::limit);
  CHECK(rows.size() == 3);
}

TEST_CASE("a dump of counter sets has a most of sets and of members", "[host.nldev]") {
  Messages m;
  std::vector<NlCounterSet> rows;
  CounterSetReader few(4, rows);  // members, two a set
  CHECK(few.take(sets_message(m, {1, 2, 3})).error().code == ErrorCode::limit);
  CHECK(rows.size() == 2);
  rows.clear();
  CounterSetReader one(2, rows);
  CHECK(one.take(sets_message(m, {1})));
  CHECK(one.take(sets_message(m, {2})).error().code == ErrorCode::limit);
}

TEST_CASE("attributes that are cut off anywhere are an error, never a crash", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(1);
  nest(header, RDMA_NLDEV_ATTR_RES_QP, [&] { nest(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&] { put_queue_pair(header, 1); }); });
  const Bytes whole = m.attributes();
  for (std::size_t size = 1; size < whole.size() - 3; ++size) {
    // A copy of exactly this size, so that AddressSanitizer sees every byte read behind it.
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    std::vector<QpRow> rows;
    CHECK_FALSE(parse_queue_pairs(part, 10, rows));
    CHECK(rows.empty());
  }
  std::vector<QpRow> rows;
  CHECK(parse_queue_pairs(whole.subspan(1), 10, rows).error().code == ErrorCode::parse);  // misaligned
}

TEST_CASE("a message that says it is longer than its datagram is cut off, whatever the length", "[host.nldev]") {
  for (const std::uint32_t length : {0U, 15U, 24U, 0x7fff'ffffU, 0x8000'0000U, 0xffff'ffffU}) {
    Messages m;
    m.begin(7)->nlmsg_len = length;
    const Bytes header(m.datagram().data(), sizeof(nlmsghdr));
    CHECK(dump_reader().feed(header, kIgnore).error().code == ErrorCode::parse);
  }
}

TEST_CASE("an answer of several datagrams ends with DONE", "[host.nldev]") {
  AnswerReader reader = dump_reader();
  std::size_t seen = 0;
  const auto count = [&](Bytes) -> Result<> { return ++seen, Result<>{}; };
  Messages first, last;
  first.begin(7), first.begin(7);
  CHECK(reader.feed(first.datagram(), count).value() == Progress::more);
  CHECK_FALSE(reader.finished());
  last.begin(7);
  last.error(7, NLMSG_DONE, 0);
  CHECK(reader.feed(last.datagram(), count).value() == Progress::done);
  CHECK(reader.finished());
  CHECK_FALSE(reader.interrupted());
  CHECK(seen == 3);
}

TEST_CASE("a request that is no dump is answered by one message", "[host.nldev]") {
  AnswerReader reader(7, Messages::kPortId, false, {});
  Messages m;
  m.begin(7, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), 0);
  CHECK(reader.feed(m.datagram(), kIgnore).value() == Progress::done);
  CHECK(reader.finished());
}

TEST_CASE("stale answers, other sockets' and other clients' are skipped", "[host.nldev]") {
  AnswerReader reader = dump_reader();
  Messages m;
  m.begin(6);
  m.error(6, NLMSG_DONE, 0);
  m.error(6, NLMSG_ERROR, -EINVAL);
  m.begin(7, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), 0, Messages::kPortId + 1);
  m.begin(7, RDMA_NL_GET_TYPE(RDMA_NL_LS, 0), 0);
  m.begin(7, NLMSG_NOOP, 0);
  CHECK(reader.feed(m.datagram(), [](Bytes) -> Result<> { return fail(ErrorCode::invalid, "not ours"); }).value() == Progress::more);
}

TEST_CASE("errors of the kernel keep their errno and end the answer", "[host.nldev]") {
  struct Row {
    std::uint16_t type;
    std::int32_t value;
    int sys_errno;
    ErrorCode code;
  };
  for (const Row& row : {Row{NLMSG_ERROR, -ENOENT, ENOENT, ErrorCode::not_found}, Row{NLMSG_ERROR, -EAGAIN, EAGAIN, ErrorCode::io},
                         Row{NLMSG_DONE, -EINVAL, EINVAL, ErrorCode::io}, Row{NLMSG_ERROR, -EPERM, EPERM, ErrorCode::permission},
                         Row{NLMSG_ERROR, INT32_MIN, EIO, ErrorCode::io}}) {
    AnswerReader reader = dump_reader();
    Messages m;
    const auto result = reader.feed(m.error(7, row.type, row.value).datagram(), kIgnore);
    REQUIRE_FALSE(result);
    CHECK(result.error().sys_errno == row.sys_errno);
    CHECK(result.error().code == row.code);
    CHECK(reader.finished());
  }
  AnswerReader reader = dump_reader();
  Messages ack;
  CHECK(reader.feed(ack.error(7, NLMSG_ERROR, 0).datagram(), kIgnore).value() == Progress::done);
  AnswerReader other = dump_reader();
  Messages empty;
  empty.begin(7, NLMSG_ERROR);
  CHECK(other.feed(empty.datagram(), kIgnore).error().code == ErrorCode::parse);
  AnswerReader third = dump_reader();
  Messages bare_done;
  bare_done.begin(7, NLMSG_DONE);
  CHECK(third.feed(bare_done.datagram(), kIgnore).value() == Progress::done);
}

TEST_CASE("a lost answer is ENOBUFS, an interrupted dump is noted", "[host.nldev]") {
  AnswerReader reader = dump_reader();
  Messages m;
  m.begin(7, NLMSG_OVERRUN);
  CHECK(reader.feed(m.datagram(), kIgnore).error().sys_errno == ENOBUFS);
  CHECK_FALSE(reader.finished());

  AnswerReader other = dump_reader();
  Messages interrupted;
  interrupted.error(7, NLMSG_DONE, 0);
  interrupted.begin(7, NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR);
  Messages row;
  row.begin(7, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET), NLM_F_MULTI | NLM_F_DUMP_INTR);
  CHECK(other.feed(row.datagram(), kIgnore).value() == Progress::more);
  CHECK(other.interrupted());
}

TEST_CASE("a dump without end ends at the budget", "[host.nldev]") {
  Messages m;
  m.begin(7), m.begin(7);
  const Bytes datagram = m.datagram();
  const auto rounds = [&](NldevBudget budget) {
    AnswerReader reader = dump_reader(budget);
    for (int i = 0; i < 1000; ++i) {
      const auto progress = reader.feed(datagram, kIgnore);
      if (!progress) {
        CHECK(progress.error().code == ErrorCode::limit);
        CHECK_FALSE(reader.finished());
        return i;
      }
    }
    return 1000;
  };
  CHECK(rounds({.messages = 10}) == 5);
  CHECK(rounds({.bytes = 10 * datagram.size()}) == 10);
  // Messages that are not ours count too.
  AnswerReader reader(8, Messages::kPortId, true, {.messages = 3});
  CHECK(reader.feed(datagram, kIgnore));
  CHECK(reader.feed(datagram, kIgnore).error().code == ErrorCode::limit);
}

TEST_CASE("an error of the taker ends the answer", "[host.nldev]") {
  AnswerReader reader = dump_reader();
  Messages m;
  m.begin(7);
  CHECK(reader.feed(m.datagram(), [](Bytes) -> Result<> { return fail(ErrorCode::limit, "enough"); }).error().code == ErrorCode::limit);
  CHECK_FALSE(reader.finished());
}

TEST_CASE("10,000 rows over many datagrams", "[host.nldev]") {
  AnswerReader reader = dump_reader();
  std::vector<QpRow> rows;
  const auto take = [&](Bytes attributes) { return parse_queue_pairs(attributes, 20'000, rows); };
  for (std::uint32_t qpn = 0; qpn < 10'000;) {
    Messages m;
    nlmsghdr* header = m.begin(7);
    nest(header, RDMA_NLDEV_ATTR_RES_QP, [&] {
      for (int i = 0; i < 250; ++i) nest(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&] { put_queue_pair(header, qpn++); });
    });
    REQUIRE(reader.feed(m.datagram(), take).value() == Progress::more);
  }
  Messages done;
  REQUIRE(reader.feed(done.error(7, NLMSG_DONE, 0).datagram(), take).value() == Progress::done);
  REQUIRE(rows.size() == 10'000);
  CHECK(rows.back().qpn == Qpn{9'999});
}

TEST_CASE("damaged datagrams never crash and never exceed the bounds", "[host.nldev]") {
  Messages m;
  nlmsghdr* header = m.begin(7);
  mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
  nest(header, RDMA_NLDEV_ATTR_RES_QP, [&] {
    for (std::uint32_t i = 0; i < 4; ++i) nest(header, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&] { put_queue_pair(header, i); });
  });
  nest(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, [&] {
    nest(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, [&] {
      mnl_attr_put_strz(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "out_of_sequence");
      mnl_attr_put_u64(header, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, 1);
    });
  });
  nest(header, RDMA_NLDEV_ATTR_STAT_COUNTER, [&] {
    nest(header, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY, [&] { put_set(header, 7, 1, {100, 101}, {{"out_of_sequence", 1}}); });
  });
  m.error(7, NLMSG_DONE, 0);
  const Bytes whole = m.datagram();
  std::mt19937 random(20240229);  // a fixed seed: the same bytes in every run
  for (int round = 0; round < 50'000; ++round) {
    std::vector<std::byte> bytes(whole.begin(), whole.end());
    for (unsigned i = 0, n = 1 + random() % 4; i < n; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    AnswerReader reader = dump_reader();
    std::vector<QpRow> rows;
    std::vector<NlCounterSet> sets;
    CounterSetReader set_reader(3, sets);
    (void)reader.feed(bytes, [&](Bytes attributes) -> Result<> {
      (void)parse_device(attributes);
      (void)parse_port(attributes);
      (void)parse_queue_pair(attributes);
      (void)parse_queue_pair_count(attributes);
      (void)parse_counters(attributes);
      (void)parse_queue_pairs(attributes, 3, rows);
      (void)parse_counter_mode(attributes);
      (void)parse_counter_set(attributes);
      (void)set_reader.take(attributes);
      return {};
    });
    REQUIRE(sets.size() <= 3);
    REQUIRE(rows.size() <= 3);
  }
}
