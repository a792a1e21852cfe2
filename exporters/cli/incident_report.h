// SPDX-License-Identifier: Apache-2.0
// An incident for people: text that is read from top to bottom, and a page that needs nothing else, with charts. Pure.
#pragma once

#include <string>

#include "client.h"
#include "screen.h"
#include "table.h"

namespace qpscope::cli {

std::string incident_report(const Json& incident, const Screen& screen);
// One HTML document: no script, no style and no picture from anywhere else.
std::string incident_page(const Json& incident);

// Of their heads.
Table incident_table(const std::vector<Json>& heads);

}  // namespace qpscope::cli
