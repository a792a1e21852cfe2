// SPDX-License-Identifier: Apache-2.0
#include "counter_sets.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "collectors/counter_folder.h"
#include "collectors/driver.h"
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/vocabulary.h"
#include "core/log.h"
#include "core/text.h"

namespace qpscope {
namespace {

constexpr LabelNames kPort{"device", "port"};
constexpr MetricDef kStatus{"qpscope_counter_sets_status", MetricType::gauge,
                            "1 for what keeps qpscope from counting the port's queue pairs in sets by tenant, or counting: waiting for owners or the state file; automatic or "
                            "others: somebody else's mode or sets; unsupported; refused: no permission; slow: firmware commands took too long (RDMA netlink STAT_SET).",
                            kPort.with("status")};
constexpr MetricDef kRebinds{"qpscope_tenant_rebinds_total", MetricType::counter,
                             "Queue pairs moved from one counter set to another: what they counted in between is nobody's (RDMA netlink STAT_SET, STAT_DEL).", kPort};
constexpr MetricDef kCalls{"qpscope_counter_set_calls_total", MetricType::counter,
                           "Calls that bind queue pairs to counter sets or unbind them, by the kernel's error, empty for none (RDMA netlink STAT_SET, STAT_DEL).",
                           LabelNames{"device", "call", "error"}};
constexpr MetricDef kFocused{"qpscope_counter_sets_focused", MetricType::gauge, "Queue pairs that have a counter set of their own for a while (qpscope focus, counters.qp_focus).",
                             LabelNames{"device"}};
constexpr MetricDef kStrangers{"qpscope_counter_sets_strangers_total", MetricType::counter,
                               "Queue pairs unbound from a set of ours that was not theirs: their number was given out anew while it was bound, or another tool bound them "
                               "(RDMA netlink STAT_DEL).",
                               LabelNames{"device"}};
constexpr std::array<const MetricDef*, 5> kMetrics{&kStatus, &kRebinds, &kCalls, &kFocused, &kStrangers};

constexpr std::size_t kMostAtOnce = 64;     // queue pairs in a round: collectors come in between
constexpr std::size_t kMostCommands = 3;    // for one: a new set costs two, and to leave another one more
constexpr std::size_t kMostMembers = 1024;  // of a set: some 2,500 are more than fit into a netlink message, which ends every dump
constexpr double kCheckSeconds = 5, kTidySeconds = 10, kRetellSeconds = 15, kRetrySeconds = 60, kLongestRetrySeconds = 3600, kSlowSeconds = 600, kQuietSeconds = 60;
constexpr std::size_t kLatencies = 8;
constexpr std::size_t kMostFocusRequests = 16, kMostRemembered = 4096;

bool vanished(const Error& error) { return error.sys_errno == ENOENT; }

}  // namespace

MetricList counter_set_metrics() { return kMetrics; }

CounterSets::CounterSets(const Host& host, std::string device, CountersConfig config, ClockFn now)
    : host_(host), device_(std::move(device)), config_(std::move(config)), now_(now), binder_(host, device_, now) {}

std::string_view CounterSets::name_of(Status status) {
  switch (status) {
    case Status::waiting: return "waiting";
    case Status::counting: return "counting";
    case Status::automatic: return "automatic";
    case Status::others: return "others";
    case Status::unsupported: return "unsupported";
    case Status::refused: return "refused";
    case Status::slow: return "slow";
  }
  return "";
}

// --- rounds

bool CounterSets::act(CounterLedger& ledger, CommandBudget& budget, const std::set<PortNum>& saved) {
  Books books{ledger, budget};
  if (!binds()) {
    // What an earlier run left.
    if (ledger.sets().any_managed()) give_back(ledger, budget);
    return false;
  }
  const BootTime now = now_();
  if (ports_.empty()) {
    for (const std::string& port : port_numbers(host_, device_).value_or(std::vector<std::string>())) ports_[port_number(port)];
  }
  if (now < slow_until_) {
    for (auto& [number, port] : ports_) become(number, port, Status::slow);
    give_back(ledger, budget);
    return false;
  }
  for (auto& [number, port] : ports_) check(number, port, books, saved);
  if (retell_due_ <= now) {
    retell_due_ = after(now, kRetellSeconds);
    host_.queue_pairs->retell(device_);
  }
  const std::size_t commands = budget.room(CommandBudget::Use::sets, now);
  if (commands == 0) return false;
  const std::size_t room = std::clamp<std::size_t>(commands / kMostCommands, 1, kMostAtOnce);
  const std::vector<CountableQp> told = host_.queue_pairs->take_countable(device_, room);
  for (const CountableQp& qp : told) place(qp, books);
  serve_focus(books);
  binder_.verify(books);
  if (tidy_due_ <= now) {
    tidy_due_ = after(now, kTidySeconds);
    tidy(books);
    binder_.verify(books);
  }
  return told.size() == room;
}

void CounterSets::check(PortNum number, Port& port, Books& books, const std::set<PortNum>& saved) {
  const BootTime now = now_();
  if (now < port.check_due) return;
  port.check_due = after(now, port.status == Status::waiting ? 0 : kCheckSeconds);
  SetBook& book = books.ledger.sets();
  const auto mode = binder_.mode(number);
  if (!mode) {
    port.check_due = after(now, kRetrySeconds);
    return become(number, port, Status::unsupported, mode.error().what);
  }
  if (mode->kind == NlCounterMode::Kind::automatic) return become(number, port, Status::automatic, "somebody switched on an automatic mode");
  if (!book.known(number)) return become(number, port, Status::waiting);
  if (!book.managed(number)) {
    if (mode->kind != NlCounterMode::Kind::none) return become(number, port, Status::others, "somebody else has counter sets there");
    book.manage(number);
  }
  // The end of the daemon may come right after the first bind.
  if (!saved.contains(number)) return become(number, port, Status::waiting);
  if (port.status == Status::unsupported || port.status == Status::refused) {
    // Nothing but trying tells whether it has changed.
    if (now < port.limit_until) return;
  }
  become(number, port, Status::counting);
}

void CounterSets::become(PortNum number, Port& port, Status status, const std::string& why) {
  if (port.status == status) return;
  port.status = status;
  if (status == Status::counting) host_.queue_pairs->retell(device_);
  if (status == Status::counting || status == Status::waiting || status == port.said) return;  // whether it works is told by the first bind
  port.said = status;
  log::warning(safe_text(device_) + "/" + std::to_string(number.value) + ": queue pairs are not counted by tenant (" + std::string(name_of(status)) + ")" +
               (why.empty() ? "" : ": " + why));
}

void CounterSets::bound(PortNum number, Port& port) {
  port.retry_seconds = 0;
  if (std::exchange(port.said, Status::counting) != Status::counting) {
    log::info(safe_text(device_) + "/" + std::to_string(number.value) + ": queue pairs are counted by tenant");
  }
}

void CounterSets::refused(PortNum number, Port& port, const Error& error) {
  port.retry_seconds = std::clamp(2 * port.retry_seconds, kRetrySeconds, kLongestRetrySeconds);
  port.limit_until = after(now_(), port.retry_seconds);
  become(number, port, error.code == ErrorCode::permission ? Status::refused : Status::unsupported, error.what);
}

// --- where to

std::vector<const CounterSet*> CounterSets::own(const SetBook& book, PortNum port) const {
  std::vector<const CounterSet*> out = book.sets(port);
  std::erase_if(out, [](const CounterSet* set) { return !set->ours; });
  return out;
}

std::optional<SetKey> CounterSets::set_for(const SetBook& book, PortNum port, const TenantKey& who, bool kernel) const {
  for (const CounterSet* set : own(book, port)) {
    if (set->who == who && set->kernel == kernel && !set->focus && set->members.size() < kMostMembers) return set->key;
  }
  return std::nullopt;
}

std::size_t CounterSets::limit(const Port& port) const {
  const auto most = static_cast<std::size_t>(config_.max_sets);
  return now_() < port.limit_until ? std::min(most, port.limit) : most;
}

void CounterSets::place(const CountableQp& qp, Books& books, Again again) {
  const auto at = ports_.find(qp.port);
  if (at == ports_.end() || at->second.status != Status::counting || !qp.who) return;
  Port& port = at->second;
  SetBook& book = books.ledger.sets();
  if (focused_.contains(qp.key)) {
    // It stays where it is, whosever it is.
    const auto in = binder_.set_of(book, qp);
    if (in && book.find(*in)->who != qp.who && binder_.reread(books, qp.port)) book.credit_to(*in, *qp.who);
    return;
  }
  const std::size_t have = own(book, qp.port).size();
  const auto others = set_for(book, qp.port, kOtherTenants, qp.kernel);
  const bool room = have + (others ? 0 : 1) < limit(port);  // the last one is for other/other
  if (const auto in = binder_.set_of(book, qp)) {
    const CounterSet* set = book.find(*in);
    if (set->who == qp.who) return;
    const bool stays = !room || (port.demoted == qp.who && now_() < port.demote_due);
    if (set->who == kOtherTenants && stays && !set_for(book, qp.port, *qp.who, qp.kernel)) return;
    if (!leave(qp, *in, books)) return;
    ++port.rebinds;
  }
  auto target = set_for(book, qp.port, *qp.who, qp.kernel);
  if (!target && room) return place_new(qp, *qp.who, books, again);
  if (!target) target = others;
  if (!target && have < limit(port)) return place_new(qp, kOtherTenants, books, again);
  if (!target && share_quietest(qp.port, qp.kernel, books)) target = set_for(book, qp.port, kOtherTenants, qp.kernel);
  if (!target) return;
  const auto done = binder_.bind(books, qp, *target);
  if (done) return bound(qp.port, port);
  if (vanished(done.error())) {
    // The queue pair or the set; a set that is gone has said so by now.
    binder_.hear(books);
    if (again == Again::yes && !book.find(*target)) place(qp, books, Again::no);
  } else if (done.error().sys_errno == EINVAL) {
    port.check_due = {};  // bound by others, or the mode is another
  } else {
    refused(qp.port, port, done.error());
  }
}

void CounterSets::place_new(const CountableQp& qp, const TenantKey& who, Books& books, Again again) {
  Port& port = ports_.at(qp.port);
  SetBook& book = books.ledger.sets();
  const auto done = binder_.bind_new(books, qp, who, false);
  if (done) return bound(qp.port, port);
  if (vanished(done.error())) return;
  // It says ENOMEM, too, of one that another tool bound, perhaps a moment ago.
  if (done.error().sys_errno == ENOMEM && !binder_.reread(books, qp.port)) return;
  const bool others_have_it = std::ranges::any_of(
      book.sets(qp.port), [&](const CounterSet* set) { return !set->ours && std::ranges::find(set->members, qp.qpn) != set->members.end(); });
  if (others_have_it) return;
  if (done.error().sys_errno == EINVAL) {
    port.check_due = {};
    return;
  }
  const std::size_t have = own(book, qp.port).size();
  // ENOMEM is the driver's word for every refusal of a new set (core/counters.c alloc_and_bind): with some there it means that these are all.
  if (done.error().sys_errno != ENOMEM || have == 0) return refused(qp.port, port, done.error());
  port.limit = have;
  port.limit_until = after(now_(), kRetrySeconds);
  if (again == Again::yes) place(qp, books, Again::no);
}

// No set is left for other/other: the quietest becomes it. What it counted so far is its tenant's.
bool CounterSets::share_quietest(PortNum number, bool kernel, Books& books) {
  SetBook& book = books.ledger.sets();
  const auto candidates = [&] {
    std::vector<const CounterSet*> sets = own(book, number);
    std::erase_if(sets, [&](const CounterSet* set) { return set->kernel != kernel || set->focus || set->who == kOtherTenants; });
    return sets;
  };
  if (candidates().empty() || !binder_.reread(books, number)) return false;
  const std::vector<const CounterSet*> sets = candidates();  // some may be gone
  if (sets.empty()) return false;
  const auto quietest = std::ranges::min_element(sets, {}, [&](const CounterSet* set) { return activity_[set->key].moved; });
  book.credit_to((*quietest)->key, kOtherTenants);
  return true;
}

bool CounterSets::leave(const CountableQp& qp, SetKey set, Books& books) {
  const auto done = binder_.unbind(books, qp.qpn, set);
  return done || SetBinder::not_bound(done.error());
}

// --- one queue pair for a while

Result<> CounterSets::focus_on(Qpn qpn, double seconds) {
  if (!binds()) return fail(ErrorCode::unsupported, "counters.qp_mode is leave: qpscoped only reads; set it to tenant first");
  const std::lock_guard lock(mutex_);
  if (wanted_focus_.size() >= kMostFocusRequests) return fail(ErrorCode::limit, "too many requests at once: try again in some seconds");
  wanted_focus_.emplace_back(qpn, seconds);
  return {};
}

bool CounterSets::focus(const CountableQp& qp, double seconds, Books& books) {
  const auto at = ports_.find(qp.port);
  SetBook& book = books.ledger.sets();
  if (at == ports_.end() || at->second.status != Status::counting || !qp.who) return false;
  if (const auto known = focused_.find(qp.key); known != focused_.end()) {
    known->second.until = after(now_(), seconds);
    return true;
  }
  if (own(book, qp.port).size() >= limit(at->second)) return false;
  if (const auto in = binder_.set_of(book, qp)) {
    if (!leave(qp, *in, books)) return false;
    ++at->second.rebinds;
  }
  if (!binder_.bind_new(books, qp, *qp.who, true)) return place(qp, books), false;
  focused_[qp.key] = {qp.qpn, qp.port, after(now_(), seconds)};
  if (was_focused_.size() < kMostRemembered || was_focused_.contains(qp.key)) was_focused_[qp.key] = now_();
  return true;
}

void CounterSets::serve_focus(Books& books) {
  std::vector<std::pair<Qpn, double>> wanted;
  {
    const std::lock_guard lock(mutex_);
    wanted.swap(wanted_focus_);
  }
  for (const auto& [qpn, seconds] : wanted) {
    bool done = false;
    for (const auto& [number, port] : ports_) {
      const auto qp = host_.queue_pairs->holder(device_, number, qpn);
      done = done || (qp && focus(*qp, seconds, books));
    }
    if (!done) log::warning(safe_text(device_) + ": queue pair " + std::to_string(qpn.value) + " gets no counter set of its own: it is gone, its tenant is unknown, or there is no room");
  }
  const BootTime now = now_();
  for (auto it = focused_.begin(); it != focused_.end();) {
    const auto [key, one] = *it;
    const auto qp = host_.queue_pairs->find(device_, key);
    if (qp && now < one.until) {
      ++it;
      continue;
    }
    it = focused_.erase(it);
    if (!qp) continue;
    if (const auto in = binder_.set_of(books.ledger.sets(), *qp); in && leave(*qp, *in, books)) {
      ++ports_.at(one.port).rebinds;
      place(*qp, books);
    }
  }
}

// Of the tenant whose errors rose most, the queue pair that was looked at the longest ago. False: there is none, or no room for it.
bool CounterSets::focus_suspect(Books& books) {
  if (focused_.size() >= config_.qp_focus) return false;
  const CounterSet* worst = nullptr;
  for (const auto& [number, port] : ports_) {
    for (const CounterSet* set : own(books.ledger.sets(), number)) {
      if (set->focus || set->members.size() < 2 || activity_[set->key].new_errors == 0) continue;
      if (!worst || activity_[set->key].new_errors > activity_[worst->key].new_errors) worst = set;
    }
  }
  if (!worst) return false;
  const auto when = [&](const CountableQp& qp) {
    const auto known = was_focused_.find(qp.key);
    return known == was_focused_.end() ? BootTime{} : known->second;
  };
  std::optional<CountableQp> suspect;
  for (const Qpn qpn : worst->members) {
    const auto qp = host_.queue_pairs->holder(device_, worst->key.port, qpn);
    if (qp && !focused_.contains(qp->key) && (!suspect || when(*qp) < when(*suspect))) suspect = qp;
  }
  return suspect && focus(*suspect, config_.focus_time, books);
}

// --- from time to time

void CounterSets::tidy(Books& books) {
  binder_.forget_dead();
  binder_.evict_strangers(books);
  std::erase_if(was_focused_, [&](const auto& entry) { return !host_.queue_pairs->find(device_, entry.first); });
  follow_activity(books.ledger.sets());
  for (auto& [number, port] : ports_) demote(number, port, books);
  while (focus_suspect(books)) {
  }
}

void CounterSets::follow_activity(const SetBook& book) {
  if (!driver_) {
    if (auto driver = driver_of(host_, device_)) driver_ = std::move(*driver);
  }
  std::erase_if(activity_, [&](const auto& entry) { return !book.find(entry.first); });
  for (const auto& [number, port] : ports_) {
    for (const CounterSet* set : own(book, number)) {
      std::uint64_t sum = 0, errors = 0;
      for (const auto& [name, value] : set->last) {
        if (!book.part(name)) continue;
        sum += value;
        const CounterRow* meaning = hw_counter_meaning(driver_.value_or(""), name);
        if (meaning && is_trouble(*meaning->family)) errors += value;
      }
      Activity& known = activity_[set->key];
      if (known.made != set->made) known = {.sum = 0, .errors = 0, .new_errors = 0, .made = set->made, .moved = {}};
      if (sum != known.sum || known.moved.value == 0) known.moved = now_();
      known.new_errors = errors > known.errors ? errors - known.errors : 0;
      known.sum = sum;
      known.errors = errors;
    }
  }
}

// While other/other is busy and a set is quiet, the quiet one's queue pairs go there: the next look gives its set to one of the others.
void CounterSets::demote(PortNum number, Port& port, Books& books) {
  const SetBook& book = books.ledger.sets();
  const BootTime now = now_();
  if (port.status != Status::counting || now < port.demote_due) return;
  const CounterSet *busy_others = nullptr, *quietest = nullptr;
  const std::vector<const CounterSet*> sets = own(book, number);
  for (const CounterSet* set : sets) {
    const BootTime moved = activity_[set->key].moved;
    if (set->who == kOtherTenants) {
      if (seconds(now, moved) < kQuietSeconds) busy_others = set;
    } else if (!set->focus && seconds(now, moved) >= kQuietSeconds && (!quietest || moved < activity_[quietest->key].moved)) {
      quietest = set;
    }
  }
  if (!busy_others || !quietest || quietest->kernel != busy_others->kernel || sets.size() < limit(port)) return;
  if (quietest->members.size() + busy_others->members.size() > kMostMembers) return;
  if (quietest->members.size() * 2 > books.budget.room(CommandBudget::Use::sets, now)) return;
  port.demote_due = after(now, kQuietSeconds);
  port.demoted = quietest->who;
  const SetKey from = quietest->key, to = busy_others->key;
  for (const Qpn qpn : std::vector<Qpn>(quietest->members)) {
    const auto qp = host_.queue_pairs->holder(device_, number, qpn);
    if (!qp || !leave(*qp, from, books)) continue;
    ++port.rebinds;
    (void)binder_.bind(books, *qp, to);
  }
}

bool CounterSets::give_back(CounterLedger& ledger, CommandBudget& budget) {
  Books books{ledger, budget};
  SetBook& book = ledger.sets();
  focused_.clear();
  bool all = true;
  for (const PortNum number : book.managed()) {
    bool left = false;
    for (const CounterSet* set : own(book, number)) {
      const SetKey key = set->key;
      for (const Qpn qpn : std::vector<Qpn>(set->members)) {
        if (budget.room(CommandBudget::Use::sets, now_()) == 0) return false;
        const auto done = binder_.unbind(books, qpn, key);
        if (!done && done.error().code == ErrorCode::permission) return false;
        left |= !done && !SetBinder::not_bound(done.error());
      }
    }
    // Members that the book did not know of, and the last words of the sets.
    if (left || !binder_.reread(books, number) || !own(book, number).empty()) {
      all = false;
      continue;
    }
    book.abandon(number);
  }
  return all;
}

void CounterSets::commands_took(double seconds_each) {
  latencies_.push_back(seconds_each);
  if (latencies_.size() > kLatencies) latencies_.pop_front();
  // The median: one read that the scheduler held up says nothing of the firmware.
  const auto slow = std::ranges::count_if(latencies_, [&](double one) { return one >= config_.slow_command; });
  if (latencies_.size() < kLatencies || slow <= static_cast<std::ptrdiff_t>(kLatencies / 2)) return;
  latencies_.clear();
  slow_until_ = after(now_(), kSlowSeconds);
}

SampleList CounterSets::samples() const {
  SampleList out;
  for (const auto& [number, port] : ports_) {
    const std::string name = std::to_string(number.value);
    out.push_back(sample(kStatus, {device_, name, std::string(name_of(port.status))}, 1));
    out.push_back(sample(kRebinds, {device_, name}, static_cast<double>(port.rebinds)));
  }
  for (const auto& [call, count] : binder_.calls()) out.push_back(sample(kCalls, {device_, call.first, call.second}, static_cast<double>(count)));
  if (!ports_.empty()) {
    out.push_back(sample(kFocused, {device_}, static_cast<double>(focused_.size())));
    out.push_back(sample(kStrangers, {device_}, static_cast<double>(binder_.strangers())));
  }
  return out;
}

}  // namespace qpscope
