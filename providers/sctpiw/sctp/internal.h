/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of sctp/ share: the structs behind sctp.h and the calls between
 * the modules, in the order of the files. Guarded, all of it, by the caller's
 * engine lock. A call that may end an association says so: afterwards its state
 * is SCTP_CLOSED, and only the event that reports the end is left of it.
 */
#ifndef SCTPIW_SCTP_INTERNAL_H
#define SCTPIW_SCTP_INTERNAL_H

#include "sctp/block.h"
#include "sctp/cc.h"
#include "sctp/cookie.h"
#include "sctp/outq.h"
#include "sctp/pmtu.h"
#include "sctp/reasm.h"
#include "sctp/rtt.h"
#include "sctp/rxmap.h"
#include "sctp/sctp.h"
#include "util/list.h"
#include "util/timerq.h"
#include "wire/sctp_init.h"
#include "wire/sctp_packet.h"

/* What a packet costs the receiving socket buffer besides its bytes (measured true size). */
#define SCTP_PACKET_OVERHEAD 832u
#define SCTP_MULTIHOMED 256u	 /* one address of a peer has one association a port */
#define SCTP_BATCH_PACKETS 64u	 /* UDP_SEGMENT takes no more */
#define SCTP_BATCH_BYTES 65000u	 /* nor does a datagram; one packet alone may have max_packet */
#define SCTP_PACKET_MAX 65504u	 /* a UDP datagram over IPv4, multiple of 4 */
#define SCTP_MTU_MAX 65535u
#define SCTP_DUPS_MAX 16u	 /* duplicate TSNs listed in a SACK */
#define SCTP_OOTB_MAX 64u	 /* packets of no association that wait */
#define SCTP_OOTB_LEN 1200u
#define SCTP_ASSOCS_MAX 65536u	 /* in an instance; more get an ABORT */
#define SCTP_PROBE_INTERVAL (200 * SCTP_NSEC_PER_MSEC) /* after a hint that the peer is gone */
#define SCTP_PROBE_TICKS 5u			       /* of that interval: 1 s */
#define SCTP_SILENT_PROBES 3u /* heartbeats without an answer before silent_limit counts */
#define SCTP_TLP_MARGIN_ASKED (3 * SCTP_NSEC_PER_MSEC) /* scheduling, no delayed SACK */
#define SCTP_TLP_MARGIN (25 * SCTP_NSEC_PER_MSEC)
#define SCTP_TLP_MARGIN_MAX (400 * SCTP_NSEC_PER_MSEC)
#define SCTP_TLP_MAX 3u /* tail-loss probes in a row */
#define SCTP_REORDER_MIN SCTP_NSEC_PER_MSEC
#define SCTP_MISS_LIMIT 3u
#define SCTP_PATHS_MAX (1 + SCTP_COOKIE_ALTS) /* addresses of a peer */
#define SCTP_PATH_RETRANS 5u /* Path.Max.Retrans */

enum sctp_state { /* RFC 9260 4 */
	SCTP_CLOSED,
	SCTP_COOKIE_WAIT,
	SCTP_COOKIE_ECHOED,
	SCTP_ESTABLISHED,
	SCTP_SHUTDOWN_PENDING,
	SCTP_SHUTDOWN_SENT,
	SCTP_SHUTDOWN_RECEIVED,
	SCTP_SHUTDOWN_ACK_SENT,
};

#define SCTP_IN(state) (1u << (state))
/* DATA may leave, SACKs count (RFC 9260 6). */
#define SCTP_STATES_SEND                                                                           \
	(SCTP_IN(SCTP_ESTABLISHED) | SCTP_IN(SCTP_SHUTDOWN_PENDING) |                              \
	 SCTP_IN(SCTP_SHUTDOWN_RECEIVED))
#define SCTP_STATES_RECEIVE                                                                        \
	(SCTP_IN(SCTP_ESTABLISHED) | SCTP_IN(SCTP_SHUTDOWN_PENDING) | SCTP_IN(SCTP_SHUTDOWN_SENT))

enum sctp_timer {
	SCTP_TIMER_SETUP,     /* T1-init, T1-cookie, T2-shutdown */
	SCTP_TIMER_T3,	      /* T3-rtx */
	SCTP_TIMER_TLP,	      /* tail-loss probe */
	SCTP_TIMER_REORDER,   /* a missing chunk becomes a lost one */
	SCTP_TIMER_SACK,      /* delayed SACK */
	SCTP_TIMER_HEARTBEAT, /* idle heartbeat, and the probes after a hint */
	SCTP_TIMER_WINDOW,    /* zero window probe */
	SCTP_TIMER_MTU,	      /* path MTU: no answer to a probe; time to search again; any path */
	SCTP_TIMER_PATHS,     /* HEARTBEATs to the paths that carry no DATA */
	SCTP_TIMERS,
};

/* Control chunks to be sent; sctp_output() makes them. */
enum sctp_pending {
	SCTP_PEND_INIT = 1 << 0,
	SCTP_PEND_COOKIE_ECHO = 1 << 1,
	SCTP_PEND_COOKIE_ACK = 1 << 2,
	SCTP_PEND_HEARTBEAT = 1 << 3,
	SCTP_PEND_SHUTDOWN = 1 << 4,
	SCTP_PEND_SHUTDOWN_ACK = 1 << 5,
	SCTP_PEND_SACK = 1 << 6, /* due now; a delayed one has its timer */
	SCTP_PEND_PROBE = 1 << 7, /* tail-loss probe */
	SCTP_PEND_MTU = 1 << 8,	  /* some path's mtu_wanted: a packet of its own behind all others */
	SCTP_PEND_PATHS = 1 << 9, /* some path's hb_wanted */
};

struct sctp_ootb {
	struct sctp_endpoint *endpoint; /* NULL: was freed */
	struct path_addr to;
	uint16_t len;
	uint8_t data[SCTP_OOTB_LEN];
};

struct sctp {
	struct sctp_config config;
	struct sctp_user_ops ops;
	struct random_source *random;
	struct list_node endpoints;
	struct list_node *buckets; /* associations by endpoint, remote address and port */
	size_t bucket_count;	   /* power of two */
	size_t assoc_count;
	uint64_t hash_seed;
	struct timerq timers;
	struct sctp_stats stats;
	struct list_node ready;
	struct list_node events;
	struct sctp_assoc *gone; /* its last event was fetched; freed with the next one */
	struct sctp_block_pool blocks;
	struct sctp_cookie_key cookie_key;
	struct sctp_reasm_message *reassembled; /* handed out in rx; freed by the next input */
	struct sctp_ootb *ootbs; /* ring of SCTP_OOTB_MAX, made when first needed */
	unsigned int ootb_head;
	unsigned int ootb_count;
	struct sctp_block *ootb_block;
	struct wire_sctp_gap gaps[SCTP_RXMAP_RANGE / 2]; /* scratch for SACKs */
	struct sctp_ref ref[SCTP_BATCH_REFS]; /* of the batch built last */
	unsigned int n_refs;
};

struct sctp_endpoint {
	struct list_node node;
	struct sctp *s;
	struct list_node assocs;
	/* sctp_assoc.other_node: those with other addresses, by the peer's port */
	struct list_node multihomed[SCTP_MULTIHOMED];
	struct sctp_assoc *recent; /* of the last packet, or NULL; packets come in batches */
	unsigned int assoc_count; /* alive */
	uint16_t port;
	bool accept;
	size_t rcvbuf;
	void *ctx;
};

/* Everything that belongs to one destination address (RFC 9260 13.3). */
struct sctp_path {
	struct path_addr addr;
	struct sctp_pmtu pmtu;
	uint32_t max_packet;  /* SCTP packet with common header, multiple of 4 */
	uint32_t told_packet; /* the same for all that the interface takes */
	bool mtu_wanted;	 /* a probe is to be sent */
	uint64_t mtu_due;	 /* when SCTP_TIMER_MTU is for this path */
	uint64_t probe_nonce[2]; /* of the probes of this size */
	uint64_t probe_sent;	 /* the last of them */
	uint64_t probe_answered; /* the last of any size */
	unsigned int probe_tries; /* how often in vain, with nothing else getting through either */
	struct sctp_rtt rtt;
	struct sctp_cc cc;
	uint32_t flight;       /* bytes of chunks sent, not acked in any way, not lost */
	uint64_t last_data;    /* when DATA was sent last */
	uint64_t hb_nonce[2];  /* of the HEARTBEAT in the air */
	uint64_t hb_sent;      /* when; 0: none is in the air */
	uint64_t heard;		 /* last valid packet from there */
	uint64_t heard_local;	 /* the same, to addr.local */
	uint64_t data_local;	 /* the same, with DATA */
	uint64_t proof;		 /* when the peer last said that something had arrived on it */
	bool primary;		 /* carries DATA whenever it works */
	bool usable;		 /* we can send there at all */
	bool confirmed;		 /* the peer is known to be there (5.4) */
	bool hb_wanted;		 /* a HEARTBEAT is to be sent; not for the path in use */
	uint64_t hb_due;	 /* when SCTP_TIMER_PATHS is for this path */
	unsigned int errors;	 /* timeouts of DATA and HEARTBEATs since something came back */
	unsigned int unanswered; /* HEARTBEATs since anything was heard */
	unsigned int probing;	 /* ticks left to answer after a hint that the peer is gone; 0: no hint */
};

struct sctp_assoc {
	struct sctp *s;
	struct sctp_endpoint *ep;
	void *user;
	enum sctp_state state;
	struct list_node hash_node;
	struct list_node ep_node;
	struct list_node ready_node;
	struct list_node event_node;
	struct timerq_node timer_node;
	uint64_t timers[SCTP_TIMERS]; /* TIME_NEVER: stopped */
	unsigned int events;	      /* 1 << enum sctp_event_type, not yet fetched */
	int error;		      /* of SCTP_EVENT_LOST */
	unsigned int pending;	      /* enum sctp_pending */
	struct sctp_path path;	      /* the one in use: all DATA goes there */
	/* The peer's other addresses (paths.c). */
	struct list_node other_node;
	struct sctp_path *other;
	unsigned int others;
	bool moving; /* back to the primary path, as soon as nothing is in flight */
	unsigned int sack_from; /* other[sack_from - 1] brought the DATA to acknowledge; 0: the path in use */

	/* handshake */
	bool initiator;	    /* we sent an INIT */
	bool peer_active;   /* so did the peer */
	bool setup_resent;  /* no RTT from this exchange */
	uint16_t remote_port;
	uint16_t out_streams;
	uint16_t in_streams;
	uint32_t local_tag;
	uint32_t peer_tag; /* 0: unknown yet */
	uint32_t collision_tag; /* of an INIT that came while we were connecting, or 0 */
	uint32_t local_tie;
	uint32_t peer_tie;
	uint32_t init_rwnd; /* in our INIT, so that it is resent unchanged */
	uint32_t init_tsn;
	uint32_t peer_init_tsn;
	unsigned int refused; /* hints that nobody is there, while connecting */
	unsigned int setup_tries;
	uint64_t setup_since; /* first INIT; begin of the shutdown, or its last progress */
	uint64_t setup_sent;
	uint64_t closing_since; /* when ESTABLISHED was left */
	uint8_t *cookie; /* to be echoed */
	size_t cookie_len;
	unsigned int echo_path; /* on which of all paths: 0 is the one in use */
	uint64_t restart_probe; /* when the old path was asked whether its peer lives */
	uint64_t heard;		/* last valid packet of the peer */

	/* control chunks that answer something: HEARTBEAT ACK, ERROR */
	struct sctp_block *control; /* its first `used` bytes; NULL: none */

	/* sending */
	struct sctp_outq out;
	struct sctp_block *block; /* where packets are built now */
	bool want_pull;		  /* the user may have more */
	bool declined;		  /* it had nothing for a whole packet when asked last */
	bool cwnd_limited;	  /* cwnd stopped us since the last SACK */
	bool filled;		  /* nothing new has left since cwnd stopped us */
	bool window_probe;	  /* one packet may leave although the peer's window is closed */
	bool recovering;	  /* Fast Recovery */
	bool reordered;		  /* this path reorders: miss indications prove nothing */
	bool rtt_running;
	bool rack_valid;
	bool asked;		  /* the last DATA sent bore the I bit: its SACK is not delayed */
	bool tlp_doubt;		  /* a duplicate of tlp_tsn would mean that the probe was too early */
	uint8_t rescue;		  /* packets of retransmissions that may leave despite cwnd */
	uint8_t reorder_factor;	  /* quarters of an SRTT that reordering may take */
	uint8_t tlp_count;
	uint8_t timeouts;	  /* T3 expired so often since anything was acknowledged */
	uint64_t stalled;	  /* when it did so first, or 0; TIME_NEVER: the next time counts as the first */
	unsigned int window_tries;
	uint64_t tlp_margin;
	uint32_t tlp_tsn;	/* probed last */
	uint32_t recovery_exit; /* TSN */
	uint32_t rtt_tsn;	/* its RTT is being measured */
	uint32_t peer_rwnd;	/* a_rwnd of the newest SACK */
	uint32_t charged;	/* what the outstanding packets take of it */
	uint32_t lost;		/* chunks marked SCTP_OUT_LOST */
	uint32_t gap_acked;	/* chunks marked SCTP_OUT_ACKED */
	uint32_t lost_from;	/* none of them is below this TSN */
	uint32_t ref;		/* chunks marked SCTP_OUT_REFERENCED */
	uint32_t copies;	/* chunks to come that reference nothing, after a loss */
	uint32_t copies_next;	/* so many after the next one */
	uint32_t referenced_since;	/* chunks that referenced since the last one, or since that became less */
	uint32_t gap_end;	/* the highest TSN in a gap block of the newest SACK, or out.cum */
	uint32_t order;		/* packets with DATA sent */
	uint32_t rack_order;	/* of the latest sent chunk that is acknowledged */
	uint64_t rack_rtt;	/* its round-trip time */

	/* receiving */
	struct sctp_rxmap rxmap;
	struct sctp_reasm reasm;
	unsigned int unsacked; /* packets with DATA since the last SACK */
	bool sacked_once;
	unsigned int dup_count;
	uint32_t dups[SCTP_DUPS_MAX];
};

/* One packet being processed. */
struct sctp_in {
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sctp_assoc *a; /* NULL: none */
	const struct path_addr *from;
	const uint8_t *packet;
	const uint8_t *end;
	struct wire_sctp_common h;
	uint64_t now;
	struct sctp_rx *rx;
	struct sctp_path *path; /* of a->path and a->other; NULL: of none of them */
	bool other;	/* it came from another of the peer's addresses than the path's in use */
	bool answered;	/* there, a HEARTBEAT of this packet */
	bool data;	/* DATA was in it */
	bool sack_now;	/* and demands a SACK at once */
	bool stop;	/* drop the rest of the packet */
	unsigned int sacks; /* in it so far, and what acknowledges as they do */
};

/* All paths: 0 is the one in use. */
static inline struct sctp_path *sctp_path_at(struct sctp_assoc *a, unsigned int i)
{
	return i ? &a->other[i - 1] : &a->path;
}

static inline bool sctp_in_states(const struct sctp_assoc *a, unsigned int states)
{
	return SCTP_IN(a->state) & states;
}

/* assoc.c: life, lookup, events */
struct sctp_assoc *sctp_assoc_new(struct sctp_endpoint *ep, const struct path_addr *addr,
				  uint16_t remote_port, uint32_t mtu, uint64_t now);
/* Frees it at once, without an event. */
void sctp_assoc_free(struct sctp_assoc *a);
/*
 * The one between these addresses. A peer may have several, each with another address of ours (or one that
 * is not known yet): a tag of either side that a packet has (or 0) tells more than the address where it came.
 */
struct sctp_assoc *sctp_assoc_find(struct sctp_endpoint *ep, const struct path_addr *addr,
				   uint16_t port, uint32_t tag);
/*
 * The one whose peer listed this address besides the path's; asks every multi-homed one. Several may have:
 * whose it is shows in the tag that a packet from there has (or 0), and else in that the peer is known to be there.
 */
struct sctp_assoc *sctp_assoc_find_other(struct sctp_endpoint *ep, const struct path_addr *addr,
					 uint16_t port, uint32_t tag);
/* The one whose peer is known to have one of the n addresses that somebody lists (RFC 9260 5.1.2, 5.4). */
struct sctp_assoc *sctp_assoc_find_listed(struct sctp_endpoint *ep, const struct ip_addr *local,
					  const struct ip_addr *remote, unsigned int n,
					  uint16_t port);
/* By any of the peer's addresses. */
static inline struct sctp_assoc *sctp_assoc_find_any(struct sctp_endpoint *ep,
						     const struct path_addr *addr, uint16_t port,
						     uint32_t tag)
{
	struct sctp_assoc *a = sctp_assoc_find(ep, addr, port, tag);

	return a || list_empty(&ep->multihomed[port % SCTP_MULTIHOMED]) ?
		       a : sctp_assoc_find_other(ep, addr, port, tag);
}

/* The address of the path in use has changed. */
void sctp_assoc_rehash(struct sctp_assoc *a);
/* Ends the association; SCTP_EVENT_LOST with error, or SCTP_EVENT_CLOSED when error is 0. */
void sctp_assoc_end(struct sctp_assoc *a, int error);
void sctp_assoc_event(struct sctp_assoc *a, enum sctp_event_type type);
void sctp_assoc_ready(struct sctp_assoc *a);
/* The window to advertise now. */
uint32_t sctp_assoc_rwnd(const struct sctp_assoc *a);
/* A random tag, not 0. */
uint32_t sctp_new_tag(struct sctp *s);

/* handshake.c */
void sctp_handshake_start(struct sctp_assoc *a, uint64_t now);
/* T1 expired; may end the association. */
void sctp_handshake_timeout(struct sctp_assoc *a, uint64_t now);
/* Sends INIT or COOKIE ECHO again, now. */
void sctp_handshake_resend(struct sctp_assoc *a);
/* The same after a sign that nobody is where it went: COOKIE ECHO to the next of the peer's addresses. */
void sctp_handshake_elsewhere(struct sctp_assoc *a);
/* After a Stale Cookie error in COOKIE-ECHOED: begins anew; may end the association. */
void sctp_handshake_again(struct sctp_assoc *a, uint64_t now);
void sctp_handshake_init_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_handshake_cookie_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* From nothing, or from a handshake of ours, to ESTABLISHED. */
void sctp_handshake_up(struct sctp_assoc *a, uint64_t now);
/* Takes over what the peer's INIT or INIT ACK said. */
void sctp_handshake_peer(struct sctp_assoc *a, uint32_t tag, uint32_t tsn, uint32_t rwnd,
			 uint16_t os, uint16_t mis);

/* accept.c: the passive half of the handshake, collisions and restarts */
/* A packet that is one INIT alone. */
void sctp_accept_init(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * A COOKIE ECHO in front of a packet. Returns false when the packet is to be
 * dropped; else in->a is the association, perhaps a new one.
 */
bool sctp_accept_cookie(struct sctp_in *in, const struct wire_sctp_chunk *c);

/* control.c: chunks that answer something */
/*
 * Room for a control chunk of len bytes (padded by the caller to a multiple of
 * 4), or NULL when it does not fit into the one packet of answers.
 */
uint8_t *sctp_control_room(struct sctp_assoc *a, size_t len);
/* Queues an ERROR chunk with one cause; what is longer than the room is left out. */
void sctp_control_error(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len);
/* Whether what waits still fits into a packet; something waits. */
bool sctp_control_fits(const struct sctp_assoc *a);
void sctp_control_clear(struct sctp_assoc *a);
/* Takes back what was queued since `used` bytes waited. */
void sctp_control_rewind(struct sctp_assoc *a, uint32_t used);
void sctp_control_error_in(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_control_unknown(struct sctp_in *in, const struct wire_sctp_chunk *c);

/* rx.c: DATA and the SACKs we send */
void sctp_rx_data(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* After the last chunk of a packet. */
void sctp_rx_packet_done(struct sctp_in *in);
/* Whether there is something to acknowledge. */
bool sctp_rx_sack_waits(const struct sctp_assoc *a);
/* Writes a SACK of at most room bytes; 0 when it does not fit. Nothing changes. */
size_t sctp_rx_sack_put(struct sctp_assoc *a, uint8_t *p, size_t room);
/* A SACK was sent. */
void sctp_rx_sack_sent(struct sctp_assoc *a);

/* tx.c: see sctp_output() in sctp.h */
/*
 * How many bytes of chunks the peer's window leaves for another packet: 0 or
 * enough to be worth one.
 */
size_t sctp_tx_rwnd_room(const struct sctp_assoc *a);
/*
 * Whether cwnd lets no other packet go. After a T3 timeout one alone is in flight until
 * something is acknowledged (7.2.1), also when it does not fill cwnd.
 */
bool sctp_tx_cwnd_full(const struct sctp_assoc *a);
/*
 * Once cwnd was full: what is free of it is not worth a batch yet; more will be, since something is in
 * flight. Else each SACK would be answered by as few packets as it made room for, and these by a SACK.
 */
bool sctp_tx_defers(const struct sctp_assoc *a);
/* Whether the windows let another new chunk go. */
bool sctp_tx_window_open(const struct sctp_assoc *a);
/* Nothing sent yet; the first TSN will be initial_tsn. */
void sctp_tx_start(struct sctp_assoc *a, uint32_t initial_tsn);
/* Forgets all that was sent (restart, end). */
void sctp_tx_reset(struct sctp_assoc *a);
/* Gives the build block back when nothing is outstanding. */
void sctp_tx_idle(struct sctp_assoc *a);

/* tx_build.c */
struct sctp_tx {
	/* The batch. */
	struct sctp_assoc *a;
	uint64_t now;
	struct sctp_block *block;
	bool first;	   /* the packet is the first: control chunks may go in */
	bool data;	   /* there is DATA in it */
	bool alone;	   /* it ends here */
	bool oversize;	   /* larger than the path MTU: must be fragmented by IP */
	/* The packet. */
	uint8_t *p;
	size_t len;	   /* built so far */
	size_t limit;	   /* at most */
	bool ordered;	   /* has taken its number in a->order */
	bool more;	   /* the user said that it has more behind the last message */
	uint8_t *last_data; /* header of the last DATA chunk, or NULL */
};

/* Builds one packet into tx->p without its checksum; 0: nothing may be sent now. */
size_t sctp_tx_build(struct sctp_tx *tx);
/* Behind the last packet of a batch: the timers for what it brings. */
void sctp_tx_arm(struct sctp_tx *tx);

/* referenced.c: messages whose end is still the user's memory */
/* sctp_msg.zcopy_window for the next message. */
uint32_t sctp_zcopy_window(const struct sctp_assoc *a);
/* The new chunk o, the last one of the packet, references the last len bytes of its message. */
void sctp_zcopy_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg);
/* The checksum of a packet of len bytes; first: of s->ref that is in it. */
void sctp_zcopy_checksum(struct sctp_tx *tx, size_t len, unsigned int first);
/* The image of an outstanding chunk becomes whole, before it is sent again. */
void sctp_zcopy_copy_out(struct sctp_assoc *a, struct sctp_out *o);
/* One that references is lost: for some time no other may. */
void sctp_zcopy_lost(struct sctp_assoc *a);

/* sack.c: SACKs we receive; both may end the association */
void sctp_sack_input(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* The cumulative TSN of a SHUTDOWN. */
void sctp_sack_cum_only(struct sctp_in *in, uint32_t cum);

/* recovery.c: loss detection and timers of sending */
void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now);	 /* T3 */
void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now);	 /* TLP */
void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now); /* reordering time is over */
void sctp_recovery_window(struct sctp_assoc *a, uint64_t now);	 /* zero window probe */
/* Marks an outstanding chunk lost. */
void sctp_recovery_mark(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
/*
 * Looks for losses after a SACK; newest: the highest TSN that it acknowledged
 * first, misses count only below that (HTNA); count: whether it acknowledged any.
 */
void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, uint32_t newest, bool count);
/* (Re)arms the tail-loss probe. */
void sctp_recovery_arm_probe(struct sctp_assoc *a, uint64_t now);

/* path.c */
void sctp_path_init(struct sctp_path *path, const struct sctp_config *config,
		    const struct path_addr *addr, uint32_t mtu);
/* A valid packet came: learns the addresses of its path, if it has one, and ends any doubt. */
void sctp_path_heard(struct sctp_in *in);
/* What was sent on it has arrived, wherever the answer came from. */
void sctp_path_works(struct sctp_path *path, uint64_t now);
/* DATA was in it. */
void sctp_path_data(struct sctp_in *in);
/* The heartbeat timer; may end the association. */
void sctp_path_timeout(struct sctp_assoc *a, uint64_t now);
void sctp_path_start(struct sctp_assoc *a, uint64_t now);
/* Writes a HEARTBEAT of SCTP_HEARTBEAT_LEN bytes. */
#define SCTP_HEARTBEAT_LEN 24u
size_t sctp_path_heartbeat_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, uint64_t now);
/* The same with a given nonce; nothing else changes. */
void sctp_path_heartbeat_chunk(uint8_t *p, const uint64_t nonce[2]);
/* The association one of whose packets to that place an ICMP error quotes, or NULL. */
struct sctp_assoc *sctp_path_quoted(struct sctp_endpoint *ep, const struct path_addr *to,
				    const uint8_t *quoted, size_t len);
void sctp_path_heartbeat(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_path_heartbeat_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);

/* paths.c: the peer's other addresses (RFC 9260 5.4, 6.4, 8.2) */
/*
 * Takes over, from n addresses that the peer listed and the one that it said that from, those that
 * are not the path's in use.
 */
void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n);
void sctp_paths_clear(struct sctp_assoc *a);
/* The Supported Address Type: those of another family than that in use would not be used. */
uint16_t sctp_paths_type(const struct sctp_assoc *a);
/* The path of that address, or NULL. */
struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote);
const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a);
/* The association is up: confirms them one after the other. */
void sctp_paths_start(struct sctp_assoc *a, uint64_t now);
void sctp_paths_timeout(struct sctp_assoc *a, uint64_t now);
/* A HEARTBEAT on it was answered. */
void sctp_paths_answered(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * The path in use has failed: from now on another one that works carries DATA, and what was
 * outstanding is lost. false: there is none.
 */
bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now);
/* Goes back to the primary path if that is wanted and nothing is in flight. */
void sctp_paths_settle(struct sctp_assoc *a, uint64_t now);
/*
 * Writes a packet, without its checksum, for another path than that in use: a COOKIE ECHO, a HEARTBEAT,
 * or a SACK for what came from there. Returns its length, 0 when there is none.
 */
size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to);

/* mtu.c: the path MTU; see pmtu.h */
void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu);
/* After a path's MTU or encapsulation has changed, or another path is in use: what packets hold. */
void sctp_mtu_fit(struct sctp_assoc *a);
/* The association is up, or the path confirmed: sends the probe that is due. */
void sctp_mtu_start(struct sctp_assoc *a, struct sctp_path *path);
void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now);
/* What was lost on the path in use may have been too large; when it was sent. */
void sctp_mtu_doubt(struct sctp_assoc *a, uint64_t sent);
/* The path that a probe is to be sent on, and how long it is; or NULL. */
struct sctp_path *sctp_mtu_probe_path(struct sctp_assoc *a, size_t *len);
/* Writes it, with its checksum, and waits for the answer. */
void sctp_mtu_probe_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t len,
			uint64_t now);
/* A small HEARTBEAT was answered: what a dead path doubled need not be waited out. */
void sctp_mtu_alive(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* A HEARTBEAT ACK with this nonce came. false: it does not answer a probe on the path. */
bool sctp_mtu_answered(struct sctp_assoc *a, struct sctp_path *path, const uint8_t *nonce,
		       uint64_t now);

/* close.c; all may end the association */
/* When everything is acknowledged, goes on with the shutdown that waited for it. */
void sctp_close_drained(struct sctp_assoc *a, uint64_t now);
void sctp_close_timeout(struct sctp_assoc *a, uint64_t now); /* T2 */
void sctp_close_shutdown(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_complete(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_abort(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* ABORT with a cause, and the end: SCTP_EVENT_LOST with error. */
void sctp_close_fail(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len, int error);
/* After DATA in SHUTDOWN-SENT (9.2). */
void sctp_close_data(struct sctp_assoc *a, uint64_t now);

/* ootb.c: packets of no association */
/*
 * A slot for a packet; the caller fills data from the common header on and sets
 * len, then calls sctp_ootb_seal(). NULL: the queue is full.
 */
struct sctp_ootb *sctp_ootb_new(struct sctp_endpoint *ep, const struct path_addr *to);
void sctp_ootb_seal(struct sctp_ootb *ootb);
/* A packet of one chunk with at most one cause in it (cause 0: none). */
void sctp_ootb_chunk(struct sctp_endpoint *ep, const struct path_addr *to,
		      const struct wire_sctp_common *h, uint8_t type, uint8_t flags, uint16_t cause,
		      const void *info, size_t len);
/* ABORT or SHUTDOWN COMPLETE of an association that ends. */
void sctp_ootb_assoc(struct sctp_assoc *a, uint8_t type, uint16_t cause, const void *info,
		      size_t len);
/* Answers to a packet whose association is not known (8.4). */
void sctp_ootb_input(struct sctp_in *in);
/* Forgets what was to leave through an endpoint. */
void sctp_ootb_forget(struct sctp *s, const struct sctp_endpoint *ep);

/* timers.c */
void sctp_timer_set(struct sctp_assoc *a, enum sctp_timer t, uint64_t when);

static inline void sctp_timer_stop(struct sctp_assoc *a, enum sctp_timer t)
{
	/* The heap entry stays too early; sctp_timers() puts it right. */
	a->timers[t] = TIME_NEVER;
}

static inline bool sctp_timer_runs(const struct sctp_assoc *a, enum sctp_timer t)
{
	return a->timers[t] != TIME_NEVER;
}

#endif
