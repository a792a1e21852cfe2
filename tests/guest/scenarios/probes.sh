#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 240
# The BPF room by itself, story by story, with trampolines and with kprobes: what the probes say against what happened.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

loss 0
"$GUEST_DIR/../bpf/guest.sh" "$QPSCOPE_BIN"
