# SPDX-License-Identifier: Apache-2.0
"""Whose it is: ports' counters by tenant and workload, and a workload's nodes beside each other."""
from grafana import DEVICE, NODE, OWNER, PORT, dashboard, graph, now, rate, recorded, row, table

METHOD = " By method: set, from counter sets; sole_owner, while nobody else was on the port. nobody: what no tenant is credited with."
NODES = ("instance", *OWNER)


def whose(title, description, unit, *signals, times="", alerts=None, width=8):
    """Twins of port families by owner, beside what is nobody's. `signals`: (stem of the family, word, label...)."""
    queries = []
    for stem, word, *more in signals:
        queries.append(rate(f"qpscope_tenant_{stem}", "method", *more, per=OWNER, word=word, times=times))
        by = ", ".join(("cluster", *more))
        queries.append((f"{times}sum by ({by}) (rate(qpscope_port_unattributed_{stem}{{@port}}[$__rate_interval]))",
                        " ".join(["nobody", *("{{%s}}" % label for label in more), word]).rstrip()))
    return graph(title, description + METHOD, unit, *queries, alerts=alerts, width=width)


DASHBOARD = dashboard(
    "qpscope-workload", "Workload and tenant", "Who retransmits, is throttled or fails, how much of a port is counted by tenant, and a workload's nodes beside their median.",
    ["cluster", "node", "device", "tenant", "workload"],
    row("Who",
        table("Tenants", "What is known of them.",
              {"cluster": "Cluster", "instance": "Node", "tenant": "Tenant", "workload": "Workload", "kind": "Kind", "slurm_job": "Slurm job",
               "slurm_user": "Slurm user", "k8s_namespace": "Namespace",
               "unit": "Unit"}, "qpscope_tenant_info{@workload}"),
        table("Pods", "Containers with queue pairs.", {"cluster": "Cluster", "instance": "Node", "tenant": "Tenant", "workload": "Workload", "k8s_pod": "Pod",
                                                       "k8s_container": "Container"},
              "qpscope_tenant_member_info{@workload}"),
        graph("Queue pairs by owner", "How many each has.", "none", now("qpscope_queue_pairs", per=OWNER, how="sum"), stack=True, width=24)),
    row("Nodes beside each other",
        graph("Bytes, of the median node's", "Ports that the workload has queue pairs in RTS on. 1 is the median; where each waits for the slowest, all are slow alike.", "percentunit",
              recorded("workload_node:qpscope_port_bytes:median_ratio", *NODES), alerts={"QpscopeWorkloadStalled": None}),
        graph("Retransmissions above the median node's", "The node that makes the others wait stands out here.", "cps",
              recorded("workload_node:qpscope_port_retransmits:above_median5m", *NODES),
              alerts={"QpscopeFabricLoss": None}),
        graph("CNPs above the median node's", "The node that is throttled more than the others.", "pps",
              recorded("workload_node:qpscope_port_rx_cnp_packets:above_median10m", *NODES),
              alerts={"QpscopeThrottledSender": None}),
        graph("Bytes by node", "Sent and received on the workload's ports.", "bps", ("8 * workload_node:qpscope_port_bytes:rate2m{@workload}",
                                                                                     "{{instance}} {{tenant}}/{{workload}}"),
              alerts={"QpscopeWorkloadStalled": None}),
        graph("Retransmissions by node", "On the workload's ports.", "cps", recorded("workload_node:qpscope_port_retransmits:rate5m", *NODES)),
        graph("CNPs by node", "On the workload's ports.", "pps", recorded("workload_node:qpscope_port_rx_cnp_packets:rate10m", *NODES)),
        table("Quiet for", "Since a node last carried 1 MB/s for a workload: of a stalled one the longest quiet is where to look first.",
              {"cluster": "Cluster", "tenant": "Tenant", "workload": "Workload", "instance": "Node", "Value #A": "Quiet for", "Value #B": "Queue pairs in RTS"},
              "time() - max_over_time(workload_node:qpscope_port_bytes:moved_timestamp_seconds{@workload}[6h])",
              "sum by (cluster, tenant, workload, instance) (workload_node_port:qpscope_queue_pairs:rts{@workload})",
              alerts=["QpscopeWorkloadStalled"], units={"Quiet for": "s"}, width=24)),
    row("Loss",
        whose("Who retransmits", "Events that made a sender go back.", "cps", ("retransmits_total", "", "cause"),
              alerts={"QpscopeRetransmitSpike": None, "QpscopeChronicLoss": None}, width=16),
        whose("Packets sent again by owner", "Where the NIC counts packets.", "pps", ("retransmitted_packets_total", "")),
        whose("Recovery by owner", "Adaptive retransmissions, slow starts after a loss.", "cps", ("adaptive_retransmits_total", "adaptive"),
              ("slow_restarts_total", "slow restart")),
        whose("Seen by receivers, by owner", "Out of sequence, twice, or with a wrong checksum.", "pps", ("rx_out_of_sequence_packets_total", "out of sequence"),
              ("rx_duplicate_requests_total", "duplicate"), ("rx_icrc_error_packets_total", "ICRC")),
        whose("Receivers not ready, by owner", "Whose application posts no receives (here), or whose peer's.", "cps", ("rx_no_wqe_drops_total", "here"),
              ("rx_rnr_naks_total", "at the peer"),
              alerts={"QpscopeReceiverNotReady": None}),
        whose("Completion errors by owner", "Work requests that ended in error.", "cps", ("completion_errors_total", "", "role", "kind")),
        whose("Flushed work requests by owner", "At each teardown: no fault.", "cps", ("flushed_wqes_total", "", "role")),
        whose("Limits of a cloud instance, by owner", "Packets dropped since the instance had used up its share.", "pps", ("tx_limit_drops_total", "tx", "limit"),
              ("rx_limit_drops_total", "rx", "limit"))),
    row("Traffic and congestion",
        whose("Bandwidth by owner", "RDMA bytes. A set counts them from kernel 6.15; sole_owner everywhere.", "bps", ("tx_bytes_total", "tx"),
              ("rx_bytes_total", "rx"), times="8 * "),
        whose("Packets by owner", "RDMA packets.", "pps", ("tx_packets_total", "tx"), ("rx_packets_total", "rx")),
        whose("Who is throttled", "rx: this owner is told to slow down; tx: it tells its peers.", "pps", ("rx_cnp_packets_total", "rx"),
              ("tx_cnp_packets_total", "tx"),
              ("rx_cnp_ignored_packets_total", "rx ignored"), alerts={"QpscopeThrottledSender": None}),
        whose("Marked packets by owner", "Received with congestion experienced set.", "pps", ("rx_ecn_marked_packets_total", ""),
              alerts={"QpscopeCongestedReceiver": None})),
    row("How much is known",
        graph("Queue pairs in counter sets", "Part of a port's queue pairs that a set counts: of what the others do nobody knows the owner.", "percentunit",
              now("qpscope_port_counted_qps_ratio", how="min"),
              alerts={"QpscopeCoverageLow": None}),
        table("Why not more", "What keeps qpscope from counting by tenant; counting is as it should be.",
              {"instance": "Node", "device": "Device", "port": "Port", "status": "Status"},
              "qpscope_counter_sets_status{@port} == 1", alerts=["QpscopeCoverageLow"], width=8),
        graph("Counter sets", "Live sets, by who made them; and queue pairs that have one of their own for a while.", "none", now("qpscope_counter_sets", "by"),
              now("qpscope_counter_sets_focused", per=DEVICE, word="focused")),
        graph("Calls that bind and unbind", "By the kernel's error; without one they did what they should.", "cps",
              rate("qpscope_counter_set_calls_total", "call", "error", per=DEVICE),
              alerts={"QpscopeCoverageLow": None}),
        graph("Nobody's", "Queue pairs moved between sets, sets that went without a last word, numbers that were given out anew: what was counted then is nobody's.",
              "cps",
              rate("qpscope_tenant_rebinds_total", word="moved"), rate("qpscope_counter_sets_last_word_missed_total", per=DEVICE, word="last word missed"),
              rate("qpscope_counter_sets_strangers_total", per=DEVICE, word="strangers")),
        graph("Beyond ib_core", "Queue pairs made by DEVX, which are in no set.", "none", now("qpscope_devx_queue_pairs", *OWNER, per=DEVICE),
              alerts={"QpscopeCoverageLow": None}),
        graph("Registered memory", "Memory that several regions cover counts in each.", "bytes", now("qpscope_tenant_memory_region_bytes", *OWNER, "memory", per=DEVICE)),
        graph("Memory regions", "A count that only rises is a program that forgets to deregister.", "none",
              now("qpscope_tenant_memory_regions", *OWNER, "memory", per=DEVICE)),
        graph("Tenants without room", "Owners that became other at tenants.limit, a second; and containers without series.", "none",
              rate("qpscope_tenants_overflow_total", per=NODE, word="owners"),
              now("qpscope_tenant_members_dropped", per=NODE, word="containers"))),
)
