#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 60
# Counter sets by our own netlink code on the look-alike of mlx5: what it reads and does is what the rdma tool and the hardware say,
# and a refusal keeps the kernel's errno. No daemon here.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"
[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"

stat() { "$QPSCOPE_BIN/qpscope-nldev-stat" "$@"; }
# is WANT WHAT...: what the tool says, an errno's name where it fails.
is() { local got; got=$(stat "${@:2}" 2>/dev/null || true); [[ $got == "$1" ]] || die "${*:2}: want \"$1\", got \"$got\""; }

sim load devices=1 ports=2 || die 'mlx5sim does not load'
wait_for 10 '[[ -z $(ip -6 address show dev sim0p1 tentative) ]]' 'the address that queue pairs connect to is not tentative any more'
"$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 4 >"$STATE/holder" 2>&1 &
holder=$!
wait_for 10 "grep -q ^held '$STATE/holder'" 'a process holds QPs 100 to 103'

say '-- by hand'
is 'none 0' mode mlx5_0 1
is '' sets mlx5_0
is 1 bind mlx5_0 1 100
is '' bind mlx5_0 1 101 1
is 2 bind mlx5_0 1 102
is 'manual 0' mode mlx5_0 1
is 'none 0' mode mlx5_0 2
sim traffic mlx5_0 100 packet_seq_err add 4294967301
sim traffic mlx5_0 101 packet_seq_err add 1
[[ $(stat sets mlx5_0 | grep ^set) == $'set 1 port 1 mode manual lqpn 100 101\nset 2 port 1 mode manual lqpn 102' ]] || die "sets: $(stat sets mlx5_0)"
[[ $(stat sets mlx5_0 1 | grep -c ^set) -eq 2 && -z $(stat sets mlx5_0 2) ]] || die 'sets of one port'
[[ $(stat set mlx5_0 1 1 | grep ' packet_seq_err ') == 'counter 1 packet_seq_err 6' ]] || die "set 1: $(stat set mlx5_0 1 1)"
rdma statistic qp show link mlx5_0/1 cntn 1 | grep -q 'LQPN: <100,101>' || die 'the rdma tool sees another set 1'

say '-- refusals'
is ENOMEM bind mlx5_0 1 100      # bound already: no new set, says the kernel, for whatever reason
is EINVAL bind mlx5_0 1 100 2    # the same
is EINVAL bind mlx5_0 2 103      # of port 1
is EINVAL unbind mlx5_0 1 100 2  # in set 1
is ENOENT bind mlx5_0 1 999
is ENOENT bind mlx5_0 1 103 77
is ENOENT set mlx5_0 1 77
is EINVAL mode mlx5_0 3
is EBUSY auto mlx5_0 1 2
sim set mlx5_0 max_sets 2
is ENOMEM bind mlx5_0 1 103
[[ $(setpriv --bounding-set -all --inh-caps -all --reuid 65534 --clear-groups "$QPSCOPE_BIN/qpscope-nldev-stat" bind mlx5_0 1 103 2>/dev/null) == EPERM ]] ||
    die 'an unprivileged bind is not refused'

say '-- released'
is '' unbind mlx5_0 1 100 1
is '' unbind mlx5_0 1 101 1
is '' unbind mlx5_0 1 102 2
is 'none 0' mode mlx5_0 1
[[ $(sim show mlx5_0 sets | wc -l) -eq 1 ]] || die 'a set was left'
[[ $(hw_counter mlx5_0 packet_seq_err) -eq 6 ]] || die 'the port forgot what the sets counted'

say '-- automatic'
sim set mlx5_0 max_sets 255
is '' auto mlx5_0 1 3
is 'auto 3' mode mlx5_0 1
is EINVAL bind mlx5_0 1 103
"$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 2 >"$STATE/second" 2>&1 &
second=$!
wait_for 10 "grep -q ^held '$STATE/second'" 'another process holds QPs 104 and 105'
[[ $(stat sets mlx5_0 | grep ^set) == "set 1 port 1 mode auto type RC pid $second lqpn 104 105" ]] || die "automatic set: $(stat sets mlx5_0)"
is EBUSY auto mlx5_0 1 1
is '' auto mlx5_0 1 0
is 'manual 0' mode mlx5_0 1 # since the set lives on
kill -TERM "$holder" "$second"
wait "$holder" "$second" || die 'qp-hold failed'
is 'none 0' mode mlx5_0 1

say '-- a set with more members than fit into a message ends the dump, and the next one works'
"$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 3000 >"$STATE/many" 2>&1 &
many=$!
wait_for 30 "grep -q ^held '$STATE/many'" 'a process holds 3,000 QPs'
is 1 bind mlx5_0 1 100
for ((qpn = 101; qpn < 3100; qpn++)); do echo "statistic qp bind link mlx5_0/1 lqpn $qpn cntn 1"; done >"$STATE/batch"
(ulimit -n 8192 && exec rdma -b "$STATE/batch") || die 'rdma does not bind them'
sim forget mlx5_0
stat sets mlx5_0 >"$STATE/dump" 2>"$STATE/error" && die 'a dump that is cut off succeeds'
grep -q 'more queue pairs than fit' "$STATE/error" || die "wrong error: $(cat "$STATE/error")"
[[ $(sim asked mlx5_0 set_read) -le 4 ]] || die "the dump read the set $(sim asked mlx5_0 set_read) times"
is EMSGSIZE set mlx5_0 1 1
is 'manual 0' mode mlx5_0 1
kill -TERM "$many"
wait "$many" || die 'qp-hold failed'
sim unload || die 'mlx5sim does not unload'

say '-- a port without statistics'
sim load switchdev=1 || die 'mlx5sim does not load again'
is EOPNOTSUPP auto mlx5_0 1 2
is 'none 0' mode mlx5_0 1
sim unload || die 'mlx5sim does not unload'
