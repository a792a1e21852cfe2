// SPDX-License-Identifier: Apache-2.0
#include "core/sample_places.h"

#include <algorithm>

namespace qpscope {

// Whether it is another list than in the round before, with known.places right.
bool SamplePlaces::renewed(Known& known, const SharedSamples& list, std::size_t index) {
  if (!list) return false;
  if (!known.list.owner_before(list) && !list.owner_before(known.list)) return false;
  known.list = list;
  const auto moved = [&](const Place& place) { return (*list)[place.at].def != place.def || (*list)[place.at].labels != place.labels; };
  if (known.size != list->size() || (round_ + index) % kSearchRounds == 0 || std::ranges::any_of(known.places, moved)) search(known, *list);
  return true;
}

void SamplePlaces::search(Known& known, const SampleList& list) {
  known.size = list.size();
  known.places.clear();
  const MetricDef* last = nullptr;
  std::uint8_t family = kNone;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const Sample& one = list[at];
    if (one.def != last) {
      last = one.def;
      const auto [asked, fresh] = families_.try_emplace(last, kNone);
      if (fresh) asked->second = family_of_(last->name);
      family = asked->second;
    }
    if (family != kNone) known.places.push_back({.at = static_cast<std::uint32_t>(at), .family = family, .def = one.def, .labels = one.labels});
  }
}

}  // namespace qpscope
