// SPDX-License-Identifier: Apache-2.0
// The interface of everything that reads a device's counters and facts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/counter_ledger.h"
#include "core/error.h"
#include "core/metric.h"
#include "core/qp_counters.h"

namespace qpscope {

enum class Clock : std::uint8_t {
  fast,  // sampling.interval: state, hardware counters, bytes
  slow,  // sampling.slow_interval: facts and the rest
};

// Counts reads that failed, by (source, error): a lost sample is never silent. Not thread-safe.
class ReadErrors {
 public:
  struct Key {
    std::string source;  // "counters", "hw_counters", "port", "device"
    std::string error;   // "EINVAL", "parse"
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  void add(std::string_view source, const Error& error);
  const std::map<Key, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<Key, std::uint64_t> counts_;
};

// What one pass of one collector yields. A value that cannot be read is left out and counted in `errors`: absent is not zero.
struct Reading {
  SampleList samples;
  std::vector<QpCounters> qp_counters = {};
  ReadErrors& errors;
  CounterLedger& ledger;  // the device's; every counter goes through count(), what we observe ourselves through the two below it
  const ClockFn& now;
  // Firmware commands that this pass has caused, on a card whose driver asks it: one a counters/ file, one a port query, three a pass of hw_counters.
  std::uint64_t firmware_commands = 0;
  // The first thing that went wrong in this pass and how many did, for the log; empty: nothing.
  std::string trouble;
  std::size_t troubles = 0;
  // Counters that this pass has read.
  std::size_t counted = 0;
  // Set by a collector that could read none of its counters: the pass failed, whatever else it yields. Not for counters/, which some devices have
  // and can never read (i40iw, qedr: no PMA).
  bool lost = false;
  // What the log should say once in a device's life although nothing is wrong: why something that people look for is not there.
  std::vector<std::string> notes = {};
  // Seconds that this collector wants to be left alone for, where its clock is faster: what it asks for is slow, and others wait for it.
  double rest = 0;
  // Seconds of this pass spent waiting for another of our threads: no firmware was slow.
  double waited = 0;

  void add(const MetricDef& def, Labels labels, double value) { samples.push_back(sample(def, std::move(labels), value)); }
  void failed(std::string_view source, const Error& error);
  // Still failing, but not tried in this pass (core/back_off.h): in trouble, but no new error.
  void not_tried(const Error& error);
  // What we have counted of a counter of which `raw` has just been read; `settles` as in CounterTotal::sample. nullopt where the ledger is
  // full, which counts as a failure.
  std::optional<CounterLedger::Counted> count(const CounterKeyView& key, std::uint64_t raw, CounterKind kind, bool settles = false);
  // Our total of events that we observed ourselves, `events` more than before. Outlives the collector, the device and the daemon.
  std::optional<double> add_events(const ObservedKey& key, std::uint64_t events);
  // The same for a histogram, with one `value` more where there is one; nullopt also where there never was any.
  // `bounds`: static storage.
  std::optional<HistogramValue> observe(const ObservedKey& key, std::span<const double> bounds, std::optional<double> value);
};

// While it lives the reading asks no firmware: that time is Reading::waited.
class Waiting {
 public:
  explicit Waiting(Reading& out) : out_(out), since_(out.now()) {}
  ~Waiting() { out_.waited += seconds(out_.now(), since_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Reading& out_;
  const BootTime since_;
};

// One per device and subject; made when the device appears, gone with it. Called from that device's thread only, which
// may hang in the kernel: a collector touches nothing shared.
class Collector {
 public:
  virtual ~Collector() = default;
  // An error means that the whole pass is lost (the device is gone); single values that fail go to Reading::failed.
  virtual Result<> collect(Reading& out) = 0;
};

struct Host;  // collectors/host/host.h: roots and seams

struct CollectorRow {
  std::string_view name;
  Clock clock;
  MetricList metrics;
  std::unique_ptr<Collector> (*make)(const Host& host, const std::string& device);
};

}  // namespace qpscope
