/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD queue pairs (IBV_QPT_UD). Each work request is one datagram to the address that it names, and
 * completes when the datagram is handed on. A datagram uses one receive, after 40 bytes for the
 * Global Route Header, or is silently dropped. No datagram is ever answered. All functions but
 * iw_ud_dest() need the shard's lock.
 */
#ifndef SCTPIW_IWARP_IW_UD_H
#define SCTPIW_IWARP_IW_UD_H

#include "iwarp/iw_qp.h"
#include "util/addr.h"

struct wire_ud;

#define IW_UD_MAX_MSG 4096u /* bytes: the largest path MTU of InfiniBand */
#define IW_UD_GRH 40u	    /* bytes before the payload in a receive */
/* A Q_Key with this bit means the sending QP's own Q_Key (IBTA 10.2.5). */
#define IW_QKEY_OWN (1u << 31)

/* Destination of a datagram, at the end of the work request's slot. */
struct iw_ud_dest {
	struct ip_addr local; /* all zero: chosen by routing */
	struct ip_addr remote;
	uint32_t qp_num;
	uint32_t qkey;	     /* as posted: IW_QKEY_OWN is not resolved */
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
	uint64_t no_qp;	   /* dropped: no UD QP with that number, or not in RTR, RTS, SQD or SQE */
	uint64_t bad_qkey; /* dropped: the Q_Key differs from the QP's */
	uint64_t no_receive; /* dropped: no receive was posted */
	uint64_t too_long;   /* dropped: longer than the receive */
	uint64_t malformed;  /* dropped: not a valid datagram */
};

struct iw_ud_stats *iw_ud_stats(struct iw_shard *shard);

/* The UD QP that most recently ran low on receives. */
struct iw_ud_low {
	bool is;	 /* the QP is given time to post more */
	bool in_vain;	 /* the time expired; no more time until the QP posts */
	uint32_t qp;	 /* number of the QP; 0: none */
	uint32_t want;	 /* receives at which the QP is no longer low */
	uint32_t tail;	 /* last seen count of posted receives, modulo 2^32 */
	uint64_t since;	 /* ns */
	uint64_t moved;	 /* time when posting was last seen, ns */
	uint64_t shared; /* start of the associations' wait, ns; 0: none waits */
	uint64_t paid;	 /* time when the associations' wait is compensated, ns */
};

/*
 * ns. Maximum time for a low QP: since its program last posted, and in total. The first exceeds the
 * time that the program waits for its processor while others compute. The second limits how long a
 * program that fills its queue slowly delays other QPs' datagrams.
 */
#define IW_UD_LOW_QUIET 50000000u
#define IW_UD_LOW_MAX 250000000u
/*
 * ns. Maximum total time while associations wait too, because their packets share the sockets.
 * Earlier waits reduce the maximum until an equally long time without a wait has passed. If less
 * than half remains, no QP is given time. The maximum exceeds the wait of a thread that shares its
 * processor with two computing threads.
 */
#define IW_UD_LOW_SHARED 20000000u
/* ns. Time for which a QP counts as bursty after a round in which it took several receives. */
#define IW_UD_BURSTS 10000000u
/*
 * Sufficient number of receives: the packets that UDP_GRO combines in one message. Half of a queue
 * suffices, too. If a program posts only at a lower level, that level suffices.
 */
#define IW_UD_ENOUGH 64u

/* Starts a round of receiving. */
void iw_ud_begin_round(struct iw_shard *shard);
/*
 * True if a bursty UD QP took a receive in this round and has too few left. Then end the round, and
 * leave incoming packets in the sockets while iw_ud_awaits_receives(): without receives they would
 * be dropped.
 */
bool iw_ud_is_low(const struct iw_shard *shard);
/*
 * True if the program is given more time to post receives, as of iw_set_now(). shared: associations
 * exist.
 */
bool iw_ud_awaits_receives(struct iw_shard *shard, bool shared);

/* Sets the Q_Key that datagrams to the QP must have. */
void iw_ud_set_qkey(struct iw_qp *qp, uint32_t qkey);
uint32_t iw_ud_qkey(const struct iw_qp *qp);

/* Returns the UD QP whose turn it is to send; NULL: none has datagrams. */
struct iw_qp *iw_ud_next_ready(struct iw_shard *shard);
/* Returns the destination of the QP's next datagram; NULL: none, iw_ud_next_ready() moves on. */
const struct iw_ud_dest *iw_ud_peek(struct iw_qp *qp, uint32_t *len);
/* Moves the QP behind the other QPs that have datagrams. */
void iw_ud_end_turn(struct iw_qp *qp);
/*
 * Writes the datagram of iw_ud_peek() as a chunk to buf, which has room for WIRE_UD_LEN +
 * IW_UD_MAX_MSG bytes. Completes the work request. Returns the length; 0: the work request is at
 * fault, the QP is in SQE.
 */
size_t iw_ud_pull(struct iw_qp *qp, uint8_t *buf);
/* Receives a datagram from `remote` to `local`. */
void iw_ud_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *local,
		   const struct ip_addr *remote);

/* Gives a UD QP its copy of a datagram to the group `local`. */
void iw_ud_offer(struct iw_qp *qp, const struct wire_ud *u, const struct ip_addr *local,
		 const struct ip_addr *remote);

#endif
