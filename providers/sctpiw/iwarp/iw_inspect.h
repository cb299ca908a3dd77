/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tools are told of the objects of the RNIC: copies of what they are at the moment. Needs the
 * shard's lock, but objects may come and go between two calls.
 *
 * A walk visits each object of a kind that is there from its beginning to its end once; one that is
 * made or freed meanwhile is visited, or not. There is one walk of a kind at a time.
 */
#ifndef SCTPIW_IWARP_IW_INSPECT_H
#define SCTPIW_IWARP_IW_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_qp.h"
#include "iwarp/iw_shard.h"
#include "util/list.h"

#define IW_PEER_TEXT 64 /* bytes of an address as text, with the final zero */

/* How many objects there are. */
struct iw_counts {
	uint32_t qps, cqs, srqs, pds, mrs, mws;
	uint32_t sessions; /* that are not freed */
};

void iw_count(const struct iw_rnic *rnic, struct iw_counts *counts);

struct iw_qp_info {
	uint32_t num;
	enum iw_qp_type type;
	enum iw_qp_state state;
	bool has_session;
	bool oob;		 /* connected out of band */
	bool stands_in;		 /* the application has not made it: conn/stand_in.h */
	bool has_srq;		 /* its receives are those of an SRQ */
	uint16_t stream;	 /* of its session */
	char peer[IW_PEER_TEXT]; /* address and port of its session's association; "": none */
	uint32_t send_wrs;	 /* posted and not complete */
	uint32_t recv_wrs;	 /* the same; 0 with an SRQ */
	uint32_t unexpected;	 /* Sends of the peer that wait for a receive */
	bool send_blocked;	 /* a Send waits until the peer has posted receives */
	struct iw_traffic in, out;
	uint64_t dropped;  /* UC: messages of the peer that could not be taken */
	const char *error; /* why it has entered the error state, in words; NULL: it has not */
};

struct iw_cq_info {
	uint32_t entries; /* that it has room for */
	uint32_t waiting; /* that were not polled yet */
	uint32_t queues;  /* send and receive queues that complete there */
	bool armed;
	bool overflown;
};

enum iw_mr_type { IW_MR_TYPE_REGION, IW_MR_TYPE_NULL, IW_MR_TYPE_MW1, IW_MR_TYPE_MW2 };

struct iw_mr_info {
	uint32_t stag;
	enum iw_mr_type type;
	uint64_t iova, length; /* 0 if it is a window that is not bound */
	uint32_t access;       /* IW_ACCESS_* */
	bool invalid;	       /* it was invalidated, or is a window that is not bound */
};

/*
 * The object behind the one that the last call has told of, and true; false: there are no more.
 * mark, which is list_init()ed, marks the place; from the first call to the one that returns false
 * it is on a list of the RNIC's. list_del() of it ends the walk early.
 */
bool iw_next_qp(struct iw_shard *shard, struct list_node *mark, struct iw_qp_info *info);
bool iw_next_cq(struct iw_rnic *rnic, struct list_node *mark, struct iw_cq_info *info);
bool iw_next_mr(struct iw_rnic *rnic, struct list_node *mark, struct iw_mr_info *info);

#endif
