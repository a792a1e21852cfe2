# SPDX-License-Identifier: Apache-2.0
# Prints the alerts of a Prometheus: pending or firing, since when, and how long they have to be pending.
# usage: awk -v now=UNIX_TIME -f quickstart_alerts.awk RULES... PAGE
#        awk -v now=UNIX_TIME -v wanted=ALERT -f quickstart_alerts.awk RULES... PAGE     prints in words what that alert is
# PAGE is what /federate has of ALERTS and ALERTS_FOR_STATE. Plain POSIX awk: Debian's is mawk.

FILENAME != ARGV[ARGC - 1] {
    if ($1 == "-" && $2 == "alert:") alert = $3
    if ($1 == "for:") takes[alert] = $2
    next
}
/^ALERTS/ {
    labels = "," substr($0, index($0, "{") + 1)
    key = label("alertname") " " label("instance") " " label("device") " " label("port")
}
/^ALERTS\{/ {
    name[key] = label("alertname")
    state[key] = label("alertstate")
    severity[key] = label("severity")
    where[key] = label("instance") (label("device") == "" ? "" : " " label("device")) (label("port") == "" ? "" : "/" label("port"))
}
/^ALERTS_FOR_STATE\{/ { since[key] = $(NF - 1) }    # the last word is the time of the sample

function label(key,    at, rest) {
    at = index(labels, "," key "=\"")
    if (!at) return ""
    rest = substr(labels, at + length(key) + 3)
    return substr(rest, 1, index(rest, "\"") - 1)
}
function duration(seconds) { return seconds < 60 ? sprintf("%ds", seconds) : sprintf("%dm%02ds", seconds / 60, seconds % 60) }
function age(key) { return (key in since) ? duration(now - since[key]) : "-" }

END {
    said = "not yet pending"
    for (key in name) {
        if (name[key] != wanted || said == "firing") continue
        said = state[key] == "firing" ? "firing" : "pending for " age(key) " of " takes[wanted]
    }
    if (wanted) { print said; exit }
    format = "%-26s %-9s %-9s %-8s %-7s %s\n"
    printf format, "alert", "severity", "state", "since", "for", "where"
    n = 0
    for (key in name) {    # sorted by insertion: awk itself has no order
        for (i = n++; i > 0 && sorted[i] > key; i--) sorted[i + 1] = sorted[i]
        sorted[i + 1] = key
    }
    for (i = 1; i <= n; i++) {
        key = sorted[i]
        printf format, name[key], severity[key], state[key], age(key), takes[name[key]] == "" ? "-" : takes[name[key]], where[key]
    }
    if (!n) print "(none pending or firing)"
}
