#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Takes the pages of qpscoped and what the rdma tool says of the same moment, so that they can be compared (agree.py).
set -euo pipefail

usage() {
    cat <<'EOF'
usage: take.sh URL DIR [--tries N]
  URL    of qpscoped, such as http://127.0.0.1:9879
  DIR    gets metrics.txt, metrics_qps.txt, rdma-qp.{txt,json}, rdma-qp-d.txt, rdma-qp-dd.txt,
         rdma-statistic-before.{txt,json} and rdma-statistic-after.{txt,json}
Takes them again (up to N times, default 10) while the set of queue pairs moves or the page lags behind it.
Exit status: 0 one moment; 1 the files are there, but no try gave one moment (the reason is on stderr).
EOF
}
[[ $# -ge 2 ]] || { usage >&2; exit 2; }
url=$1 dir=$2 tries=10
[[ ${3:-} != --tries ]] || tries=${4:?}
mkdir -p "$dir"
cd "$dir"

fetch() { curl -fsS --max-time 10 "$url$1"; }
# One line per queue pair: device, number, state.
qps_of_tool() {
    awk '{ for (i = 1; i < NF; i++) value[$i] = $(i + 1); sub("/.*", "", value["link"])
           print value["link"], value["lqpn"], value["state"] }' "$1" | sort
}
qps_of_page() {
    awk -F'[{}]' '
        BEGIN { split("RESET INIT RTR RTS SQD SQE ERR", name, " ") }
        function label(key,   rest) {
            if (!match("," $2, "," key "=\"[^\"]*\"")) return ""
            rest = substr("," $2, RSTART, RLENGTH)
            return substr(rest, length(key) + 4, length(rest) - length(key) - 4)
        }
        $1 == "qpscope_qp_state" { print label("device"), label("qpn"), name[$3 + 1] }' "$1" | sort
}
# A page on which every device was read, and the table copied, after this call.
new_page() {
    local since deadline=$((SECONDS + 10))
    since=$(date +%s.%N)
    until fetch /metrics >metrics.txt && awk -v since="$since" '
        /^qpscope_collector_last_success_timestamp_seconds[{]collector="hw_counters"/ { n++; if ($NF <= since) old = 1 }
        END { exit old || !n }' metrics.txt; do
        [[ $SECONDS -lt $deadline ]] || return 1
        sleep 0.2
    done
}

for ((try = 1; try <= tries; try++)); do
    rdma resource show qp >rdma-qp-before.txt
    rdma statistic show >rdma-statistic-before.txt
    rdma -j statistic show >rdma-statistic-before.json
    # Twice: the reading behind the first may have begun before the files above were taken.
    if ! new_page || ! new_page; then
        why="qpscoped does not read the devices"
        continue
    fi
    fetch /metrics/qps >metrics_qps.txt
    rdma resource show qp >rdma-qp.txt
    rdma -j resource show qp >rdma-qp.json
    rdma -d resource show qp >rdma-qp-d.txt
    rdma -dd resource show qp >rdma-qp-dd.txt
    rdma statistic show >rdma-statistic-after.txt
    rdma -j statistic show >rdma-statistic-after.json

    if [[ $(qps_of_tool rdma-qp-before.txt) != "$(qps_of_tool rdma-qp-dd.txt)" ]]; then
        why="queue pairs came or went meanwhile"
    elif [[ $(qps_of_tool rdma-qp.txt) != "$(qps_of_page metrics_qps.txt)" ]]; then
        why="the page and rdma resource show qp differ"
    else
        rm -f rdma-qp-before.txt
        exit 0
    fi
done
rm -f rdma-qp-before.txt
echo "take.sh: no one moment in $tries tries: $why" >&2
exit 1
