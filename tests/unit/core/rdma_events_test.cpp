// SPDX-License-Identifier: Apache-2.0
#include "core/rdma_events.h"

#include <catch2/catch.hpp>

using namespace qpscope;

TEST_CASE("asynchronous events by their number in enum ib_event_type", "[core.rdma_events]") {
  CHECK(async_event_name(0) == "cq_err");
  CHECK(async_event_name(1) == "qp_fatal");
  CHECK(async_event_name(8) == "device_fatal");
  CHECK(async_event_name(kPortActive) == "port_active");
  CHECK(async_event_name(kPortErr) == "port_err");
  CHECK(async_event_name(18) == "gid_change");
  CHECK(async_event_name(19) == "wq_fatal");
  CHECK(async_event_name(31) == "event_31");
  CHECK_FALSE(async_event_row(31));
  CHECK(async_event_row(14)->kind == AsyncKind::shared_receive_queue);
  CHECK(async_event_row(1)->fault);
  CHECK_FALSE(async_event_row(16)->fault);
}

TEST_CASE("what the connection manager tells, and why", "[core.rdma_events]") {
  CHECK(cm_event_name(7) == "unreachable");
  CHECK(cm_event_name(8) == "rejected");
  CHECK(cm_event_name(31) == "event_31");
  CHECK(cm_event_tone(9) == CmTone::connection);
  CHECK(cm_event_tone(8) == CmTone::failure);
  CHECK(cm_event_tone(0) == CmTone::step);
  CHECK(cm_reason(8, 28) == "consumer_defined");
  CHECK(cm_reason(8, 8) == "invalid_service_id");
  CHECK(cm_reason(8, 33) == "invalid_alt_flow_label");
  CHECK(cm_reason(8, 34) == "other");
  CHECK(cm_reason(7, -110) == "ETIMEDOUT");
  CHECK(cm_reason(7, 5) == "other");
  CHECK(cm_reason(9, 0).empty());
  CHECK(cm_reason(8, -2147483647 - 1) == "other");
}
