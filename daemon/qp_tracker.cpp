// SPDX-License-Identifier: Apache-2.0
#include "qp_tracker.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "clock.h"
#include "collectors/driver.h"
#include "collectors/host/proc.h"
#include "collectors/queue_pairs.h"
#include "collectors/tenant_info.h"
#include "collectors/tenants/registry.h"
#include "core/log.h"
#include "devices.h"
#include "own_files.h"

namespace qpscope {
namespace {

constexpr std::size_t kCgroups = 65536;     // paths remembered
constexpr double kCgroupKeepSeconds = 600;  // after removal: a QP may outlive its maker's cgroup
constexpr double kTellSeconds = 5;          // between two lines about a long netlink pass
constexpr std::chrono::milliseconds kPassPause{100};

// PROC_PID_INIT_INO: netlink's pids are the reader's, BPF's are the initial namespace's.
bool in_initial_pid_namespace() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 && info.st_ino == 0xEFFFFFFCU;
}

}  // namespace

QpTracker::QpTracker(const Host& host, const Config& config, Budgets& budgets)
    : host_(host),
      config_(config),
      budgets_(budgets),
      cgroups_(kCgroups, kCgroupKeepSeconds),
      tenants_(make_resolvers(host.root, config.tenants, boot_now), config.tenants.limit),
      table_(config.bpf.qp_table_limit),
      devx_(table_.owners()),
      attributor_(table_, devx_, table_mutex_, tenants_, boot_now, [this](const Owner& known, BootTime seen) { return look_up(known, seen); }),
      initial_pids_(in_initial_pid_namespace()),
      self_check_(initial_pids_),
      device_names_(std::make_shared<const std::map<DeviceIndex, std::string>>()),
      ownership_(host.root, table_, devx_, table_mutex_, tenants_, ownership_hooks()),
      records_(std::make_shared<const std::vector<QpRecord>>()) {}

QpTracker::~QpTracker() {
  stop(0);
  if (reconcile_thread_.joinable()) reconcile_thread_.join();
}

std::unique_ptr<Reconciler> QpTracker::make_reconciler() {
  const ReconcileOptions options{.interval_seconds = config_.reconcile.interval,
                                 .blind_interval_seconds = std::min(config_.reconcile.interval, config_.sampling.slow_interval),
                                 .polls_per_tick = static_cast<std::uint32_t>(config_.reconcile.polls_per_second)};
  return std::make_unique<Reconciler>(source_, table_, table_mutex_, self_check_, options,
                                      Reconciler::Hooks{.now = boot_now,
                                                        .drain =
                                                            [this] {
                                                              if (events_) events_->drain();
                                                            },
                                                        .attribute = [this](const QpRow& row) { return attribute(row); },
                                                        .events_on = [this] { return events_on(); },
                                                        .events_lost = [this] { return events_ ? events_->losses_known() : 0; },
                                                        .watched = [this](const std::string& device) { return watched(config_.devices, device); },
                                                        .budget = [this](const std::string& device) { return budgets_.of(device); }});
}

PortOwnership::Hooks QpTracker::ownership_hooks() {
  return {.now = boot_now,
          .drain = [this] { events_->drain(); },
          // Not asked for here: a later probe set's maps are no descriptors of this thread's. The time first: what is known then is as new or newer.
          .missed =
              [this] {
                const BootTime as_of = events_->losses_asked();
                return PortOwnership::Hooks::Missed{.number = events_->losses_known() + events_->openings(), .as_of = as_of};
              },
          .reliable = [this] { return events_on() && self_check_.owners_verified(); },
          .devx_seen = [this] { return events_->devx_events(); },
          .count = [this](DeviceIndex device) { return source_.count(device); },
          .contexts = [this](DeviceIndex device) -> Result<std::vector<DevxTable::Context>> {
            const auto listed = source_.contexts(device);
            if (!listed) return std::unexpected(listed.error());
            std::vector<DevxTable::Context> out;
            for (const NlContext& one : *listed) out.push_back({one.number, attribute({.tid = one.tid, .kern_name = {}}).first});
            return out;
          },
          .driver = [this](const std::string& device) { return driver_of(host_, device); }};
}

void QpTracker::start(int listening) {
  if (!host_.live) {
    started_ = seeded_ = true;
    return;
  }
  events_ = std::make_unique<EventLoop>(config_.bpf, [this](Event&& event) { on_event(std::move(event)); });
  // Probes before the walk and the dump: what happens meanwhile is queued, and applying it twice does no harm.
  events_->start();
  walk_cgroups();
  attributor_.start(listening);
  reconciler_ = make_reconciler();
  ended_ = false;
  reconcile_thread_ = std::thread([this, listening] { reconcile_loop(listening); });
}

Result<> QpTracker::pass() {
  if (!host_.live) return {};
  if (!reconciler_) reconciler_ = make_reconciler();
  const BootTime began = boot_now();
  double told = 0;
  Result<> done = reconciler_->tick();
  while (done && !reconciler_->seeded()) {
    if (const double passed = seconds(boot_now(), began); passed > told + kTellSeconds) {
      told = passed;
      const std::lock_guard lock(table_mutex_);
      log::info("queue pairs are read within budget.firmware_commands_per_second: " + std::to_string(table_.size()) + " so far");
    }
    std::this_thread::sleep_for(kPassPause);
    done = reconciler_->tick();
  }
  attributor_.pass();
  take_over(*reconciler_);
  return done;
}

bool QpTracker::stop(double wait_seconds) {
  if (events_) events_->stop();  // the object stays: the reconcile thread may be about to use it
  std::unique_lock lock(stop_mutex_);
  stopping_ = true;
  stop_wake_.notify_all();
  const BootTime began = boot_now();
  const bool ended = stop_wake_.wait_for(lock, std::chrono::duration<double>(wait_seconds), [this] { return ended_; });
  return attributor_.stop(std::max(0.0, wait_seconds - seconds(boot_now(), began))) && ended;
}

void QpTracker::walk_cgroups() {
  auto walk = CgroupWalk::open(host_.root);
  if (!walk) return log::info("no cgroup hierarchy to name workloads by: " + walk.error().what);
  cgroup_walk_ = std::move(*walk);
  CgroupListing listing = cgroup_walk_->walk();
  for (CgroupEntry& entry : listing.entries) cgroups_.seed(entry.id, std::move(entry.path));
  if (!listing.complete) log::warning("not every cgroup has a name: " + listing.trouble);
}

SampleList QpTracker::fill(Snapshot& snapshot) {
  bool verified = false;
  {
    const std::lock_guard lock(shared_mutex_);
    verified = owners_verified_;
    snapshot.devices = device_names_;
  }
  const std::lock_guard lock(table_mutex_);
  if (table_.version() != records_version_ || verified != records_verified_) {
    auto records = table_.all();
    for (QpRecord& qp : records) {
      // What BPF says of owners is withheld until netlink has agreed on one of them.
      if (qp.from_bpf && !verified) {
        qp.owner.reset();
        qp.tenant = TenantMap::kUnknown;
      }
    }
    records_ = std::make_shared<const std::vector<QpRecord>>(std::move(records));
    records_version_ = table_.version();
    records_verified_ = verified;
  }
  snapshot.queue_pairs = records_;
  snapshot.tenants = tenants_.tenants();  // after the records: no record names a pair that is not in it
  SampleList samples = queue_pair_samples({.totals = table_.totals(), .records = *records_, .tenants = *snapshot.tenants, .devices = *snapshot.devices,
                                           .devx = verified ? devx_.counts() : DevxTable::Counts{}});
  std::ranges::move(tenant_samples(*records_, *snapshot.tenants), std::back_inserter(samples));
  tenants_.in_use(table_.tenants(), boot_now());
  tenants_.in_use(table_.owners().tenants(), boot_now());
  return samples;
}

void QpTracker::on_event(Event&& event) {
  if (const auto* changed = std::get_if<CgroupChanged>(&event)) return cgroups_.apply(*changed);
  if (auto* created = std::get_if<QpCreated>(&event)) return on_created(*created);
  if (auto* object = std::get_if<DevxObject>(&event)) return on_devx(*object);
  if (std::holds_alternative<CounterReleased>(event)) return;  // no queue pair's: the events thread has counted it
  const std::lock_guard lock(table_mutex_);
  if (const auto* modified = std::get_if<QpModified>(&event)) {
    table_.apply(*modified);
  } else if (const auto* destroyed = std::get_if<QpDestroyed>(&event)) {
    table_.apply(*destroyed);
  } else if (const auto* failed = std::get_if<QpCallFailed>(&event)) {
    table_.apply(*failed);
  }
}

void QpTracker::on_created(QpCreated& created) {
  auto owner = std::make_shared<Owner>(std::move(created.owner));
  // Now, while the path is remembered: the cgroup may be gone soon.
  if (owner->known && owner->user) owner->cgroup_path = cgroups_.path(owner->cgroup).value_or(std::string());
  {
    const std::lock_guard lock(table_mutex_);
    table_.apply(created, std::move(owner), TenantMap::kUnknown);
  }
  attributor_.wake();
}

void QpTracker::on_devx(DevxObject& object) {
  auto owner = std::make_shared<Owner>(std::move(object.owner));
  if (owner->known) owner->cgroup_path = cgroups_.path(owner->cgroup).value_or(std::string());
  {
    const std::lock_guard lock(table_mutex_);
    devx_.apply(object, std::move(owner));
  }
  attributor_.wake();
}

// The owner of a QP that netlink told of; the resolver will look at the thread, if it still lives.
std::pair<std::shared_ptr<const Owner>, TenantId> QpTracker::attribute(const QpRow& row) {
  auto owner = std::make_shared<Owner>();
  owner->known = row.tid.value != 0 || !row.kern_name.empty();
  owner->user = row.tid.value != 0;
  owner->tid = row.tid;
  if (!owner->user) owner->kern_name = row.kern_name;
  return {std::move(owner), TenantMap::kUnknown};
}

// A cgroup made before the probes and renamed or removed around the walk.
std::optional<std::string> QpTracker::late_path(const Owner& owner) {
  if (auto path = cgroups_.path(owner.cgroup)) return path;
  if (cgroup_walk_) {
    if (auto path = cgroup_walk_->path_of(owner.cgroup)) return path;
  }
  return std::nullopt;
}

// On the resolver thread.
Owner QpTracker::look_up(const Owner& known, BootTime seen) {
  Owner owner = known;
  if (!owner.user) return owner;
  if (owner.cgroup_path.empty()) owner.cgroup_path = late_path(owner).value_or(std::string());
  // Those with a cgroup id come from BPF, whose pids are the initial namespace's.
  if (owner.cgroup.value != 0 && !initial_pids_) return owner;
  auto task = read_task(host_.root, owner.tid);
  if (!task && owner.tgid.value != 0) task = read_task(host_.root, owner.tgid);  // the thread may end before its process
  const bool same = task && complete(owner, *task, seen);
  if (!same && owner.tgid.value == 0) return {};  // nothing else is known of a thread that netlink named
  return owner;
}

void QpTracker::take_over(const Reconciler& reconciler) {
  auto names = std::make_shared<const std::map<DeviceIndex, std::string>>(reconciler.devices());
  const std::lock_guard lock(shared_mutex_);
  owners_verified_ = self_check_.owners_verified();
  device_names_ = std::move(names);
}

void QpTracker::reconcile_loop(int listening) {
  // Everything else stays: it asks the BPF maps for losses, and reads /proc and cgroupfs through descriptors of others.
  if (!drop(listening)) log::debug("netlink reader: no descriptor table of its own");
  std::string last_trouble;
  while (true) {
    const Result<> done = reconciler_->tick();
    attributor_.wake();
    const std::string trouble = done ? std::string() : "netlink: " + done.error().what;
    if (trouble != last_trouble && !trouble.empty()) {
      const bool expected = done.error().code == ErrorCode::unsupported || done.error().code == ErrorCode::not_found;
      expected ? log::info(trouble) : log::warning(trouble);
    }
    last_trouble = trouble;
    take_over(*reconciler_);
    ownership_.survey(reconciler_->devices());
    if (self_check_.verdict() == SelfCheck::Verdict::mismatch && events_on()) {
      events_->condemn(self_check_.reason());
      const std::lock_guard lock(table_mutex_);
      table_.drop_bpf();
      devx_.clear();
      reconciler_->reseed();
    }
    started_ = true;
    seeded_ = reconciler_->seeded();
    std::unique_lock lock(stop_mutex_);
    if (stop_wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) {
      reconciler_->close();
      source_.close();
      ended_ = true;
      stop_wake_.notify_all();
      return;
    }
  }
}

}  // namespace qpscope
