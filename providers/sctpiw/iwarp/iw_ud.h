/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD queue pairs (IBV_QPT_UD). Each work request sends one datagram to the work request's
 * destination, and completes when iw_ud_pull() has written the datagram. A received datagram uses
 * one receive, whose first 40 bytes are for the Global Route Header. Without a suitable receive,
 * the datagram is silently dropped. The RNIC never answers a datagram. All functions but
 * iw_ud_dest() need the shard's lock.
 */
#ifndef SCTPIW_IWARP_IW_UD_H
#define SCTPIW_IWARP_IW_UD_H

#include "iwarp/iw_qp.h"
#include "util/addr.h"

struct wire_ud;

#define IW_UD_MAX_MSG 4096u /* bytes: the largest path MTU of InfiniBand */
#define IW_UD_GRH 40u	    /* bytes before the payload in a receive */
/*
 * If a work request's Q_Key has this bit, the datagram carries the Q_Key of the sending QP instead
 * (IBTA 10.2.5).
 */
#define IW_QKEY_OWN (1u << 31)

/* Destination of a datagram. Stored at the end of the work request's slot. */
struct iw_ud_dest {
	struct ip_addr local; /* all zero: routing chooses the local address */
	struct ip_addr remote;
	uint32_t qp_num;
	uint32_t qkey;	     /* the posted value: may have the bit IW_QKEY_OWN */
	uint32_t class_flow; /* traffic class << 20 | flow label */
	uint8_t hop_limit;
};

/* (producer) Returns the destination in a slot of a UD QP's send queue. */
static inline struct iw_ud_dest *iw_ud_dest(const struct iw_qp *qp, struct iw_send_wqe *wqe)
{
	return (void *)((uint8_t *)wqe + qp->sq.stride - sizeof(struct iw_ud_dest));
}

/* Datagram counts since the RNIC was created. */
struct iw_ud_stats {
	uint64_t sent, received;
	uint64_t no_qp;	     /* dropped: no UD QP with this number in RTR, RTS, SQD or SQE */
	uint64_t bad_qkey;   /* dropped: the Q_Key differs from the QP's */
	uint64_t no_receive; /* dropped: no receive was posted */
	uint64_t too_long;   /* dropped: the datagram is longer than the receive */
	uint64_t malformed;  /* dropped: not a valid datagram */
};

struct iw_ud_stats *iw_ud_stats(struct iw_shard *shard);

/*
 * The UD QP that most recently became low. A UD QP is low if it has too few posted receives for a
 * burst of datagrams. The RNIC then gives the QP's program some time to post more receives, and
 * meanwhile leaves incoming packets in the sockets.
 */
struct iw_ud_low {
	bool is;	 /* the program is given time to post more receives to the QP */
	bool in_vain;	 /* the time expired; give no more time until the program posts a receive */
	uint32_t qp;	 /* number of the QP; 0: none */
	uint32_t want;	 /* number of receives at which the QP is no longer low */
	uint32_t tail;	 /* last seen count of posted receives, modulo 2^32 */
	uint64_t since;	 /* start of the time that the program is given, ns */
	uint64_t moved;	 /* time when posting was last seen, ns */
	uint64_t shared; /* time since when associations wait as well, ns; 0: none waits */
	uint64_t paid;	 /* time when earlier waits no longer reduce the maximum, ns */
};

/*
 * Maximum times for a low QP, in ns: since its program last posted a receive (QUIET), and in total
 * (MAX). QUIET exceeds the time for which the program waits for its processor while other programs
 * compute. MAX limits the delay of other QPs' datagrams if a program fills its queue slowly.
 */
#define IW_UD_LOW_QUIET 50000000u
#define IW_UD_LOW_MAX 250000000u
/*
 * Maximum total time for a low QP while associations exist, in ns. Associations wait as well,
 * because their packets arrive at the same sockets. Earlier waits reduce the maximum, until an
 * equally long time without a wait has passed. If less than half of the maximum remains, no QP is
 * given time. The maximum exceeds the wait of a thread that shares a processor with two computing
 * threads.
 */
#define IW_UD_LOW_SHARED 20000000u
/* Time in ns for which a QP counts as bursty after a round in which it took many receives. */
#define IW_UD_BURSTS 10000000u
/*
 * Number of posted receives that suffices for a QP: the number of packets that UDP_GRO combines in
 * one message. Half of the queue's size suffices, too. If the program posts receives only after
 * fewer are left, that lower number suffices.
 */
#define IW_UD_ENOUGH 64u

/* Starts a round: the caller then receives the packets that wait in the sockets. */
void iw_ud_begin_round(struct iw_shard *shard);
/*
 * True if a bursty UD QP has become low in this round. The caller then ends the round, and receives
 * no packets while iw_ud_awaits_receives() is true. Otherwise datagrams would be dropped for lack
 * of receives.
 */
bool iw_ud_is_low(const struct iw_shard *shard);
/*
 * True if, at the time of iw_set_now(), the program of the low QP is given more time to post
 * receives. shared: associations exist.
 */
bool iw_ud_awaits_receives(struct iw_shard *shard, bool shared);

/* Sets the Q_Key that datagrams to the QP must have. */
void iw_ud_set_qkey(struct iw_qp *qp, uint32_t qkey);
uint32_t iw_ud_qkey(const struct iw_qp *qp);

/* Returns the UD QP whose turn it is to send, or NULL if no UD QP has a datagram to send. */
struct iw_qp *iw_ud_next_ready(struct iw_shard *shard);
/*
 * Returns the destination of the QP's next datagram, and sets *len to its bytes. Returns NULL if
 * the QP has none; iw_ud_next_ready() then returns another QP.
 */
const struct iw_ud_dest *iw_ud_peek(struct iw_qp *qp, uint32_t *len);
/* Ends the QP's turn: the other QPs that have datagrams send first. */
void iw_ud_end_turn(struct iw_qp *qp);
/*
 * Writes the datagram of iw_ud_peek() as a chunk to buf, which has room for WIRE_UD_LEN +
 * IW_UD_MAX_MSG bytes. Completes the work request. Returns the chunk's length, or 0 if the work
 * request was at fault and the QP has entered SQE.
 */
size_t iw_ud_pull(struct iw_qp *qp, uint8_t *buf);
/* Receives a datagram sent from the address `remote` to the address `local`. */
void iw_ud_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *local,
		   const struct ip_addr *remote);

/* Gives a UD QP its copy of a datagram that was sent to the multicast group `local`. */
void iw_ud_offer(struct iw_qp *qp, const struct wire_ud *u, const struct ip_addr *local,
		 const struct ip_addr *remote);

#endif
