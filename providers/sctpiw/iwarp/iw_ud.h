/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD queue pairs (IBV_QPT_UD): each work request is one datagram to the address that it names, and is
 * complete when that was handed on. A datagram is received into one receive, behind 40 bytes for the Global
 * Route Header, or is dropped without a word: nothing is ever answered. Needs the shard's lock, but for
 * iw_ud_dest().
 */
#ifndef SCTPIW_IWARP_IW_UD_H
#define SCTPIW_IWARP_IW_UD_H

#include "iwarp/iw_qp.h"
#include "util/addr.h"

struct wire_ud;

#define IW_UD_MAX_MSG 4096u /* bytes: the longest path MTU of InfiniBand */
#define IW_UD_GRH 40u	    /* bytes in front of the payload in a receive */
/* A Q_Key with this bit stands for the sending QP's own (IBTA 10.2.5). */
#define IW_QKEY_OWN (1u << 31)

/* Where a datagram goes. It stands at the end of the work request's slot. */
struct iw_ud_dest {
	struct ip_addr local; /* all zero: routing chooses it */
	struct ip_addr remote;
	uint32_t qp_num;
	uint32_t qkey;	     /* as posted: IW_QKEY_OWN is not resolved yet */
	uint32_t class_flow; /* traffic class << 20 | flow label */
	uint8_t hop_limit;
};

/* (producer) The place for the destination in a slot of a UD QP's send queue. */
static inline struct iw_ud_dest *iw_ud_dest(const struct iw_qp *qp, struct iw_send_wqe *wqe)
{
	return (void *)((uint8_t *)wqe + qp->sq.stride - sizeof(struct iw_ud_dest));
}

/* What has become of datagrams, since the RNIC was made. */
struct iw_ud_stats {
	uint64_t sent, received;
	uint64_t no_qp;	     /* dropped: no UD QP of that number, or not in RTR, RTS, SQD or SQE */
	uint64_t bad_qkey;   /* dropped: another Q_Key than the QP's */
	uint64_t no_receive; /* dropped: nothing was posted */
	uint64_t too_long;   /* dropped: longer than the receive */
	uint64_t malformed;  /* dropped: what arrived is no datagram of ours */
};

struct iw_ud_stats *iw_ud_stats(struct iw_shard *shard);

/* The UD QP that has run low of receives last. */
struct iw_ud_low {
	bool is;	 /* it is to be given time to post more */
	bool in_vain;	 /* it had its time, and is given no more before it posts */
	uint32_t qp;	 /* its number; 0: there was none */
	uint32_t want;	 /* receives with which it is low no more */
	uint32_t tail;	 /* how many were posted, modulo 2^32, as last seen */
	uint64_t since;	 /* ns */
	uint64_t moved;	 /* ns; when receives were last seen to be posted */
	uint64_t shared; /* ns; since when associations have waited, too; 0: there were none */
	uint64_t paid;	 /* ns; when the time that associations have waited is made up for */
};

/*
 * ns. For so long a QP that is low is given time: since its program last posted, and in all. The first is longer
 * than the program waits for its processor while others compute; for the second, who fills the queue slowly keeps
 * what comes for other QPs waiting.
 */
#define IW_UD_LOW_QUIET 50000000u
#define IW_UD_LOW_MAX 250000000u
/*
 * ns. The same in all if associations wait meanwhile, too, as what comes for them is in the same sockets; less what they
 * have waited before, for which they get as long a time without. If that leaves less than half, nobody is given time. It is
 * longer than a thread waits that shares its processor with two others which compute.
 */
#define IW_UD_LOW_SHARED 20000000u
/* ns. For so long a QP counts as one that gets bursts, behind a round in which it took several receives. */
#define IW_UD_BURSTS 10000000u
/*
 * Receives that are enough: as many as the packets that UDP_GRO makes one message of. Half of a queue is enough,
 * too; and a QP whose program lets the queue run lower before it posts has shown what is.
 */
#define IW_UD_ENOUGH 64u

/* A round of receiving begins. */
void iw_ud_begin_round(struct iw_shard *shard);
/*
 * Whether a UD QP that gets bursts has taken a receive in this round, and has fewer than enough left. Then the round
 * should end, and what comes next should stay where it is while iw_ud_awaits_receives(): without receives it would
 * have to be dropped.
 */
bool iw_ud_is_low(const struct iw_shard *shard);
/*
 * Whether the program is still to be given time to post receives, at the time of iw_set_now(). shared: there are
 * associations.
 */
bool iw_ud_awaits_receives(struct iw_shard *shard, bool shared);

/* The Q_Key that datagrams to the QP have to have. */
void iw_ud_set_qkey(struct iw_qp *qp, uint32_t qkey);
uint32_t iw_ud_qkey(const struct iw_qp *qp);

/* The UD QP whose turn it is to send; NULL: none has anything to send. */
struct iw_qp *iw_ud_next_ready(struct iw_shard *shard);
/* Where the QP's next datagram goes; NULL: it has none, and iw_ud_next_ready() names another one. */
const struct iw_ud_dest *iw_ud_peek(struct iw_qp *qp, uint32_t *len);
/* The other QPs that have something to send come first now. */
void iw_ud_end_turn(struct iw_qp *qp);
/*
 * Writes the chunk of the datagram that iw_ud_peek() has named to buf, which has room for WIRE_UD_LEN +
 * IW_UD_MAX_MSG bytes, and completes its work request. Returns its length; 0: the work request was at
 * fault, and the QP is in SQE.
 */
size_t iw_ud_pull(struct iw_qp *qp, uint8_t *buf);
/* A datagram came from `remote` to `local`. */
void iw_ud_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *local,
		   const struct ip_addr *remote);

/* The same for a UD QP that is known: a copy of a datagram to the group `local`. */
void iw_ud_offer(struct iw_qp *qp, const struct wire_ud *u, const struct ip_addr *local,
		 const struct ip_addr *remote);

#endif
