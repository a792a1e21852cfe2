// SPDX-License-Identifier: Apache-2.0
// Builds every part, starts in order, stops in reverse. README.md has the picture.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "api_socket.h"
#include "budgets.h"
#include "collectors/host/host.h"
#include "config/config.h"
#include "core/carried_totals.h"
#include "core/event_history.h"
#include "core/port_history.h"
#include "device_watch.h"
#include "devices.h"
#include "error_watch.h"
#include "exporters/http.h"
#include "exporters/pages.h"
#include "firmware_watch.h"
#include "history_watch.h"
#include "incidents.h"
#include "qp_tracker.h"
#include "state_file.h"
#include "status.h"
#include "store.h"

namespace qpscope {

class App {
 public:
  // Takes the roots only; nothing runs yet. BPF and netlink are off unless the root is "/".
  App(Config config, Sysroot root);

  // The daemon, until SIGTERM or SIGINT, which must be blocked in every thread. Where a worker is stuck in the kernel this
  // does not return but leaves by _exit(0).
  Result<> run();

  // `samples` full passes, `interval` seconds apart, without BPF and HTTP; the page of the last one.
  std::string once(unsigned samples, double interval);

 private:
  void open_api_socket();
  void tell_started(bool goes_on);
  void look();
  void publish();
  void carry(SampleList& own);
  bool save();
  Result<std::string> focus(const FocusRequest& wanted);
  Result<std::string> set_probes(const ProbesRequest& wanted);
  void stop();
  std::string status_line() const;
  double budget_wait() const;

  const Config config_;
  const Sysroot root_;
  Host host_;
  std::optional<StateFile> state_;  // where the root has a /run
  Budgets budgets_;
  const std::shared_ptr<EventHistory> history_;
  const std::shared_ptr<PortHistory> port_history_ = std::make_shared<PortHistory>();
  HistoryWatch history_watch_{*history_};
  FirmwareWatch firmware_watch_{root_, *history_};
  DeviceWatch watch_;
  Devices devices_;
  QpTracker tracker_;
  Incidents incidents_;
  ErrorWatch error_watch_{[this](const std::string& tenant, const std::string& workload) { return tracker_.tenant(tenant, workload); }};
  CarriedTotals carried_;
  SnapshotStore store_;
  std::uint64_t sequence_ = 0;
  BootTime told_alive_;
  StatusFacts facts_;
  std::atomic<bool> ready_ = false;  // first samples taken, probes decided; read by the HTTP threads
  Pages pages_;
  std::optional<ApiSocket> api_socket_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace qpscope
