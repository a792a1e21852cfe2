#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LIMIT: 100
# The look-alike of mlx5 does what its README says: names, widths, faults, counter sets, asks, coming and going. No daemon here.
# shellcheck source=tests/guest/scenarios/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/guest/mlx5sim/ctl.sh
. "$GUEST_DIR/mlx5sim/ctl.sh"

[[ -s $(sim_module) ]] || skip "no mlx5sim.ko for $(uname -r): tests/guest/mlx5sim/build.sh $GUEST_KERNEL builds it"
[[ -x $QPSCOPE_BIN/qpscope-qp-hold ]] || skip "no qpscope-qp-hold in $QPSCOPE_BIN"

class=/sys/class/infiniband
hw() { cat "$class/$1/ports/${3:-1}/hw_counters/$2"; }
pma() { cat "$class/$1/ports/${3:-1}/counters/$2"; }
is() { [[ $1 == "$2" ]] || die "$3: want \"$2\", got \"$1\""; }
words() { tr -s '[:space:]' '[\n*]'; } # one a line
# fresh_hw DEVICE NAME: past the 10 ms for which the kernel keeps what it read.
fresh_hw() { sleep 0.03; hw "$@"; }
# holder NAME COUNT: a process that holds so many QPs on port 1 of mlx5_0; its pid in HOLDER.
holder() {
    "$QPSCOPE_BIN/qpscope-qp-hold" mlx5_0 "$2" >"$STATE/$1" 2>&1 &
    HOLDER=$!
    wait_for 10 "grep -q ^held '$STATE/$1'" "$1 holds: $2"
}
# reader FILE: reads it in the background; its pid in READER.
reader() { cat "$1" >"$STATE/read" 2>&1 & READER=$!; }
gone() { ! kill -0 "$1" 2>/dev/null; }
waits() { grep -q "^State:[[:space:]]*D" "/proc/$1/status"; }

[[ $(sim load nonsense=1 devices=99 2>&1) ]] || die 'devices=99 was accepted'
sim load devices=2 ports=2 || die 'mlx5sim does not load'

say '-- identity, ports, names'
for device in mlx5_0 mlx5_1; do
    is "$(cat $class/$device/ports/2/state)" '4: ACTIVE' "$device state"
    is "$(cat $class/$device/ports/1/phys_state)" '5: LinkUp' "$device phys_state"
    is "$(cat $class/$device/ports/1/rate)" '400 Gb/sec (4X NDR)' "$device rate"
    is "$(cat $class/$device/ports/1/link_layer)" Ethernet "$device link layer"
done
[[ $(cat $class/mlx5_0/node_guid) != "$(cat $class/mlx5_1/node_guid)" ]] || die 'two devices have one GUID'
is "$(cat $class/mlx5_0/fw_ver)" 28.39.1002 'firmware'
is "$(cat $class/mlx5_0/board_id)" SIM_0000000838 'board'
is "$(cat $class/mlx5_0/ports/2/gid_attrs/ndevs/0)" sim0p2 'netdev of GID 0'
[[ -e $class/mlx5_0/device/net/sim0p1 ]] || die 'device and netdev have no common parent'
ip addr add 10.9.0.1/24 dev sim0p1
wait_for 5 "grep -q ':ffff:0a09:0001$' $class/mlx5_0/ports/1/gids/*" 'the address is a GID'
want='rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer out_of_sequence duplicate_request
rnr_nak_retry_err packet_seq_err implied_nak_seq_err local_ack_timeout_err resp_local_length_error resp_cqe_error req_cqe_error
req_remote_invalid_request req_remote_access_errors resp_remote_access_errors resp_cqe_flush_error req_cqe_flush_error
req_transport_retries_exceeded req_rnr_retries_exceeded roce_adp_retrans roce_adp_retrans_to roce_slow_restart
roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_ignored rp_cnp_handled np_ecn_marked_roce_packets np_cnp_sent
rx_icrc_encapsulated'
names=$(rdma statistic show link mlx5_0/1 | words | grep -E '^[a-z].*_' | grep -v ^mlx5_)
is "$(echo "$names" | xargs)" "$(echo "$want" | xargs)" 'names and order in netlink'
is "$(find $class/mlx5_0/ports/1/hw_counters -type f -printf '%f\n' | sort | xargs)" "$(echo "$want lifespan" | words | sort | xargs)" 'hw_counters/'
is "$(find $class/mlx5_0/ports/1/counters -type f | wc -l)" 21 'files in counters/'
sim set mlx5_0/2 rate '2X HDR'
is "$(cat $class/mlx5_0/ports/2/rate)" '100 Gb/sec (2X HDR)' 'rate set'
sim link mlx5_0/2 down
is "$(cat $class/mlx5_0/ports/2/state) $(cat $class/mlx5_0/ports/2/phys_state)" '1: DOWN 3: Disabled' 'link down'
is "$(cat /sys/class/net/sim0p2/carrier)" 0 'carrier'
sim link mlx5_0/2 up

say '-- counters: set, wrap, saturate, grow, reset'
sim count mlx5_0/1 packet_seq_err 4294967306
is "$(fresh_hw mlx5_0 packet_seq_err)" 10 'a Q counter wraps'
is "$(sim count mlx5_0/1 packet_seq_err)" 4294967306 'its truth'
is "$(hw mlx5_0 packet_seq_err 2)$(hw mlx5_1 packet_seq_err)" 00 'other ports'
sim count mlx5_0/1 np_cnp_sent 4294967306
is "$(fresh_hw mlx5_0 np_cnp_sent)" 4294967306 'a congestion counter does not wrap'
while read -r name value reported; do
    sim count mlx5_0/1 "$name" "$value"
    is "$(pma mlx5_0 "$name")" "$reported" "$name"
done <<'LIST'
symbol_error 70000 65535
link_downed 300 255
local_link_integrity_errors 16 15
excessive_buffer_overrun_errors 7 7
port_xmit_wait 4294967296 4294967295
port_xmit_data 1099511627776 1099511627776
multicast_rcv_packets 18446744073709551615 18446744073709551615
LIST
sim rate mlx5_0/1 port_rcv_data 50000000000
sim rate mlx5_0/1 rx_write_requests 1000
sleep 1
sim stop mlx5_0
first=$(pma mlx5_0 port_rcv_data) writes=$(fresh_hw mlx5_0 rx_write_requests)
[[ $first -gt 50000000000 && $first -lt 250000000000 ]] || die "port_rcv_data grew to $first"
[[ $writes -ge 1000 && $writes -lt 5000 ]] || die "rx_write_requests grew to $writes"
is "$(pma mlx5_0 port_rcv_data)" "$first" 'stopped'
sim reset mlx5_0
is "$(fresh_hw mlx5_0 packet_seq_err) $(pma mlx5_0 symbol_error) $(pma mlx5_0 port_rcv_data)" '0 0 0' 'reset'

say '-- asked'
sim forget mlx5_0
fresh_hw mlx5_0 rx_write_requests >/dev/null
hw mlx5_0 rx_read_requests >/dev/null # within the lifespan, thanks to the first
pma mlx5_0 symbol_error >/dev/null
cat $class/mlx5_0/ports/1/rate >/dev/null
is "$(sim asked mlx5_0 port_counters) $(sim asked mlx5_0 query_port)" '1 1' 'asks for counters/ and rate'
asks=$(sim asked mlx5_0 hw_counters)
[[ $asks -eq 1 || $asks -eq 2 ]] || die "two reads of hw_counters asked $asks times" # 2 where the machine is slow
sim forget mlx5_0
is "$(sim asked mlx5_0 | awk '{ sum += $2 } END { print sum }')" 0 'forgotten'

say '-- faults'
sim set mlx5_0 log_failures 1
sim fail mlx5_0 5
error=$(fresh_hw mlx5_0 out_of_buffer 2>&1) && die 'a failing read succeeds'
[[ $error == *'Input/output error'* ]] || die "wrong error: $error"
error=$(pma mlx5_0 symbol_error 2>&1) && die 'a failing MAD succeeds'
[[ $error == *'Invalid argument'* ]] || die "wrong error: $error"
is "$(hw mlx5_1 out_of_buffer)" 0 'the other device'
sim fail mlx5_0 67 hw_counters # ENOLINK
error=$(fresh_hw mlx5_0 out_of_buffer 2>&1) && die 'a failing read succeeds'
[[ $error == *'Link has been severed'* ]] || die "wrong error: $error"
is "$(pma mlx5_0 symbol_error)" 0 'only hw_counters fail'
dmesg | grep -q 'mlx5sim: mlx5_0: hw_counters failed with -67' || die 'no line in the log'
sim fail mlx5_0 0
is "$(fresh_hw mlx5_0 out_of_buffer)" 0 'no failure any more'
sim hang mlx5_0 killable hw_counters port_counters
reader $class/mlx5_0/ports/1/hw_counters/out_of_buffer
wait_for 5 'waits $READER' 'a killable read hangs'
kill -KILL "$READER"
wait_for 5 'gone $READER' 'a killable read is killed'
reader $class/mlx5_0/ports/1/hw_counters/out_of_buffer
wait_for 5 'waits $READER' 'a killable read hangs'
sim hang mlx5_0 no
wait "$READER" || die 'a read that was let go failed'
is "$(cat "$STATE/read")" 0 'a read that was let go'
sim hang mlx5_0 uninterruptible
reader $class/mlx5_0/ports/2/counters/symbol_error
wait_for 5 'waits $READER' 'an uninterruptible read hangs'
kill -KILL "$READER"
sleep 0.5
! gone "$READER" || die 'an uninterruptible read was killed'
sim hang mlx5_0 no
wait_for 5 'gone $READER' 'an uninterruptible read ends when it is let go'

say '-- queue pairs, counter sets'
# qps PATTERN PATTERN: how many QPs of port 1 show both.
qps() { rdma resource show qp link mlx5_0/1 | grep -E "$1" | grep -c "$2" || true; }
# set_value ID NAME: of a counter set, as netlink tells it.
set_value() { rdma statistic qp show link mlx5_0/1 cntn "$1" | words | grep -A1 "^$2\$" | tail -n 1; }
is "$(qps 'type GSI' 'lqpn 1 ')" 1 'the GSI QP of a port'
holder a 3; a=$HOLDER
holder b 2; b=$HOLDER
is "$(cat "$STATE/a" "$STATE/b" | xargs)" 'held 100 101 102 held 103 104' 'numbers'
is "$(qps "pid $a " 'state RTS')" 3 'QPs of a'
is "$(rdma resource show qp link mlx5_0/1 lqpn 103 | grep -oE 'rqpn [0-9]+|rq-psn [0-9]+|sq-psn [0-9]+' | xargs)" 'rqpn 103 rq-psn 100 sq-psn 200' 'query_qp'
sim traffic mlx5_0 103 sq_psn add 16777215
is "$(rdma resource show qp link mlx5_0/1 lqpn 103 | grep -oE ' sq-psn [0-9]+')" ' sq-psn 199' 'a PSN moves and wraps'
sim forget mlx5_0
sim traffic mlx5_0 100 packet_seq_err add 7 # in no set
rdma statistic qp bind link mlx5_0/1 lqpn 100
for qpn in 101 103 104; do rdma statistic qp bind link mlx5_0/1 lqpn "$qpn" cntn 1; done
is "$(sim show mlx5_0 sets | awk '$1 == 1 { print $3 }')" 4 'QPs of two processes in set 1'
rdma statistic qp show link mlx5_0/1 | grep -q 'LQPN: <100,101,103,104>' || die "wrong members: $(rdma statistic qp show link mlx5_0/1)"
sim traffic mlx5_0 100 packet_seq_err add 4294967295
sim traffic mlx5_0 104 packet_seq_err add 11
sim traffic mlx5_0 102 packet_seq_err add 100 # in no set
sim traffic mlx5_0 104 np_cnp_sent add 5      # a set has none
is "$(set_value 1 packet_seq_err)" 10 'the set wraps'
is "$(set_value 1 np_cnp_sent)" 0 'CNPs of a set'
is "$(sim show mlx5_0 sets | grep -o 'packet_seq_err=[0-9]*')" packet_seq_err=4294967306 "the set's truth"
is "$(fresh_hw mlx5_0 packet_seq_err)" 117 'default set + set'
is "$(fresh_hw mlx5_0 np_cnp_sent)" 5 'CNPs of the port'
is "$(sim asked mlx5_0 set_alloc) $(sim asked mlx5_0 set_bind)" '1 4' 'asks for sets'
rdma statistic qp unbind link mlx5_0/1 cntn 1 lqpn 101
is "$(sim asked mlx5_0 set_unbind) $(sim show mlx5_0 qps | awk '$2 == 101 { print $8 }')" '1 0' 'unbound'
sim traffic mlx5_0 101 packet_seq_err add 1000
kill -TERM "$a"
wait "$a" || die 'qp-hold a failed'
is "$(sim show mlx5_0 sets | awk '$1 == 1 { print $3 }')" 2 'the set lives on'
sim traffic mlx5_0 103 packet_seq_err rate 1000
sleep 0.3
sim stop mlx5_0
total=$(fresh_hw mlx5_0 packet_seq_err)
[[ $total -gt 1117 ]] || die "a rate does not reach the port: $total"
kill -KILL "$b"
wait "$b" || true
wait_for 5 '[[ $(sim show mlx5_0 sets | wc -l) -eq 1 ]]' 'the set went with its last QP'
is "$(fresh_hw mlx5_0 packet_seq_err)" "$total" 'the port remembers what the set counted'
is "$(sim show mlx5_0/1 truth | awk '$1 == "packet_seq_err" { print $4 - 4294967296 }')" "$total" 'truth'
is "$(sim show mlx5_0 ledger | awk '$2 == 100 { print $7, $8 }')" '4294967302 7' 'ledger of QP 100'
is "$(sim show mlx5_0 ledger | awk '$2 == 101 { print $5, $8 }')" 'gone 1000' 'ledger of QP 101'
is "$(sim asked mlx5_0 set_dealloc) $(sim asked mlx5_0 destroy_qp)" '1 5' 'asks at the end'
rdma statistic qp set link mlx5_0/1 auto pid on
holder c 2; c=$HOLDER
rdma statistic qp show link mlx5_0/1 | words | xargs | grep -q "pid $c .*LQPN: <100,101>" || die 'auto mode does not bind'
sim set mlx5_0 max_sets 1
holder d 1; d=$HOLDER
is "$(sim show mlx5_0 qps | awk '$2 == 102 { print $8 }')" 0 'no set left'
sim set mlx5_0 max_sets 255
rdma statistic qp set link mlx5_0/1 auto off
sim set mlx5_0 qp_error 100
is "$(rdma resource show qp link mlx5_0/1 lqpn 100 | grep -o ' state [A-Z]*')" ' state ERR' 'a QP that the hardware gave up'
say '-- a number is used again before its old owner has gone'
sim set mlx5_0 destroy_delay_ms 4000
kill -TERM "$d"
wait_for 5 '! sim show mlx5_0 qps | grep -q " 102 "' 'QP 102 is free'
holder e 1; e=$HOLDER
is "$(cat "$STATE/e")" 'held 102' 'the new QP'
! gone "$d" || die 'the old owner has gone already'
is "$(qps 'lqpn 102 ' "pid")" 0 'the kernel does not track a QP whose number its old owner still holds'
wait "$d" || die 'qp-hold d failed'
sim set mlx5_0 destroy_delay_ms 0

say '-- the device goes and comes'
sim remove mlx5_0
[[ ! -e $class/mlx5_0 ]] || die 'still there'
kill -TERM "$c" "$e"
wait "$c" "$e" || die 'qp-hold failed after its device had gone'
sim count mlx5_0/1 out_of_buffer 77
sim add mlx5_0
is "$(hw mlx5_0 out_of_buffer)" 77 'counters outlive the device'
is "$(cat $class/mlx5_0/ports/2/gid_attrs/ndevs/0)" sim0p2 'netdev of GID 0'
holder f 1; f=$HOLDER
kill -TERM "$f"
wait "$f" || die 'qp-hold f failed'

say '-- netdev, DCB, DCQCN, optional counters'
dcb pfc set dev sim0p1 prio-pfc all:off 3:on
sim count mlx5_0/1 rx_prio3_pause 33
sim count mlx5_0/1 tx_prio3_pause 44
is "$(dcb -s pfc show dev sim0p1 requests indications | grep -oE '3:[0-9]+' | xargs)" '3:44 3:33' 'PFC frames by DCB'
if type -P ethtool >/dev/null; then
    sim forget mlx5_0
    is "$(ethtool -S sim0p1 | grep -E '_(prio.|global)_pause:' | xargs)" 'rx_prio3_pause: 33 tx_prio3_pause: 44' 'pause counters'
    is "$(sim asked mlx5_0 ethtool)" 1 'asks of ethtool'
    sim pfc mlx5_0/1 0x10
    is "$(ethtool -S sim0p1 | grep -E '_(prio.|global)_pause:' | xargs)" 'rx_prio4_pause: 0 tx_prio4_pause: 0' 'PFC moved'
    sim pfc mlx5_0/1 0
    ethtool -A sim0p1 rx on
    is "$(ethtool -S sim0p1 | grep -cE '_(prio.|global)_pause')" 5 'global pause'
    is "$(ethtool -i sim0p1 | grep ^driver)" 'driver: mlx5_core' 'driver'
fi
is "$(cat /sys/kernel/debug/mlx5/mlx5sim.0/cc_params/np_cnp_dscp)" 48 'DCQCN'
is "$(sim asked mlx5_0 cc_params)" 1 'asks for DCQCN'
rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts
sim count mlx5_0/1 cc_rx_ce_pkts 9
is "$(rdma statistic show link mlx5_0/1 | words | grep -A1 '^cc_rx_ce_pkts$' | tail -n 1)" 9 'an optional counter'

say '-- unload'
sim hang mlx5_1 uninterruptible hw_counters
reader $class/mlx5_1/ports/1/hw_counters/out_of_buffer
wait_for 5 'waits $READER' 'a read hangs'
sim unload || die 'mlx5sim does not unload'
wait "$READER" || true
for path in $class/mlx5_0 /sys/class/net/sim0p1 /sys/kernel/debug/mlx5sim /sys/kernel/debug/mlx5/mlx5sim.0 /sys/bus/platform/devices/mlx5sim.0; do
    [[ ! -e $path ]] || die "left: $path"
done

say '-- below a PCI device, in switchdev mode'
address=$(basename "$(find /sys/bus/pci/devices -mindepth 1 | sort | tail -n 1)")
sim load pci="$address" switchdev=1 || die 'mlx5sim does not load again'
is "$(basename "$(readlink -f $class/mlx5_0/device)") $(basename "$(readlink -f /sys/class/net/sim0p1/device)")" "$address $address" 'parent'
[[ -e /sys/kernel/debug/mlx5/$address/cc_params/rp_gd ]] || die 'DCQCN is not at the PCI address'
is "$(cat $class/mlx5_0/hw_counters/out_of_buffer)" 0 'a counter of the device'
[[ ! -e $class/mlx5_0/ports/1/hw_counters ]] || die 'hw_counters of a port in switchdev mode'
sim unload || die 'mlx5sim does not unload'
[[ ! -e $class/mlx5_0 ]] || die 'left'
! dmesg | grep -E 'WARNING:|BUG:|Call Trace|blocked for more' || die "the kernel complains"
