/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP (RFC 9260) for one user, DDP (RFC 5043 section 1). Every user message is unordered and one
 * unfragmented DATA chunk. Sans-I/O: packets, time and random bytes come in, packets and events go
 * out. No socket, clock or thread.
 *
 * Time is in nanoseconds of any monotonic clock. Ports, TSNs, stream ids and all other integers are
 * in host order. Errors are -errno. One lock, the caller's (the shard's), guards a whole instance.
 *
 * The caller's loop, for each received packet:
 *	sctp_input()		-> rx: a new or restarted association, DATA to deliver
 *	sctp_next_event()	until it returns false
 * and after a batch of packets, a doorbell or a timeout:
 *	sctp_timers()
 *	while ((a = sctp_next_ready()))	while (sctp_output(a, ..) > 0) send it
 *	while (sctp_output_ootb(..) > 0) send it
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
	uint16_t streams;    /* offered and accepted each way; default 65535 */
	uint32_t adaptation; /* Adaptation Layer Indication to send and require; 1 (RFC 5043 4.1) */
	/*
	 * The receipts parameter of INIT and INIT ACK (receipts.h). Version 0, the default, sends
	 * no parameter and ignores the peer's.
	 */
	struct wire_sctp_receipts receipts;
	/*
	 * Announces local addresses that come and go, and accepts the peer's announcements (RFC
	 * 5061), if the peer supports this too. With false, the default, INIT and INIT ACK do not
	 * offer the extension.
	 */
	bool asconf;
	uint64_t rto_initial; /* RFC 9260 16 */
	uint64_t rto_min;
	uint64_t rto_max;
	uint64_t cookie_life;
	/* of an idle path; default 1 s, so that a killed peer is noticed within 3 s */
	uint64_t heartbeat_interval;
	uint64_t sack_delay; /* default 10 ms, at most 500 ms */
	/* Time without any answer after which the association is lost; default 30 s. */
	uint64_t silent_limit;
	/* Time limit of the handshake, from the first INIT; then it fails with -ETIMEDOUT. */
	uint64_t connect_limit;
	/*
	 * Maximum of the highest outstanding TSN minus the cumulative TSN; default 4095, as Linux
	 * keeps a map of 4096. Values below 32768 also bound the DDP-SSN distance (RFC 5043 5.2).
	 */
	uint32_t max_tsn_distance;
	/* Probe the MTU of paths (RFC 8899), or use the caller's value as it is. */
	bool mtu_probe;
	uint64_t mtu_raise_time; /* time before a reduced path MTU is probed again; default 600 s */
	bool spread;		 /* send DATA over all disjoint paths at once (spread.h) */
	/* Bytes that the carrier adds to each packet besides IP and UDP; default 0. */
	uint32_t overhead;
	uint32_t packet_max; /* bytes of its longest packet, a multiple of 4; default 65,504 */
};

/* Fills in the defaults of this project. */
void sctp_config_default(struct sctp_config *config);

/* A message that the user passes to SCTP for transmission. */
struct sctp_msg {
	uint16_t sid;
	uint32_t ppid;
	bool more; /* the user has more messages to send */
	/* The user waits for the acknowledgement, which SCTP then requests without delay. */
	bool awaited;
	bool receipt;  /* a receipt: local SACKs prove no placement until it arrives */
	bool voidable; /* sctp_assoc_void() applies to this message */
	/*
	 * Zero-copy. If may_reference is set before the call, the user may leave the last zcopy_len
	 * bytes of the message (at least SCTP_ZCOPY_MIN) unwritten, and point zcopy to them. SCTP
	 * reads them from there when it sends the message. SCTP stops reading them after the
	 * acknowledgement of the message (sctp_assoc_acked()), once the message is void, after
	 * sctp_assoc_copy_out(), and after the end of the association.
	 */
	bool may_reference;
	const uint8_t *zcopy; /* the user's memory; NULL: the message is complete */
	uint32_t zcopy_len;   /* bytes; valid if zcopy is not NULL */
};

#define SCTP_ZCOPY_MIN 64u
#define SCTP_VOID_LEN 24u /* bytes that replace a void message */

struct sctp_user_ops {
	/*
	 * Pulls the next user message of this association: writes at most room bytes to buf and
	 * fills in msg. Returns the length, or 0 if there is nothing to send, or nothing worth so
	 * little room. Only sctp_output() calls this, when the windows let the message leave at
	 * once. SCTP sends each pulled message, and keeps it until it is acknowledged.
	 */
	size_t (*pull)(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg);
	/* True if the user has a receipt that was not pulled yet. NULL: the user never has one. */
	bool (*receipt_due)(void *user);
	/*
	 * Continues *crc over len bytes of the user's memory, as crc32c_add(). Returns false if the
	 * memory cannot be read any more. checksum and copy_out are both NULL if no message may
	 * reference memory.
	 */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	/*
	 * Copies len bytes of the user's memory to their place in the message msg. If the memory
	 * cannot be read any more, changes the message so that the peer rejects it. The peer may
	 * already have the original message.
	 */
	void (*copy_out)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
	/* Writes the SCTP_VOID_LEN bytes that replace msg. NULL: no message is voidable. */
	void (*put_void)(uint8_t *to, const uint8_t *msg);
	/*
	 * Writes at most max local addresses, besides to->local, that a peer at to->remote may
	 * know. Returns their number. ctx is the endpoint's. NULL: peers get no addresses.
	 */
	unsigned int (*addresses)(void *ctx, const struct path_addr *to, struct ip_addr *addr,
				  unsigned int max);
	/*
	 * Sets *local to the source address of packets to remote. Returns false if there is no
	 * route. NULL: the source is always the address of the association's setup.
	 */
	bool (*source)(void *ctx, const struct ip_addr *remote, struct ip_addr *local);
	/* True if the address belongs to this host. NULL: no address that a peer lists does. */
	bool (*is_own)(void *ctx, const struct ip_addr *addr);
};

/*
 * Creates an instance: the endpoints and associations behind one lock. Copies config and ops;
 * random must outlive the instance. Returns NULL when out of memory.
 */
struct sctp *sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
		      struct random_source *random);
/* Frees the instance with all its endpoints (see sctp_endpoint_free()). NULL is allowed. */
void sctp_free(struct sctp *s);

/* Counters of all associations since sctp_new(). */
struct sctp_stats {
	uint64_t bad_packets; /* received with a wrong length or checksum */
	uint64_t duplicates;  /* DATA chunks that had been received before */
	uint64_t lost;	      /* DATA chunks considered lost */
	uint64_t resent;      /* DATA chunks retransmitted after a loss */
	uint64_t probes;      /* DATA chunks sent again as tail-loss probes (RFC 8985) */
	uint64_t timeouts;    /* expirations of T3-rtx */
	uint64_t up;	      /* associations that came up, or restarted */
	uint64_t aborts_in, aborts_out;
};

/* Returns counters that stay valid, and up to date, while the instance lives. */
const struct sctp_stats *sctp_stats(const struct sctp *s);

/*
 * Creates a local SCTP port. rcvbuf is the true size of the socket's receive buffer in bytes (the
 * doubled SO_RCVBUF). The advertised windows of all its associations together stay below that. ctx
 * is the caller's (its socket). Returns NULL when out of memory.
 */
struct sctp_endpoint *sctp_endpoint_new(struct sctp *s, uint16_t port, size_t rcvbuf, void *ctx);
/* Sets whether INITs are accepted, or get an ABORT, as at first. Ends sctp_endpoint_set_quiet(). */
void sctp_endpoint_set_accept(struct sctp_endpoint *ep, bool accept);
/*
 * Until that time, drops INITs that are not accepted, as if they were lost. The peer retransmits
 * them after its RTO, and the endpoint may accept by then.
 */
void sctp_endpoint_set_quiet(struct sctp_endpoint *ep, uint64_t until);
void *sctp_endpoint_ctx(const struct sctp_endpoint *ep);
/* Reports a change of local addresses or routes: ops.source may return other addresses. */
void sctp_endpoint_readdress(struct sctp_endpoint *ep, uint64_t now);
/*
 * Drops the endpoint's associations, and its packets that wait for sctp_output_ootb(), without
 * notice to the peers. For an orderly end, first abort the associations and send these packets.
 * NULL is allowed.
 */
void sctp_endpoint_free(struct sctp_endpoint *ep);

/* One new DATA chunk, or one reassembled message. */
struct sctp_data {
	uint16_t sid;
	uint32_t ppid;
	uint32_t len;
	const uint8_t *data; /* in the packet, or in memory that the next sctp_input() frees */
};

#define SCTP_RX_MAX 4096 /* more DATA chunks than fit into 64 KiB */

struct sctp_rx {
	struct sctp_assoc *assoc; /* the packet's association, or NULL */
	bool up; /* the association was just established: set its user before the delivery */
	/* The peer restarted (RFC 9260 5.2.4): end every session, then continue as with up. */
	bool restart;
	unsigned int count;
	struct sctp_data data[SCTP_RX_MAX];
};

/*
 * Processes one SCTP packet from the peer, from its 12-byte common header on. Checks the CRC32C
 * before anything else. Handles acknowledgements, state changes and answers; the user's work is
 * returned in rx and as events. Hostile input costs at most an answer (RFC 9260 8.4). A packet for
 * another SCTP port is answered as out of the blue: the caller has made sure that no other endpoint
 * answers it.
 */
void sctp_input(struct sctp_endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		size_t len, uint64_t now, struct sctp_rx *rx);

/*
 * Reports an ICMP error: a packet did not reach the remote end of this path. error is -ECONNREFUSED
 * (no listener), or any -errno that TCP uses for this. An error is a hint, and not sufficient
 * alone. While connecting, INIT is sent again after some 10 ms. If another error answers it, the
 * association ends with that error. Later, only -ECONNREFUSED counts: the path is probed. If
 * nothing answers for 1 s, and no other path works, the association ends with -ECONNRESET. quoted
 * has the first len bytes of the local packet, as quoted by the ICMP error. The hint counts only
 * with the verification tag of an association, or for its INIT (RFC 9260 10): at least 8 bytes, or
 * 20.
 */
void sctp_unreachable(struct sctp_endpoint *ep, const struct path_addr *to, int error,
		      const uint8_t *quoted, size_t len, uint64_t now);

/*
 * Reports a packet that was too long for the path, whose MTU is mtu bytes (whole IP packets).
 * quoted is as above. If quoted is NULL, this host and no router has rejected the packet; the MTU
 * then holds for all associations with that address.
 */
void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now);

enum sctp_event_type {
	SCTP_EVENT_UP,	     /* active side: established (the passive side has rx.up) */
	SCTP_EVENT_LOST,     /* error has the reason; the pointer is invalid after the next call */
	SCTP_EVENT_CLOSED,   /* an orderly shutdown is complete; the pointer as for LOST */
	SCTP_EVENT_SHUTDOWN, /* the peer began an orderly shutdown: no more pulls */
	SCTP_EVENT_PATH,     /* the path in use, or its local address, has changed */
};

struct sctp_event {
	enum sctp_event_type type;
	struct sctp_assoc *assoc; /* readable until the next call */
	void *user;
	/*
	 * Of SCTP_EVENT_LOST: -ECONNREFUSED (ABORT, or no listener, while connecting),
	 * -EHOSTUNREACH and the like (sctp_unreachable()), -ETIMEDOUT, -ECONNRESET (ABORT, or
	 * killed), -EPROTO (missing or wrong adaptation indication, or a protocol violation by the
	 * peer).
	 */
	int error;
};

/* True if sctp_next_event() has an event to return, or an association to free. */
bool sctp_has_events(const struct sctp *s);
/* Fetches the next event. Returns false if there is none. */
bool sctp_next_event(struct sctp *s, struct sctp_event *ev);

/*
 * Active open. mtu is the path's, in bytes of whole IP packets. Returns NULL when out of memory
 * (errno ENOMEM), if remote_port is 0 (EINVAL), or if the endpoint has an association with that
 * address and port (EISCONN) from to->local, or from a local address that is not known yet.
 *
 * Two endpoints that connect to each other at the same time get one association. DATA may come in
 * the same rx that brought the association up, before SCTP_EVENT_UP is fetched: sctp_assoc_is_up()
 * is already true then. If the doorbell rings before the association is up, SCTP pulls one packet
 * of messages to send with the COOKIE ECHO; sctp_assoc_streams() is known by then.
 */
struct sctp_assoc *sctp_connect(struct sctp_endpoint *ep, const struct path_addr *to,
				uint16_t remote_port, uint32_t mtu, void *user, uint64_t now);
/* Sets the user pointer, which SCTP passes to pull() and with events, but does not use. */
void sctp_assoc_set_user(struct sctp_assoc *a, void *user);
void *sctp_assoc_user(const struct sctp_assoc *a);
struct sctp_endpoint *sctp_assoc_endpoint(const struct sctp_assoc *a);
uint16_t sctp_assoc_remote_port(const struct sctp_assoc *a);
/* Returns the addresses of the primary path. */
const struct path_addr *sctp_assoc_addr(const struct sctp_assoc *a);
/* Returns the local addresses announced to the peer, and their number in *n, perhaps 0. */
const struct ip_addr *sctp_assoc_told(const struct sctp_assoc *a, unsigned int *n);
/*
 * True if the peer is known to have this address, beyond a mere claim. The address has answered,
 * and has not been silent for long. A long silence would mean that another host has the address.
 */
bool sctp_assoc_has_address(const struct sctp_assoc *a, const struct ip_addr *remote);
/*
 * True if a user that names these two addresses means this association, judged by its primary path.
 * to->local may be zero. If false, sctp_connect() opens another association for them, unless
 * to->remote is not the address of the primary path and sctp_assoc_has_address() is true.
 */
bool sctp_assoc_is_between(const struct sctp_assoc *a, const struct path_addr *to);

/* Returns how the association uses the path between to->local and to->remote. */
enum sctp_path_use sctp_assoc_path_use(struct sctp_assoc *a, const struct path_addr *to);
/*
 * Makes the path the primary one: it is used once it works and nothing is in flight. Does nothing
 * if there is no such path.
 */
void sctp_assoc_prefer(struct sctp_assoc *a, const struct path_addr *to, uint64_t now);
/* True if the local side is the initiator. If both sides sent an INIT, exactly one of them is. */
bool sctp_assoc_is_initiator(const struct sctp_assoc *a);
/* True if the handshake is complete. */
bool sctp_assoc_is_up(const struct sctp_assoc *a);
/*
 * True if anything has answered the local INIT, even an ICMP error, or the peer has sent an INIT.
 */
bool sctp_assoc_is_answered(const struct sctp_assoc *a);
/*
 * For the event of an association lost during its setup: true if an ICMP error ended it; and the
 * peer's reason for an ABORT, or "".
 */
bool sctp_assoc_is_unreachable(const struct sctp_assoc *a);
const char *sctp_assoc_reason(const struct sctp_assoc *a);
/* Returns the number of stream pairs that both sides can use; valid once up. */
unsigned int sctp_assoc_streams(const struct sctp_assoc *a);
/* True if all pulled messages are acknowledged. */
bool sctp_assoc_is_drained(const struct sctp_assoc *a);
/* Returns the number of pulled messages acknowledged without a gap, modulo 2^32. */
uint32_t sctp_assoc_acked(const struct sctp_assoc *a);
/*
 * Returns the number of pulled messages that the peer's user has placed without a gap, modulo 2^32.
 * Without receipts from the peer, this is sctp_assoc_acked().
 */
uint32_t sctp_assoc_placed(const struct sctp_assoc *a);
/*
 * Call this after all DATA of the last sctp_input() was handed to the user; optional if there was
 * none. Returns true if sctp_assoc_placed() has changed: a SACK may have waited for a receipt that
 * has arrived by now.
 */
bool sctp_assoc_release_holds(struct sctp_assoc *a);
/*
 * True if both sides support receipts; valid once up. *window is set to the bytes of Sends without
 * a receive that the peer keeps for each QP.
 */
bool sctp_assoc_has_receipts(const struct sctp_assoc *a, uint32_t *window);
/*
 * Returns the parts of the extension that both sides support, and the window above. Returns NULL if
 * either side lacks receipts.
 */
const struct wire_sctp_receipts *sctp_assoc_agreed(const struct sctp_assoc *a);
/* Copies the memory that messages still reference. */
void sctp_assoc_copy_out(struct sctp_assoc *a);
/*
 * Makes the voidable messages of stream sid void, as far as they were pulled. Later transmissions
 * carry the bytes of ops.put_void instead. The memory that they reference is not read any more.
 * Earlier transmissions may still arrive.
 */
void sctp_assoc_void(struct sctp_assoc *a, uint16_t sid);
/*
 * Sets the path MTU that the caller knows from its interface or route, in bytes of whole IP
 * packets. A passive association starts at 1280. A lower value holds at once; packets above 1280
 * are sent once a probe of that size was answered.
 */
void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu);
/*
 * Returns the longest user message that fits one packet of the present path MTU, in bytes. Input
 * and time change the value: call this before each round of sctp_output().
 */
size_t sctp_assoc_max_msg(const struct sctp_assoc *a);
/*
 * Puts the association on the ready list, for a user with something to send. Idempotent and cheap.
 */
void sctp_assoc_doorbell(struct sctp_assoc *a);
/*
 * Ends the association in order: stops pulling, drains, and exchanges SHUTDOWN. SCTP_EVENT_CLOSED
 * or SCTP_EVENT_LOST follows. An ABORT ends an association that is not up, or whose peer has opened
 * it and been silent since.
 */
void sctp_assoc_shutdown(struct sctp_assoc *a, uint64_t now);
/*
 * Ends the association at once, without an event, by an ABORT with the cause "User-Initiated
 * Abort". The ABORT leaves through sctp_output_ootb().
 */
void sctp_assoc_abort(struct sctp_assoc *a);

/* A gap in the bytes of a batch: the len bytes at `at` come from `from`. */
struct sctp_ref {
	const uint8_t *at;
	const uint8_t *from;
	uint32_t len;
};

#define SCTP_BATCH_REFS 16u /* maximum of a batch */

/* One send: `len` bytes at data, in packets of `segment` bytes; the last may be shorter. */
struct sctp_batch {
	struct sctp_endpoint *endpoint;
	const uint8_t *data;
	size_t len;
	size_t segment;
	struct path_addr to;
	/* IP Don't Fragment. Off for chunks above a shrunken path MTU, and at the smallest MTU. */
	bool df;
	uint8_t hops;		     /* hop limit, if it goes to a multicast group */
	struct sctp_block *block;    /* pinned until sctp_batch_done() */
	const struct sctp_ref *refs; /* in ascending order; valid until the next sctp_output() */
	unsigned int n_refs;
	bool seen; /* for the carrier: seen before, when its port was full; false at first */
};

/*
 * Builds the next batch of packets for one sendmsg with UDP_SEGMENT: at most 64 packets and some
 * 65,000 bytes, contiguous. Returns 1, or 0 if nothing may be sent now. A batch may be lost, since
 * SCTP retransmits unacknowledged DATA. Its memory stays pinned until sctp_batch_done(), once for
 * each batch.
 */
int sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch);
/* The same for packets without an association, one at a time. */
int sctp_output_ootb(struct sctp *s, struct sctp_batch *batch);
/* Releases the memory of a batch that has left or was dropped. */
void sctp_batch_done(struct sctp *s, struct sctp_batch *batch);
/* Copies the memory that a waiting batch of a references, so that it has no gaps any more. */
void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch);

/*
 * Sends the SACKs that lone packets have requested at once (RFC 7053). Such a SACK otherwise waits
 * for the next packet to leave, or for a second packet to come. Call this when the user will have
 * nothing to send soon.
 */
void sctp_flush_sacks(struct sctp *s);
/* True if sctp_flush_sacks() has anything to do. */
bool sctp_has_asked(const struct sctp *s);
/* Returns the bytes in flight of all associations, with the packets' overhead. */
uint32_t sctp_in_flight(const struct sctp *s);
/* Takes the next association with something to send off the ready list, or returns NULL. */
struct sctp_assoc *sctp_next_ready(struct sctp *s);

/*
 * Returns the time for the next sctp_timers(), or TIME_NEVER if no timer runs. No timer expires
 * earlier, and perhaps none expires then: a timer that was moved back or stopped keeps its old time
 * until sctp_timers().
 */
uint64_t sctp_next_timeout(const struct sctp *s);
/* Runs the timers expired at `now`. Afterwards sctp_next_timeout() is later than `now`. */
void sctp_timers(struct sctp *s, uint64_t now);

#endif
