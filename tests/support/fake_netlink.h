// SPDX-License-Identifier: Apache-2.0
// RDMA netlink of a device that answers what the test says and counts what it is asked.
#pragma once

#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "collectors/host/device_netlink.h"
#include "core/error.h"

namespace qpscope::test {

struct FakeNetlink {
  NlCounters counters{{"out_of_sequence", 7}};
  NlPort state{.number = {}, .state = 4, .phys_state = 5, .lid = {}, .netdev = {}};
  NlCounterMode mode;
  NlCounterSets sets;
  std::map<std::string, Error> failing;  // by question: "port", "port_counters", "counter_mode", "counter_sets", "bind_to_new_set", …
  std::map<std::string, int> asked;      // the same

  // A line for Host::netlink; this must outlive it.
  std::unique_ptr<DeviceNetlink> line() { return std::make_unique<Line>(*this); }
  void count_sets(std::size_t count) { sets.rows.resize(count); }
  void fail(const std::string& question, int sys_errno) { failing.insert_or_assign(question, io_error("RDMA netlink " + question, sys_errno)); }

 private:
  class Line : public DeviceNetlink {
   public:
    explicit Line(FakeNetlink& fake) : fake_(fake) {}
    Result<NlPort> port(PortNum) override { return answer("port", fake_.state); }
    Result<NlCounters> port_counters(PortNum) override { return answer("port_counters", fake_.counters); }
    Result<NlCounterMode> counter_mode(PortNum) override { return answer("counter_mode", fake_.mode); }
    Result<NlCounterSets> counter_sets(PortNum) override { return answer("counter_sets", fake_.sets); }
    Result<CounterSetId> bind_to_new_set(PortNum, Qpn) override { return answer("bind_to_new_set", CounterSetId{1}); }
    Result<> bind_to_set(PortNum, Qpn, CounterSetId) override { return answer("bind_to_set"); }
    Result<> unbind(PortNum, Qpn, CounterSetId) override { return answer("unbind"); }

   private:
    template <class Value>
    Result<Value> answer(const std::string& question, const Value& value) {
      ++fake_.asked[question];
      if (const auto found = fake_.failing.find(question); found != fake_.failing.end()) return std::unexpected(found->second);
      return value;
    }
    Result<> answer(const std::string& question) {
      if (const auto done = answer(question, true); !done) return std::unexpected(done.error());
      return {};
    }
    FakeNetlink& fake_;
  };
};

}  // namespace qpscope::test
