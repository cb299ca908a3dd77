/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP (RFC 9260) for one user, DDP (RFC 5043 section 1): every user message is
 * unordered and one unfragmented DATA chunk. Sans-I/O: packets, time and
 * randomness come in, packets and events go out. No socket, clock or thread.
 *
 * Time is in nanoseconds of any monotonic clock. Ports, TSNs, stream ids and all
 * other integers are in host order. Errors are -errno. All of an instance is
 * guarded by one lock, the caller's (engine lock).
 *
 * The caller's loop, for each packet received:
 *	sctp_input()		-> rx: a new/restarted association, DATA to deliver
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

#include "util/addr.h"
#include "util/random.h"
#include "util/time.h"

struct sctp;
struct sctp_endpoint;
struct sctp_assoc;
struct sctp_block;

#define SCTP_NSEC_PER_MSEC 1000000ull

struct sctp_config {
	uint16_t streams;	    /* offered and accepted each way; 65535 */
	uint32_t adaptation;	    /* Adaptation Layer Indication, sent and demanded: 1 (RFC 5043 4.1) */
	uint64_t rto_initial;	    /* ns; RFC 9260 16 */
	uint64_t rto_min;
	uint64_t rto_max;
	uint64_t cookie_life;
	uint64_t heartbeat_interval; /* idle path; 1 s, so that a killed peer is noticed within 3 s */
	uint64_t sack_delay;	    /* 10 ms, at most 500 ms */
	uint64_t silent_limit;	    /* no answer for so long: the association is lost; 30 s */
	uint64_t connect_limit;	    /* no INIT ACK / COOKIE ACK for so long: -ETIMEDOUT */
	uint32_t max_tsn_distance;  /* highest unacked TSN - cumulative ack; 4095: Linux keeps a map of 4096,
				     * and below 32768 it bounds the DDP-SSN distance too (RFC 5043 5.2) */
	bool mtu_probe;		     /* paths are asked what they take (RFC 8899); else the caller is believed */
	uint64_t mtu_raise_time;     /* a path that took less is asked again after so long; 600 s */
};

/* The defaults of the project; the caller changes what it wants. */
void sctp_config_default(struct sctp_config *config);

/* A message that the user hands to SCTP for transmission. */
struct sctp_msg {
	uint16_t sid;
	uint32_t ppid;	 /* host order */
	bool more;	 /* the user has more to send behind this one */
	/*
	 * Where zcopy_window is set before the call, the user may leave the last ref_len bytes of the message
	 * (at least SCTP_ZCOPY_MIN) unwritten and say where they are: they are read from there when the message
	 * is sent. Nothing reads them any more once it is acknowledged (sctp_assoc_acked()), sctp_assoc_copy_out()
	 * was called, or the association is over. zcopy_window: how much is in flight until then, bytes.
	 */
	uint32_t zcopy_window;
	const uint8_t *ref; /* NULL: the message is whole */
	uint32_t ref_len;
};

#define SCTP_ZCOPY_MIN 64u

struct sctp_user_ops {
	/*
	 * Take the next user message of this association: write at most room
	 * bytes to buf and fill msg. Returns its length; 0: nothing to send, or
	 * nothing worth sending in so little room. Called only from
	 * sctp_output(), when the windows let it go out at once; what is taken
	 * is sent, and SCTP keeps it until it is acknowledged.
	 */
	size_t (*pull)(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg);
	/*
	 * What was referenced. Both may be NULL: then nothing may be.
	 * checksum: *crc goes on with len bytes at from, as crc32c_add() does. false: they cannot be read any more.
	 */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	/*
	 * Copies len bytes that were referenced to their place in the message msg. If they cannot be read any more, the
	 * message is made one that the peer takes for wrong: it may have it as it was already.
	 */
	void (*fill)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
};

/* An instance holds the endpoints and associations behind one engine lock. */
struct sctp *sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
		      struct random_source *random);
void sctp_free(struct sctp *s);

/* What has happened since sctp_new(), on all associations. */
struct sctp_stats {
	uint64_t bad_packets; /* received: too short, or with another checksum */
	uint64_t duplicates;  /* DATA chunks that had been received before */
	uint64_t resent;      /* DATA chunks that were taken for lost */
	uint64_t probes;      /* and those that were sent again to find out (RFC 8985) */
	uint64_t timeouts;    /* of T3-rtx */
	uint64_t up;	      /* associations that came up, or restarted */
	uint64_t aborts_in, aborts_out;
};

const struct sctp_stats *sctp_stats(const struct sctp *s);

/*
 * A local SCTP port. ctx is the caller's (its socket). accept: whether INITs are
 * answered; without, an INIT gets an ABORT. rcvbuf: bytes that the socket behind
 * the endpoint really holds (true size, i.e. the doubled SO_RCVBUF); the
 * advertised windows of its associations together stay below what fits there.
 */
struct sctp_endpoint *sctp_endpoint_new(struct sctp *s, uint16_t port, size_t rcvbuf, void *ctx);
void sctp_endpoint_set_accept(struct sctp_endpoint *ep, bool accept);
void *sctp_endpoint_ctx(const struct sctp_endpoint *ep);
/*
 * Drops its associations without a word, and what waits in sctp_output_ootb() for it: abort
 * them and send that first.
 */
void sctp_endpoint_free(struct sctp_endpoint *ep);

/* One DATA chunk (or one reassembled message), new and not yet delivered. */
struct sctp_data {
	uint16_t sid;
	uint32_t ppid; /* host order */
	uint32_t len;
	const uint8_t *data; /* inside the packet (or a buffer valid until the next sctp_input) */
};

#define SCTP_RX_MAX 4096 /* more DATA chunks than fit into 64 KiB */

struct sctp_rx {
	struct sctp_assoc *assoc; /* whose packet it was, or NULL */
	bool up;		  /* the association was just established: give it a user before the data */
	bool restart;		  /* the peer restarted (RFC 9260 5.2.4): end every session, then as if up */
	unsigned int count;
	struct sctp_data data[SCTP_RX_MAX];
};

/*
 * One SCTP packet from the peer: the 12-byte common header first. Nothing of it
 * is looked at before its CRC32C holds. Acknowledgements, state changes and
 * answers are done inside; what the user must do comes back in rx and as
 * events. Hostile input costs at most an answer (RFC 9260 8.4).
 */
void sctp_input(struct sctp_endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		size_t len, uint64_t now, struct sctp_rx *rx);

/*
 * An ICMP error said that nobody listens at this path's remote end. A hint, not
 * trusted alone: while connecting, INIT is sent again at once and the third hint
 * gives up with -ECONNREFUSED; later, the path is probed and the association
 * given up with -ECONNRESET when nothing answers for 1 s.
 * quoted: the first len bytes of our packet that the error quotes, as far as it does (RFC 9260 10):
 * from 8 bytes on, the hint counts only if they are of an association's packet.
 */
void sctp_unreachable(struct sctp_endpoint *ep, const struct path_addr *to, const uint8_t *quoted,
		      size_t len, uint64_t now);

/*
 * A packet was too long for the path, which takes so much (whole IP packets, bytes).
 * quoted: as above, and the first 8 bytes must be there. NULL: no router, our own host said so; then
 * it holds for all associations with that address.
 */
void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now);

enum sctp_event_type {
	SCTP_EVENT_UP,	    /* active side: established. (Passive side: rx.up) */
	SCTP_EVENT_LOST,    /* error says why; the association is gone after this event is
			     * fetched: do not use the pointer again */
	SCTP_EVENT_CLOSED,  /* orderly SHUTDOWN completed; gone likewise */
	SCTP_EVENT_SHUTDOWN, /* the peer began an orderly shutdown: no more pulls */
};

struct sctp_event {
	enum sctp_event_type type;
	struct sctp_assoc *assoc; /* still readable until the next call */
	void *user;
	int error; /* LOST: -ECONNREFUSED (ABORT or nobody there while connecting), -ETIMEDOUT,
		    * -ECONNRESET (ABORT, or killed), -EPROTO (no or another adaptation
		    * indication, protocol violation) */
};

bool sctp_next_event(struct sctp *s, struct sctp_event *ev);

/*
 * Active open. mtu: of the path, whole IP packets, bytes. Returns NULL when out of memory
 * (errno ENOMEM), or when the endpoint has an association with that address and port (EISCONN) from
 * to->local, or from an address that is not known yet.
 * Two endpoints that connect to each other at the same time end up with one association.
 * DATA may come in the same rx that brought the association up, before SCTP_EVENT_UP is
 * fetched: sctp_assoc_is_up() is true by then. Rung before it is up, the association pulls
 * one packet of messages to ride behind its COOKIE ECHO; sctp_assoc_streams() is known by then.
 */
struct sctp_assoc *sctp_connect(struct sctp_endpoint *ep, const struct path_addr *to,
				uint16_t remote_port, uint32_t mtu, void *user, uint64_t now);
void sctp_assoc_set_user(struct sctp_assoc *a, void *user);
void *sctp_assoc_user(const struct sctp_assoc *a);
struct sctp_endpoint *sctp_assoc_endpoint(const struct sctp_assoc *a);
uint16_t sctp_assoc_remote_port(const struct sctp_assoc *a);
const struct path_addr *sctp_assoc_addr(const struct sctp_assoc *a); /* of the primary path */
bool sctp_assoc_is_initiator(const struct sctp_assoc *a);	    /* of two who both sent an INIT, one did */
bool sctp_assoc_is_up(const struct sctp_assoc *a);
unsigned int sctp_assoc_streams(const struct sctp_assoc *a); /* usable pairs, once up */
/* Nothing taken from the user waits for an acknowledgement. */
bool sctp_assoc_is_drained(const struct sctp_assoc *a);
/* How many messages taken from the user are acknowledged without a gap, modulo 2^32. */
uint32_t sctp_assoc_acked(const struct sctp_assoc *a);
/* Copies what messages of a stream have referenced, or of all: sid -1. */
void sctp_assoc_copy_out(struct sctp_assoc *a, int sid);
/*
 * What the path takes as far as the caller knows, from its interface or route (whole IP packets,
 * bytes); a passive association starts at 1280 until told. Less holds at once; packets of more than
 * 1280 are sent as soon as a probe of that size was answered.
 */
void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu);
/*
 * The longest user message that fits one packet of the present path MTU, which changes with what
 * comes in and with time: to be asked before each round of sctp_output().
 */
size_t sctp_assoc_max_msg(const struct sctp_assoc *a);
/* The user has something to send: put the association on the ready list. Idempotent, cheap. */
void sctp_assoc_doorbell(struct sctp_assoc *a);
/* Orderly: stop pulling, drain, SHUTDOWN; ends in SCTP_EVENT_CLOSED or LOST. */
void sctp_assoc_shutdown(struct sctp_assoc *a, uint64_t now);
/*
 * ABORT with the cause "User-Initiated Abort"; the association is gone at once and
 * without an event. Its ABORT leaves through sctp_output_ootb().
 */
void sctp_assoc_abort(struct sctp_assoc *a);

/* A gap in the bytes of a batch: len bytes at `at` are to be taken from `from`. */
struct sctp_ref {
	const uint8_t *at;
	const uint8_t *from;
	uint32_t len;
};

/* One send: `len` bytes at data, packets of `segment` bytes each, the last may be shorter. */
struct sctp_batch {
	struct sctp_endpoint *endpoint;
	const uint8_t *data;
	size_t len;
	size_t segment;
	struct path_addr to;
	bool df;		  /* IP Don't Fragment; off only for chunks above a shrunken path MTU */
	struct sctp_block *block; /* pinned until sctp_batch_done() */
	const struct sctp_ref *ref; /* in ascending order; until the next sctp_output() */
	unsigned int n_refs;
};

#define SCTP_BATCH_REFS 16u /* at most */

/*
 * The next batch of packets, ready for one sendmsg with UDP_SEGMENT (at most 64
 * packets and 65,000 bytes or so, contiguous). Returns 1, or 0 when nothing may
 * be sent now. Whether it really left is not SCTP's concern (it resends), but
 * the memory stays pinned until sctp_batch_done(), once for each batch.
 */
int sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch);
int sctp_output_ootb(struct sctp *s, struct sctp_batch *batch); /* packets of no association */
void sctp_batch_done(struct sctp *s, struct sctp_batch *batch);
/* A batch of a that has to wait: no gap is left in it. */
void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch);

/* Associations with something to send, each once, or NULL. */
struct sctp_assoc *sctp_next_ready(struct sctp *s);

/* When sctp_timers() is to be called next; TIME_NEVER: no timer runs. */
uint64_t sctp_next_timeout(struct sctp *s);
void sctp_timers(struct sctp *s, uint64_t now);

#endif
