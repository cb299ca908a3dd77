/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A stream session and its end (RFC 5043 5, 6). Needs the shard's lock. */
#ifndef SCTPIW_IWARP_SESSION_H
#define SCTPIW_IWARP_SESSION_H

#include "iwarp/event.h"
#include "iwarp/in_order.h"
#include "iwarp/iw_session.h"
#include "iwarp/shard.h"
#include "iwarp/segment.h"
#include "iwarp/terminate.h"
#include "util/list.h"
#include "util/timerq.h"
#include "wire/rdmap_receipt.h"
#include "wire/session.h"

enum iw_session_state {
	IW_S_INITIATING, /* active side: the Initiate is queued or sent, the QP is bound */
	IW_S_PENDING,	 /* passive side: the session waits for the application's decision */
	IW_S_AWAITING,	 /* passive side: accepted; sends nothing before the RTR indication */
	IW_S_ESTABLISHED,
	/* over for QP and application; a Terminate is still to be sent, acknowledged or received */
	IW_S_CLOSING,
	IW_S_OVER, /* removed from its stream; freed once the user releases the session */
};

/* Setup: session_setup.c. */
struct iw_session_setup {
	bool enhanced;		       /* started by an Enhanced Initiate (RFC 6581) */
	bool announced;		       /* IW_EVENT_INITIATE was fetched */
	bool turned_away;	       /* refused or rejected; counts in iw_assoc.turned_away */
	struct session_enhanced offer; /* IRD, ORD and RTR kinds that the peer sent */
	/* this side's parameters; kept until they are sent for the last time */
	struct iw_session_param *local;
	/* the peer's parameters; kept until an event with them is fetched */
	struct iw_session_param *remote;
};

/*
 * Send state. ssn is kept apart from the flags that iw_session_wake() reads. If they were adjacent,
 * compilers would load them with one instruction, which stalls after a recent store to ssn.
 */
struct iw_session_tx {
	uint16_t ssn;	    /* DDP-SSN of the next message */
	uint32_t first_seq; /* value of iw_assoc.pulled for the first message */
	uint32_t last_seq;  /* value of iw_assoc.pulled for the last message so far */
	struct term_message term;
	uint16_t control;   /* function of the control message to send first, or 0 */
	bool ended;	    /* the last message was sent */
	bool terminate_due; /* a session Terminate is to be sent */
	bool term_due;	    /* send an RDMAP Terminate, term, before the session Terminate */
	bool answered;	    /* the peer's answer to the first message has arrived */
	bool rtr_due;	    /* an RTR indication is to be sent */
	bool receipt_due;   /* a receipt is to be sent; only control messages precede it */
	bool owes; /* a receipt or Terminate is due, so iw_assoc.owing counts the session */
	uint32_t receipt_msn;	      /* MSN of the last receipt, on QN 4 */
	struct rdmap_receipt receipt; /* the last receipt sent, or the final receipt that is due */
};

/* Delivery records, by DDP-SSN, of messages that have arrived early and were placed. */
struct iw_rx_order {
	struct iw_rx_rec *slots;
	uint32_t size; /* a power of two, or 0 */
	uint32_t used;
	uint16_t last; /* highest DDP-SSN of all records, if used */
};

/*
 * Unordered mode of a session that is closing. Messages are only counted, in iw_session_rx.ssn.
 * SCTP delivers each message once, so all messages have arrived when the count matches the DDP-SSN
 * of the peer's Terminate.
 */
struct iw_rx_loose {
	bool on;
	bool end_known; /* the peer's Terminate has arrived */
	uint16_t end_ssn;
};

/* An early message that is wrong. The session fails when the message's turn comes. */
struct iw_rx_fault {
	bool found;
	uint16_t ssn; /* DDP-SSN of the wrong message; later messages are dropped */
	struct iw_failure failure;
};

/* The peer's void messages (void.h). */
struct iw_rx_void {
	bool found;
	uint16_t ssn; /* lowest DDP-SSN of all void messages */
};

/* Receive state: session_rx.c. */
struct iw_session_rx {
	uint16_t ssn;	      /* DDP-SSN of the next message in order */
	uint16_t delivered;   /* value of ssn after the last delivery */
	uint32_t receipt_msn; /* MSN of the peer's last receipt, on QN 4 */
	bool ended;	      /* all messages of the peer, including its last, have arrived */
	bool begun;	      /* a segment from the peer was delivered */
	struct iw_rx_order order;
	struct iw_rx_loose loose;
	struct iw_rx_fault fault;
	struct iw_rx_void voided;
	struct iw_early_queue early;
	uint8_t term_buf[64]; /* untagged buffer of QN 2, for the peer's RDMAP Terminate */
	bool term_seen;	      /* the last segment of the RDMAP Terminate was placed */
};

/* The end: session.c. */
struct iw_session_ending {
	bool user_gone;		 /* the user has released the session pointer */
	struct iw_qp *closed_qp; /* QP named by IW_EVENT_CLOSED */
	int error;		 /* error for IW_EVENT_CLOSED, -errno */
	uint64_t give_up_at;	 /* end of the wait for the peer's Terminate, ns; 0: no wait */
	uint64_t ack_poll;	 /* interval until the next check for an acknowledgement, ns */
};

struct iw_session {
	struct iw_shard *shard;
	struct iw_assoc *assoc; /* NULL once the association is lost */
	struct list_node all;	/* iw_shard.sessions or .graveyard */
	struct list_node ready; /* iw_assoc.ready */
	struct iw_event_node event;
	struct timerq_node timer;
	struct iw_qp *qp; /* the bound QP; NULL: none, or the session has ended for the QP */
	const struct iw_rdmap_info *takes; /* messages of the peer that the QP accepts: opcode.h */
	struct iw_session_user user;	   /* all zero: the session has no user yet */
	uint16_t sid;
	uint8_t state;		 /* enum iw_session_state */
	uint8_t rnr_retry_count; /* in units of IW_RNR_UNIT, or IW_RNR_FOREVER */
	bool active;
	bool to_self;  /* the session is its own peer */
	bool in_order; /* segments are placed in order: iw_config.in_order, or the QP is UC */
	bool sifts;    /* some segments are to be dropped: a message was void, or the QP is UC */
	bool counted;  /* the session counts in iw_assoc.live */
	struct iw_session_tx tx;
	struct iw_session_rx rx;
	struct iw_session_setup setup;
	struct iw_session_ending ending;
};

/* Reasons for the end of a session. */
enum iw_end_reason {
	IW_END_PEER,	  /* the peer sent a session Terminate, or withdrew its Initiate */
	IW_END_REFUSED,	  /* the peer answered the Initiate with a Terminate */
	IW_END_CROSSED,	  /* two Initiates crossed; the QP is already unbound */
	IW_END_LOST,	  /* the association is gone */
	IW_END_TERMINATE, /* the peer sent an RDMAP Terminate */
	IW_END_FAILED,	  /* this side found an error */
	IW_END_MOVED,	  /* the application reset or freed the QP, or moved the QP to ERR */
	IW_END_CLOSED,	  /* the local user closes the session in order */
	IW_END_ABANDONED, /* the local user gives up waiting */
};

/* Returns a new session without a stream; NULL if out of memory. */
struct iw_session *iw_session_new(struct iw_assoc *assoc, bool active);
/*
 * Ends a session and unbinds the QP. The reason determines the QP's new state. Queues an RDMAP
 * Terminate if f requires one, and then a session Terminate. Raises IW_EVENT_CLOSED unless the user
 * ends the session. f: set for FAILED, TERMINATE and ABANDONED, else NULL; passed to
 * iw_qp_enter_error(). The call has no effect if the session has already ended, and does not free
 * the session: only iw_shard_reap() frees sessions.
 */
void iw_session_end(struct iw_session *s, enum iw_end_reason why, const struct iw_failure *f);
/* Ends the session because the association is gone; error: -errno for IW_EVENT_CLOSED. */
void iw_session_lost(struct iw_session *s, int error);
/* Ends the session as IW_END_FAILED; raises an async event for the QP unless f is quiet. */
void iw_session_fail(struct iw_session *s, const struct iw_failure *f);
/*
 * Fails the session because the message with this DDP-SSN is wrong. The session fails when all
 * earlier messages are delivered, perhaps now. Returns true if the session has failed now.
 */
bool iw_session_wrong(struct iw_session *s, uint16_t ssn, const struct iw_failure *f);
/* Removes a closing session from its stream if the closing is complete. */
void iw_session_settle(struct iw_session *s);
/* Removes the session from its stream, which becomes idle. */
void iw_session_leave(struct iw_session *s);
/* Stops counting the session as live (iw_assoc_sessions()). May be called repeatedly. */
void iw_session_uncount(struct iw_session *s);
/*
 * Records that a PENDING passive session was refused or rejected. The session counts in
 * iw_assoc.turned_away until it is removed from its stream.
 */
void iw_session_turn_away(struct iw_session *s);
/*
 * Records that the user no longer holds the session pointer: the user has fetched the last event,
 * or has given up the pointer.
 */
void iw_session_release(struct iw_session *s);
/*
 * Moves a session to the graveyard. Nothing may refer to the session any more. iw_shard_reap() then
 * frees the session.
 */
void iw_session_bury(struct iw_session *s);
void iw_session_timer(struct iw_session *s);
/* Sets the session's timer. when: ns; UINT64_MAX stops the timer. */
void iw_session_set_timer(struct iw_session *s, uint64_t when);

#endif
