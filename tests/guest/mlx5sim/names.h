/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of all counters of a port, in the order of mlx5 (mlx5_ib/counters.c, mlx5_ib/mad.c, mlx5 en_stats.c of 6.12).
 * X(name), or X(name, when a netdev statistic is shown).
 */
#ifndef MLX5SIM_NAMES_H
#define MLX5SIM_NAMES_H

/* Q counters: 32 bits in the hardware, one value for each counter set. */
#define SIM_Q_COUNTERS(X) \
	X(rx_write_requests) X(rx_read_requests) X(rx_atomic_requests) X(rx_dct_connect) X(out_of_buffer) \
	X(out_of_sequence) \
	X(duplicate_request) X(rnr_nak_retry_err) X(packet_seq_err) X(implied_nak_seq_err) X(local_ack_timeout_err) \
	X(resp_local_length_error) X(resp_cqe_error) X(req_cqe_error) X(req_remote_invalid_request) \
	X(req_remote_access_errors) X(resp_remote_access_errors) X(resp_cqe_flush_error) X(req_cqe_flush_error) \
	X(req_transport_retries_exceeded) X(req_rnr_retries_exceeded) \
	X(roce_adp_retrans) X(roce_adp_retrans_to) X(roce_slow_restart) X(roce_slow_restart_cnps) \
	X(roce_slow_restart_trans)

/* Congestion and extended counters: 64 bits, of the port only. */
#define SIM_CONG_COUNTERS(X) \
	X(rp_cnp_ignored) X(rp_cnp_handled) X(np_ecn_marked_roce_packets) X(np_cnp_sent) X(rx_icrc_encapsulated)

/* Optional counters: off until switched on by netlink, never in sysfs. */
#define SIM_OPTIONAL_COUNTERS(X) \
	X(cc_rx_ce_pkts) X(cc_rx_cnp_pkts) X(cc_tx_cnp_pkts) \
	X(rdma_tx_packets) X(rdma_tx_bytes) X(rdma_rx_packets) X(rdma_rx_bytes)

/* PortCounters, X(name, width): those below 64 bits stay at their largest value. */
#define SIM_PMA_COUNTERS(X) \
	X(symbol_error, 16) X(link_error_recovery, 8) X(link_downed, 8) X(port_rcv_errors, 16) \
	X(port_rcv_remote_physical_errors, 16) X(port_rcv_switch_relay_errors, 16) X(port_xmit_discards, 16) \
	X(port_xmit_constraint_errors, 8) X(port_rcv_constraint_errors, 8) X(local_link_integrity_errors, 4) \
	X(excessive_buffer_overrun_errors, 4) X(VL15_dropped, 16) X(port_xmit_data, 64) X(port_rcv_data, 64) \
	X(port_xmit_packets, 64) X(port_xmit_wait, 32) X(port_rcv_packets, 64) X(unicast_rcv_packets, 64) \
	X(unicast_xmit_packets, 64) X(multicast_rcv_packets, 64) X(multicast_xmit_packets, 64)

#define SIM_SHOWN_ALWAYS (-1)
#define SIM_SHOWN_GLOBAL_PAUSE 8 /* 0 to 7: with PFC on this priority */

#define SIM_FOR_EACH_PRIO(M, X) M(X, 0) M(X, 1) M(X, 2) M(X, 3) M(X, 4) M(X, 5) M(X, 6) M(X, 7)

#define SIM_PRIO_TRAFFIC(X, p) \
	X(rx_prio##p##_bytes, SIM_SHOWN_ALWAYS) X(rx_prio##p##_packets, SIM_SHOWN_ALWAYS) \
	X(rx_prio##p##_discards, SIM_SHOWN_ALWAYS) X(tx_prio##p##_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_prio##p##_packets, SIM_SHOWN_ALWAYS)

#define SIM_PRIO_PAUSE(X, p) \
	X(rx_prio##p##_pause, p) X(rx_prio##p##_pause_duration, p) \
	X(tx_prio##p##_pause, p) X(tx_prio##p##_pause_duration, p) X(rx_prio##p##_pause_transition, p)

#define SIM_PRIO_CONGESTION(X, p) \
	X(rx_prio##p##_cong_discard, SIM_SHOWN_ALWAYS) X(rx_prio##p##_marked, SIM_SHOWN_ALWAYS)

#define SIM_PRIO_BUFFER(X, p) X(rx_prio##p##_buf_discard, SIM_SHOWN_ALWAYS)

/* Statistics of the netdev (ethtool -S); those of single rings are left out. */
#define SIM_ETHTOOL_COUNTERS(X) \
	X(rx_packets, SIM_SHOWN_ALWAYS) X(rx_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_packets, SIM_SHOWN_ALWAYS) X(tx_bytes, SIM_SHOWN_ALWAYS) \
	X(rx_ecn_mark, SIM_SHOWN_ALWAYS) X(tx_queue_dropped, SIM_SHOWN_ALWAYS) X(rx_buff_alloc_err, SIM_SHOWN_ALWAYS) \
	X(rx_out_of_buffer, SIM_SHOWN_ALWAYS) X(rx_if_down_packets, SIM_SHOWN_ALWAYS) \
	X(rx_steer_missed_packets, SIM_SHOWN_ALWAYS) X(rx_oversize_pkts_buffer, SIM_SHOWN_ALWAYS) \
	X(rx_vport_unicast_packets, SIM_SHOWN_ALWAYS) X(rx_vport_unicast_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_vport_unicast_packets, SIM_SHOWN_ALWAYS) X(tx_vport_unicast_bytes, SIM_SHOWN_ALWAYS) \
	X(rx_vport_multicast_packets, SIM_SHOWN_ALWAYS) X(rx_vport_multicast_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_vport_multicast_packets, SIM_SHOWN_ALWAYS) X(tx_vport_multicast_bytes, SIM_SHOWN_ALWAYS) \
	X(rx_vport_broadcast_packets, SIM_SHOWN_ALWAYS) X(rx_vport_broadcast_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_vport_broadcast_packets, SIM_SHOWN_ALWAYS) X(tx_vport_broadcast_bytes, SIM_SHOWN_ALWAYS) \
	X(rx_vport_rdma_unicast_packets, SIM_SHOWN_ALWAYS) X(rx_vport_rdma_unicast_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_vport_rdma_unicast_packets, SIM_SHOWN_ALWAYS) X(tx_vport_rdma_unicast_bytes, SIM_SHOWN_ALWAYS) \
	X(rx_vport_rdma_multicast_packets, SIM_SHOWN_ALWAYS) X(rx_vport_rdma_multicast_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_vport_rdma_multicast_packets, SIM_SHOWN_ALWAYS) X(tx_vport_rdma_multicast_bytes, SIM_SHOWN_ALWAYS) \
	X(tx_packets_phy, SIM_SHOWN_ALWAYS) X(rx_packets_phy, SIM_SHOWN_ALWAYS) \
	X(rx_crc_errors_phy, SIM_SHOWN_ALWAYS) X(tx_bytes_phy, SIM_SHOWN_ALWAYS) X(rx_bytes_phy, SIM_SHOWN_ALWAYS) \
	X(tx_multicast_phy, SIM_SHOWN_ALWAYS) X(tx_broadcast_phy, SIM_SHOWN_ALWAYS) \
	X(rx_multicast_phy, SIM_SHOWN_ALWAYS) X(rx_broadcast_phy, SIM_SHOWN_ALWAYS) \
	X(rx_in_range_len_errors_phy, SIM_SHOWN_ALWAYS) X(rx_out_of_range_len_phy, SIM_SHOWN_ALWAYS) \
	X(rx_oversize_pkts_phy, SIM_SHOWN_ALWAYS) X(rx_symbol_err_phy, SIM_SHOWN_ALWAYS) \
	X(tx_mac_control_phy, SIM_SHOWN_ALWAYS) X(rx_mac_control_phy, SIM_SHOWN_ALWAYS) \
	X(rx_unsupported_op_phy, SIM_SHOWN_ALWAYS) X(rx_pause_ctrl_phy, SIM_SHOWN_ALWAYS) \
	X(tx_pause_ctrl_phy, SIM_SHOWN_ALWAYS) \
	X(rx_discards_phy, SIM_SHOWN_ALWAYS) X(tx_discards_phy, SIM_SHOWN_ALWAYS) X(tx_errors_phy, SIM_SHOWN_ALWAYS) \
	X(rx_undersize_pkts_phy, SIM_SHOWN_ALWAYS) X(rx_fragments_phy, SIM_SHOWN_ALWAYS) \
	X(rx_jabbers_phy, SIM_SHOWN_ALWAYS) \
	X(link_down_events_phy, SIM_SHOWN_ALWAYS) X(rx_pcs_symbol_err_phy, SIM_SHOWN_ALWAYS) \
	X(rx_corrected_bits_phy, SIM_SHOWN_ALWAYS) \
	X(rx_err_lane_0_phy, SIM_SHOWN_ALWAYS) X(rx_err_lane_1_phy, SIM_SHOWN_ALWAYS) \
	X(rx_err_lane_2_phy, SIM_SHOWN_ALWAYS) X(rx_err_lane_3_phy, SIM_SHOWN_ALWAYS) \
	X(rx_buffer_passed_thres_phy, SIM_SHOWN_ALWAYS) \
	X(rx_pci_signal_integrity, SIM_SHOWN_ALWAYS) X(tx_pci_signal_integrity, SIM_SHOWN_ALWAYS) \
	X(outbound_pci_buffer_overflow, SIM_SHOWN_ALWAYS) \
	X(outbound_pci_stalled_rd, SIM_SHOWN_ALWAYS) X(outbound_pci_stalled_wr, SIM_SHOWN_ALWAYS) \
	X(outbound_pci_stalled_rd_events, SIM_SHOWN_ALWAYS) X(outbound_pci_stalled_wr_events, SIM_SHOWN_ALWAYS) \
	SIM_FOR_EACH_PRIO(SIM_PRIO_TRAFFIC, X) \
	SIM_FOR_EACH_PRIO(SIM_PRIO_PAUSE, X) \
	X(rx_global_pause, SIM_SHOWN_GLOBAL_PAUSE) X(rx_global_pause_duration, SIM_SHOWN_GLOBAL_PAUSE) \
	X(tx_global_pause, SIM_SHOWN_GLOBAL_PAUSE) X(tx_global_pause_duration, SIM_SHOWN_GLOBAL_PAUSE) \
	X(rx_global_pause_transition, SIM_SHOWN_GLOBAL_PAUSE) \
	X(tx_pause_storm_warning_events, SIM_SHOWN_ALWAYS) X(tx_pause_storm_error_events, SIM_SHOWN_ALWAYS) \
	X(module_unplug, SIM_SHOWN_ALWAYS) X(module_bus_stuck, SIM_SHOWN_ALWAYS) X(module_high_temp, SIM_SHOWN_ALWAYS) \
	X(module_bad_shorted, SIM_SHOWN_ALWAYS) \
	SIM_FOR_EACH_PRIO(SIM_PRIO_BUFFER, X) \
	SIM_FOR_EACH_PRIO(SIM_PRIO_CONGESTION, X)

#endif
