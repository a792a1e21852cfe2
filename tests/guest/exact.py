#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the page exactly what a port of the look-alike counted?

    exact.py DEVICE PORT TRUTH PAGE       TRUTH: lines "kernel name, events"

Every counter must be there by its kernel name, and every family of the common vocabulary must be the sum of its counters. The table below
is written from mlx5's counter document, not from the daemon's: the two have to agree. Prints what differs; exit status 1 then.
"""
import collections
import re
import sys

WORDS = 4  # bytes
TABLE = {
    "port_xmit_data": ("tx_bytes", "", WORDS), "port_rcv_data": ("rx_bytes", "", WORDS),
    "port_xmit_packets": ("tx_packets", "", 1), "port_rcv_packets": ("rx_packets", "", 1),
    "np_cnp_sent": ("tx_cnp_packets", "", 1), "rp_cnp_handled": ("rx_cnp_packets", "", 1),
    "rp_cnp_ignored": ("rx_cnp_ignored_packets", "", 1), "np_ecn_marked_roce_packets": ("rx_ecn_marked_packets", "", 1),
    "packet_seq_err": ("retransmits", 'cause="sequence_nak"', 1), "implied_nak_seq_err": ("retransmits", 'cause="implied_nak"', 1),
    "local_ack_timeout_err": ("retransmits", 'cause="ack_timeout"', 1),
    "rnr_nak_retry_err": ("rx_rnr_naks", "", 1), "out_of_buffer": ("rx_no_wqe_drops", "", 1),
    "out_of_sequence": ("rx_out_of_sequence_packets", "", 1), "duplicate_request": ("rx_duplicate_requests", "", 1),
    "rx_icrc_encapsulated": ("rx_icrc_error_packets", "", 1),
    "roce_adp_retrans": ("adaptive_retransmits", "", 1), "roce_slow_restart": ("slow_restarts", "", 1),
    "req_cqe_flush_error": ("flushed_wqes", 'role="requester"', 1), "resp_cqe_flush_error": ("flushed_wqes", 'role="responder"', 1),
    "resp_local_length_error": ("completion_errors", 'role="responder",kind="local_length"', 1),
    "resp_remote_access_errors": ("completion_errors", 'role="responder",kind="remote_access"', 1),
    "req_remote_access_errors": ("completion_errors", 'role="requester",kind="remote_access"', 1),
    "req_remote_invalid_request": ("completion_errors", 'role="requester",kind="remote_invalid_request"', 1),
    "req_rnr_retries_exceeded": ("completion_errors", 'role="requester",kind="rnr_retries_exceeded"', 1),
    "req_transport_retries_exceeded": ("completion_errors", 'role="requester",kind="transport_retries_exceeded"', 1),
}


def main(device, port, truth, page):
    with open(page, encoding="utf-8") as lines:
        shown = dict(re.findall(r"^(\S+\{.*\}) (\S+)$", lines.read(), re.M))
    of_port = f'device="{device}",port="{port}"'
    wanted = collections.Counter()
    with open(truth, encoding="utf-8") as lines:
        for name, events in (line.split() for line in lines):
            raw = "port_counters" if re.match("port_|unicast_|multicast_", name) else "hw_counters"
            if name not in ("port_xmit_data", "port_rcv_data"):  # those are bytes in the families alone
                wanted[f'qpscope_{raw}_total{{{of_port},counter="{name}"}}'] = int(events)
            if name in TABLE:
                family, labels, unit = TABLE[name]
                wanted[f"qpscope_port_{family}_total{{{of_port}{',' + labels if labels else ''}}}"] += int(events) * unit
    wrong = [f"{key}: {shown.get(key, 'missing')}, not {value}" for key, value in sorted(wanted.items()) if float(shown.get(key, "nan")) != value]
    print(f"{len(wanted)} series, {len(wrong)} wrong", *wrong, sep="\n")
    return 1 if wrong or len(wanted) < len(TABLE) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
