/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The vocabulary of the language in which users write rules of faults. This file has no include
 * guard, since files include it several times, each time with other definitions of the macros. A
 * macro without a definition expands to nothing. The parser, the help, completion, docs/faults.md
 * and the tests are derived from this file, so that each word is defined only once.
 *
 *   FAULT_CLASS(id, doc): a class of sites. The sites of a class have the same actions.
 *   FAULT_SITE(id, class, word, plural, doc): a place where an injector queries the rules. A site
 *       named any_* matches all sites of its classes.
 *   FAULT_SELECTOR(id, kind, classes, word, doc): selects among the events at sites of these
 *       classes. id is a member of struct fault_attrs.
 *   FAULT_TRIGGER(id, form, doc): decides which of the matching events have the fault. form is its
 *       syntax, for users.
 *   FAULT_ACTION(id, classes, words, doc, rule): begins the definition of an action, which is
 *       possible at sites of these classes. rule: the reason why a real device may do this.
 *   FAULT_ARG(id, arg, kind, word, need, doc): an argument of the action. In a rule, word precedes
 *       the value; "": no word does. need is MUST or MAY. The argument's index is fault_ID_ARG.
 *   FAULT_END(id): ends the definition of the action.
 *   FAULT_STATUS(word, value, sites): the name of a status, and the completions that may have it.
 *       Without a definition of its own, it is FAULT_NAME(STATUS, word, value).
 *   FAULT_NAME(kind, word, value): the name of a value of a kind. The values are those of
 *       <infiniband/verbs.h>, of <rdma/rdma_cma.h>, and of the chunk types of RFC 9260; the
 *       injectors assert this.
 */
#ifndef FAULT_CLASS
#define FAULT_CLASS(id, doc)
#endif
#ifndef FAULT_SITE
#define FAULT_SITE(id, class, word, plural, doc)
#endif
#ifndef FAULT_SELECTOR
#define FAULT_SELECTOR(id, kind, classes, word, doc)
#endif
#ifndef FAULT_TRIGGER
#define FAULT_TRIGGER(id, form, doc)
#endif
#ifndef FAULT_ACTION
#define FAULT_ACTION(id, classes, words, doc, rule)
#endif
#ifndef FAULT_ARG
#define FAULT_ARG(id, arg, kind, word, need, doc)
#endif
#ifndef FAULT_END
#define FAULT_END(id)
#endif
#ifndef FAULT_NAME
#define FAULT_NAME(kind, word, value)
#endif
#ifndef FAULT_STATUS
#define FAULT_STATUS(word, value, sites) FAULT_NAME(STATUS, word, value)
#endif

/* clang-format off */

/* ---- classes ---- */

FAULT_CLASS(TIMER, "time alone")
FAULT_CLASS(PACKET, "an outgoing or incoming SCTP packet")
FAULT_CLASS(COMPLETION, "a completion that the program polls")
FAULT_CLASS(NOTIFICATION, "an event of a completion channel")
FAULT_CLASS(VERB, "a call of libibverbs")
FAULT_CLASS(CM_CALL, "a call of librdmacm")
FAULT_CLASS(CM_EVENT, "an event of rdma_cm")
FAULT_CLASS(PLACEMENT, "the placement of received bytes in memory")
FAULT_CLASS(DEVICE, "attributes and limits of the device")

/* ---- sites ---- */

FAULT_SITE(packet, PACKET, "packet", "packets", "an SCTP packet")

FAULT_SITE(any_completion, COMPLETION, "completion", "completions", "any completion")
FAULT_SITE(send, COMPLETION, "send", "sends", "of a Send")
FAULT_SITE(write, COMPLETION, "write", "writes", "of an RDMA Write")
FAULT_SITE(read, COMPLETION, "read", "reads", "of an RDMA Read")
FAULT_SITE(atomic, COMPLETION, "atomic", "atomics", "of an atomic operation")
FAULT_SITE(bind, COMPLETION, "bind", "binds", "of a bind or local invalidate operation")
FAULT_SITE(receive, COMPLETION, "receive", "receives", "of a receive")

FAULT_SITE(notification, NOTIFICATION, "notification", "notifications", "of a CQ that was armed")

FAULT_SITE(any_call, VERB | CM_CALL, "call", "calls", "any call of libibverbs or librdmacm")
FAULT_SITE(any_verb, VERB, "verb", "verbs", "any of these calls")
FAULT_SITE(alloc_pd, VERB, "alloc_pd", "", "")
FAULT_SITE(dealloc_pd, VERB, "dealloc_pd", "", "")
FAULT_SITE(alloc_td, VERB, "alloc_td", "", "")
FAULT_SITE(dealloc_td, VERB, "dealloc_td", "", "")
FAULT_SITE(alloc_parent_domain, VERB, "alloc_parent_domain", "", "")
FAULT_SITE(reg_mr, VERB, "reg_mr", "", "")
FAULT_SITE(rereg_mr, VERB, "rereg_mr", "", "")
FAULT_SITE(dereg_mr, VERB, "dereg_mr", "", "")
FAULT_SITE(advise_mr, VERB, "advise_mr", "", "")
FAULT_SITE(alloc_null_mr, VERB, "alloc_null_mr", "", "")
FAULT_SITE(alloc_dm, VERB, "alloc_dm", "", "")
FAULT_SITE(free_dm, VERB, "free_dm", "", "")
FAULT_SITE(reg_dm_mr, VERB, "reg_dm_mr", "", "")
FAULT_SITE(alloc_mw, VERB, "alloc_mw", "", "")
FAULT_SITE(bind_mw, VERB, "bind_mw", "", "")
FAULT_SITE(dealloc_mw, VERB, "dealloc_mw", "", "")
FAULT_SITE(create_cq, VERB, "create_cq", "", "also ibv_create_cq_ex()")
FAULT_SITE(modify_cq, VERB, "modify_cq", "", "")
FAULT_SITE(resize_cq, VERB, "resize_cq", "", "")
FAULT_SITE(destroy_cq, VERB, "destroy_cq", "", "")
FAULT_SITE(req_notify_cq, VERB, "req_notify_cq", "", "")
FAULT_SITE(create_srq, VERB, "create_srq", "", "also ibv_create_srq_ex()")
FAULT_SITE(modify_srq, VERB, "modify_srq", "", "")
FAULT_SITE(query_srq, VERB, "query_srq", "", "")
FAULT_SITE(destroy_srq, VERB, "destroy_srq", "", "")
FAULT_SITE(post_srq_recv, VERB, "post_srq_recv", "", "")
FAULT_SITE(create_qp, VERB, "create_qp", "", "also ibv_create_qp_ex()")
FAULT_SITE(modify_qp, VERB, "modify_qp", "", "")
FAULT_SITE(query_qp, VERB, "query_qp", "", "")
FAULT_SITE(destroy_qp, VERB, "destroy_qp", "", "")
FAULT_SITE(post_send, VERB, "post_send", "", "a work request, also one of an ibv_wr_start() batch")
FAULT_SITE(post_recv, VERB, "post_recv", "", "")
FAULT_SITE(open_xrcd, VERB, "open_xrcd", "", "")
FAULT_SITE(close_xrcd, VERB, "close_xrcd", "", "")
FAULT_SITE(create_ah, VERB, "create_ah", "", "")
FAULT_SITE(destroy_ah, VERB, "destroy_ah", "", "")
FAULT_SITE(attach_mcast, VERB, "attach_mcast", "", "")
FAULT_SITE(detach_mcast, VERB, "detach_mcast", "", "")
FAULT_SITE(open_device, VERB, "open_device", "", "")
FAULT_SITE(query_device, VERB, "query_device", "", "also ibv_query_device_ex()")
FAULT_SITE(query_port, VERB, "query_port", "", "")

FAULT_SITE(any_cm_call, CM_CALL, "cm_call", "cm_calls", "any of these calls")
FAULT_SITE(rdma_create_id, CM_CALL, "rdma_create_id", "", "")
FAULT_SITE(rdma_destroy_id, CM_CALL, "rdma_destroy_id", "", "")
FAULT_SITE(rdma_bind_addr, CM_CALL, "rdma_bind_addr", "", "")
FAULT_SITE(rdma_resolve_addr, CM_CALL, "rdma_resolve_addr", "", "")
FAULT_SITE(rdma_resolve_route, CM_CALL, "rdma_resolve_route", "", "")
FAULT_SITE(rdma_connect, CM_CALL, "rdma_connect", "", "")
FAULT_SITE(rdma_listen, CM_CALL, "rdma_listen", "", "")
FAULT_SITE(rdma_accept, CM_CALL, "rdma_accept", "", "")
FAULT_SITE(rdma_reject, CM_CALL, "rdma_reject", "", "")
FAULT_SITE(rdma_disconnect, CM_CALL, "rdma_disconnect", "", "")
FAULT_SITE(rdma_init_qp_attr, CM_CALL, "rdma_init_qp_attr", "", "also where librdmacm calls it for rdma_create_qp()")
FAULT_SITE(rdma_set_option, CM_CALL, "rdma_set_option", "", "")
FAULT_SITE(rdma_notify, CM_CALL, "rdma_notify", "", "")
FAULT_SITE(rdma_migrate_id, CM_CALL, "rdma_migrate_id", "", "")
FAULT_SITE(rdma_join_multicast, CM_CALL, "rdma_join_multicast", "", "")
FAULT_SITE(rdma_leave_multicast, CM_CALL, "rdma_leave_multicast", "", "")

FAULT_SITE(any_cm_event, CM_EVENT, "cm_event", "cm_events", "any of these events")
FAULT_SITE(addr_resolved, CM_EVENT, "addr_resolved", "", "")
FAULT_SITE(addr_error, CM_EVENT, "addr_error", "", "")
FAULT_SITE(route_resolved, CM_EVENT, "route_resolved", "", "")
FAULT_SITE(route_error, CM_EVENT, "route_error", "", "")
FAULT_SITE(connect_request, CM_EVENT, "connect_request", "", "")
FAULT_SITE(connect_response, CM_EVENT, "connect_response", "", "")
FAULT_SITE(connect_error, CM_EVENT, "connect_error", "", "")
FAULT_SITE(unreachable, CM_EVENT, "unreachable", "", "")
FAULT_SITE(rejected, CM_EVENT, "rejected", "", "")
FAULT_SITE(established, CM_EVENT, "established", "", "")
FAULT_SITE(disconnected, CM_EVENT, "disconnected", "", "")
FAULT_SITE(multicast_join, CM_EVENT, "multicast_join", "", "")
FAULT_SITE(multicast_error, CM_EVENT, "multicast_error", "", "")
FAULT_SITE(timewait_exit, CM_EVENT, "timewait_exit", "", "")

FAULT_SITE(placement, PLACEMENT, "placement", "placements", "the payload of a DDP segment")

FAULT_SITE(device, DEVICE, "device", "", "the results of ibv_query_device(), and the limits of calls that create objects")

/* ---- selectors ---- */

FAULT_SELECTOR(qp, QP, TIMER | COMPLETION | VERB, "qp", "the queue pair with that number, or the N-th queue pair of the process: `qp 17`, `2nd qp`")
FAULT_SELECTOR(cq, QP, TIMER | COMPLETION | NOTIFICATION | VERB, "cq", "the completion queue with that handle, or the N-th one: `1st cq`")
FAULT_SELECTOR(srq, QP, TIMER | VERB, "srq", "the shared receive queue with that number, or the N-th one")
FAULT_SELECTOR(mr, NUMBER, VERB, "mr", "the memory region or window with that key: `mr 0x1a02`")
FAULT_SELECTOR(id, NUMBER, TIMER | CM_CALL | CM_EVENT, "id", "the rdma_cm id with that handle")
FAULT_SELECTOR(port, PORT, PACKET | CM_CALL | CM_EVENT, "port", "the local port: `port 7471`")
FAULT_SELECTOR(peer_port, PORT, PACKET | CM_CALL | CM_EVENT, "peer-port", "the port of the peer")
FAULT_SELECTOR(peer, ADDR, TIMER | PACKET | COMPLETION | CM_CALL | CM_EVENT, "peer", "the peer with this address, even if it has several and uses another")
FAULT_SELECTOR(path, ADDR, PACKET, "path", "packets with this source or destination address")
FAULT_SELECTOR(direction, DIRECTION, PACKET, "", "`in` or `out` packets; both if not given")
FAULT_SELECTOR(chunk, CHUNK, PACKET, "chunk", "packets with a chunk of this type: `chunk init_ack`")
FAULT_SELECTOR(opcode, OPCODE, VERB, "opcode", "work requests of this opcode: `post_send opcode read`")
FAULT_SELECTOR(from, STATE, VERB, "from", "modify_qp() from this state")
FAULT_SELECTOR(to, STATE, VERB, "to", "modify_qp() to this state: `modify_qp to rts`")

/* ---- triggers ---- */

FAULT_TRIGGER(nth, "Nth", "only the N-th event: `3rd reg_mr`")
FAULT_TRIGGER(after_count, "after N", "all events after the first N: `after 1000 writes`")
FAULT_TRIGGER(after_bytes, "after SIZE", "all events after this many bytes of such events: `after 10 MB`")
FAULT_TRIGGER(after_time, "after TIME", "all events from that time. Without a site: once, at that time")
FAULT_TRIGGER(every_count, "every N", "each N-th event: `every 100 packets`")
FAULT_TRIGGER(every_time, "every TIME", "the first event of each such period. Without a site: at the end of each period")
FAULT_TRIGGER(every_for, "every TIME for TIME", "all events in the last part of each period: `every 5 s for 200 ms`")
FAULT_TRIGGER(between, "between TIME and TIME", "all events between these times")
FAULT_TRIGGER(probability, "probability P", "each event with that probability, from 0 to 1")
FAULT_TRIGGER(burst, "burst P to P [loss P]",
	"events in the bad state of a Gilbert-Elliott model. The model enters this state with the first probability at each event, and leaves it with the second. In this state, an event has the fault with the third probability, or always if none is given")
FAULT_TRIGGER(at_most, "at most N times", "at most N events")
FAULT_TRIGGER(once, "once", "the first event, as `at most 1 times`")

/* ---- actions: packets ---- */

FAULT_ACTION(drop, PACKET | CM_EVENT, "drop", "drops the packet or event",
	"IP does not guarantee delivery (RFC 791 1.4), and a peer may die before it sends the message that causes an event")
FAULT_END(drop)

FAULT_ACTION(delay, PACKET | COMPLETION | NOTIFICATION | CM_EVENT, "delay",
	"delays the packet, completion or event; `jitter` adds a random delay, so that packets overtake each other",
	"none of these has a guaranteed time")
FAULT_ARG(delay, time, TIME, "", MUST, "the delay")
FAULT_ARG(delay, jitter, TIME, "jitter", MAY, "the largest random delay")
FAULT_END(delay)

FAULT_ACTION(reorder, PACKET, "reorder", "passes the packet on after the next N packets", "IP does not guarantee order (RFC 791 1.2)")
FAULT_ARG(reorder, count, COUNT, "behind", MUST, "number of packets that overtake this packet")
FAULT_END(reorder)

FAULT_ACTION(duplicate, PACKET | CM_EVENT | NOTIFICATION, "duplicate", "repeats the packet or event",
	"a network may duplicate packets (RFC 9260 6.2 handles such DATA), a peer may repeat a request, and a CQ event may come without a completion (ibv_get_cq_event(3))")
FAULT_ARG(duplicate, times, COUNT, "times", MAY, "number of copies; default 1")
FAULT_END(duplicate)

FAULT_ACTION(corrupt, PACKET, "corrupt", "changes bytes after the checksum is computed, so that the receiver drops the packet",
	"RFC 9260 6.8: a packet with a wrong CRC32c is dropped")
FAULT_ARG(corrupt, bytes, COUNT, "bytes", MAY, "number of bytes; default 1")
FAULT_END(corrupt)

FAULT_ACTION(corrupt_sealed, PACKET, "corrupt before checksum", "changes bytes before the checksum is computed",
	"CRC32c does not detect errors from before its computation (RFC 5041 3, item 6, requires a digest only for data in transit)")
FAULT_ARG(corrupt_sealed, bytes, COUNT, "bytes", MAY, "number of bytes; default 1")
FAULT_END(corrupt_sealed)

FAULT_ACTION(limit_rate, PACKET, "limit rate", "queues packets, passes them on at that rate, and drops packets that do not fit into the queue",
	"a network may be slower than its hosts (RFC 9260 7)")
FAULT_ARG(limit_rate, rate, RATE, "to", MUST, "the rate, such as 10 Mbit/s")
FAULT_ARG(limit_rate, queue, SIZE, "queue", MAY, "size of the queue; default 64 KiB")
FAULT_END(limit_rate)

FAULT_ACTION(limit_size, PACKET, "limit size", "silently drops longer packets",
	"the MTU of a path may shrink, and its routers may send no error (RFC 8899 1.1)")
FAULT_ARG(limit_size, size, SIZE, "to", MUST, "largest size of the IP packet")
FAULT_END(limit_size)

/* ---- actions: queue pairs ---- */

FAULT_ACTION(fail_qp, TIMER | PACKET | COMPLETION, "fail qp", "moves the queue pair to ERROR, and flushes its work requests",
	"a QP enters the error state after a local error (IBA 11.6.2)")
FAULT_END(fail_qp)

FAULT_ACTION(terminate, TIMER | PACKET | COMPLETION, "terminate", "sends the peer a Terminate, as if the peer had made that error",
	"RFC 5040 4.8 and 7.2")
FAULT_ARG(terminate, layer, LAYER, "layer", MUST, "0 RDMA, 1 DDP, 2 LLP")
FAULT_ARG(terminate, type, NIBBLE, "type", MUST, "the error type, up to 15")
FAULT_ARG(terminate, code, BYTE, "code", MUST, "the error code, up to 255")
FAULT_END(terminate)

FAULT_ACTION(rnr, TIMER | PACKET, "rnr", "behaves as if a Send to the queue pair had found no receive until the last retry",
	"IBA 9.7.5.2.8: a responder may report that it is not ready; RFC 5041 7.2: no buffer for the MSN")
FAULT_END(rnr)

FAULT_ACTION(freeze_qp, TIMER | PACKET, "freeze qp", "stops sends and receives of the queue pair for that time",
	"a work request has no guaranteed time")
FAULT_ARG(freeze_qp, time, TIME, "for", MUST, "the duration")
FAULT_END(freeze_qp)

FAULT_ACTION(lose_session, TIMER | PACKET | COMPLETION, "lose session", "ends the connection without notice to the peer",
	"RFC 5043 11.3: an association may end under its DDP streams")
FAULT_END(lose_session)

FAULT_ACTION(freeze_peer, TIMER | PACKET, "freeze peer", "drops all packets from and to the peer for that time",
	"a process may be stopped, and a host may sleep")
FAULT_ARG(freeze_peer, time, TIME, "for", MUST, "the duration")
FAULT_END(freeze_peer)

FAULT_ACTION(kill_peer, TIMER | PACKET, "kill peer", "behaves as if the peer's host had reported the end of the process",
	"a process may be killed (RFC 9260 9.1: ABORT)")
FAULT_END(kill_peer)

/* ---- actions: completions ---- */

FAULT_ACTION(complete, COMPLETION, "complete", "sets the status of the completion; unless the status is success, the queue pair goes to ERROR and later work requests are flushed",
	"IBA 11.6.2: a work request may complete with each of these")
FAULT_ARG(complete, status, STATUS, "with", MUST, "a value of ibv_wc_status")
FAULT_ARG(complete, vendor, NUMBER, "vendor", MAY, "the value of ibv_wc.vendor_err")
FAULT_END(complete)

FAULT_ACTION(gather, COMPLETION, "gather", "holds completions until N are waiting or the time has passed, and returns them together",
	"no time is guaranteed, and a poll may return several completions (IBA 11.4.2.1)")
FAULT_ARG(gather, count, COUNT, "", MUST, "number of completions")
FAULT_ARG(gather, time, TIME, "within", MAY, "the longest wait; default 1 s")
FAULT_END(gather)

FAULT_ACTION(single, COMPLETION, "single", "returns the completion alone, even if others are waiting",
	"the others may come a moment later, with their own event (ibv_poll_cq(3))")
FAULT_END(single)

FAULT_ACTION(overrun, TIMER | COMPLETION, "overrun", "overruns the completion queue: raises IBV_EVENT_CQ_ERR, and loses its completions",
	"a full CQ is in error (IBA 11.6.3.2)")
FAULT_END(overrun)

/* ---- actions: asynchronous events ---- */

FAULT_ACTION(raise, TIMER | COMPLETION | PACKET, "raise", "raises this asynchronous event",
	"IBA 11.6.3: each event may come at any time")
FAULT_ARG(raise, event, EVENT, "", MUST, "a value of ibv_event_type")
FAULT_END(raise)

FAULT_ACTION(port_down, TIMER, "port down", "takes the port down: IBV_EVENT_PORT_ERR, port state DOWN, and lost packets; then IBV_EVENT_PORT_ACTIVE",
	"IBA 11.6.3.3: a cable may be pulled")
FAULT_ARG(port_down, time, TIME, "for", MUST, "the duration")
FAULT_END(port_down)

/* ---- actions: calls ---- */

FAULT_ACTION(fail, VERB | CM_CALL, "fail", "makes the call fail without any other effect",
	"each of these calls may fail, at least for lack of resources")
FAULT_ARG(fail, error, ERRNO, "with", MUST, "the errno")
FAULT_END(fail)

FAULT_ACTION(limit, DEVICE, "limit", "lowers a limit of the device",
	"IBA 11.2.1.2: the device sets its limits")
FAULT_ARG(limit, name, LIMIT, "", MUST, "a limit of ibv_device_attr, or max_inline_data")
FAULT_ARG(limit, value, COUNT, "to", MUST, "the new limit; the device's own still applies")
FAULT_END(limit)

/* ---- actions: rdma_cm ---- */

FAULT_ACTION(reject, CM_EVENT, "reject", "replaces the event by RDMA_CM_EVENT_REJECTED; a connection request is rejected, and the program gets no event",
	"IBA 12.6.7: a REJ may answer each message of the handshake")
FAULT_ARG(reject, reason, REASON, "reason", MAY, "the status of the event, up to 65535; default 28 (consumer reject)")
FAULT_ARG(reject, data, DATA, "data", MAY, "private data")
FAULT_END(reject)

FAULT_ACTION(report, CM_EVENT | TIMER, "report", "reports this event, in place of the original one if any",
	"rdma_get_cm_event(3): each step may end with such an event")
FAULT_ARG(report, event, CM_EVENT, "", MUST, "a value of rdma_cm_event_type")
FAULT_ARG(report, status, ERRNO, "status", MAY, "the status of the event")
FAULT_END(report)

/* ---- actions: memory ---- */

FAULT_ACTION(reverse, PLACEMENT, "reverse", "places the bytes of a segment from the last to the first",
	"RFC 5040 5.5, items 4 to 6: contents are indeterminate until the message is delivered")
FAULT_END(reverse)

FAULT_ACTION(last_first, PLACEMENT, "last byte first", "places the last byte of a segment first, and the others after a moment",
	"RFC 5040 5.5, items 4 to 6")
FAULT_ARG(last_first, time, TIME, "for", MAY, "the moment; default 1 us")
FAULT_END(last_first)

FAULT_ACTION(tear, PLACEMENT, "tear", "places an 8-byte word in two halves, with a moment between them",
	"RFC 5040 5.5, items 4 to 6: only atomic operations are atomic")
FAULT_ARG(tear, time, TIME, "for", MAY, "the moment; default 1 us")
FAULT_END(tear)

/* ---- names ---- */

FAULT_NAME(DIRECTION, "out", 0)
FAULT_NAME(DIRECTION, "in", 1)

FAULT_NAME(STATE, "reset", 0)
FAULT_NAME(STATE, "init", 1)
FAULT_NAME(STATE, "rtr", 2)
FAULT_NAME(STATE, "rts", 3)
FAULT_NAME(STATE, "sqd", 4)
FAULT_NAME(STATE, "sqe", 5)
FAULT_NAME(STATE, "err", 6)

FAULT_NAME(OPCODE, "write", 0)
FAULT_NAME(OPCODE, "write_with_imm", 1)
FAULT_NAME(OPCODE, "send", 2)
FAULT_NAME(OPCODE, "send_with_imm", 3)
FAULT_NAME(OPCODE, "read", 4)
FAULT_NAME(OPCODE, "cmp_and_swp", 5)
FAULT_NAME(OPCODE, "fetch_and_add", 6)
FAULT_NAME(OPCODE, "local_inv", 7)
FAULT_NAME(OPCODE, "bind_mw", 8)
FAULT_NAME(OPCODE, "send_with_inv", 9)

/*
 * Chunk types of RFC 9260. Extensions and the device's datagrams have higher types on the wire.
 * They have numbers below 64 here, since fault_attrs.chunk has a bit for each.
 */
FAULT_NAME(CHUNK, "data", 0)
FAULT_NAME(CHUNK, "init", 1)
FAULT_NAME(CHUNK, "init_ack", 2)
FAULT_NAME(CHUNK, "sack", 3)
FAULT_NAME(CHUNK, "heartbeat", 4)
FAULT_NAME(CHUNK, "heartbeat_ack", 5)
FAULT_NAME(CHUNK, "abort", 6)
FAULT_NAME(CHUNK, "shutdown", 7)
FAULT_NAME(CHUNK, "shutdown_ack", 8)
FAULT_NAME(CHUNK, "error", 9)
FAULT_NAME(CHUNK, "cookie_echo", 10)
FAULT_NAME(CHUNK, "cookie_ack", 11)
FAULT_NAME(CHUNK, "shutdown_complete", 14)
FAULT_NAME(CHUNK, "auth", 15)
FAULT_NAME(CHUNK, "asconf", 16)
FAULT_NAME(CHUNK, "asconf_ack", 17)
FAULT_NAME(CHUNK, "datagram", 18)

/*
 * Statuses of IBA 11.6.2, without those of reliable datagrams, which libibverbs does not support.
 */
FAULT_STATUS("success", 0, ALL)
FAULT_STATUS("loc_len_err", 1, DATA | RECEIVE)
FAULT_STATUS("loc_qp_op_err", 2, ALL)
FAULT_STATUS("loc_prot_err", 4, DATA | RECEIVE)
FAULT_STATUS("wr_flush_err", 5, ALL)
FAULT_STATUS("mw_bind_err", 6, BIND)
FAULT_STATUS("bad_resp_err", 7, DATA)
FAULT_STATUS("loc_access_err", 8, RECEIVE)
FAULT_STATUS("rem_inv_req_err", 9, DATA)
FAULT_STATUS("rem_access_err", 10, DATA)
FAULT_STATUS("rem_op_err", 11, DATA)
FAULT_STATUS("retry_exc_err", 12, DATA)
FAULT_STATUS("rnr_retry_exc_err", 13, DATA)
FAULT_STATUS("rem_abort_err", 16, DATA | RECEIVE)
FAULT_STATUS("fatal_err", 19, ALL)
FAULT_STATUS("resp_timeout_err", 20, DATA)
FAULT_STATUS("general_err", 21, ALL)

FAULT_NAME(EVENT, "cq_err", 0)
FAULT_NAME(EVENT, "qp_fatal", 1)
FAULT_NAME(EVENT, "qp_req_err", 2)
FAULT_NAME(EVENT, "qp_access_err", 3)
FAULT_NAME(EVENT, "comm_est", 4)
FAULT_NAME(EVENT, "sq_drained", 5)
FAULT_NAME(EVENT, "path_mig", 6)
FAULT_NAME(EVENT, "path_mig_err", 7)
FAULT_NAME(EVENT, "device_fatal", 8)
FAULT_NAME(EVENT, "port_active", 9)
FAULT_NAME(EVENT, "port_err", 10)
FAULT_NAME(EVENT, "lid_change", 11)
FAULT_NAME(EVENT, "pkey_change", 12)
FAULT_NAME(EVENT, "sm_change", 13)
FAULT_NAME(EVENT, "srq_err", 14)
FAULT_NAME(EVENT, "srq_limit_reached", 15)
FAULT_NAME(EVENT, "qp_last_wqe_reached", 16)
FAULT_NAME(EVENT, "client_reregister", 17)
FAULT_NAME(EVENT, "gid_change", 18)

FAULT_NAME(CM_EVENT, "addr_resolved", 0)
FAULT_NAME(CM_EVENT, "addr_error", 1)
FAULT_NAME(CM_EVENT, "route_resolved", 2)
FAULT_NAME(CM_EVENT, "route_error", 3)
FAULT_NAME(CM_EVENT, "connect_error", 6)
FAULT_NAME(CM_EVENT, "unreachable", 7)
FAULT_NAME(CM_EVENT, "rejected", 8)
FAULT_NAME(CM_EVENT, "disconnected", 10)
FAULT_NAME(CM_EVENT, "device_removal", 11)
FAULT_NAME(CM_EVENT, "multicast_error", 13)
FAULT_NAME(CM_EVENT, "addr_change", 14)
FAULT_NAME(CM_EVENT, "timewait_exit", 15)

FAULT_NAME(LIMIT, "max_qp", 0)
FAULT_NAME(LIMIT, "max_qp_wr", 1)
FAULT_NAME(LIMIT, "max_sge", 2)
FAULT_NAME(LIMIT, "max_sge_rd", 3)
FAULT_NAME(LIMIT, "max_cq", 4)
FAULT_NAME(LIMIT, "max_cqe", 5)
FAULT_NAME(LIMIT, "max_mr", 6)
FAULT_NAME(LIMIT, "max_mr_size", 7)
FAULT_NAME(LIMIT, "max_pd", 8)
FAULT_NAME(LIMIT, "max_qp_rd_atom", 9)
FAULT_NAME(LIMIT, "max_qp_init_rd_atom", 10)
FAULT_NAME(LIMIT, "max_mw", 11)
FAULT_NAME(LIMIT, "max_srq", 12)
FAULT_NAME(LIMIT, "max_srq_wr", 13)
FAULT_NAME(LIMIT, "max_srq_sge", 14)
FAULT_NAME(LIMIT, "max_ah", 15)
FAULT_NAME(LIMIT, "max_inline_data", 16)

FAULT_NAME(ERRNO, "EPERM", EPERM)
FAULT_NAME(ERRNO, "ENOENT", ENOENT)
FAULT_NAME(ERRNO, "EINTR", EINTR)
FAULT_NAME(ERRNO, "EIO", EIO)
FAULT_NAME(ERRNO, "ENXIO", ENXIO)
FAULT_NAME(ERRNO, "EBADF", EBADF)
FAULT_NAME(ERRNO, "EAGAIN", EAGAIN)
FAULT_NAME(ERRNO, "ENOMEM", ENOMEM)
FAULT_NAME(ERRNO, "EACCES", EACCES)
FAULT_NAME(ERRNO, "EFAULT", EFAULT)
FAULT_NAME(ERRNO, "EBUSY", EBUSY)
FAULT_NAME(ERRNO, "ENODEV", ENODEV)
FAULT_NAME(ERRNO, "EINVAL", EINVAL)
FAULT_NAME(ERRNO, "EMFILE", EMFILE)
FAULT_NAME(ERRNO, "ENOSPC", ENOSPC)
FAULT_NAME(ERRNO, "ENOSYS", ENOSYS)
FAULT_NAME(ERRNO, "ENODATA", ENODATA)
FAULT_NAME(ERRNO, "EOPNOTSUPP", EOPNOTSUPP)
FAULT_NAME(ERRNO, "EADDRINUSE", EADDRINUSE)
FAULT_NAME(ERRNO, "EADDRNOTAVAIL", EADDRNOTAVAIL)
FAULT_NAME(ERRNO, "ENETDOWN", ENETDOWN)
FAULT_NAME(ERRNO, "ENETUNREACH", ENETUNREACH)
FAULT_NAME(ERRNO, "ECONNRESET", ECONNRESET)
FAULT_NAME(ERRNO, "ENOBUFS", ENOBUFS)
FAULT_NAME(ERRNO, "EISCONN", EISCONN)
FAULT_NAME(ERRNO, "ENOTCONN", ENOTCONN)
FAULT_NAME(ERRNO, "ETIMEDOUT", ETIMEDOUT)
FAULT_NAME(ERRNO, "ECONNREFUSED", ECONNREFUSED)
FAULT_NAME(ERRNO, "EHOSTUNREACH", EHOSTUNREACH)

/* clang-format on */

#undef FAULT_CLASS
#undef FAULT_SITE
#undef FAULT_SELECTOR
#undef FAULT_TRIGGER
#undef FAULT_ACTION
#undef FAULT_ARG
#undef FAULT_END
#undef FAULT_STATUS
#undef FAULT_NAME
