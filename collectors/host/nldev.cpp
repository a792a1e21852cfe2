// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/nldev.h"

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "collectors/host/nldev_parse.h"

namespace qpscope {
namespace {

constexpr std::uint32_t kOfQueuePairs = RDMA_NLDEV_ATTR_RES_QP;  // RDMA_NLDEV_ATTR_STAT_RES: whose statistics
constexpr auto kNothingToRead = [](std::span<const std::byte>) -> Result<> { return {}; };

// Above the 32 KiB the kernel puts into one datagram of a dump at most (net/netlink/af_netlink.c netlink_dump).
constexpr std::size_t kBuffer = 64 * 1024;
// The kernel fills at least NLMSG_GOODSIZE (a page, 8 KiB at most), and more only if the reader has offered more before.
constexpr std::size_t kPiece = 8 * 1024;

std::string at(const char* command, DeviceIndex device) {
  return std::string("RDMA netlink ") + command + ", device " + std::to_string(device.value);
}

std::string at(const char* command, DeviceIndex device, PortNum port) {
  return at(command, device) + " port " + std::to_string(port.value);
}

}  // namespace

void Nldev::CloseSocket::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

Nldev::Nldev(NldevBudget budget) : budget_(budget), buffer_(std::make_unique_for_overwrite<std::byte[]>(kBuffer)) {}
Nldev::Nldev(Nldev&&) noexcept = default;
Nldev& Nldev::operator=(Nldev&&) noexcept = default;
Nldev::~Nldev() = default;

Result<Nldev> Nldev::open(NldevBudget budget) {
  Nldev nldev(budget);
  if (auto connected = nldev.connect(); !connected) return std::unexpected(std::move(connected.error()));
  return nldev;
}

Result<> Nldev::connect() {
  if (::access("/sys/class/infiniband", F_OK) != 0)
    return fail(ErrorCode::unsupported, "RDMA netlink: ib_core is not loaded", EPROTONOSUPPORT);
  std::unique_ptr<mnl_socket, CloseSocket> socket(mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC));
  if (!socket) {
    Error error = io_error("RDMA netlink socket", errno);
    if (error.sys_errno == EPROTONOSUPPORT) error.code = ErrorCode::unsupported;
    return std::unexpected(std::move(error));
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(budget_.timeout);
  timeval timeout{};
  timeout.tv_sec = seconds.count();
  timeout.tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(budget_.timeout - seconds).count();
  if (::setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) != 0) {
    return std::unexpected(io_error("RDMA netlink socket", errno));
  }
  socket_ = std::move(socket);
  return {};
}

Result<> Nldev::send(int command, bool dump, std::initializer_list<Attribute> attributes, const std::string& what) {
  alignas(nlmsghdr) std::array<std::byte, 256> request{};
  nlmsghdr* header = mnl_nlmsg_put_header(request.data());
  header->nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
  header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0));
  header->nlmsg_seq = ++sequence_;
  for (const auto& [type, value] : attributes) {
    if (const auto* number = std::get_if<std::uint32_t>(&value)) mnl_attr_put_u32(header, type, *number);
    if (const auto* word = std::get_if<const char*>(&value)) mnl_attr_put_strz(header, type, *word);
  }
  ssize_t sent = -1;
  do sent = mnl_socket_sendto(socket_.get(), header, header->nlmsg_len);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return std::unexpected(io_error(what, errno));
  return {};
}

Result<> Nldev::ask(int command, bool dump, std::initializer_list<Attribute> attributes, const std::string& what,
                    const OnMessage& on_message, bool* interrupted) {
  if (!socket_) {
    if (auto connected = connect(); !connected) return connected;
  }
  if (auto sent = send(command, dump, attributes, what); !sent) {
    socket_.reset();
    return sent;
  }
  nldev::AnswerReader reader(sequence_, mnl_socket_get_portid(socket_.get()), dump, budget_);
  Result<nldev::Progress> progress = nldev::Progress::more;
  while (progress && *progress == nldev::Progress::more) progress = receive(reader, kBuffer, what, on_message);
  if (interrupted) *interrupted = reader.interrupted();
  if (!reader.finished()) socket_.reset();
  if (!progress) return std::unexpected(std::move(progress.error()));
  return {};
}

Result<nldev::Progress> Nldev::receive(nldev::AnswerReader& reader, std::size_t most, const std::string& what, const OnMessage& on_message) {
  ssize_t n = -1;
  do n = mnl_socket_recvfrom(socket_.get(), buffer_.get(), most);
  while (n < 0 && errno == EINTR);
  if (n <= 0) {
    // Also the errors of a dump itself come this way; ENOBUFS: the kernel dropped answers; ENOSPC: one was longer than our buffer.
    return std::unexpected(io_error(what, n == 0 ? EIO : errno == EAGAIN || errno == EWOULDBLOCK ? ETIMEDOUT : errno));
  }
  auto progress = reader.feed({buffer_.get(), static_cast<std::size_t>(n)}, on_message);
  if (!progress) progress.error().what = what + ": " + progress.error().what;
  return progress;
}

Result<std::vector<NlDevice>> Nldev::devices() {
  std::vector<NlDevice> devices;
  const auto answer = ask(RDMA_NLDEV_CMD_GET, true, {}, "RDMA netlink GET", [&](std::span<const std::byte> message) -> Result<> {
    auto device = nldev::parse_device(message);
    if (!device) return std::unexpected(std::move(device.error()));
    if (devices.size() >= budget_.rows) return fail(ErrorCode::limit, "too many devices");
    devices.push_back(std::move(*device));
    return {};
  });
  if (!answer) return std::unexpected(answer.error());
  return devices;
}

Result<std::vector<NlPort>> Nldev::ports(DeviceIndex device) {
  std::vector<NlPort> ports;
  const auto answer = ask(RDMA_NLDEV_CMD_PORT_GET, true, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}}, at("PORT_GET", device),
                          [&](std::span<const std::byte> message) -> Result<> {
                            auto port = nldev::parse_port(message);
                            if (!port) return std::unexpected(std::move(port.error()));
                            if (ports.size() >= budget_.rows) return fail(ErrorCode::limit, "too many ports");
                            ports.push_back(std::move(*port));
                            return {};
                          });
  if (!answer) return std::unexpected(answer.error());
  return ports;
}

template <class Value>
Result<Value> Nldev::ask_one(int command, std::initializer_list<Attribute> attributes, const std::string& what,
                             Result<Value> (*parse)(std::span<const std::byte>)) {
  Result<Value> value = fail(ErrorCode::parse, what + ": no answer");
  const auto answer = ask(command, false, attributes, what, [&](std::span<const std::byte> message) -> Result<> {
    value = parse(message);
    return {};
  });
  if (!answer) return std::unexpected(answer.error());
  return value;
}

Result<NlPort> Nldev::port(DeviceIndex device, PortNum number) {
  return ask_one(RDMA_NLDEV_CMD_PORT_GET, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}, {RDMA_NLDEV_ATTR_PORT_INDEX, number.value}},
                 at("PORT_GET", device, number), nldev::parse_port);
}

Result<QpDumpResult> Nldev::queue_pairs(DeviceIndex device, BootTime began) {
  auto reader = QpDumpReader::begin(device, budget_);
  if (!reader) return std::unexpected(std::move(reader.error()));
  QpDumpResult result{.dump = {.device = device, .began = began, .complete = true, .rows = {}}, .trouble = {}};
  Result<bool> more = true;
  while (more && *more) more = reader->read(result.dump.rows);
  if (!more) result.trouble = std::move(more.error());
  if (!result.trouble) result.trouble = reader->trouble();
  if (result.trouble && result.dump.rows.empty()) return std::unexpected(std::move(*result.trouble));
  result.dump.complete = !result.trouble;
  return result;
}

Result<QpRow> Nldev::queue_pair(DeviceIndex device, PortNum port, QpType type, Qpn qpn) {
  Result<QpRow> row = fail(ErrorCode::parse, "no answer");
  const auto answer =
      ask(RDMA_NLDEV_CMD_RES_QP_GET, false,
          {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
           {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
           {RDMA_NLDEV_ATTR_RES_LQPN, restrack_id(type, qpn, port)}},
          at("RES_QP_GET", device, port) + " qpn " + std::to_string(qpn.value), [&](std::span<const std::byte> message) -> Result<> {
            row = nldev::parse_queue_pair(message);
            return {};
          });
  if (answer) return row;
  Error error = answer.error();
  if (error.sys_errno == EAGAIN) error.code = ErrorCode::unsupported;
  return std::unexpected(std::move(error));
}

Result<std::uint32_t> Nldev::driver_id(DeviceIndex device) {
  struct stat unused {};
  if (stat("/sys/class/infiniband_verbs", &unused) != 0) return fail(ErrorCode::unsupported, "ib_uverbs is not loaded");
  return ask_one(RDMA_NLDEV_CMD_GET_CHARDEV, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}, {RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs"}},
                 at("GET_CHARDEV", device), nldev::parse_driver_id);
}

Result<bool> Nldev::monitors_devices() { return ask_one(RDMA_NLDEV_CMD_SYS_GET, {}, "RDMA netlink SYS_GET", nldev::parse_monitor_mode); }

Result<std::uint32_t> Nldev::queue_pair_count(DeviceIndex device) {
  return ask_one(RDMA_NLDEV_CMD_RES_GET, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}}, at("RES_GET", device), nldev::parse_queue_pair_count);
}

Result<std::vector<MemoryRegion>> Nldev::memory_regions(DeviceIndex device) {
  std::vector<MemoryRegion> out;
  const auto answer = ask(RDMA_NLDEV_CMD_RES_MR_GET, true, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}}, at("RES_MR_GET", device),
                          [&](std::span<const std::byte> message) { return nldev::parse_memory_regions(message, budget_.rows, out); });
  if (!answer) return std::unexpected(answer.error());
  return out;
}

Result<std::vector<NlContext>> Nldev::contexts(DeviceIndex device) {
  std::vector<NlContext> out;
  const auto answer = ask(RDMA_NLDEV_CMD_RES_CTX_GET, true, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}}, at("RES_CTX_GET", device),
                          [&](std::span<const std::byte> message) { return nldev::parse_contexts(message, budget_.rows, out); });
  if (!answer) return std::unexpected(answer.error());
  return out;
}

Result<NlCounters> Nldev::port_counters(DeviceIndex device, PortNum port) {
  return ask_one(RDMA_NLDEV_CMD_STAT_GET, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}, {RDMA_NLDEV_ATTR_PORT_INDEX, port.value}},
                 at("STAT_GET", device, port), nldev::parse_counters);
}

Result<NlCounterMode> Nldev::counter_mode(DeviceIndex device, PortNum port) {
  return ask_one(RDMA_NLDEV_CMD_STAT_GET,
                 {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
                  {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
                  {RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs},
                  {RDMA_NLDEV_ATTR_STAT_MODE, 0U}},  // its presence asks; the value says nothing
                 at("STAT_GET of the mode", device, port), nldev::parse_counter_mode);
}

Result<NlCounterSets> Nldev::counter_sets(DeviceIndex device, std::optional<PortNum> port) {
  NlCounterSets result;
  nldev::CounterSetReader reader(budget_.rows, result.rows);
  const std::string what = port ? at("STAT_GET of counter sets", device, *port) : at("STAT_GET of counter sets", device);
  const auto take = [&](std::span<const std::byte> message) { return reader.take(message); };
  bool interrupted = false;
  const Attribute of_device{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}, of_queue_pairs{RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs};
  const auto answer =
      port ? ask(RDMA_NLDEV_CMD_STAT_GET, true, {of_device, of_queue_pairs, {RDMA_NLDEV_ATTR_PORT_INDEX, port->value}}, what, take, &interrupted)
           : ask(RDMA_NLDEV_CMD_STAT_GET, true, {of_device, of_queue_pairs}, what, take, &interrupted);
  if (!answer) result.trouble = answer.error();
  if (!result.trouble && interrupted) result.trouble = Error{ErrorCode::io, EINTR, what + ": the kernel says that the dump was interrupted"};
  if (result.trouble && result.rows.empty()) return std::unexpected(std::move(*result.trouble));
  return result;
}

Result<NlCounterSet> Nldev::counter_set(DeviceIndex device, PortNum port, CounterSetId id) {
  return ask_one(RDMA_NLDEV_CMD_STAT_GET,
                 {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
                  {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
                  {RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs},
                  {RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id.value}},
                 at("STAT_GET", device, port) + " set " + std::to_string(id.value), nldev::parse_counter_set);
}

Result<CounterSetId> Nldev::bind_to_new_set(DeviceIndex device, PortNum port, Qpn qpn) {
  return ask_one(RDMA_NLDEV_CMD_STAT_SET,
                 {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
                  {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
                  {RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs},
                  {RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL},
                  {RDMA_NLDEV_ATTR_RES_LQPN, qpn.value}},
                 at("STAT_SET", device, port) + " qpn " + std::to_string(qpn.value), nldev::parse_counter_set_id);
}

Result<> Nldev::bind_to_set(DeviceIndex device, PortNum port, Qpn qpn, CounterSetId id) {
  return ask(RDMA_NLDEV_CMD_STAT_SET, false,
             {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
              {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
              {RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs},
              {RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL},
              {RDMA_NLDEV_ATTR_RES_LQPN, qpn.value},
              {RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id.value}},
             at("STAT_SET", device, port) + " qpn " + std::to_string(qpn.value) + " set " + std::to_string(id.value), kNothingToRead);
}

Result<> Nldev::unbind(DeviceIndex device, PortNum port, Qpn qpn, CounterSetId id) {
  return ask(RDMA_NLDEV_CMD_STAT_DEL, false,
             {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
              {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
              {RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs},
              {RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id.value},
              {RDMA_NLDEV_ATTR_RES_LQPN, qpn.value}},
             at("STAT_DEL", device, port) + " qpn " + std::to_string(qpn.value) + " set " + std::to_string(id.value), kNothingToRead);
}

Result<> Nldev::set_automatic_mode(DeviceIndex device, PortNum port, std::uint32_t mask) {
  return ask(RDMA_NLDEV_CMD_STAT_SET, false,
             {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value},
              {RDMA_NLDEV_ATTR_PORT_INDEX, port.value},
              {RDMA_NLDEV_ATTR_STAT_RES, kOfQueuePairs},
              {RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO},
              {RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask}},
             at("STAT_SET of the mode", device, port), kNothingToRead);
}

QpDumpReader::QpDumpReader(Nldev nldev, std::unique_ptr<nldev::AnswerReader> answer, std::string what, std::size_t rows)
    : nldev_(std::move(nldev)), answer_(std::move(answer)), what_(std::move(what)), rows_left_(rows) {}
QpDumpReader::QpDumpReader(QpDumpReader&&) noexcept = default;
QpDumpReader& QpDumpReader::operator=(QpDumpReader&&) noexcept = default;
QpDumpReader::~QpDumpReader() = default;

Result<QpDumpReader> QpDumpReader::begin(DeviceIndex device, NldevBudget budget) {
  auto nldev = Nldev::open(budget);
  if (!nldev) return std::unexpected(std::move(nldev.error()));
  std::string what = at("RES_QP_GET", device);
  if (auto sent = nldev->send(RDMA_NLDEV_CMD_RES_QP_GET, true, {{RDMA_NLDEV_ATTR_DEV_INDEX, device.value}}, what); !sent)
    return std::unexpected(std::move(sent.error()));
  auto answer = std::make_unique<nldev::AnswerReader>(nldev->sequence_, mnl_socket_get_portid(nldev->socket_.get()), true, budget);
  return QpDumpReader(std::move(*nldev), std::move(answer), std::move(what), budget.rows);
}

Result<bool> QpDumpReader::read(std::vector<QpRow>& rows) {
  const std::size_t before = rows.size();
  const auto progress = nldev_.receive(*answer_, kPiece, what_, [&](std::span<const std::byte> message) -> Result<> {
    auto parsed = nldev::parse_queue_pairs(message, before + rows_left_, rows);
    // A bad entry loses itself, not the rest of the dump.
    if (parsed || parsed.error().code == ErrorCode::limit) return parsed;
    if (!trouble_) trouble_ = std::move(parsed.error());
    return {};
  });
  rows_left_ -= rows.size() - before;
  if (!progress) return std::unexpected(progress.error());
  if (*progress == nldev::Progress::done && answer_->interrupted() && !trouble_)
    trouble_ = Error{ErrorCode::io, EINTR, what_ + ": the kernel says that the dump was interrupted"};
  return *progress == nldev::Progress::more;
}

}  // namespace qpscope
