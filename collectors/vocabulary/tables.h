// SPDX-License-Identifier: Apache-2.0
// One table per driver, each in the file of its name.
#pragma once

#include "collectors/vocabulary/counter_row.h"

namespace qpscope {

extern const DriverTable kBnxtReTable, kCxgb4Table, kEfaTable, kErdmaTable, kHfi1Table, kHnsTable, kIonicTable, kIrdmaTable, kManaTable, kMlx4Table, kMlx5Table,
    kRxeTable;
extern const DriverTable kPortCountersTable;  // counters/, the same on every driver that has it

}  // namespace qpscope
