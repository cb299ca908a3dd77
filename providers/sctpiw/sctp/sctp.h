/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP (RFC 9260) for one user, DDP (RFC 5043 section 1): every user message is
 * unordered and one unfragmented DATA chunk. Sans-I/O: packets, time and
 * randomness come in, packets and events go out. No socket, clock or thread.
 *
 * Time is in nanoseconds of any monotonic clock. Ports, TSNs, stream ids and all
 * other integers are in host order. Errors are -errno. All of an instance is
 * guarded by one lock, the caller's (the shard's).
 *
 * The caller's loop, for each packet received:
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

/* Times are ns. Values that would make the protocol misbehave are put right by sctp_new(). */
struct sctp_config {
	uint16_t streams;    /* offered and accepted each way; 65535 */
	uint32_t adaptation; /* Adaptation Layer Indication, sent and demanded: 1 (RFC 5043 4.1) */
	/*
	 * What INIT and INIT ACK say of receipts (receipts.h). Version 0, the default: nothing, and
	 * the peer's are not asked for.
	 */
	struct wire_sctp_receipts receipts;
	/*
	 * Peers that know it are told of our addresses that come and go, and tell us of theirs (RFC 5061). false, the
	 * default: INIT and INIT ACK say nothing of that.
	 */
	bool asconf;
	uint64_t rto_initial; /* RFC 9260 16 */
	uint64_t rto_min;
	uint64_t rto_max;
	uint64_t cookie_life;
	/* idle path; 1 s, so that a killed peer is noticed within 3 s */
	uint64_t heartbeat_interval;
	uint64_t sack_delay; /* 10 ms, at most 500 ms */
	/* the association is lost when nothing was answered for so long; 30 s */
	uint64_t silent_limit;
	/* -ETIMEDOUT when INIT or COOKIE ECHO was not answered for so long */
	uint64_t connect_limit;
	/*
	 * The highest outstanding TSN - the cumulative TSN, at most; 4095, as Linux keeps a map of
	 * 4096. Below 32768, it bounds the DDP-SSN distance too (RFC 5043 5.2).
	 */
	uint32_t max_tsn_distance;
	/* paths are probed for what they take (RFC 8899); else the caller is believed */
	bool mtu_probe;
	uint64_t mtu_raise_time; /* a path that took less is probed again after so long; 600 s */
	bool spread; /* DATA goes over all paths that are disjoint, not over one at a time (spread.h) */
	/* What the carrier of packets adds to each of them beside IP and UDP, bytes; 0 */
	uint32_t overhead;
	uint32_t packet_max; /* bytes of the longest packet that the carrier takes, a multiple of 4; 65,504 */
};

/* Fills in the defaults of the project; the caller then changes what it wants. */
void sctp_config_default(struct sctp_config *config);

/* A message that the user hands to SCTP for transmission. */
struct sctp_msg {
	uint16_t sid;
	uint32_t ppid;
	bool more; /* the user has more to send behind this one */
	/* The user waits for this message to be acknowledged, so the peer is asked not to delay it. */
	bool awaited;
	bool receipt;  /* no SACK of ours is more than a SACK before this one has arrived */
	bool voidable; /* sctp_assoc_void() is for this message, too */
	/*
	 * Zero-copy. If may_reference is set before the call, the user may leave the last
	 * zcopy_len bytes of the message (at least SCTP_ZCOPY_MIN) unwritten and say where they
	 * are: they are read from there when the message is sent. Nothing reads them any more once
	 * the message is acknowledged (sctp_assoc_acked()) or void, sctp_assoc_copy_out() was
	 * called, or the association is over.
	 */
	bool may_reference;
	const uint8_t *zcopy; /* the user's memory; NULL: the message is whole */
	uint32_t zcopy_len;   /* bytes; valid if zcopy is not NULL */
};

#define SCTP_ZCOPY_MIN 64u
#define SCTP_VOID_LEN 24u /* bytes of what is sent in the place of a message that is void */

struct sctp_user_ops {
	/*
	 * Takes the next user message of this association: writes at most room
	 * bytes to buf and fills in msg. Returns its length; 0: there is nothing to
	 * send, or nothing worth sending in so little room. Called only from
	 * sctp_output(), when the windows let the message leave at once. What is
	 * taken is sent, and SCTP keeps it until it is acknowledged.
	 */
	size_t (*pull)(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg);
	/*
	 * Whether the user has a receipt to send that was not pulled yet. NULL: it never has one.
	 */
	bool (*receipt_due)(void *user);
	/*
	 * Continues *crc over len bytes of the user's memory, as crc32c_add() does. Returns false
	 * when they cannot be read any more. NULL, as copy_out then is: no message may reference
	 * memory.
	 */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	/*
	 * Copies len bytes of the user's memory to their place in the message msg. If they cannot
	 * be read any more, it makes the message one that the peer takes for wrong; the peer may
	 * have it as it was already.
	 */
	void (*copy_out)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
	/*
	 * Writes what is sent from now on in the place of msg, which is void: SCTP_VOID_LEN bytes.
	 * NULL: no message is voidable.
	 */
	void (*put_void)(uint8_t *to, const uint8_t *msg);
	/*
	 * Writes at most max addresses of ours, besides to->local, that a peer at to->remote may be told of, and
	 * returns how many. ctx: of the endpoint. NULL: peers are told of none.
	 */
	unsigned int (*addresses)(void *ctx, const struct path_addr *to, struct ip_addr *addr,
				  unsigned int max);
	/*
	 * Which address of ours packets to that one leave from now. false: there is no way. NULL: it is the one that
	 * the association was set up with, always.
	 */
	bool (*source)(void *ctx, const struct ip_addr *remote, struct ip_addr *local);
	/* Whether the address belongs to this host. NULL: none that a peer lists does. */
	bool (*is_own)(void *ctx, const struct ip_addr *addr);
};

/*
 * An instance holds the endpoints and associations behind one lock. config and ops are
 * copied; random must outlive the instance. NULL: no memory.
 */
struct sctp *sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
		      struct random_source *random);
/* Frees the instance with all its endpoints (see sctp_endpoint_free()). NULL is allowed. */
void sctp_free(struct sctp *s);

/* What has happened since sctp_new(), on all associations. */
struct sctp_stats {
	uint64_t bad_packets; /* received with a wrong length or checksum */
	uint64_t duplicates;  /* DATA chunks that had been received before */
	uint64_t lost;	      /* DATA chunks taken for lost */
	uint64_t resent;      /* DATA chunks sent again because of that */
	uint64_t probes;      /* DATA chunks sent again to find out (tail-loss probes, RFC 8985) */
	uint64_t timeouts;    /* expirations of T3-rtx */
	uint64_t up;	      /* associations that came up, or restarted */
	uint64_t aborts_in, aborts_out;
};

/* Valid, and up to date, as long as the instance lives. */
const struct sctp_stats *sctp_stats(const struct sctp *s);

/*
 * A local SCTP port. rcvbuf: bytes that the socket behind the endpoint really holds (true size,
 * that is the doubled SO_RCVBUF); the advertised windows of its associations together stay below
 * what fits there. ctx is the caller's (its socket). NULL: no memory.
 */
struct sctp_endpoint *sctp_endpoint_new(struct sctp *s, uint16_t port, size_t rcvbuf, void *ctx);
/* Whether INITs are answered; if not, as at first, an INIT gets an ABORT. Ends what the next function does. */
void sctp_endpoint_set_accept(struct sctp_endpoint *ep, bool accept);
/*
 * Until that time an INIT that is not accepted is dropped, as if it had been lost. The peer sends it again
 * after its RTO, and the endpoint may accept by then.
 */
void sctp_endpoint_set_quiet(struct sctp_endpoint *ep, uint64_t until);
void *sctp_endpoint_ctx(const struct sctp_endpoint *ep);
/* Our addresses or routes have changed: ops.source may have other answers. */
void sctp_endpoint_readdress(struct sctp_endpoint *ep, uint64_t now);
/*
 * Drops the endpoint's associations without a word, and what waits in sctp_output_ootb() for it. To
 * end them properly, abort them and send that first. NULL is allowed.
 */
void sctp_endpoint_free(struct sctp_endpoint *ep);

/* One DATA chunk (or one reassembled message), new and not yet delivered. */
struct sctp_data {
	uint16_t sid;
	uint32_t ppid;
	uint32_t len;
	const uint8_t *data; /* in the packet, or in memory that the next sctp_input() frees */
};

#define SCTP_RX_MAX 4096 /* more DATA chunks than fit into 64 KiB */

struct sctp_rx {
	struct sctp_assoc *assoc; /* whose packet it was, or NULL */
	bool up; /* the association was just established: give it a user before the data */
	/* the peer restarted (RFC 9260 5.2.4): end every session, then go on as if up */
	bool restart;
	unsigned int count;
	struct sctp_data data[SCTP_RX_MAX];
};

/*
 * One SCTP packet from the peer, from its 12-byte common header on. Nothing of it
 * is looked at before its CRC32C holds. Acknowledgements, state changes and
 * answers are done inside; what the user must do comes back in rx and as
 * events. Hostile input costs at most an answer (RFC 9260 8.4). What is for another SCTP port
 * than the endpoint's is answered as such: the caller has seen that nobody else will.
 */
void sctp_input(struct sctp_endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		size_t len, uint64_t now, struct sctp_rx *rx);

/*
 * An ICMP error said that a packet did not reach this path's remote end, and why: -ECONNREFUSED
 * (nobody listens there), or any -errno that TCP has for it. That is a hint and not trusted alone.
 * While connecting, INIT is sent again after some 10 ms, and if that is answered by another error,
 * the association is given up with that error. Later, only -ECONNREFUSED counts: the path is probed,
 * and the association given up with -ECONNRESET when nothing answers for 1 s. quoted: the first len
 * bytes of our packet, as far as the ICMP error quotes it. The hint counts only if they have the
 * verification tag of an association, or are of its INIT (RFC 9260 10): 8 bytes at least, or 20.
 */
void sctp_unreachable(struct sctp_endpoint *ep, const struct path_addr *to, int error,
		      const uint8_t *quoted, size_t len, uint64_t now);

/*
 * A packet was too long for the path, which takes mtu bytes (whole IP packets). quoted: as above.
 * NULL: no router but our own host said so; then it holds for all associations with that address.
 */
void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now);

enum sctp_event_type {
	SCTP_EVENT_UP,	     /* active side: established (the passive side has rx.up) */
	SCTP_EVENT_LOST,     /* error says why; do not use the pointer after the next call */
	SCTP_EVENT_CLOSED,   /* an orderly shutdown is complete; the pointer as for LOST */
	SCTP_EVENT_SHUTDOWN, /* the peer began an orderly shutdown: no more pulls */
	SCTP_EVENT_PATH, /* another path is in use than before, or than when it came up, or from another address */
};

struct sctp_event {
	enum sctp_event_type type;
	struct sctp_assoc *assoc; /* still readable until the next call */
	void *user;
	/*
	 * Of SCTP_EVENT_LOST: -ECONNREFUSED (ABORT, or nobody there, while connecting), -EHOSTUNREACH
	 * and the like (sctp_unreachable()), -ETIMEDOUT, -ECONNRESET (ABORT, or killed), -EPROTO (no or
	 * another adaptation indication, or the peer violated the protocol).
	 */
	int error;
};

/* Whether sctp_next_event() has anything to tell, or to do before it tells. */
bool sctp_has_events(const struct sctp *s);
/* Fetches the next event. false: there is none. */
bool sctp_next_event(struct sctp *s, struct sctp_event *ev);

/*
 * Active open. mtu: of the path, bytes of whole IP packets. Returns NULL when out of memory (errno
 * ENOMEM), when remote_port is 0 (EINVAL), or when the endpoint has an association with that
 * address and port (EISCONN) from to->local, or from an address of ours that is not known yet.
 *
 * Two endpoints that connect to each other at the same time end up with one association. DATA may
 * come in the same rx that brought the association up, before SCTP_EVENT_UP is fetched:
 * sctp_assoc_is_up() is true by then. If its doorbell is rung before it is up, the association
 * pulls one packet of messages to ride behind its COOKIE ECHO; sctp_assoc_streams() is known by
 * then.
 */
struct sctp_assoc *sctp_connect(struct sctp_endpoint *ep, const struct path_addr *to,
				uint16_t remote_port, uint32_t mtu, void *user, uint64_t now);
/* The user is handed to pull() and comes with events; SCTP does not look at it. */
void sctp_assoc_set_user(struct sctp_assoc *a, void *user);
void *sctp_assoc_user(const struct sctp_assoc *a);
struct sctp_endpoint *sctp_assoc_endpoint(const struct sctp_assoc *a);
uint16_t sctp_assoc_remote_port(const struct sctp_assoc *a);
/* The addresses of the primary path. */
const struct path_addr *sctp_assoc_addr(const struct sctp_assoc *a);
/* The addresses of ours that the peer was told of, and how many in *n; 0: none. */
const struct ip_addr *sctp_assoc_told(const struct sctp_assoc *a, unsigned int *n);
/*
 * Whether the peer is known to have this address, and has not merely said so: it has answered there, and not for long
 * been silent, as it is when the address has become another host's.
 */
bool sctp_assoc_has_address(const struct sctp_assoc *a, const struct ip_addr *remote);
/*
 * Whether whoever names these two addresses, of which to->local may be zero, means this association, as far as its
 * primary path tells. Otherwise sctp_connect() opens another one for them, unless to->remote is another address than
 * that of the primary path, and sctp_assoc_has_address().
 */
bool sctp_assoc_is_between(const struct sctp_assoc *a, const struct path_addr *to);

/* What the pair to->local and to->remote is for the association. */
enum sctp_path_use sctp_assoc_path_use(struct sctp_assoc *a, const struct path_addr *to);
/* The path becomes the primary one: it is used when it works, and nothing is in flight. Nothing if there is none. */
void sctp_assoc_prefer(struct sctp_assoc *a, const struct path_addr *to, uint64_t now);
/* Whether we are the initiator. If both sides sent an INIT, exactly one of them is. */
bool sctp_assoc_is_initiator(const struct sctp_assoc *a);
/* Whether the handshake is complete. */
bool sctp_assoc_is_up(const struct sctp_assoc *a);
/* Whether something has come for our INIT, be it an ICMP error, or the peer has sent one of its own. */
bool sctp_assoc_is_answered(const struct sctp_assoc *a);
/*
 * Of an association that was lost while it was set up, with its event: whether an ICMP error ended it, and
 * what the peer gave as its reason for an ABORT; "": nothing.
 */
bool sctp_assoc_is_unreachable(const struct sctp_assoc *a);
const char *sctp_assoc_reason(const struct sctp_assoc *a);
/* The number of stream pairs that both sides can use; valid once up. */
unsigned int sctp_assoc_streams(const struct sctp_assoc *a);
/* Whether nothing that was taken from the user waits for an acknowledgement. */
bool sctp_assoc_is_drained(const struct sctp_assoc *a);
/* How many messages taken from the user are acknowledged without a gap, modulo 2^32. */
uint32_t sctp_assoc_acked(const struct sctp_assoc *a);
/*
 * How many messages taken from the user have been taken by the peer's user, without a gap, modulo
 * 2^32. Of a peer that does not know receipts we know no more than sctp_assoc_acked().
 */
uint32_t sctp_assoc_placed(const struct sctp_assoc *a);
/*
 * All DATA of the last sctp_input() was handed to the user; need not be called if there was none.
 * Returns whether that has changed sctp_assoc_placed(): a SACK may have waited for a receipt that is
 * here by now.
 */
bool sctp_assoc_release_holds(struct sctp_assoc *a);
/*
 * Whether both sides know receipts; valid once up. *window: the bytes of Sends without a receive
 * that the peer keeps for each QP.
 */
bool sctp_assoc_has_receipts(const struct sctp_assoc *a, uint32_t *window);
/* What else both sides know of the extension, and the window of above; NULL if not both know receipts. */
const struct wire_sctp_receipts *sctp_assoc_agreed(const struct sctp_assoc *a);
/* Copies what messages still reference. */
void sctp_assoc_copy_out(struct sctp_assoc *a);
/*
 * The messages of stream sid that are voidable, and that were taken from the user so far, are void: what
 * is sent of them from now on is what ops.put_void writes. Nothing reads the memory that they reference any
 * more. What has left before may still arrive.
 */
void sctp_assoc_void(struct sctp_assoc *a, uint16_t sid);
/*
 * Tells what the path takes as far as the caller knows, from its interface or route (bytes of whole
 * IP packets); a passive association starts at 1280 until told. Less holds at once; packets of more
 * than 1280 are sent as soon as a probe of that size was answered.
 */
void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu);
/*
 * The longest user message that fits one packet of the present path MTU, bytes. It changes with
 * what comes in and with time: to be asked before each round of sctp_output().
 */
size_t sctp_assoc_max_msg(const struct sctp_assoc *a);
/* The user has something to send: puts the association on the ready list. Idempotent and cheap. */
void sctp_assoc_doorbell(struct sctp_assoc *a);
/*
 * Ends the association in order: pulls no more, drains, and exchanges SHUTDOWN. It is over with
 * SCTP_EVENT_CLOSED or SCTP_EVENT_LOST. If the peer has opened the association and was silent
 * since, an ABORT ends it.
 */
void sctp_assoc_shutdown(struct sctp_assoc *a, uint64_t now);
/*
 * Ends the association with an ABORT and the cause "User-Initiated Abort". It is gone at once and
 * without an event. The ABORT leaves through sctp_output_ootb().
 */
void sctp_assoc_abort(struct sctp_assoc *a);

/* A gap in the bytes of a batch: len bytes at `at` are to be taken from `from`. */
struct sctp_ref {
	const uint8_t *at;
	const uint8_t *from;
	uint32_t len;
};

#define SCTP_BATCH_REFS 16u /* of a batch, at most */

/* One send: `len` bytes at data, packets of `segment` bytes each; the last may be shorter. */
struct sctp_batch {
	struct sctp_endpoint *endpoint;
	const uint8_t *data;
	size_t len;
	size_t segment;
	struct path_addr to;
	/* IP Don't Fragment; off for chunks above a path MTU that shrank, and at the smallest path MTU */
	bool df;
	uint8_t hops;		     /* how far it may go, if it goes to a multicast group */
	struct sctp_block *block;    /* pinned until sctp_batch_done() */
	const struct sctp_ref *refs; /* in ascending order; valid until the next sctp_output() */
	unsigned int n_refs;
	bool seen; /* the carrier's: it has had the batch before, and its port was full; at first false */
};

/*
 * Builds the next batch of packets, ready for one sendmsg with UDP_SEGMENT: at most 64
 * packets and 65,000 bytes or so, contiguous. Returns 1, or 0 when nothing may
 * be sent now. Whether it really left is not SCTP's concern, since SCTP sends again what is not
 * acknowledged; but the memory stays pinned until sctp_batch_done(), once for each batch.
 */
int sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch);
/* The same for the packets of no association, one at a time. */
int sctp_output_ootb(struct sctp *s, struct sctp_batch *batch);
/* The batch has left, or was dropped: releases its memory. */
void sctp_batch_done(struct sctp *s, struct sctp_batch *batch);
/* A batch of a has to wait: copies what it references, so that no gap is left in it. */
void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch);

/*
 * A lone packet that asks for its SACK at once (RFC 7053) gets it with the next packet that leaves,
 * with the second one that comes, or by this call: the user will have nothing to send soon.
 */
void sctp_flush_sacks(struct sctp *s);
/* Whether sctp_flush_sacks() has anything to do. */
bool sctp_has_asked(const struct sctp *s);
/* bytes that all associations have in flight, with the packets' overhead */
uint32_t sctp_in_flight(const struct sctp *s);
/* Takes the next association with something to send off the ready list, or returns NULL. */
struct sctp_assoc *sctp_next_ready(struct sctp *s);

/*
 * When sctp_timers() is to be called next; TIME_NEVER: no timer runs. No timer expires earlier, but it may be
 * that none expires then: one that was moved back or stopped counts as it was until sctp_timers() looks at it.
 */
uint64_t sctp_next_timeout(const struct sctp *s);
/* Runs what has expired at `now`. Afterwards sctp_next_timeout() is later than `now`. */
void sctp_timers(struct sctp *s, uint64_t now);

#endif
