/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Associations: the table of streams, and the sending order of sessions. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_ASSOC_H
#define SCTPIW_IWARP_ASSOC_H

#include "iwarp/iw_assoc.h"
#include "iwarp/session.h"

#define IW_STREAM_PAGE 256 /* streams per page of the table */

struct iw_assoc {
	struct iw_shard *shard;
	struct iw_llp_ops ops;
	void *llp;
	struct list_node all; /* iw_shard.assocs */
	bool initiator;	      /* local sessions use even stream ids, otherwise odd ids */
	bool pulling;	      /* send no doorbell: the LLP is pulling already, or the LLP is gone */
	unsigned int streams;
	size_t max_msg;		      /* bytes */
	uint32_t pulled;	      /* number of pulled messages, modulo 2^32 */
	uint64_t placed;	      /* last result of iw_llp_ops.placed, extended to 64 bits */
	struct timerq unplaced;	      /* iw_unplaced.node, by message number */
	struct list_node referencing; /* iw_shard.referencing, while messages reference memory */
	bool receipts;		      /* both sides support receipts */
	bool srq_numbers;	      /* both sides support queue numbers with an SRQ number */
	bool peer_enhanced;	      /* the peer has sent a session message of RFC 6581 */
	uint32_t send_window; /* bytes of Sends without a receive that the peer stores per QP */
	unsigned int owing;   /* sessions that owe a receipt or Terminate (iw_session_tx.owes) */
	struct iw_msg *msg;   /* the message that is being pulled */
	unsigned int live;    /* sessions that are not over: iw_session_uncount() */
	unsigned int wanted;  /* live sessions that were neither refused nor rejected */
	unsigned int turned_away; /* sessions that were refused or rejected, but are not over */
	struct list_node idle;	  /* iw_shard.idle, until iw_next_idle() returns this association */
	unsigned int cursor;	  /* stream where the next search for an idle stream starts */
	struct list_node ready;	  /* sessions to send, by iw_session.ready, in sending order */
	struct iw_session *
		*pages[65536 / IW_STREAM_PAGE]; /* sessions by stream id; a page may be NULL */
};

struct iw_session *iw_assoc_session(const struct iw_assoc *assoc, unsigned int sid);
/* Puts the session on the stream. Returns 0, or -ENOMEM. */
int iw_assoc_link(struct iw_assoc *assoc, struct iw_session *s, unsigned int sid);
void iw_assoc_unlink(struct iw_session *s);
/* Makes local sessions use even stream ids if initiator, otherwise odd ids. */
void iw_assoc_set_initiator(struct iw_assoc *assoc, bool initiator);
/* Returns an idle stream of the local parity, or -EAGAIN. */
int iw_assoc_idle_stream(struct iw_assoc *assoc);
/* True if the peer has acknowledged the message with this number (iw_assoc.pulled). */
bool iw_assoc_is_acked(const struct iw_assoc *assoc, uint32_t seq);
/* Queues the session for sending if a message is due. May be called at any time; cheap. */
void iw_session_wake(struct iw_session *s);

#endif
