/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A stream session, and how it ends (RFC 5043 5, 6). Needs the shard's lock. */
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
	IW_S_INITIATING, /* active: the Initiate is queued or sent, the QP is bound */
	IW_S_PENDING,	 /* passive: the application decides */
	IW_S_AWAITING,	 /* passive: accepted; nothing is sent before the RTR indication is here */
	IW_S_ESTABLISHED,
	IW_S_CLOSING, /* over for QP and application; the Terminates are on their way */
	IW_S_OVER,    /* off its stream; freed when the user does not hold it any more */
};

/* How it begins: session_setup.c. */
struct iw_session_setup {
	bool enhanced;			 /* opened with an Enhanced Initiate (RFC 6581) */
	bool announced;			 /* IW_EVENT_INITIATE was fetched */
	bool turned_away;		 /* ended before it began; counts in iw_assoc.turned_away */
	struct session_enhanced offer;	 /* the peer's establishment data */
	struct iw_session_param *local;	 /* this side's; kept until sent for good */
	struct iw_session_param *remote; /* the peer's; kept until fetched as an event */
};

/*
 * What this side sends. ssn is not beside the flags that iw_session_wake() reads: compilers load
 * neighbours in one piece, which waits if one of them has just been written.
 */
struct iw_session_tx {
	uint16_t ssn;	    /* of the next message */
	uint32_t first_seq; /* iw_assoc.pulled at the first message */
	uint32_t last_seq;  /* iw_assoc.pulled at the last message so far */
	struct term_message term;
	uint16_t control;   /* function of the control message that is sent first, or 0 */
	bool ended;	    /* the last message is out */
	bool terminate_due; /* a session Terminate is to be sent */
	bool term_due;	    /* before it, an RDMAP Terminate: term */
	bool answered;	    /* the peer has the first message: it sent something in answer */
	bool rtr_due;	    /* an RTR indication is to be sent */
	bool receipt_due;   /* a receipt is to be sent, before all else but control */
	bool owes; /* it, or something that ends the session, is counted in iw_assoc.owing */
	uint32_t receipt_msn;	      /* on QN 4, of the last receipt */
	struct rdmap_receipt receipt; /* the last one, or the final one that is due */
};

/* Messages that came before their turn and are placed: what delivery has to know, by DDP-SSN. */
struct iw_rx_order {
	struct iw_rx_rec *slots;
	uint32_t size; /* a power of two, or 0 */
	uint32_t used;
	uint16_t last; /* the highest DDP-SSN of any, if used */
};

/*
 * The order is given up: messages are only counted, in iw_session_rx.ssn. SCTP delivers each once,
 * so the peer's end is here when as many have come as the DDP-SSN of its Terminate says.
 */
struct iw_rx_loose {
	bool on;
	bool end_known; /* the peer's Terminate has come */
	uint16_t end_ssn;
};

/* A message that came early is wrong: when its turn comes the session fails. */
struct iw_rx_fault {
	bool found;
	uint16_t ssn; /* what is behind it is dropped */
	struct iw_failure failure;
};

/* The peer's void messages (void.h). */
struct iw_rx_void {
	bool found;
	uint16_t ssn; /* the lowest DDP-SSN of any */
};

/* What the peer sends: session_rx.c. */
struct iw_session_rx {
	uint16_t ssn;	    /* of the message whose turn it is */
	uint16_t delivered; /* the same, but it moves on only when the message before was delivered */
	uint32_t receipt_msn; /* on QN 4, of the peer's last receipt */
	bool ended;	      /* the peer's last message, and all before it, has come */
	bool begun;	      /* a segment of the peer's was delivered */
	struct iw_rx_order order;
	struct iw_rx_loose loose;
	struct iw_rx_fault fault;
	struct iw_rx_void voided;
	struct iw_early_queue early;
	uint8_t term_buf[64]; /* the untagged buffer of QN 2, for the peer's RDMAP Terminate */
	bool term_seen;	      /* its last segment was placed */
};

/* How it ends: session.c. */
struct iw_session_ending {
	bool user_gone;		 /* nobody outside holds the session pointer any more */
	struct iw_qp *closed_qp; /* the QP that IW_EVENT_CLOSED names */
	int error;		 /* for IW_EVENT_CLOSED, -errno */
	uint64_t give_up_at; /* when the peer's Terminate is given up, ns; 0: it is not waited for */
	uint64_t ack_poll;   /* until the next look for an acknowledgement, at least, ns */
};

struct iw_session {
	struct iw_shard *shard;
	struct iw_assoc *assoc; /* NULL once that is lost */
	struct list_node all;	/* iw_shard.sessions or .graveyard */
	struct list_node ready; /* iw_assoc.ready */
	struct iw_event_node event;
	struct timerq_node timer;
	struct iw_qp *qp; /* bound; NULL: none, or the session has ended for it */
	const struct iw_rdmap_info
		*takes;		     /* which messages of the peer the QP takes: iwarp/opcode.h */
	struct iw_session_user user; /* all zero: nobody outside knows the session yet */
	uint16_t sid;
	uint8_t state;		 /* enum iw_session_state */
	uint8_t rnr_retry_count; /* times IW_RNR_UNIT; IW_RNR_FOREVER */
	bool active;
	bool to_self;  /* the peer is this session */
	bool in_order; /* segments are placed in order: iw_config.in_order, or the QP is UC */
	bool sifts;    /* segments may have no effect: one was void, or the QP is UC */
	bool counted;  /* in iw_assoc.live */
	struct iw_session_tx tx;
	struct iw_session_rx rx;
	struct iw_session_setup setup;
	struct iw_session_ending ending;
};

/* Why a session ends. */
enum iw_end_reason {
	IW_END_PEER,	  /* the peer's session Terminate, or its withdrawal */
	IW_END_REFUSED,	  /* the peer answered the Initiate by a Terminate */
	IW_END_CROSSED,	  /* its Initiate crossed one of the peer's; the QP was unbound before */
	IW_END_LOST,	  /* the association is gone */
	IW_END_TERMINATE, /* an RDMAP Terminate of the peer */
	IW_END_FAILED,	  /* this side found an error */
	IW_END_MOVED,	  /* the application reset or freed the QP, or moved it to ERR */
	IW_END_CLOSED,	  /* this side's user closes it in order */
	IW_END_ABANDONED, /* this side's user gives up waiting */
};

/* A session that is not on a stream yet. NULL: out of memory. */
struct iw_session *iw_session_new(struct iw_assoc *assoc, bool active);
/*
 * Ends a session: the QP is unbound, and what the reason says becomes of it; an RDMAP Terminate as
 * f says and a session Terminate go out behind what was sent; IW_EVENT_CLOSED unless the user ends
 * it. f: with FAILED, TERMINATE and ABANDONED, else NULL; it is passed to iw_qp_enter_error(). Does
 * nothing if the session has ended. Sessions are freed by iw_shard_reap() only.
 */
void iw_session_end(struct iw_session *s, enum iw_end_reason why, const struct iw_failure *f);
/* The same because the association is gone; error: -errno for IW_EVENT_CLOSED. */
void iw_session_lost(struct iw_session *s, int error);
/* Ends the session as IW_END_FAILED, with an async event of the QP if f is not quiet. */
void iw_session_fail(struct iw_session *s, const struct iw_failure *f);
/*
 * The message with this DDP-SSN is wrong: the session fails, now or when the message's turn comes.
 * true: it has failed.
 */
bool iw_session_wrong(struct iw_session *s, uint16_t ssn, const struct iw_failure *f);
/* A closing session: is it over by now? Then it leaves its stream. */
void iw_session_settle(struct iw_session *s);
/* Takes the session off its stream, which is idle again. */
void iw_session_leave(struct iw_session *s);
/* The session no longer counts as one that lives (iw_assoc_sessions()). May be called again. */
void iw_session_uncount(struct iw_session *s);
/* A passive session that was PENDING is not wanted: it counts until it leaves its stream. */
void iw_session_turn_away(struct iw_session *s);
/* The user of the session has fetched its last event, or gives up the pointer. */
void iw_session_release(struct iw_session *s);
/* Nobody holds the session any more: it is freed when the graveyard is emptied. */
void iw_session_bury(struct iw_session *s);
/* The session's timer is due. */
void iw_session_timer(struct iw_session *s);
/* when: ns; UINT64_MAX: stops the timer. */
void iw_session_set_timer(struct iw_session *s, uint64_t when);

#endif
