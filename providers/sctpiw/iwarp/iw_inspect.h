/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Snapshots of the RNIC's objects for tools. Needs the shard's lock. Objects may change between
 * calls.
 *
 * A walk visits each object once, if the object exists from the walk's start to its end. Objects
 * that are created or freed during the walk may be missed. Only one walk of each kind may run at
 * once.
 */
#ifndef SCTPIW_IWARP_IW_INSPECT_H
#define SCTPIW_IWARP_IW_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_qp.h"
#include "iwarp/iw_shard.h"
#include "util/list.h"

#define IW_PEER_TEXT 64 /* bytes of an address as text, with the terminating zero */

/* Numbers of objects. */
struct iw_counts {
	uint32_t qps, cqs, srqs, pds, mrs, mws;
	uint32_t sessions; /* sessions not yet freed */
};

void iw_count(const struct iw_rnic *rnic, struct iw_counts *counts);

struct iw_qp_info {
	uint32_t num;
	enum iw_qp_type type;
	enum iw_qp_state state;
	bool has_session;
	bool oob;		 /* connected out of band */
	bool stands_in;		 /* not created by the application: conn/stand_in.h */
	bool has_srq;		 /* receives come from an SRQ */
	uint16_t stream;	 /* stream id of the QP's session */
	char peer[IW_PEER_TEXT]; /* address and port of the session's association; "": none */
	uint32_t send_wrs;	 /* posted send WRs that are not complete */
	uint32_t recv_wrs;	 /* posted receive WRs that are not complete; 0 with an SRQ */
	uint32_t unexpected;	 /* the peer's Sends that wait for a receive */
	bool send_blocked;	 /* a Send waits for the peer to post receives */
	struct iw_traffic in, out;
	uint64_t dropped;  /* UC: number of the peer's messages that the QP dropped */
	const char *error; /* reason for the error state, in words; NULL: not in error */
};

struct iw_cq_info {
	uint32_t entries; /* capacity */
	uint32_t waiting; /* entries not yet polled */
	uint32_t queues;  /* send and receive queues that complete on the CQ */
	bool armed;
	bool overflown;
};

enum iw_mr_type { IW_MR_TYPE_REGION, IW_MR_TYPE_NULL, IW_MR_TYPE_MW1, IW_MR_TYPE_MW2 };

struct iw_mr_info {
	uint32_t stag;
	enum iw_mr_type type;
	uint64_t iova, length; /* 0 for an unbound window */
	uint32_t access;       /* IW_ACCESS_* */
	bool invalid;	       /* invalidated, or an unbound window */
};

/*
 * Each call fills info with the object after the previous one. Returns false after the last object.
 * mark stores the position of the walk. Call list_init() on mark before the first call. mark is
 * then on a list of the RNIC until a call returns false. list_del() on mark ends the walk early.
 */
bool iw_next_qp(struct iw_shard *shard, struct list_node *mark, struct iw_qp_info *info);
bool iw_next_cq(struct iw_rnic *rnic, struct list_node *mark, struct iw_cq_info *info);
bool iw_next_mr(struct iw_rnic *rnic, struct list_node *mark, struct iw_mr_info *info);

#endif
