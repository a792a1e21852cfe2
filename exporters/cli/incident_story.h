// SPDX-License-Identifier: Apache-2.0
// What an incident's file says, in the order in which somebody asks: what went first, whose, to which peer, what the ports did in the minute before. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client.h"

namespace qpscope::cli {

// A series of the file. Second i is the one that ended at began + i + 1.
struct IncidentSeries {
  std::string name;     // without its prefix: "port_retransmits_total"
  std::string place;    // "mlx5_0/1"
  std::string owner;    // "tenant/workload"; empty: the port's, or the device's
  std::string detail;   // the other labels' values: "sequence_nak"
  bool counter = false;
  bool traffic = false;  // bytes and packets that came and went, which is no fault
  std::vector<std::optional<float>> values;
};

struct IncidentPart {   // of the window: the second of the first trigger, the minute before it, the time before that, the time after
  double before = 0, minute = 0, after = 0;  // means
  double peak = 0;
  std::size_t peak_at = 0;
  bool known = false;
};

struct IncidentLine {   // of the timeline
  double time = 0;
  std::string text;
  enum class Weight : unsigned char { note, warning, fault } weight = Weight::note;
};

struct IncidentOwner {
  std::string place, owner;
  std::size_t ended = 0, found_in_error = 0, left = 0, left_in_error = 0;
  double first = 0;  // when the first of them ended; 0: none did
};

struct IncidentStory {
  double time = 0, began = 0, ended = 0;
  std::size_t at = 0;  // the second of the first trigger
  std::string place;   // what the first trigger names; empty: nothing
  std::vector<std::string> why;          // a trigger each
  std::vector<IncidentLine> went_first;  // what began to move, or ceased, in the two minutes before and later, and the queue pair that ended first; by time
  std::vector<IncidentOwner> owners;     // the most that ended first
  struct Row {
    const IncidentSeries* series;  // of `series`
    IncidentPart part;
  };
  std::vector<Row> rows;                 // counters of ports that are worth a look: by place, that of the trigger first
  std::vector<IncidentLine> timeline;    // everything, by time
  std::vector<IncidentSeries> series;
};
IncidentStory incident_story(const Json& incident);

// "queue pair 17 (RC) on mlx5_0/1 of slurm/4711 (python, pid 812) to ::ffff:192.0.2.7 qpn 19", of what is known.
std::string queue_pair_words(const Json& queue_pair);
// As a rate, in the unit of what it counts.
std::string rate_words(const IncidentSeries& series, double per_second);

}  // namespace qpscope::cli
