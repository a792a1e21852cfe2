# SPDX-License-Identifier: Apache-2.0
# Prints a short table from two consecutive /metrics pages of qpscoped (the first may be empty).
# usage: awk -v seconds=BETWEEN_THEM -f quickstart.awk OLD NEW
#        awk -v missing=1 -f quickstart.awk NEW     prints what the demo should show and does not yet, one a line
# Plain POSIX awk: Debian's is mawk.

FNR == 1 { page = FILENAME }
/^#/ || NF < 2 { next }
{
    brace = index($0, "{")
    name = brace ? substr($0, 1, brace - 1) : $1
    labels = brace ? "," substr($0, brace + 1) : ""
    new = (missing || page == ARGV[2])
    port = label("device") "/" label("port")
}
name == "qpscope_port_info" && new { ports[port] = 1; netdev[port] = label("netdev") }
name == "qpscope_port_state" && new { ports[port] = 1; state[port] = $NF }
name == "qpscope_port_rate_bytes_per_second" && new { rate[port] = $NF }
name == "qpscope_port_tx_packets_total" { count("tx", $NF) }
name == "qpscope_port_rx_packets_total" { count("rx", $NF) }
name == "qpscope_port_retransmits_total" { count("again", $NF) }
name == "qpscope_port_rx_out_of_sequence_packets_total" { count("gap", $NF) }
name == "qpscope_queue_pairs" && new && $NF > 0 {
    job = label("workload")
    if (label("tenant") == "kernel") job = job " (kernel)"
    jobs[job] += $NF
    pairs[job, toupper(label("state"))] += $NF
    total += $NF
}

function label(key,    at, rest) {
    at = index(labels, "," key "=\"")
    if (!at) return ""
    rest = substr(labels, at + length(key) + 3)
    return substr(rest, 1, index(rest, "\"") - 1)
}
function count(what, value) {
    if (new) { now[what, port] += value; sum[what] += value } else before[what, port] += value
}
function whole(what, port) { return ((what, port) in now) ? sprintf("%.0f", now[what, port]) : "-" }
function speed(what, port) {
    if (!((what, port) in now) || !((what, port) in before) || seconds <= 0) return "-"
    return sprintf("%.0f", (now[what, port] - before[what, port]) / seconds)
}
# Sorts the keys of LIST into sorted[1..n]; awk itself has no order.
function sort_keys(list,    key, n, i, held) {
    n = 0
    for (key in list) {
        for (i = n++; i > 0 && sorted[i] > key; i--) sorted[i + 1] = sorted[i]
        sorted[i + 1] = key
    }
    return n
}

END {
    if (missing) {
        if (!total) print "queue pairs"
        if (!jobs["train-a"]) print "queue pairs of train-a"
        if (!jobs["train-b"]) print "queue pairs of train-b"
        if (!sum["again"]) print "retransmissions"
        if (!sum["gap"]) print "packets out of sequence"
        exit
    }
    split("DOWN INIT ARMED ACTIVE ACTIVE_DEFER", port_state, " ")
    format = "%-12s %-10s %-8s %9s %8s %8s %16s %7s %16s\n"
    printf format, "port", "netdev", "state", "rate Gb/s", "tx pkt/s", "rx pkt/s", "retransmissions", "per s", "out of sequence"
    n = sort_keys(ports)
    for (i = 1; i <= n; i++) {
        port = sorted[i]
        printf format, port, netdev[port] == "" ? "-" : netdev[port], (state[port] in port_state) ? port_state[state[port]] : "-", \
            (port in rate) ? sprintf("%.1f", rate[port] * 8 / 1e9) : "-", speed("tx", port), speed("rx", port), \
            whole("again", port), speed("again", port), whole("gap", port)
    }
    if (!n) print "(no RDMA port)"
    columns = split("RESET INIT RTR RTS SQD SQE ERR", column, " ")
    printf "\n%-32s", "queue pairs of"
    for (c = 1; c <= columns; c++) printf " %6s", column[c]
    print ""
    n = sort_keys(jobs)
    for (i = 1; i <= n; i++) {
        printf "%-32s", sorted[i]
        for (c = 1; c <= columns; c++) printf " %6d", pairs[sorted[i], column[c]]
        print ""
    }
    if (!n) print "(no queue pair)"
}
