// SPDX-License-Identifier: Apache-2.0
#include "device_watch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "clock.h"
#include "core/log.h"

namespace qpscope {
namespace {

constexpr double kCalmSeconds = 0.1;  // a device that flaps must not keep us busy
// RDMA netlink says that a device goes before its users are gone and it with them (core/device.c __ib_unregister_device): it is looked for
// again after 0.1 s, 0.2 s and so on up to this.
constexpr double kLongestPause = 4;

constexpr MetricDef kChanges{"qpscope_device_changes_total", MetricType::counter,
                             "RDMA devices and netdevs of their ports that came, went or changed, as the kernel said at once (RDMA netlink MONITOR, else uevents).",
                             LabelNames{"event"}};
constexpr MetricDef kHow{"qpscope_device_notifications_info", MetricType::gauge,
                         "How we are told of devices that come and go, which are looked for at every sampling.interval besides: rdma_netlink, uevent, off (RDMA netlink SYS_GET).",
                         LabelNames{"how"}};
constexpr std::array<const MetricDef*, 2> kMetrics{&kChanges, &kHow};

Fd signal_descriptor() {
  const sigset_t signals = stop_signals();
  return Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

sigset_t stop_signals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGTERM);
  sigaddset(&out, SIGINT);
  return out;
}

MetricList device_watch_metrics() { return kMetrics; }

DeviceWatch::DeviceWatch(bool live) : signals_(signal_descriptor()), live_(live) {
  if (live_) listen(DeviceListener::How::uevent);
}

void DeviceWatch::listen(DeviceListener::How how) {
  auto listener = DeviceListener::open(how);
  if (listener) {
    listener_.emplace(std::move(*listener));
  } else {
    log::debug("no news of devices: " + listener.error().what);
  }
}

void DeviceWatch::devices(std::size_t count) {
  const bool had = std::exchange(tried_, count > 0);
  const bool better = listener_ && listener_->how() == DeviceListener::How::rdma_netlink;
  if (live_ && !had && tried_ && !better) listen(DeviceListener::How::rdma_netlink);
}

DeviceWatch::Woken DeviceWatch::wait(BootTime until) {
  const BootTime now = boot_now(), calm = after(heard_, kCalmSeconds);
  const bool deaf = heard_.value && now < calm;
  if (deaf) until = std::min(until, calm);
  if (again_.value) until = std::min(until, again_);
  const std::uint64_t pause = until > now ? until.value - now.value : 0;
  // Up to a millisecond late, never early: the caller's grid absorbs it.
  const auto milliseconds = static_cast<int>(std::min<std::uint64_t>((pause + 999'999) / 1'000'000, std::numeric_limits<int>::max()));
  std::array<pollfd, 2> waiting{{{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = listener_ && !deaf ? listener_->descriptor() : -1, .events = POLLIN, .revents = 0}}};  // poll ignores -1
  Woken woken;
  const int ready = ::poll(waiting.data(), waiting.size(), milliseconds);
  if (again_.value && again_ <= boot_now()) {
    woken.news = true;
    pause_ *= 2;
    again_ = pause_ > kLongestPause ? BootTime{} : after(boot_now(), pause_);
  }
  if (ready <= 0) return woken;
  if (signalfd_siginfo info{}; ::read(signals_.get(), &info, sizeof info) == sizeof info) woken.signal = static_cast<int>(info.ssi_signo);
  if (waiting[1].revents == 0) return woken;
  const auto news = listener_->take();
  if (!news) {
    log::warning("no more news of devices, which are looked for at every interval: " + news.error().what);
    listener_.reset();
    return woken;
  }
  for (const DeviceNews& one : *news) {
    ++counts_[one.event];
    if (one.event == "unregister") {
      pause_ = kCalmSeconds;
      again_ = after(boot_now(), pause_);
    }
    if (one.event.starts_with("netdev_")) woken.netdevs.push_back(one.device);
  }
  if (news->empty()) return woken;
  woken.news = true;
  heard_ = boot_now();
  return woken;
}

SampleList DeviceWatch::samples() const {
  SampleList out;
  for (const auto& [event, count] : counts_) out.push_back(sample(kChanges, {std::string(event)}, static_cast<double>(count)));
  const char* how = !listener_ ? "off" : listener_->how() == DeviceListener::How::uevent ? "uevent" : "rdma_netlink";
  if (live_) out.push_back(sample(kHow, {how}, 1));
  return out;
}

}  // namespace qpscope
