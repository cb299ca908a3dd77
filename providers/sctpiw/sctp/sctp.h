/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP (RFC 9260) for one user, DDP (RFC 5043 section 1). Every user message is unordered, and is
 * one unfragmented DATA chunk. This code does no I/O: it has no socket, clock or thread. The caller
 * passes packets, times and random bytes to its functions, and gets packets and events from them.
 *
 * Times are in nanoseconds of any monotonic clock. All integers, also ports, TSNs and stream ids,
 * are in host order. Errors are -errno. One lock of the caller (the lock of a shard) guards a whole
 * instance.
 *
 * The caller's loop calls, for each received packet:
 * 	sctp_input()		-> rx: a new or restarted association, DATA to deliver
 * 	sctp_next_event()	until it returns false
 * and after a batch of packets, a doorbell or a timeout:
 * 	sctp_timers()
 * 	while ((a = sctp_next_ready()))	while (sctp_output(a, ..) > 0) send it
 * 	while (sctp_output_ootb(..) > 0) send it
 */
#ifndef SCTPIW_SCTP_SCTP_H
#define SCTPIW_SCTP_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sctp/path_use.h"
#include "util/addr.h"
#include "util/random.h"
#include "util/time.h"
#include "wire/sctp_receipts.h"

struct sctp;
struct sctp_endpoint;
struct sctp_assoc;
struct sctp_block;

/* Times are ns. sctp_new() corrects values that would make the protocol misbehave. */
struct sctp_config {
	uint16_t streams; /* number offered and accepted in each direction; default 65535 */
	/* Adaptation Layer Indication to send and require; default 1 (RFC 5043 4.1) */
	uint32_t adaptation;
	/*
	 * The receipts parameter of INIT and INIT ACK (receipts.h). With version 0, the default, no
	 * such parameter is sent, and the peer's parameter is ignored.
	 */
	struct wire_sctp_receipts receipts;
	/*
	 * If true, announces local addresses that are added or lost, and accepts the peer's
	 * announcements (RFC 5061). The peer must support this too. If false, the default, INIT and
	 * INIT ACK do not offer the extension.
	 */
	bool asconf;
	uint64_t rto_initial; /* rto_initial to cookie_life: defaults of RFC 9260 16 */
	uint64_t rto_min;
	uint64_t rto_max;
	uint64_t cookie_life;
	/* interval on an idle path; default 1 s, so that a killed peer is noticed within 3 s */
	uint64_t heartbeat_interval;
	uint64_t sack_delay; /* delay of a SACK; default 10 ms, at most 500 ms */
	/* Time without any answer after which the association ends; default 30 s. */
	uint64_t silent_limit;
	/* Maximum time of the handshake; then it fails with -ETIMEDOUT. Default 30 s. */
	uint64_t connect_limit;
	/*
	 * Maximum of the highest outstanding TSN minus the cumulative TSN. The default is 4095,
	 * because Linux keeps a map of 4096 TSNs. Values below 32768 also limit the distance of
	 * DDP-SSNs (RFC 5043 5.2).
	 */
	uint32_t max_tsn_distance;
	/* If true, probes the MTU of paths (RFC 8899). If false, uses the caller's MTU. */
	bool mtu_probe;
	uint64_t mtu_raise_time; /* time until a reduced path MTU is probed again; default 600 s */
	bool spread;		 /* send DATA over all disjoint paths at once (spread.h) */
	/* Bytes that the carrier adds to each packet in addition to IP and UDP; default 0. */
	uint32_t overhead;
	uint32_t packet_max; /* bytes of the longest packet, a multiple of 4; default 65,504 */
};

/* Fills in the default values. */
void sctp_config_default(struct sctp_config *config);

/* A message that the user passes to SCTP for transmission. */
struct sctp_msg {
	uint16_t sid;
	uint32_t ppid;
	bool more; /* the user has more messages to send */
	/* The user waits for the acknowledgement. SCTP then requests a SACK at once. */
	bool awaited;
	/* the message is a receipt: until it arrives, local SACKs prove no placement */
	bool receipt;
	bool voidable; /* sctp_assoc_void() may cancel this message */
	/*
	 * Zero-copy. If may_reference is set, the user may leave the last zcopy_len bytes of the
	 * message (at least SCTP_ZCOPY_MIN) unwritten, and set zcopy to these bytes in its own
	 * memory. SCTP reads them from there each time that it sends the message. SCTP does not
	 * read them any more after one of these events: the message is acknowledged
	 * (sctp_assoc_acked()), the message becomes void, sctp_assoc_copy_out() was called, or the
	 * association has ended.
	 */
	bool may_reference;
	const uint8_t *zcopy; /* bytes in the user's memory; NULL: the whole message was written */
	uint32_t zcopy_len;   /* bytes; valid if zcopy is not NULL */
};

#define SCTP_ZCOPY_MIN 64u
#define SCTP_VOID_LEN 24u /* bytes of the user data that replaces a void message */

struct sctp_user_ops {
	/*
	 * Pulls the next user message of this association. Writes at most room bytes to buf, and
	 * fills in msg. Returns the length of the message. Returns 0 if there is nothing to send,
	 * or if the room is too small to be worth a message. Only sctp_output() calls this, when
	 * the windows allow the message to be sent at once. SCTP sends each pulled message, and
	 * keeps it until it is acknowledged.
	 */
	size_t (*pull)(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg);
	/* True if the user has a receipt that was not pulled yet. NULL: no user has receipts. */
	bool (*receipt_due)(void *user);
	/*
	 * Continues *crc over len bytes of the user's memory, like crc32c_add(). Returns false if
	 * the memory cannot be read any more. checksum and copy_out are both NULL if no message may
	 * reference the user's memory.
	 */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	/*
	 * Copies len bytes of the user's memory to their place `to` in the message msg. If the
	 * memory cannot be read any more, changes the message so that the peer rejects it. The peer
	 * may already have received the original message.
	 */
	void (*copy_out)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
	/* Writes SCTP_VOID_LEN bytes of user data that replace msg. NULL: none is voidable. */
	void (*put_void)(uint8_t *to, const uint8_t *msg);
	/*
	 * Writes at most max local addresses to addr[]: those that a peer at to->remote may know,
	 * except to->local. Returns their number. ctx is the context of the endpoint. NULL: no
	 * addresses are announced to peers.
	 */
	unsigned int (*addresses)(void *ctx, const struct path_addr *to, struct ip_addr *addr,
				  unsigned int max);
	/*
	 * Sets *local to the source address of packets to remote. Returns false if there is no
	 * route. NULL: the source is always the address of the association's setup.
	 */
	bool (*source)(void *ctx, const struct ip_addr *remote, struct ip_addr *local);
	/*
	 * True if the address belongs to this host. NULL: this host has none of the addresses that
	 * peers list.
	 */
	bool (*is_own)(void *ctx, const struct ip_addr *addr);
};

/*
 * Creates an instance: the endpoints and associations that one lock guards. Copies config and ops.
 * `random` must outlive the instance. Returns NULL when out of memory.
 */
struct sctp *sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
		      struct random_source *random);
/* Frees the instance with all its endpoints (see sctp_endpoint_free()). NULL is allowed. */
void sctp_free(struct sctp *s);

/* Counters of all associations of an instance since sctp_new(). */
struct sctp_stats {
	uint64_t bad_packets; /* received packets with a wrong length or checksum */
	uint64_t duplicates;  /* DATA chunks that had been received before */
	uint64_t lost;	      /* DATA chunks considered lost */
	uint64_t resent;      /* DATA chunks retransmitted after a loss */
	uint64_t probes;      /* DATA chunks sent again as tail-loss probes (RFC 8985) */
	uint64_t timeouts;    /* expirations of T3-rtx */
	uint64_t up;	      /* associations that came up, or restarted */
	uint64_t aborts_in, aborts_out;
};

/* Returns the counters. The pointer is valid, and its contents are updated, until sctp_free(). */
const struct sctp_stats *sctp_stats(const struct sctp *s);

/*
 * Creates a local SCTP port. rcvbuf is the true size of the socket's receive buffer in bytes (the
 * doubled SO_RCVBUF). The sum of the windows that its associations advertise stays below rcvbuf.
 * ctx is a context of the caller (the socket). Returns NULL when out of memory.
 */
struct sctp_endpoint *sctp_endpoint_new(struct sctp *s, uint16_t port, size_t rcvbuf, void *ctx);
/*
 * Sets whether INITs are accepted. If not, as after sctp_endpoint_new(), INITs get an ABORT.
 * Cancels sctp_endpoint_set_quiet().
 */
void sctp_endpoint_set_accept(struct sctp_endpoint *ep, bool accept);
/*
 * Sets a time until which INITs that are not accepted are dropped, as if they were lost. The peer
 * retransmits an INIT after its RTO. The endpoint may accept INITs by then.
 */
void sctp_endpoint_set_quiet(struct sctp_endpoint *ep, uint64_t until);
void *sctp_endpoint_ctx(const struct sctp_endpoint *ep);
/* Call this after local addresses or routes have changed: ops.source may return other addresses. */
void sctp_endpoint_readdress(struct sctp_endpoint *ep, uint64_t now);
/*
 * Frees the endpoint and its associations, and drops its packets that wait for sctp_output_ootb().
 * The peers get no notice. For an orderly end, first abort the associations, and send the waiting
 * packets. NULL is allowed.
 */
void sctp_endpoint_free(struct sctp_endpoint *ep);

/* A message to deliver: one new DATA chunk, or one reassembled message. */
struct sctp_data {
	uint16_t sid;
	uint32_t ppid;
	uint32_t len;
	const uint8_t *data; /* in the packet, or in memory that the next sctp_input() frees */
};

#define SCTP_RX_MAX 4096 /* more than the number of DATA chunks that fit into 64 KiB */

struct sctp_rx {
	struct sctp_assoc *assoc; /* the packet's association, or NULL */
	/* the association was just established: set its user pointer before the delivery of DATA */
	bool up;
	/* The peer has restarted (RFC 9260 5.2.4): end all sessions, then continue as for up. */
	bool restart;
	unsigned int count;
	struct sctp_data data[SCTP_RX_MAX];
};

/*
 * Processes one SCTP packet from the peer; the packet begins with the common header of 12 bytes.
 * Checks the CRC32C before anything else. Handles acknowledgements, state changes and answers.
 * Returns the work for the user in rx and as events. Hostile input causes at most one answer (RFC
 * 9260 8.4). A packet for another SCTP port is answered as out of the blue, since the caller has
 * made sure that no other endpoint answers it.
 */
void sctp_input(struct sctp_endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		size_t len, uint64_t now, struct sctp_rx *rx);

/*
 * Handles an ICMP error: a packet did not reach the remote address of this path. error is
 * -ECONNREFUSED (no listener), or any -errno that TCP uses for such an error. One error is only a
 * hint, since it may be forged. During the handshake, the INIT is sent again after some 10 ms. If
 * another error answers the second INIT, the association ends with that error. Later, only
 * -ECONNREFUSED counts: the path is probed. If the peer is silent for 1 s, and no other path works,
 * the association ends with -ECONNRESET. `quoted` has the first len bytes of the local packet, as
 * the ICMP error quotes it. The error counts only if the quotation has the verification tag of an
 * association, which takes 8 bytes (RFC 9260 10). For an INIT, the quotation must have the Initiate
 * Tag, which takes 20 bytes.
 */
void sctp_unreachable(struct sctp_endpoint *ep, const struct path_addr *to, int error,
		      const uint8_t *quoted, size_t len, uint64_t now);

/*
 * Handles the report that a packet was too long for the path. mtu is the reported path MTU in bytes
 * of whole IP packets. `quoted` is as in sctp_unreachable(). If `quoted` is NULL, this host itself
 * has rejected the packet, not a router. The MTU then holds for all associations with that address.
 */
void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now);

enum sctp_event_type {
	SCTP_EVENT_UP,	   /* the active side is established (the passive side has rx.up) */
	SCTP_EVENT_LOST,   /* the association has ended with an error */
	SCTP_EVENT_CLOSED, /* an orderly shutdown is complete */
	/* the peer has begun an orderly shutdown: SCTP pulls no more messages */
	SCTP_EVENT_SHUTDOWN,
	SCTP_EVENT_PATH, /* the path in use, or its local address, has changed */
};

struct sctp_event {
	enum sctp_event_type type;
	/* after SCTP_EVENT_LOST and SCTP_EVENT_CLOSED: valid until the next call */
	struct sctp_assoc *assoc;
	void *user;
	/*
	 * The error of SCTP_EVENT_LOST. -ECONNREFUSED: during the handshake, an ABORT came, or the
	 * peer has no listener. -EHOSTUNREACH and the like: see sctp_unreachable(). -ETIMEDOUT: no
	 * answer came.  -ECONNRESET: an ABORT came, or the peer was killed. -EPROTO: the adaptation
	 * indication is missing or wrong, or the peer has violated the protocol.
	 */
	int error;
};

/* True if sctp_next_event() has an event to return, or an ended association to free. */
bool sctp_has_events(const struct sctp *s);
/* Fetches the next event. Returns false if there is none. */
bool sctp_next_event(struct sctp *s, struct sctp_event *ev);

/*
 * Opens an association actively. mtu is the MTU of the path, in bytes of whole IP packets. Returns
 * NULL with errno ENOMEM when out of memory, EINVAL if remote_port is 0, or EISCONN. EISCONN means
 * that the endpoint already has an association with that peer address and port. Its local address
 * is to->local, or is not known yet.
 *
 * Two endpoints that connect to each other at the same time get one association. DATA may come in
 * the same rx that brought the association up, before SCTP_EVENT_UP is fetched. sctp_assoc_is_up()
 * is already true then. If the user rings the doorbell during the handshake, SCTP pulls one packet
 * of messages, and sends them with the COOKIE ECHO. sctp_assoc_streams() is known by then.
 */
struct sctp_assoc *sctp_connect(struct sctp_endpoint *ep, const struct path_addr *to,
				uint16_t remote_port, uint32_t mtu, void *user, uint64_t now);
/* Sets the user pointer, which SCTP only passes to pull() and returns with events. */
void sctp_assoc_set_user(struct sctp_assoc *a, void *user);
void *sctp_assoc_user(const struct sctp_assoc *a);
struct sctp_endpoint *sctp_assoc_endpoint(const struct sctp_assoc *a);
uint16_t sctp_assoc_remote_port(const struct sctp_assoc *a);
/* Returns the addresses of the primary path. */
const struct path_addr *sctp_assoc_addr(const struct sctp_assoc *a);
/* Returns the local addresses that were announced to the peer. *n is their number, perhaps 0. */
const struct ip_addr *sctp_assoc_told(const struct sctp_assoc *a, unsigned int *n);
/*
 * True if the peer is known to have this address. A mere claim of the peer does not suffice: the
 * address must have answered, and must not have been silent for long. After a long silence, another
 * host may have the address.
 */
bool sctp_assoc_has_address(const struct sctp_assoc *a, const struct ip_addr *remote);
/*
 * True if this is the association for a user that names these two addresses. They are compared with
 * the primary path. to->local may be zero. If the result is false, sctp_connect() opens another
 * association for these addresses. There is one exception: to->remote is not the address of the
 * primary path, but sctp_assoc_has_address() is true.
 */
bool sctp_assoc_is_between(const struct sctp_assoc *a, const struct path_addr *to);

/* Returns how the association uses the path between to->local and to->remote. */
enum sctp_path_use sctp_assoc_path_use(struct sctp_assoc *a, const struct path_addr *to);
/*
 * Makes the path between these addresses the primary path. It is used once it works and no DATA is
 * in flight. Does nothing if no such path exists.
 */
void sctp_assoc_prefer(struct sctp_assoc *a, const struct path_addr *to, uint64_t now);
/* True if the local side is the initiator. Exactly one of the two sides is the initiator. */
bool sctp_assoc_is_initiator(const struct sctp_assoc *a);
/* True if the handshake is complete. */
bool sctp_assoc_is_up(const struct sctp_assoc *a);
/* True if the peer has answered the local INIT or sent an INIT, or an ICMP error has come. */
bool sctp_assoc_is_answered(const struct sctp_assoc *a);
/*
 * These give details about an association that was lost during its setup; call them when
 * SCTP_EVENT_LOST is fetched. The first function returns true if an ICMP error ended the
 * association. The second function returns the text in the peer's ABORT, or "".
 */
bool sctp_assoc_is_unreachable(const struct sctp_assoc *a);
const char *sctp_assoc_reason(const struct sctp_assoc *a);
/* Returns the number of stream pairs that both sides can use; valid once the association is up. */
unsigned int sctp_assoc_streams(const struct sctp_assoc *a);
/* True if all pulled messages are acknowledged. */
bool sctp_assoc_is_drained(const struct sctp_assoc *a);
/* Returns the number of pulled messages that are acknowledged without a gap, modulo 2^32. */
uint32_t sctp_assoc_acked(const struct sctp_assoc *a);
/*
 * Returns the number of pulled messages that the peer's user has placed without a gap, modulo 2^32.
 * If the peer has no receipts, this is sctp_assoc_acked().
 */
uint32_t sctp_assoc_placed(const struct sctp_assoc *a);
/*
 * Call this after the user has handled all DATA of the last sctp_input(). The call is optional if
 * there was no DATA. Returns true if sctp_assoc_placed() has changed, because a SACK had waited for
 * a receipt that has now arrived.
 */
bool sctp_assoc_release_holds(struct sctp_assoc *a);
/*
 * True if both sides support receipts; valid once the association is up. The peer keeps Sends that
 * find no receive: *window is set to the maximum of their bytes for each QP.
 */
bool sctp_assoc_has_receipts(const struct sctp_assoc *a, uint32_t *window);
/*
 * Returns the parts of the extension that both sides support, and the window of
 * sctp_assoc_has_receipts(). Returns NULL if either side lacks receipts.
 */
const struct wire_sctp_receipts *sctp_assoc_agreed(const struct sctp_assoc *a);
/* Copies the user's memory that messages still reference into the messages. */
void sctp_assoc_copy_out(struct sctp_assoc *a);
/*
 * Makes the voidable messages of stream sid void, if they were pulled already. Later transmissions
 * have the bytes of ops.put_void instead. The memory that the messages reference is not read any
 * more. Transmissions that were sent earlier may still arrive.
 */
void sctp_assoc_void(struct sctp_assoc *a, uint16_t sid);
/*
 * Sets the MTU of the caller's interface or route, in bytes of whole IP packets. A passive
 * association starts with 1280. A lower MTU is used at once. Packets above 1280 bytes are sent only
 * after a probe of their size was answered.
 */
void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu);
/*
 * Returns the length of the longest user message that fits into one packet of the present path MTU,
 * in bytes. Received packets and timers change the value: call this before each round of
 * sctp_output().
 */
size_t sctp_assoc_max_msg(const struct sctp_assoc *a);
/*
 * Puts the association on the ready list. Call this when the user has something to send. Repeated
 * calls are allowed and cheap.
 */
void sctp_assoc_doorbell(struct sctp_assoc *a);
/*
 * Ends the association in order: SCTP pulls no more messages, waits for the acknowledgement of all
 * DATA, and exchanges SHUTDOWN. SCTP_EVENT_CLOSED or SCTP_EVENT_LOST follows. An association that
 * is not up ends with an ABORT instead. The same holds if the peer has opened the association, and
 * has been silent since.
 */
void sctp_assoc_shutdown(struct sctp_assoc *a, uint64_t now);
/*
 * Ends the association at once, without an event. Sends an ABORT with the cause "User-Initiated
 * Abort". sctp_output_ootb() returns the ABORT.
 */
void sctp_assoc_abort(struct sctp_assoc *a);

/*
 * A gap in the bytes of a batch, at `at`. The user's memory at `from` has the len bytes to send in
 * this place.
 */
struct sctp_ref {
	const uint8_t *at;
	const uint8_t *from;
	uint32_t len;
};

#define SCTP_BATCH_REFS 16u /* maximum number of references in a batch */

/* A batch of packets of `segment` bytes each, `len` bytes together. The last may be shorter. */
struct sctp_batch {
	struct sctp_endpoint *endpoint;
	const uint8_t *data;
	size_t len;
	size_t segment;
	struct path_addr to;
	/* IP Don't Fragment. False for chunks above a reduced path MTU, and at the smallest MTU. */
	bool df;
	uint8_t hops;		     /* hop limit, if the destination is a multicast group */
	struct sctp_block *block;    /* pinned until sctp_batch_done() */
	const struct sctp_ref *refs; /* in ascending order; valid until the next sctp_output() */
	unsigned int n_refs;
	/* the carrier has tried to send it, but its port was full; false at first */
	bool seen;
};

/*
 * Builds the next batch of packets for one sendmsg() with UDP_SEGMENT. A batch has at most 64
 * packets and some 65,000 contiguous bytes. Returns 1, or 0 if nothing may be sent now. The caller
 * may drop a batch, since SCTP retransmits unacknowledged DATA. The memory of the batch stays
 * pinned until sctp_batch_done(), which must be called once for each batch.
 */
int sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch);
/* As sctp_output(), for packets without an association. Each batch has one packet. */
int sctp_output_ootb(struct sctp *s, struct sctp_batch *batch);
/* Releases the memory of a batch that was sent or dropped. */
void sctp_batch_done(struct sctp *s, struct sctp_batch *batch);
/*
 * Copies the memory that a waiting batch of `a` references into the batch. The batch has no gaps
 * afterwards.
 */
void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch);

/*
 * Sends the SACKs that single packets have requested at once (RFC 7053). Without this call, such a
 * SACK waits until another packet is sent or received. Call this when the user will have nothing to
 * send soon.
 */
void sctp_flush_sacks(struct sctp *s);
/* True if any SACK waits for sctp_flush_sacks(). */
bool sctp_has_asked(const struct sctp *s);
/* Returns the bytes in flight of all associations, with the overhead of packets. */
uint32_t sctp_in_flight(const struct sctp *s);
/*
 * Removes the next association with something to send from the ready list. Returns the association,
 * or NULL if the list is empty.
 */
struct sctp_assoc *sctp_next_ready(struct sctp *s);

/*
 * Returns the time when sctp_timers() must be called next, or TIME_NEVER if no timer runs. No timer
 * expires before that time. Perhaps no timer expires at that time either: a timer that was moved
 * back or stopped keeps its old time until sctp_timers().
 */
uint64_t sctp_next_timeout(const struct sctp *s);
/* Runs the timers that have expired at `now`. sctp_next_timeout() is later than `now` then. */
void sctp_timers(struct sctp *s, uint64_t now);

#endif
