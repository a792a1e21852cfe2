#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest, for deploy/quickstart.sh: fabric with loss, qpscoped, two jobs; then serves requests until told to end.
# The host asks by making $GUEST_OUT/request ("take", "loss PERCENT" or "end"); the answer to "take" is the folder $GUEST_OUT/taken
# and then $GUEST_OUT/reply (the exit status of take.sh and what it said).
# usage: demo.sh DIR_WITH_QPSCOPED PORT [LOSS]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$1 port=$2 loss=${3:-2}
out=$GUEST_OUT
state=/run/demo
mkdir -p "$state"

"$here/fabric.sh" up "$loss"
# 10.0.2.2 is the host as QEMU's user-mode network shows it: every forwarded connection comes from there.
cat >"$state/qpscope.yaml" <<EOF
exporters: {prometheus: {listen: "0.0.0.0:$port"}}
api: {allow: ["127.0.0.0/8", "::1/128", "10.0.2.2/32"]}
EOF
"$bin/qpscoped" --config "$state/qpscope.yaml" >"$out/qpscoped.log" 2>&1 &
daemon=$!
ended() {
    wait "$daemon" && status=0 || status=$?
    echo "demo: qpscoped ended with status $status; its last lines:"
    tail -n 20 "$out/qpscoped.log"
    exit 1
}
deadline=$((SECONDS + 60))
until curl -fsS --max-time 5 "http://127.0.0.1:$port/readyz" >/dev/null 2>&1; do
    kill -0 "$daemon" 2>/dev/null || ended
    [[ $SECONDS -lt $deadline ]] || { echo "demo: qpscoped is not ready after a minute"; exit 1; }
    sleep 0.2
done
echo "demo: qpscoped is ready"
"$here/jobs.sh" start

take() {
    local said status=0
    "$here/jobs.sh" wait || true
    # Frozen with the queue pairs they have, so that everything below speaks of one moment.
    "$here/jobs.sh" freeze
    rm -rf "$state/taken" "$out/taken"
    said=$("$here/take.sh" "http://127.0.0.1:$port" "$state/taken" --tries 3 2>&1) || status=$?
    "$here/jobs.sh" thaw
    cp -r "$state/taken" "$out/taken"
    echo "$status $said" >"$out/reply.new"
    mv "$out/reply.new" "$out/reply"
}
while true; do
    kill -0 "$daemon" 2>/dev/null || ended
    if [[ -s $out/request ]]; then
        request=$(<"$out/request")
        rm -f "$out/request"
        case $request in
            take) take ;;
            "loss "*) "$here/fabric.sh" loss "${request#loss }" || true ;;
            end) break ;;
        esac
    fi
    sleep 0.2
done
"$here/jobs.sh" stop
kill "$daemon"
wait "$daemon"
