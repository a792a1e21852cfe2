// SPDX-License-Identifier: Apache-2.0
// Where in a snapshot's lists the samples of a few families are: found once, then only looked at. A list has its samples in the same places from
// pass to pass; where it has not, it is searched again, and every list now and then, should a new series have taken another's place.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/metric.h"

namespace qpscope {

class SamplePlaces {
 public:
  // What to call a family by its name; kNone for those that are not wanted.
  static constexpr std::uint8_t kNone = 0xff;
  using FamilyOf = std::function<std::uint8_t(std::string_view name)>;

  explicit SamplePlaces(FamilyOf family_of) : family_of_(std::move(family_of)) {}

  // Every wanted sample of the lists that are new since the call before, by `visit(family, sample)`: one that was not sampled again tells nothing.
  template <class Visit>
  void each_new(std::span<const SharedSamples> lists, Visit&& visit) {
    ++round_;
    known_.resize(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (!renewed(known_[i], lists[i], i)) continue;
      for (const Place& place : known_[i].places) visit(place.family, (*lists[i])[place.at]);
    }
  }

 private:
  static constexpr std::size_t kSearchRounds = 16;

  struct Place {
    std::uint32_t at;
    std::uint8_t family;
    const MetricDef* def;
    Labels labels;
  };
  struct Known {
    std::weak_ptr<const SampleList> list;  // its pointer alone may be another's by now
    std::size_t size = 0;
    std::vector<Place> places;
  };
  bool renewed(Known& known, const SharedSamples& list, std::size_t index);
  void search(Known& known, const SampleList& list);

  const FamilyOf family_of_;
  std::unordered_map<const MetricDef*, std::uint8_t> families_;  // as they were asked for; defs are static
  std::vector<Known> known_;                                     // by list
  std::size_t round_ = 0;
};

}  // namespace qpscope
