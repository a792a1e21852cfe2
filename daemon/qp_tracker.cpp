// SPDX-License-Identifier: Apache-2.0
#include "qp_tracker.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>

#include "clock.h"
#include "collectors/driver.h"
#include "collectors/host/proc.h"
#include "collectors/memory_regions.h"
#include "collectors/queue_pairs.h"
#include "collectors/tenant_info.h"
#include "collectors/tenants/registry.h"
#include "core/log.h"
#include "core/rdma_events.h"
#include "devices.h"
#include "history_events.h"
#include "nldev_source.h"

namespace qpscope {
namespace {

constexpr std::size_t kCgroups = 65536;     // paths remembered
constexpr double kCgroupKeepSeconds = 600;  // after removal: a QP may outlive its maker's cgroup
constexpr double kTellSeconds = 5;          // between two lines about a long netlink pass
constexpr std::chrono::milliseconds kPassPause{100};
constexpr std::size_t kReleases = 4096;     // of counter sets that nobody has taken yet, a device

// PROC_PID_INIT_INO: netlink's pids are the reader's, BPF's are the initial namespace's.
bool in_initial_pid_namespace() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 && info.st_ino == 0xEFFFFFFCU;
}

// What BPF says of owners is withheld until netlink has agreed on one of them.
void withhold_owner(QpRecord& qp, bool verified) {
  if (!qp.from_bpf || verified) return;
  qp.owner.reset();
  qp.tenant = TenantMap::kUnknown;
}

}  // namespace

QpTracker::QpTracker(const Host& host, const Config& config, Budgets& budgets, EventHistory& history)
    : host_(host),
      config_(config),
      budgets_(budgets),
      history_(history),
      cgroups_(kCgroups, kCgroupKeepSeconds),
      tenants_(make_resolvers(host.root, config.tenants, boot_now), config.tenants.limit),
      dead_qps_(boot_now, log::warning),
      device_names_(std::make_shared<const std::map<DeviceIndex, std::string>>()),
      table_(config.bpf.qp_table_limit),
      devx_(table_.owners()),
      attributor_(table_, devx_, memory_, table_mutex_, tenants_, boot_now, [this](const Owner& known, BootTime seen) { return look_up(known, seen); }, [this] { tell_news(); }),
      kernel_events_(history, kernel_event_hooks()),
      initial_pids_(in_initial_pid_namespace()),
      self_check_(initial_pids_),
      ownership_(host.root, table_, devx_, table_mutex_, tenants_, ownership_hooks()),
      memory_survey_(memory_, table_mutex_, config.sampling.slow_interval,
                     {.now = boot_now,
                      .regions = [this](DeviceIndex device) { return survey_source_.memory_regions(device); },
                      .news = [this] { attributor_.wake(); }}),
      records_(std::make_shared<const std::vector<QpRecord>>()),
      records_devices_(device_names_) {}

QpTracker::~QpTracker() { stop(0); }

std::unique_ptr<Reconcilers> QpTracker::make_reconcilers() {
  const ReconcileOptions options{.interval_seconds = config_.reconcile.interval,
                                 .blind_interval_seconds = std::min(config_.reconcile.interval, config_.sampling.slow_interval),
                                 .polls_per_tick = static_cast<std::uint32_t>(config_.reconcile.polls_per_second)};
  Reconciler::Hooks of_device{.now = boot_now,
                              .drain =
                                  [this] {
                                    if (events_) events_->drain();
                                  },
                              .attribute = [this](const QpRow& row) { return attribute(row); },
                              .events_on = [this] { return events_on(); },
                              .events_lost = [this] { return events_ ? events_->losses_known() : 0; },
                              .suspicions = [this](const std::string& device) { return suspicions_.take(device); },
                              .found_dead = std::bind_front(&QpTracker::found_dead, this)};
  Reconcilers::Hooks of_all{.source = [] { return std::make_unique<NldevSource>(); },
                            .watched = [this](const std::string& device) { return watched(config_.devices, device); },
                            .budget = [this](const std::string& device) { return budgets_.of(device); },
                            .ticked =
                                [this] {
                                  refresh_names();
                                  attributor_.wake();
                                },
                            .listed =
                                [this](const std::map<DeviceIndex, std::string>& devices) {
                                  if (events_) ownership_.survey(devices);
                                  memory_survey_.look(devices);
                                },
                            .ending = [this] { survey_source_.close(); }};
  return std::make_unique<Reconcilers>(table_, table_mutex_, self_check_, options, std::move(of_device), std::move(of_all));
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
          .reliable =
              [this] {
                const std::lock_guard lock(table_mutex_);
                // Where BPF has told of nothing, nothing was misread: all queue pairs are netlink's, whom a restart leaves until there is a new one.
                return events_on() && (self_check_.owners_verified() || !told_);
              },
          .devx_seen = [this] { return events_->devx_events(); },
          .count = [this](DeviceIndex device) { return survey_source_.count(device); },
          .contexts = [this](DeviceIndex device) -> Result<std::vector<DevxTable::Context>> {
            const auto listed = survey_source_.contexts(device);
            if (!listed) return std::unexpected(listed.error());
            std::vector<DevxTable::Context> out;
            for (const NlContext& one : *listed) out.push_back({one.number, attribute({.tid = one.tid, .kern_name = {}}).first});
            return out;
          },
          .driver = [this](const std::string& device) { return driver_of(host_, device); }};
}

void QpTracker::start() {
  if (!host_.live) return;
  events_ = std::make_unique<EventLoop>(config_.bpf, [this](Event&& event) { on_event(std::move(event)); }, [this] { forget_serials(); });
  // Probes before the walk and the dump: what happens meanwhile is queued, and applying it twice does no harm.
  events_->start();
  openings_heeded_ = events_->openings();
  walk_cgroups();
  std::vector<int> kept{host_.root.descriptor()};
  if (cgroup_walk_) kept.push_back(cgroup_walk_->descriptor());
  attributor_.start(std::move(kept));
  reconcilers_ = make_reconcilers();
  reconcilers_->start(host_.root.descriptor());
}

Result<> QpTracker::pass() {
  if (!host_.live) return {};
  if (!reconcilers_) reconcilers_ = make_reconcilers();
  const BootTime began = boot_now();
  double told = 0;
  Result<> done = reconcilers_->pass();
  while (done && !reconcilers_->seeded()) {
    if (const double passed = seconds(boot_now(), began); passed > told + kTellSeconds) {
      told = passed;
      const std::lock_guard lock(table_mutex_);
      log::info("queue pairs are read within budget.firmware_commands_per_second: " + std::to_string(table_.size()) + " so far");
    }
    std::this_thread::sleep_for(kPassPause);
    done = reconcilers_->pass();
  }
  memory_survey_.look(reconcilers_->devices());
  attributor_.pass();
  return done;
}

std::vector<std::string> QpTracker::stop(double wait_seconds) {
  if (events_) events_->stop();  // the object stays: a reconciler may be about to use it
  const BootTime began = boot_now();
  std::vector<std::string> stuck;
  if (reconcilers_) stuck = reconcilers_->stop(wait_seconds);
  if (!attributor_.stop(std::max(0.0, wait_seconds - seconds(boot_now(), began)))) stuck.emplace_back("the resolver of tenants");
  return stuck;
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
  heed_self_check();
  heed_openings();
  dead_qps_.sum_up();
  using Names = std::map<DeviceIndex, std::string>;
  snapshot.devices = std::make_shared<const Names>(reconcilers_ ? reconcilers_->devices() : Names());
  // Not with table_mutex_ held: who drains the events holds the loop's mutex and waits for the table's.
  const std::vector<EventCount> counts = events_ ? events_->kernel_counts() : std::vector<EventCount>();
  const std::lock_guard lock(table_mutex_);
  const bool verified = self_check_.owners_verified();
  if (table_.version() != records_version_ || verified != records_verified_ || *snapshot.devices != *records_devices_) {
    auto records = table_.all();
    // Events tell of every device, also of those that are not watched. Where netlink names none, nothing says which those are.
    if (!snapshot.devices->empty()) std::erase_if(records, [&](const QpRecord& qp) { return !snapshot.devices->contains(qp.key.device); });
    for (QpRecord& qp : records) withhold_owner(qp, verified);
    records_ = std::make_shared<const std::vector<QpRecord>>(std::move(records));
    records_version_ = table_.version();
    records_verified_ = verified;
    records_devices_ = snapshot.devices;
  }
  snapshot.queue_pairs = records_;
  snapshot.tenants = tenants_.tenants();  // after the records: no record names a pair that is not in it
  SampleList samples = queue_pair_samples({.totals = table_.totals(), .records = *records_, .tenants = *snapshot.tenants, .devices = *snapshot.devices,
                                           .devx = verified ? devx_.counts() : DevxTable::Counts{}});
  std::ranges::move(kernel_event_samples(counts, *snapshot.devices), std::back_inserter(samples));
  std::ranges::move(memory_region_samples(memory_.counts(), *snapshot.tenants, *snapshot.devices), std::back_inserter(samples));
  const std::vector<TenantId> with_memory = memory_.tenants();
  std::ranges::move(tenant_samples(*records_, with_memory, *snapshot.tenants), std::back_inserter(samples));
  tenants_.in_use(table_.tenants(), boot_now());
  tenants_.in_use(table_.owners().tenants(), boot_now());
  tenants_.in_use(with_memory, boot_now());
  return samples;
}

void QpTracker::on_event(Event&& event) {
  if (const auto* changed = std::get_if<CgroupChanged>(&event)) return cgroups_.apply(*changed);
  if (auto* created = std::get_if<QpCreated>(&event)) return on_created(*created);
  if (auto* object = std::get_if<DevxObject>(&event)) return on_devx(*object);
  if (auto* released = std::get_if<CounterReleased>(&event)) return keep_release(std::move(*released));
  if (const auto* async = std::get_if<AsyncEvent>(&event)) return on_async(*async);
  if (auto* cm = std::get_if<CmEvent>(&event)) {
    if (cm->owner.known && cm->owner.user) cm->owner.cgroup_path = cgroups_.path(cm->owner.cgroup).value_or(std::string());
    return kernel_events_.on_cm(*cm);
  }
  const auto* modified = std::get_if<QpModified>(&event);
  std::unique_lock lock(table_mutex_);
  told_ = true;
  if (modified) {
    if (modified->to == QpState::err) {
      note_end(QpEnding::How::moved_to_error, modified->qp, modified->at);
      tell_moved_to_error(*modified);
    }
    table_.apply(*modified);
    const bool news = modified->to == QpState::init && table_.has_countable(modified->qp.device);
    lock.unlock();
    if (news) tell_news(modified->qp.device);
  } else if (const auto* destroyed = std::get_if<QpDestroyed>(&event)) {
    note_end(QpEnding::How::destroyed, destroyed->qp, destroyed->at);
    table_.apply(*destroyed);
  } else if (const auto* failed = std::get_if<QpCallFailed>(&event)) {
    table_.apply(*failed);
    lock.unlock();
    tell_failed(*failed);
  }
}

// With table_mutex_ held.
const QpRecord* QpTracker::record_of(const QpIdentity& qp) const {
  const QpRecord* record = qp.serial.value ? table_.find({qp.device, qp.serial}) : nullptr;
  if (!record) record = table_.holder(qp.device, qp.type, qp.qpn, qp.port);
  // Another serial than the holder's is of another queue pair, but for one that netlink alone has told of.
  return record && (record->key.serial == qp.serial || is_seeded(record->key.serial)) ? record : nullptr;
}

// Before the table hears of it. With table_mutex_ held.
void QpTracker::note_end(QpEnding::How how, const QpIdentity& qp, BootTime at) {
  if (const QpRecord* record = record_of(qp)) endings_.add(how, *record, at);
}

// The same.
void QpTracker::tell_moved_to_error(const QpModified& modified) {
  const QpRecord* record = record_of(modified.qp);
  if (!record || is_special(record->type) || record->state == QpState::err) return;
  const std::string device = name_of(modified.qp.device);
  if (device.empty()) return;
  QpRecord before = *record;
  withhold_owner(before, self_check_.owners_verified());
  const Tenant tenant = tenants_.tenants()->at(before.tenant);
  history_.add(HistoryKind::queue_pair_moved_to_error, modified.at, [&] { return event_of_move(device, before, tenant, modified.at); });
}

void QpTracker::on_async(const AsyncEvent& event) {
  std::optional<QpRecord> qp;
  if (event.qp) {
    const std::lock_guard lock(table_mutex_);
    const QpRecord* record = record_of(*event.qp);
    if (record) qp = *record;
    if (record) table_.note_async(record->key, event.event);
    if (qp) withhold_owner(*qp, self_check_.owners_verified());
  }
  AsyncEvent told = event;
  // What BPF says of owners is withheld until netlink has agreed on one of them.
  {
    const std::lock_guard lock(table_mutex_);
    if (!self_check_.owners_verified()) told.owner = {};
  }
  if (told.owner.known && told.owner.user) told.owner.cgroup_path = cgroups_.path(told.owner.cgroup).value_or(std::string());
  const std::optional<Tenant> tenant = qp && qp->attributed ? std::optional(tenants_.tenants()->at(qp->tenant)) : std::nullopt;
  kernel_events_.on_async(told, tenant ? &*qp : nullptr, tenant ? &*tenant : nullptr);
  const AsyncEventRow* row = async_event_row(event.event);
  if (!qp || !row || !row->fault) return;
  // Most of these leave it in ERR, which only netlink can tell.
  const std::string device = name_of(event.device);
  if (!device.empty()) suspicions_.add(device, {.port = qp->port, .tenant = qp->tenant}, event.at);
}

KernelEvents::Hooks QpTracker::kernel_event_hooks() {
  return {.device = [this](DeviceIndex device) { return name_of(device); },
          .whose = [this](const Owner& owner, BootTime seen, Attributor::AnswerFn answer) { return attributor_.ask(owner, seen, std::move(answer)); }};
}

std::string QpTracker::name_of(DeviceIndex device) {
  const std::lock_guard lock(shared_mutex_);
  const auto name = device_names_->find(device);
  return name == device_names_->end() ? std::string() : name->second;
}

QpEndings::Selection QpTracker::endings(std::uint64_t after) {
  QpEndings::Selection out = endings_.since(after);
  const std::lock_guard lock(table_mutex_);
  const bool verified = self_check_.owners_verified();
  for (QpEnding& one : out.endings) withhold_owner(one.qp, verified);
  return out;
}

void QpTracker::tell_failed(const QpCallFailed& failed) {
  const std::string device = name_of(failed.device);
  if (device.empty()) return;  // not watched
  history_.add(HistoryKind::queue_pair_failed, failed.at, [&] { return event_of(failed, device); });
}

void QpTracker::on_created(QpCreated& created) {
  auto owner = std::make_shared<Owner>(std::move(created.owner));
  // Now, while the path is remembered: the cgroup may be gone soon.
  if (owner->known && owner->user) owner->cgroup_path = cgroups_.path(owner->cgroup).value_or(std::string());
  {
    const std::lock_guard lock(table_mutex_);
    told_ = true;
    table_.apply(created, std::move(owner), TenantMap::kUnknown);
  }
  attributor_.wake();
}

void QpTracker::on_devx(DevxObject& object) {
  auto owner = std::make_shared<Owner>(std::move(object.owner));
  if (owner->known) owner->cgroup_path = cgroups_.path(owner->cgroup).value_or(std::string());
  {
    const std::lock_guard lock(table_mutex_);
    told_ = true;
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

void QpTracker::catch_up() {
  if (events_) events_->drain();
}

std::optional<DeviceIndex> QpTracker::index_of(const std::string& device) {
  const std::lock_guard lock(shared_mutex_);
  const auto found = std::ranges::find(*device_names_, device, [](const auto& entry) { return entry.second; });
  return found == device_names_->end() ? std::nullopt : std::optional(found->first);
}

void QpTracker::refresh_names() {
  auto names = std::make_shared<const std::map<DeviceIndex, std::string>>(reconcilers_->devices());
  const std::lock_guard lock(shared_mutex_);
  std::erase_if(released_, [&](const auto& entry) { return !names->contains(entry.first); });  // nobody takes those of a device that is not watched
  device_names_ = std::move(names);
}

// With table_mutex_ held.
std::optional<CountableQp> QpTracker::describe(const QpRecord* record) {
  if (!record || !QpTable::countable(*record)) return std::nullopt;
  CountableQp out{.key = record->key, .port = record->port, .qpn = record->qpn, .kernel = record->owner && record->owner->known && !record->owner->user,
                  .seeded = record->seeded, .who = {}};
  if (record->tenant != TenantMap::kUnknown && (!record->from_bpf || self_check_.owners_verified())) {
    const Tenant& tenant = tenants_.tenants()->at(record->tenant);
    out.who = TenantKey{tenant.tenant, tenant.workload};
  }
  return out;
}

std::vector<CountableQp> QpTracker::take_countable(const std::string& device, std::size_t most) {
  const auto index = index_of(device);
  if (!index) return {};
  const std::lock_guard lock(table_mutex_);
  std::vector<CountableQp> out;
  for (const QpRecord& record : table_.take_countable(*index, most, self_check_.owners_verified())) {
    if (auto qp = describe(&record)) out.push_back(std::move(*qp));
  }
  return out;
}

void QpTracker::retell(const std::string& device) {
  const auto index = index_of(device);
  const std::lock_guard lock(table_mutex_);
  if (index) table_.retell_countable(*index);
}

std::optional<CountableQp> QpTracker::find(const std::string& device, QpKey key) {
  const auto index = index_of(device);
  const std::lock_guard lock(table_mutex_);
  return index == key.device ? describe(table_.find(key)) : std::nullopt;
}

std::optional<CountableQp> QpTracker::holder(const std::string& device, PortNum port, Qpn qpn) {
  const auto index = index_of(device);
  const std::lock_guard lock(table_mutex_);
  return index ? describe(table_.holder(*index, QpType::rc, qpn, port)) : std::nullopt;
}

std::size_t QpTracker::countable(const std::string& device, PortNum port) {
  const auto index = index_of(device);
  const std::lock_guard lock(table_mutex_);
  return index ? table_.count_countable(*index, port) : 0;
}

void QpTracker::keep_release(CounterReleased&& event) {
  const DeviceIndex device = event.device;
  {
    const std::lock_guard lock(shared_mutex_);
    Released& kept = released_[device];
    if (kept.events.size() < kReleases) {
      kept.events.push_back(std::move(event));
    } else {
      kept.lost = true;
    }
  }
  tell_news(device);
}

QpTracker::Released QpTracker::take_released(const std::string& device) {
  const auto index = index_of(device);
  const std::lock_guard lock(shared_mutex_);
  return index ? std::exchange(released_[*index], {}) : Released{};
}

void QpTracker::on_news(const std::string& device, std::function<void()> wake) {
  const std::lock_guard lock(shared_mutex_);
  if (wake) {
    wakers_[device] = std::move(wake);
  } else {
    wakers_.erase(device);
  }
}

void QpTracker::tell_news(DeviceIndex device) {
  const std::lock_guard lock(shared_mutex_);
  const auto name = device_names_->find(device);
  if (name == device_names_->end()) return;
  const auto waker = wakers_.find(name->second);
  if (waker != wakers_.end()) waker->second();
}

void QpTracker::tell_news() {
  const std::lock_guard lock(shared_mutex_);
  for (const auto& [device, wake] : wakers_) wake();
}

void QpTracker::found_dead(const std::string& device, QpRecord before, BootTime asked, std::optional<BootTime> suspected) {
  {
    const std::lock_guard lock(table_mutex_);
    withhold_owner(before, self_check_.owners_verified());
  }
  endings_.add(QpEnding::How::found_in_error, before, asked);
  Tenant tenant = tenants_.tenants()->at(before.tenant);
  const DeadQp dead{.device = device, .before = std::move(before), .tenant = std::move(tenant), .asked = asked, .calls_seen = events_on(), .suspected = suspected};
  dead_qps_.tell(dead);
  history_.add(HistoryKind::queue_pair_error, asked, [&] { return event_of(dead); });
}

// On the events thread, between two probe sets.
void QpTracker::forget_serials() {
  const std::lock_guard lock(table_mutex_);
  // What was not verified could not be told from what netlink said afterwards.
  self_check_.owners_verified() ? table_.forget_serials() : table_.drop_bpf();
  devx_.clear();
}

// What went and came while no probe was attached is netlink's to tell.
void QpTracker::heed_openings() {
  if (!events_ || !reconcilers_ || events_->openings() == openings_heeded_) return;
  openings_heeded_ = events_->openings();
  reconcilers_->reseed();
}

// What netlink says against BPF ends BPF.
void QpTracker::heed_self_check() {
  std::string reason;
  {
    const std::lock_guard lock(table_mutex_);
    if (self_check_.verdict() == SelfCheck::Verdict::mismatch) reason = self_check_.reason();
  }
  if (reason.empty() || !events_on()) return;
  events_->condemn(reason);
  {
    const std::lock_guard lock(table_mutex_);
    table_.drop_bpf();
    devx_.clear();
  }
  reconcilers_->reseed();
}

}  // namespace qpscope
