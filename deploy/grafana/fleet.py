# SPDX-License-Identifier: Apache-2.0
"""Which nodes to look at."""
from grafana import dashboard, graph, row, stat, table

PHYSICAL = {1: "Sleep", 2: "Polling", 3: "Disabled", 4: "Training", 5: "LinkUp", 6: "LinkErrorRecovery", 7: "Phy Test"}
DOWN = "max by (cluster, instance, device, port) (qpscope_port_state{@node}) < 4 and max_over_time(port:qpscope_port_state:max5m{@node}[7d]) >= 4"
SILENT = "group by (cluster, instance, job) (up{@node} == 0) and on (cluster, instance, job) group by (cluster, instance, job) (last_over_time(qpscope_build_info{@node}[1d]))"
MISSING = "max by (cluster, instance) (qpscope_devices_expected{@node}) - max by (cluster, instance) (qpscope_devices_found{@node})"
RATES_OF_CARDS = ("port:qpscope_port_rate_bytes_per_second:active{@node} * on (cluster, instance, device) group_left (board_id) "
                  "max by (cluster, instance, device, board_id) (qpscope_device_info{@node})")


def worst(title, description, unit, *recorded, alerts):
    """The ten ports that have most of it."""
    queries = [(f"topk(10, {name}{{@node}})", f"{{{{instance}}}} {{{{device}}}}/{{{{port}}}} {word}".rstrip()) for name, word in recorded]
    return graph(title, description, unit, *queries, alerts=alerts, to_node=True)


DASHBOARD = dashboard(
    "qpscope-fleet", "Fleet", "Which nodes lose, pause, are throttled, are slow, or are not there.", ["cluster", "node"],
    row("Now",
        stat("Nodes", "Nodes whose qpscoped has a page.", "none", "count(group by (cluster, instance) (qpscope_build_info{@node})) or vector(0)"),
        stat("Nodes silent", "Targets that do not answer, and did within a day.", "none", f"count({SILENT}) or vector(0)", bad_above=1,
             alerts={"QpscopeTargetDown": None}),
        stat("Ports active", "Ports in ACTIVE.", "none", "count(max by (cluster, instance, device, port) (qpscope_port_state{@node}) == 4) or vector(0)"),
        stat("Links down", "Ports that are not ACTIVE and were within a week.", "none", f"count({DOWN}) or vector(0)", bad_above=1,
             alerts={"QpscopeLinkDown": None, "QpscopeFabricLinksDown": None}),
        stat("Devices missing", "RDMA devices that should be there and are not.", "none", f"sum({MISSING}) or vector(0)", bad_above=1,
             alerts={"QpscopeDevicesMissing": None}),
        stat("Alerts firing", "Those of the rules in deploy/prometheus.", "none", 'count(ALERTS{alertstate="firing",alertname=~"Qpscope.+",@cluster}) or vector(0)',
             bad_above=1)),
    row("What is wrong",
        table("Firing alerts", "What each means, and what to do: deploy/prometheus/RUNBOOK.md has a section of its name.",
              {"alertname": "Alert", "severity": "Severity", "cluster": "Cluster", "instance": "Node", "device": "Device", "port": "Port", "Value": "For"},
              'time() - ALERTS_FOR_STATE{alertname=~"Qpscope.+",@cluster} and ignoring (alertstate) ALERTS{alertstate="firing",alertname=~"Qpscope.+",@cluster}',
              units={"For": "s"}, width=24),
        table("Links that are down", "Ports that are not ACTIVE and were within a week, with their physical state: Polling is a cable or the other end, Disabled somebody's command.",
              {"cluster": "Cluster", "instance": "Node", "device": "Device", "port": "Port", "Value": "Physical state"},
              f"max by (cluster, instance, device, port) (qpscope_port_physical_state{{@node}}) and ({DOWN})",
              alerts=["QpscopeLinkDown", "QpscopeFabricLinksDown"], names={"Physical state": PHYSICAL}),
        table("Nodes that lack devices", "How many RDMA devices the PCI bus or the configuration speaks of and the kernel does not have.",
              {"cluster": "Cluster", "instance": "Node", "Value": "Missing"}, f"{MISSING} > 0", alerts=["QpscopeDevicesMissing"])),
    row("Worst ports",
        worst("Ports that retransmit", "What senders sent again a second, timeouts aside.", "cps", ("port:qpscope_port_retransmits:rate5m", ""),
              alerts={"QpscopeRetransmitSpike": 10, "QpscopeFabricLoss": None}),
        worst("Ports that wait for ACKs in vain", "ACK timers that ran out, a second.", "cps", ("port:qpscope_port_ack_timeouts:rate5m", ""),
              alerts={"QpscopeAckTimeouts": 1, "QpscopeFabricLoss": None}),
        worst("Ports that lose all the time", "Retransmissions for each packet sent, over 30 minutes.", "percentunit",
              ("port:qpscope_port_retransmits:ratio30m", ""),
              alerts={"QpscopeChronicLoss": 1e-4}),
        worst("Ports that are throttled", "CNPs received for each packet sent: receivers tell these senders to slow down.", "percentunit",
              ("port:qpscope_port_rx_cnp_packets:ratio10m", ""),
              alerts={"QpscopeThrottledSender": 0.01}),
        worst("Ports whose packets come marked", "Part of what is received that met a full queue (ECN).", "percentunit",
              ("port:qpscope_port_rx_ecn_marked_packets:ratio10m", ""),
              alerts={"QpscopeCongestedReceiver": 0.05}),
        worst("Ports that pause or are paused", "Part of the time for which a priority is stopped. tx: this host stops its switch; rx: the switch stops it.",
              "percentunit",
              ("port:qpscope_port_tx_pfc_pause:ratio5m", "tx"), ("port:qpscope_port_rx_pfc_pause:ratio5m", "rx"),
              alerts={"QpscopePfcStorm": 0.1, "QpscopePfcVictim": 0.1})),
    row("Slow nodes",
        table("Nodes behind their workload's median",
              "Nodes that carry less than 80 % of the median node's bytes, retransmit more than one a second beyond it, or get more than 100 CNPs a second beyond it. "
              "Whole ports are counted: where two workloads share one, both have it.",
              {"cluster": "Cluster", "tenant": "Tenant", "workload": "Workload", "instance": "Node", "Value #A": "Bytes, of the median's",
               "Value #B": "Retransmissions above", "Value #C": "CNPs above"},
              "workload_node:qpscope_port_bytes:median_ratio{@node} < 0.8", "workload_node:qpscope_port_retransmits:above_median5m{@node} > 1",
              "workload_node:qpscope_port_rx_cnp_packets:above_median10m{@node} > 100",
              alerts=["QpscopeWorkloadStalled"], units={"Bytes, of the median's": "percentunit", "Retransmissions above": "cps", "CNPs above": "pps"}, width=24)),
    row("What runs",
        table("Versions of qpscope", "Nodes by the qpscoped that they run.", {"cluster": "Cluster", "version": "Version", "Value": "Nodes"},
              "count by (cluster, version) (group by (cluster, instance, version) (qpscope_build_info{@node}))", width=8),
        table("Firmware", "Devices by card and firmware: the odd one out is worth a look.",
              {"cluster": "Cluster", "driver": "Driver", "board_id": "Card", "fw_ver": "Firmware", "Value": "Devices"},
              "count by (cluster, driver, board_id, fw_ver) (group by (cluster, instance, device, driver, board_id, fw_ver) (qpscope_device_info{@node}))", width=8),
        table("Line rates", "Of the active ports of a card, in bytes a second: where slowest and fastest differ, a link may have trained down.",
              {"cluster": "Cluster", "board_id": "Card", "Value #A": "Slowest", "Value #B": "Fastest", "Value #C": "Ports"},
              *(f"{of} by (cluster, board_id) ({RATES_OF_CARDS})" for of in ("min", "max", "count")), alerts=["QpscopePortSlow"],
              units={"Slowest": "Bps", "Fastest": "Bps"}, width=8)),
)
