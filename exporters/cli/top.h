// SPDX-License-Identifier: Apache-2.0
// `qpscope top`: ports, tenants or queue pairs, live.
#pragma once

#include "session.h"
#include "top_model.h"

namespace qpscope::cli {

struct TopOptions {
  TopView view = TopView::ports;
  std::string sort;      // a column's name; empty: the view's own
  double interval = 2;   // seconds; what the daemon keeps of ports has that step
  bool json = false;     // the list's answer, once
};

// Where there is no terminal to draw on it prints once.
Outcome<Exit> top(Session& session, const TopOptions& options);

}  // namespace qpscope::cli
