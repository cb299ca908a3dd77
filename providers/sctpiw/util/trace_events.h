/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of trace events. It has no include guard: it is included several times, each time with
 * other definitions of three macros.
 *
 *   TRACE_EVENT(id, category, type, level, line, doc) begins an event. Its name is id in code, and
 *       "category:type" in a trace. If level is LOG, `--log debug` prints the event as the line, in
 *       which {field} stands for a value. level is QUIET for events of each packet or work request,
 *       which would flood the log.
 *   TRACE_FIELD(id, kind, field, key, doc) adds a field. Its name is field in code, and key in a
 *       trace; "raw.length" is the member length of the object raw. Fields of the same object stand
 *       side by side.
 *   TRACE_END(id) ends the event.
 *
 * Kinds: NUMBER, SIGNED (always known), HEX (8 digits), QPN (a QP number, 6 digits), TIME
 * (nanoseconds; milliseconds in a trace), FLAG, TEXT and ADDR (struct ip_addr). An unknown value is
 * TRACE_NONE, or NULL, and is left out. An event has up to 11 fields. If QUIC has an event or field
 * with the same meaning (draft-ietf-quic-qlog-quic-events), the name is the same. So tools for QUIC
 * can draw these traces.
 *
 * `build/bin/test_trace --events` prints docs/trace-events.md from this file.
 */

/* clang-format off */

/* ---- transport: packets ---- */

TRACE_EVENT(packet_sent, transport, packet_sent, QUIET, "", "an SCTP packet was handed to the carrier")
TRACE_FIELD(packet_sent, HEX, assoc, "assoc", "the association: the verification tag that the local side chose")
TRACE_FIELD(packet_sent, ADDR, remote, "remote", "the peer's address")
TRACE_FIELD(packet_sent, TEXT, chunks, "header.packet_type", "types of the chunks")
TRACE_FIELD(packet_sent, NUMBER, first_tsn, "header.packet_number", "TSN of the first DATA chunk")
TRACE_FIELD(packet_sent, NUMBER, bytes, "raw.length", "bytes with the common header")
TRACE_FIELD(packet_sent, NUMBER, payload, "raw.payload_length", "bytes of the DATA chunks")
TRACE_FIELD(packet_sent, NUMBER, last_tsn, "last_tsn", "TSN of the last DATA chunk")
TRACE_FIELD(packet_sent, NUMBER, n_chunks, "chunks", "number of chunks")
TRACE_FIELD(packet_sent, NUMBER, n_data, "data_chunks", "number of DATA chunks")
TRACE_FIELD(packet_sent, NUMBER, resent, "retransmissions", "number of DATA chunks that were sent before")
TRACE_END(packet_sent)

TRACE_EVENT(packet_received, transport, packet_received, QUIET, "", "an SCTP packet of an association arrived")
TRACE_FIELD(packet_received, HEX, assoc, "assoc", "the association")
TRACE_FIELD(packet_received, ADDR, remote, "remote", "the peer's address")
TRACE_FIELD(packet_received, TEXT, chunks, "header.packet_type", "types of the chunks")
TRACE_FIELD(packet_received, NUMBER, first_tsn, "header.packet_number", "TSN of the first DATA chunk")
TRACE_FIELD(packet_received, NUMBER, bytes, "raw.length", "bytes with the common header")
TRACE_FIELD(packet_received, NUMBER, payload, "raw.payload_length", "bytes of the DATA chunks")
TRACE_FIELD(packet_received, NUMBER, last_tsn, "last_tsn", "TSN of the last DATA chunk")
TRACE_FIELD(packet_received, NUMBER, n_chunks, "chunks", "number of chunks")
TRACE_FIELD(packet_received, NUMBER, n_data, "data_chunks", "number of DATA chunks")
TRACE_END(packet_received)

TRACE_EVENT(sack_sent, transport, sack_sent, QUIET, "", "a SACK is in the packet that was sent")
TRACE_FIELD(sack_sent, HEX, assoc, "assoc", "the association")
TRACE_FIELD(sack_sent, NUMBER, cum_tsn, "cum_tsn", "cumulative TSN")
TRACE_FIELD(sack_sent, NUMBER, gaps, "gaps", "number of gap blocks")
TRACE_FIELD(sack_sent, NUMBER, duplicates, "duplicates", "number of duplicate TSNs")
TRACE_FIELD(sack_sent, NUMBER, rwnd, "rwnd", "the local receive window, bytes")
TRACE_END(sack_sent)

TRACE_EVENT(sack_received, transport, sack_received, QUIET, "", "a SACK is in the packet that arrived")
TRACE_FIELD(sack_received, HEX, assoc, "assoc", "the association")
TRACE_FIELD(sack_received, NUMBER, cum_tsn, "cum_tsn", "cumulative TSN")
TRACE_FIELD(sack_received, NUMBER, gaps, "gaps", "number of gap blocks")
TRACE_FIELD(sack_received, NUMBER, duplicates, "duplicates", "number of duplicate TSNs")
TRACE_FIELD(sack_received, NUMBER, rwnd, "rwnd", "the peer's receive window, bytes")
TRACE_END(sack_received)

/* ---- recovery ---- */

TRACE_EVENT(metrics, recovery, metrics_updated, QUIET, "", "a SACK, a timeout or a change of path has changed one of these values")
TRACE_FIELD(metrics, HEX, assoc, "assoc", "the association")
TRACE_FIELD(metrics, NUMBER, cwnd, "congestion_window", "bytes")
TRACE_FIELD(metrics, NUMBER, ssthresh, "ssthresh", "bytes; left out before the first loss")
TRACE_FIELD(metrics, NUMBER, flight, "bytes_in_flight", "bytes of DATA chunks that are outstanding: neither acknowledged nor lost")
TRACE_FIELD(metrics, TIME, srtt, "smoothed_rtt", "ms; left out before the first measurement")
TRACE_FIELD(metrics, TIME, rttvar, "rtt_variance", "ms")
TRACE_FIELD(metrics, TIME, min_rtt, "min_rtt", "ms")
TRACE_FIELD(metrics, TIME, rto, "rto", "ms until T3 expires")
TRACE_FIELD(metrics, NUMBER, rwnd, "peer_rwnd", "the peer's receive window, bytes")
TRACE_END(metrics)

TRACE_EVENT(packet_lost, recovery, packet_lost, QUIET, "", "a DATA chunk is considered lost")
TRACE_FIELD(packet_lost, HEX, assoc, "assoc", "the association")
TRACE_FIELD(packet_lost, NUMBER, tsn, "header.packet_number", "TSN of the chunk")
TRACE_FIELD(packet_lost, NUMBER, bytes, "raw.length", "bytes of the chunk")
TRACE_FIELD(packet_lost, TEXT, why, "trigger", "time_threshold: the reordering time has passed; reordering_threshold: three SACKs report the chunk as missing; pto_expired: T3; path_failed; window_opened: the chunk was sent into a closed window; packet_too_big; setup_resent: the chunk followed a COOKIE ECHO that is sent again")
TRACE_END(packet_lost)

TRACE_EVENT(timer, recovery, timer_expired, QUIET, "", "a timer expired; without the timers of delayed SACKs, reordering and path MTU")
TRACE_FIELD(timer, HEX, assoc, "assoc", "the association")
TRACE_FIELD(timer, TEXT, timer, "timer_type", "setup (T1-init, T1-cookie or T2-shutdown), T3, TLP, heartbeat, window, paths or receipts")
TRACE_END(timer)

/* ---- connectivity: associations and paths ---- */

TRACE_EVENT(assoc_up, connectivity, connection_started, QUIET, "", "an association is up; not with `--llp kernel`")
TRACE_FIELD(assoc_up, HEX, assoc, "assoc", "the association")
TRACE_FIELD(assoc_up, NUMBER, port, "local_port", "local SCTP port")
TRACE_FIELD(assoc_up, ADDR, remote, "remote", "the peer's address")
TRACE_FIELD(assoc_up, NUMBER, remote_port, "remote_port", "SCTP port of the peer")
TRACE_FIELD(assoc_up, NUMBER, udp_port, "udp_port", "UDP port of the peer; 0: plain IP")
TRACE_FIELD(assoc_up, FLAG, initiator, "initiator", "whether the local side sent the INIT")
TRACE_FIELD(assoc_up, NUMBER, streams, "streams", "number of streams that the local side may send on")
TRACE_END(assoc_up)

TRACE_EVENT(assoc_ended, connectivity, connection_closed, QUIET, "", "an association is over; not with `--llp kernel`")
TRACE_FIELD(assoc_ended, HEX, assoc, "assoc", "the association")
TRACE_FIELD(assoc_ended, NUMBER, error, "error", "errno; 0: both sides closed the association")
TRACE_END(assoc_ended)

TRACE_EVENT(assoc_state, connectivity, connection_state_updated, LOG, "port {port}, {peer}: {state}", "the connection manager sees an association change")
TRACE_FIELD(assoc_state, NUMBER, port, "local_port", "local SCTP port")
TRACE_FIELD(assoc_state, TEXT, peer, "peer", "the peer's address and SCTP port")
TRACE_FIELD(assoc_state, TEXT, state, "new", "association up, aborted, restarted by the peer, or the peer shuts down")
TRACE_END(assoc_state)

TRACE_EVENT(assoc_closed, connectivity, association_closed, LOG, "port {port}: association closed", "an association and its sessions were closed by both sides")
TRACE_FIELD(assoc_closed, NUMBER, port, "local_port", "local SCTP port")
TRACE_END(assoc_closed)

TRACE_EVENT(assoc_lost, connectivity, association_lost, LOG, "port {port}: association lost, error {error}", "an association and its sessions have ended with an error")
TRACE_FIELD(assoc_lost, NUMBER, port, "local_port", "local SCTP port")
TRACE_FIELD(assoc_lost, NUMBER, error, "error", "errno")
TRACE_END(assoc_lost)

TRACE_EVENT(path_confirmed, connectivity, path_confirmed, LOG, "association {assoc}: {remote} answers", "an address that the peer listed has answered for the first time")
TRACE_FIELD(path_confirmed, HEX, assoc, "assoc", "the association")
TRACE_FIELD(path_confirmed, ADDR, remote, "remote", "the peer's address")
TRACE_END(path_confirmed)

TRACE_EVENT(path_failed, connectivity, path_failed, LOG, "association {assoc}: {remote} has not answered {errors} times", "a packet to an address of the peer was not answered in time")
TRACE_FIELD(path_failed, HEX, assoc, "assoc", "the association")
TRACE_FIELD(path_failed, ADDR, remote, "remote", "the peer's address")
TRACE_FIELD(path_failed, NUMBER, errors, "errors", "number of failures since the last answer")
TRACE_END(path_failed)

TRACE_EVENT(path_used, connectivity, path_updated, LOG, "association {assoc}: DATA goes to {remote}, {why}", "DATA goes to another address of the peer")
TRACE_FIELD(path_used, HEX, assoc, "assoc", "the association")
TRACE_FIELD(path_used, ADDR, old, "old", "the previous address")
TRACE_FIELD(path_used, ADDR, remote, "remote", "the new address")
TRACE_FIELD(path_used, TEXT, why, "trigger", "failover: the old address failed; primary: the primary address works again; known: the peer has answered at the new address, but not at the address of the first INIT")
TRACE_END(path_used)

TRACE_EVENT(path_mtu, connectivity, mtu_updated, LOG, "association {assoc}: packets of {packet} bytes to {remote}", "the largest packet of a path changes")
TRACE_FIELD(path_mtu, HEX, assoc, "assoc", "the association")
TRACE_FIELD(path_mtu, ADDR, remote, "remote", "the peer's address")
TRACE_FIELD(path_mtu, NUMBER, old, "old", "bytes of the largest SCTP packet before")
TRACE_FIELD(path_mtu, NUMBER, packet, "new", "bytes of the largest SCTP packet")
TRACE_END(path_mtu)

/* ---- session: RFC 5043, and RDMAP's Terminate ---- */

TRACE_EVENT(session_sent, session, control_sent, LOG, "QP {qp}: {message} sent on stream {sid}", "a session control message was passed to SCTP")
TRACE_FIELD(session_sent, QPN, qp, "qp", "QP number; left out while there is none")
TRACE_FIELD(session_sent, NUMBER, sid, "stream", "stream identifier")
TRACE_FIELD(session_sent, TEXT, message, "message", "Initiate, Accept, Reject or Terminate")
TRACE_END(session_sent)

TRACE_EVENT(session_received, session, control_received, LOG, "QP {qp}: {message} received on stream {sid}", "a session control message arrived")
TRACE_FIELD(session_received, QPN, qp, "qp", "QP number; left out while there is none")
TRACE_FIELD(session_received, NUMBER, sid, "stream", "stream identifier")
TRACE_FIELD(session_received, TEXT, message, "message", "Initiate, Accept, Reject or Terminate")
TRACE_END(session_received)

TRACE_EVENT(session_established, session, established, LOG, "QP {qp}: session on stream {sid}", "a session is established: the QP may send")
TRACE_FIELD(session_established, QPN, qp, "qp", "QP number")
TRACE_FIELD(session_established, NUMBER, sid, "stream", "stream identifier")
TRACE_FIELD(session_established, FLAG, active, "initiator", "whether the local side sent the Initiate")
TRACE_END(session_established)

TRACE_EVENT(terminate_sent, session, terminate_sent, LOG, "QP {qp}: Terminate sent, layer {layer}, type {type}, code {code}", "an RDMAP Terminate was passed to SCTP")
TRACE_FIELD(terminate_sent, QPN, qp, "qp", "QP number; left out if the QP is gone")
TRACE_FIELD(terminate_sent, NUMBER, sid, "stream", "stream identifier")
TRACE_FIELD(terminate_sent, NUMBER, layer, "layer", "0: RDMAP, 1: DDP, 2: the carrier of DDP (RFC 5040 4.8)")
TRACE_FIELD(terminate_sent, NUMBER, type, "type", "error type of that layer")
TRACE_FIELD(terminate_sent, NUMBER, code, "code", "error code of that type")
TRACE_END(terminate_sent)

TRACE_EVENT(terminate_received, session, terminate_received, LOG, "QP {qp}: Terminate received, layer {layer}, type {type}, code {code}", "an RDMAP Terminate was delivered")
TRACE_FIELD(terminate_received, QPN, qp, "qp", "QP number")
TRACE_FIELD(terminate_received, NUMBER, sid, "stream", "stream identifier")
TRACE_FIELD(terminate_received, NUMBER, layer, "layer", "0: RDMAP, 1: DDP, 2: the carrier of DDP (RFC 5040 4.8)")
TRACE_FIELD(terminate_received, NUMBER, type, "type", "error type of that layer")
TRACE_FIELD(terminate_received, NUMBER, code, "code", "error code of that type")
TRACE_END(terminate_received)

TRACE_EVENT(session_closed, session, closed, LOG, "QP {qp}: session on stream {sid} ends ({why}), error {error}", "a session ends on the local side")
TRACE_FIELD(session_closed, QPN, qp, "qp", "QP number; left out if the session never had a QP")
TRACE_FIELD(session_closed, NUMBER, sid, "stream", "stream identifier")
TRACE_FIELD(session_closed, TEXT, why, "trigger", "peer: a session Terminate of the peer; refused; crossed by an Initiate; association_lost; terminate: an RDMAP Terminate of the peer; failed: an error that the local side detected; qp_modified; closed and abandoned by the user")
TRACE_FIELD(session_closed, NUMBER, error, "error", "errno for the user, or 0")
TRACE_END(session_closed)

/* ---- rdma: work requests ---- */

TRACE_EVENT(wqe_posted, rdma, wqe_posted, QUIET, "", "a work request was written into a send queue")
TRACE_FIELD(wqe_posted, QPN, qp, "qp", "QP number")
TRACE_FIELD(wqe_posted, NUMBER, wr_id, "wr_id", "wr_id of the application")
TRACE_FIELD(wqe_posted, NUMBER, opcode, "opcode", "enum ibv_wr_opcode")
TRACE_FIELD(wqe_posted, NUMBER, bytes, "length", "bytes")
TRACE_END(wqe_posted)

TRACE_EVENT(wqe_started, rdma, wqe_started, QUIET, "", "the first segment of a work request was passed to SCTP, or the work request takes effect locally")
TRACE_FIELD(wqe_started, QPN, qp, "qp", "QP number")
TRACE_FIELD(wqe_started, NUMBER, wr_id, "wr_id", "wr_id of the application")
TRACE_FIELD(wqe_started, NUMBER, opcode, "opcode", "enum ibv_wr_opcode")
TRACE_FIELD(wqe_started, NUMBER, bytes, "length", "bytes")
TRACE_END(wqe_started)

TRACE_EVENT(wqe_completed, rdma, wqe_completed, QUIET, "", "a work request of a send queue has ended, with or without a completion")
TRACE_FIELD(wqe_completed, QPN, qp, "qp", "QP number")
TRACE_FIELD(wqe_completed, NUMBER, wr_id, "wr_id", "wr_id of the application")
TRACE_FIELD(wqe_completed, NUMBER, status, "status", "enum ibv_wc_status")
TRACE_END(wqe_completed)

TRACE_EVENT(completion, rdma, completion, QUIET, "", "a completion was written into a CQ")
TRACE_FIELD(completion, QPN, qp, "qp", "QP number")
TRACE_FIELD(completion, NUMBER, wr_id, "wr_id", "wr_id of the application")
TRACE_FIELD(completion, NUMBER, opcode, "opcode", "enum ibv_wc_opcode")
TRACE_FIELD(completion, NUMBER, status, "status", "enum ibv_wc_status")
TRACE_FIELD(completion, NUMBER, bytes, "length", "bytes, if the completion reports them")
TRACE_END(completion)

/* ---- cm, runtime, generic ---- */

TRACE_EVENT(cm_event, cm, event, LOG, "id {id}: event {event}, status {status}", "an event of rdma_cm was queued for the application")
TRACE_FIELD(cm_event, NUMBER, id, "id", "number of the rdma_cm_id in this process")
TRACE_FIELD(cm_event, NUMBER, event, "event", "enum rdma_cm_event_type")
TRACE_FIELD(cm_event, SIGNED, status, "status", "0, -errno, or the reason of a reject")
TRACE_END(cm_event)

TRACE_EVENT(doorbell, runtime, doorbell, QUIET, "", "a posting thread found the shard's lock taken, or leaves the work to the progress thread")
TRACE_FIELD(doorbell, QPN, qp, "qp", "QP number; left out for an SRQ")
TRACE_END(doorbell)

TRACE_EVENT(woken, runtime, thread_woken, QUIET, "", "the progress thread wakes up")
TRACE_FIELD(woken, TIME, slept, "slept", "ms since the thread went to sleep")
TRACE_END(woken)

TRACE_EVENT(fault, fault, injected, QUIET, "", "a rule caused a fault (faults.md)")
TRACE_FIELD(fault, NUMBER, rule, "rule", "number of the rule")
TRACE_FIELD(fault, NUMBER, fired, "fired", "faults of the rule so far, including this one")
TRACE_FIELD(fault, NUMBER, seen, "seen", "events that the rule has matched")
TRACE_FIELD(fault, NUMBER, seed, "seed", "the seed of the process's faults")
TRACE_FIELD(fault, TEXT, text, "text", "the rule")
TRACE_END(fault)

TRACE_EVENT(message, generic, debug, QUIET, "", "a debug log line that is not another event")
TRACE_FIELD(message, TEXT, text, "message", "the line")
TRACE_END(message)
