/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of iwarp/ share. All of it is guarded by the engine lock, except the ring
 * indexes (iwarp.h). Functions return 0 or -errno unless said otherwise; those that judge what the
 * peer sent return -EPROTO and fill a struct iw_failure.
 */
#ifndef SCTPIW_IWARP_PRIVATE_H
#define SCTPIW_IWARP_PRIVATE_H

#include "iwarp/iwarp.h"
#include "iwarp/table.h"
#include "util/list.h"
#include "util/timerq.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"

#define IW_MSEC 1000000ull
#define IW_RNR_UNIT (655 * IW_MSEC)	  /* of rnr_retry_count */
#define IW_RNR_FOREVER 7
#define IW_CLOSE_WAIT (1000 * IW_MSEC)	  /* for the peer's session Terminate */
#define IW_ACK_POLL_MIN IW_MSEC
#define IW_ACK_POLL_MAX (64 * IW_MSEC)
#define IW_MIN_CUT 128			  /* a message is not cut for less room than this */
#define IW_LONG_READ 16384u		  /* bytes; of so many, several are asked for at once */
#define IW_UNEXPECTED_MSNS 8192		  /* Sends held at most, whatever the budget */
#define IW_UNEXPECTED_COST 128		  /* bookkeeping charged for each held segment */
#define IW_SEGMENT_MAX 65535		  /* DDP header and payload: 16 bits in a Terminate */

/* ---- events (rnic.c): queued by the object they are about, so that none can get lost ---- */

enum iw_event_owner { IW_OWNER_SESSION, IW_OWNER_QP, IW_OWNER_CQ, IW_OWNER_SRQ };

struct iw_event_node {
	struct list_node node;
	uint8_t owner; /* enum iw_event_owner */
	uint16_t bits; /* 1 << enum iw_event_type */
};

void iw_event_init(struct iw_event_node *e, enum iw_event_owner owner);
void iw_event_raise(struct iw_rnic *rnic, struct iw_event_node *e, enum iw_event_type type);
void iw_event_clear(struct iw_event_node *e);

/* ---- RNIC, PD, MR ---- */

struct iw_rnic {
	struct iw_config config;
	struct iw_rnic_ops ops;
	struct random_source *random;
	uint64_t now;
	struct iw_stats stats;
	struct iw_table qps; /* by number */
	struct iw_table mrs; /* and windows, by the 24-bit index of the STag */
	uint32_t mws;
	uint8_t *null_memory; /* with the first null MR: IW_SEGMENT_MAX zeros, and as much for what is lost */
	unsigned int pds, cqs, srqs;
	uint32_t next_qp_num;
	uint32_t stag_counter; /* of MRs and windows */
	uint32_t read_stags;   /* iw_qp_private.read_stag of the next session */
	uint64_t stag_keys[6];
	struct list_node events;
	struct timerq timers; /* of the sessions, one each */
	struct timerq cq_timers; /* of those with moderation, one each */
	unsigned int session_count;
	struct list_node sessions;
	struct list_node graveyard; /* sessions to be freed: iw_rnic_reap() */
	struct list_node assocs;
	unsigned int zcopy_qps; /* QPs on their iw_assoc.zcopy_qps */
	struct list_node idle; /* assoc.idle: iw_next_idle() */
	struct list_node srqs_due;
	struct iw_cq *notify_first, **notify_last;
};

void iw_rnic_reap(struct iw_rnic *rnic);

struct iw_pd {
	struct iw_rnic *rnic;
	void *ctx;
	uint32_t refs; /* MRs, windows, SRQs and QPs */
	uint32_t qps;
};

enum iw_mr_kind { IW_MR_REGION, IW_MR_NULL, IW_MR_WINDOW_1, IW_MR_WINDOW_2 };

/*
 * Beside the IW_ACCESS_* in struct iw_mr: it is good for local work requests; windows are for
 * peers.
 */
#define IW_MR_LOCAL (1u << 31)

/* What an STag stands for: a region, or the part of one that a window shows. */
struct iw_mr {
	uint32_t stag;
	uint32_t access;
	const void *scope; /* the PD whose peers may use it, or the one QP: RFC 5041 8.2 */
	uint64_t iova;
	uint64_t length;
	uint8_t *addr;
	bool invalid; /* by LOCAL_INV or a Send with Invalidate; a window that is not bound */
	uint8_t kind; /* enum iw_mr_kind */
	uint32_t windows; /* bound to this region */
	struct iw_pd *pd;
	void *ctx;
};

struct iw_mw {
	struct iw_mr key;
	struct iw_mr *region; /* NULL: not bound */
	struct list_node node; /* type 2, bound: iw_qp_private.windows */
};

/* An STag whose index is free; its object, which bears it then, goes into the table. -ENOMEM. */
int iw_mr_enter(struct iw_rnic *rnic, struct iw_mr *mr);
/* The WR of a bind: -EINVAL; see IW_WC_MW_BIND_ERR. */
int iw_mw_bind(struct iw_qp *qp, const struct iw_send_wqe *wqe);
void iw_mw_unbind(struct iw_mw *mw);
/* The session of the QP is over, and with it what its peer could use alone. */
void iw_mw_unbind_all(struct iw_qp *qp);

/* NULL: no such STag, another key, or invalidated. */
static inline struct iw_mr *iw_mr_find(const struct iw_rnic *rnic, uint32_t stag)
{
	struct iw_mr *mr = iw_table_find(&rnic->mrs, stag >> 8);

	return mr && mr->stag == stag && !mr->invalid ? mr : NULL;
}

/* len > 0 bytes from to lie inside mr */
static inline bool iw_mr_covers(const struct iw_mr *mr, uint64_t to, uint64_t len)
{
	uint64_t offset = to - mr->iova;

	return to >= mr->iova && offset <= mr->length && len <= mr->length - offset;
}

static inline uint8_t *iw_mr_at(const struct iw_mr *mr, uint64_t to)
{
	return mr->addr + (to - mr->iova);
}

/*
 * An STag of those that no MR and no window ever has: the sink of one RDMA Read into several SGEs. So nobody
 * reaches memory by it but the responses to that read, on its own session, while it is outstanding. n: of
 * iw_qp_private.read_stag; two of them in less than 2^31 have different ones.
 */
uint32_t iw_mr_read_stag(const struct iw_rnic *rnic, uint32_t n);
/* An SGE (part) of len > 0 bytes of a local work request; access: IW_ACCESS_LOCAL_WRITE or 0. */
uint8_t *iw_mr_local(const struct iw_qp *qp, uint32_t lkey, uint64_t addr, uint32_t len,
		     uint32_t access);
/*
 * A remote access of len > 0 bytes (RFC 5041 7.1, RFC 5040 7.2): 0 and the address, or
 * the numbers below. Wrap is looked at before the bounds.
 */
enum iw_remote { IW_REMOTE_OK, IW_REMOTE_STAG, IW_REMOTE_PD, IW_REMOTE_ACCESS, IW_REMOTE_WRAP,
		 IW_REMOTE_BOUNDS };
enum iw_remote iw_mr_remote(const struct iw_qp *qp, uint32_t stag, uint64_t to, uint32_t len,
			    uint32_t access, uint8_t **ptr);
/*
 * LOCAL_INV: -EINVAL: not a valid STag of this PD, a type 1 window, or a type 2 window of another
 * QP (one that is not bound is fine: the peer may have been quicker); -EBUSY: windows are bound to
 * it.
 */
int iw_mr_invalidate_local(const struct iw_qp *qp, uint32_t stag);
/*
 * Send with Invalidate (RFC 5040 5.3, 8.1.1): an MR of ours is open to its whole PD, so a peer may
 * invalidate it only if no other QP could lose it: -EACCES when the PD has several QPs, the MR no
 * remote rights, or windows; -EINVAL: not a valid STag of this stream, or of a type 1 window.
 */
int iw_mr_invalidate_remote(const struct iw_qp *qp, uint32_t stag);

/* ---- CQ ---- */

struct iw_cq_full {
	struct iw_cq cq;
	struct iw_event_node event;
	uint32_t count;	 /* moderation; 0: none */
	uint64_t period; /* ns */
	bool postponed;	 /* an event is due, and waits for more completions or the timer */
	bool ripe;	 /* it has waited long enough */
	struct timerq_node timer;
};

/* It has come to the end of the period. */
void iw_cq_timer(struct iw_cq_full *full);

/* false: lost, the CQ is full (or was so before); its event is raised. */
bool iw_cq_push(struct iw_cq *cq, const struct iw_cqe *cqe, bool solicited);

/* ---- SRQ ---- */

struct iw_srq_full {
	struct iw_srq srq;
	struct iw_event_node event;
	struct list_node waiting; /* iw_qp_private.waiting: QPs with held Sends */
	struct list_node due;	  /* rnic->srqs_due: iw_srq_serve_later() */
};

/* ---- failures ---- */

enum iw_fault { IW_FAULT_NONE, IW_FAULT_SQ, IW_FAULT_RQ };

struct iw_failure {
	bool illegal;		  /* against the session's rules: no RDMAP Terminate (RFC 5043 6.1) */
	struct term_message term; /* what is told to the peer */
	uint8_t fault;		  /* whose WQE gets status instead of a flush */
	uint32_t index;		  /* ring index of that WQE */
	uint32_t status;	  /* enum iw_wc_status */
	bool quiet;		  /* the application learns it from that WQE: no async event */
};

/* Fill f and return -EPROTO. header: the DDP header of the segment at fault, or NULL. */
int iw_fail(struct iw_failure *f, uint16_t error, const uint8_t *header, size_t segment_len);
int iw_fail_illegal(struct iw_failure *f);
/* What RDMAP says to a request that iw_mr_remote() refuses. */
uint16_t iw_term_remote(enum iw_remote verdict);
/* A fault of our side: local catastrophic, without headers; status for the WQE at index. */
int iw_fail_local(struct iw_failure *f, enum iw_fault fault, uint32_t index, uint32_t status);

/* ---- receiving ---- */

/* A segment as it is judged and placed. */
struct iw_segment {
	struct ddp_header h;
	const uint8_t *raw; /* the DDP header */
	uint32_t len;	    /* header and payload */
	const uint8_t *payload;
	uint32_t payload_len;
	uint16_t ssn;
};

/*
 * What delivery has to know of a segment once it is placed; kept when it came before its turn.
 * The DDP header can be made again from it.
 */
struct iw_rx_rec {
	uint8_t control; /* DDP control octet; 0: empty slot */
	uint8_t rdmap;
	uint16_t len;	 /* payload */
	uint32_t stag;	 /* tagged: STag; untagged: Invalidate STag */
	uint32_t a;	 /* TO, upper half; MSN */
	uint32_t b;	 /* TO, lower half; MO; Immediate Data: see immediate.c */
};

/* Values of iw_rx_rec.control that no valid segment has (their DV is not 1). */
#define IW_REC_TERMINATE 0x02 /* a session Terminate */
#define IW_REC_SKIP 0x03      /* nothing to deliver: dropped after an error */

static inline uint64_t iw_rec_to(const struct iw_rx_rec *r)
{
	return (uint64_t)r->a << 32 | r->b;
}

/* The header as it was received; buf of DDP_UNTAGGED_LEN bytes. Returns its length. */
size_t iw_rec_header(const struct iw_rx_rec *r, uint8_t *buf);
/* iw_fail() for a segment that was placed before */
int iw_fail_rec(struct iw_failure *f, uint16_t error, const struct iw_rx_rec *r);

/* ---- QP ---- */

/* An RDMA Read or an atomic that we asked for and that is not answered yet. */
struct iw_read {
	uint32_t index; /* in the SQ */
	uint32_t msn;	/* on QN 1; of an atomic, its request identifier too */
	uint32_t stag;	/* sink */
	uint32_t length;
	uint64_t to;
	uint32_t got;	/* bytes delivered */
	bool rtr;	/* ours, not the application's (RFC 6581 9.2) */
	bool scattered;	/* the sink is the SGEs of the WQE, one behind the other from to = 0 on */
	bool atomic;
	uint32_t response_msn; /* of an atomic: of its response, on QN 3 */
	uint8_t response[RDMAP_ATOMIC_RESP_LEN]; /* as placed */
};

/* A Read or Atomic Request of the peer: the untagged buffer of one MSN on QN 1. */
struct iw_inbound_read {
	uint8_t request[RDMAP_ATOMIC_REQ_LEN]; /* as placed */
	struct iw_rx_rec rec;		       /* of its last segment; which of the two it is */
	union {
		struct rdmap_read_request r;
		struct rdmap_atomic_request a;
	};
	uint32_t after; /* Sends up to this MSN (not included) have to be delivered before */
};

/*
 * A Send without a receive: its segments in arrival order, and whether it was delivered. With an SRQ
 * also one that has taken a receive and is not complete.
 */
struct iw_unexpected_segment {
	struct iw_unexpected_segment *next;
	struct iw_rx_rec rec;
	uint16_t ssn;
	uint8_t data[];
};

struct iw_unexpected {
	struct iw_unexpected_segment *first, *last;
	uint32_t slot; /* 1 + that of the SRQ; 0: none */
	bool begun;    /* in the receive of this slot */
	bool delivered;
	struct iw_rx_rec rec; /* of the last segment, once delivered */
};

enum iw_tx_current { IW_TX_NONE, IW_TX_WQE, IW_TX_RESPONSE };

enum iw_wqe_progress {
	IW_WQE_STARTED,
	IW_WQE_READING,
	IW_WQE_REFERENCED, /* with DDP altogether, but it reads the WQE's memory until it is acknowledged */
	IW_WQE_DONE,
};

struct iw_qp_private {
	struct iw_session *session; /* NULL: none, or over for the QP */
	struct iw_session *closed;  /* whose CLOSED event names this QP */
	bool peer_gone;		    /* connected out of band: it had its session */
	struct iw_event_node event;

	/* Sending: WQEs [head, sq_next) are with DDP or done, sq_next is the next, or the current */
	uint32_t sq_next;
	uint32_t sq_tail; /* as last seen */
	uint8_t current;  /* enum iw_tx_current */
	bool response_turn;
	bool notify_drained; /* in SQD */
	uint32_t offset;  /* of the current message, bytes that went out */
	uint32_t sge, sge_offset;
	bool imm_due;	  /* the Write is out, its Immediate Data is next */
	bool references;	  /* the current WQE */
	uint32_t zcopy_seq; /* iw_assoc.pulled at its last message that references, or that of a Read Response */
	struct list_node zcopy_node; /* iw_assoc.zcopy_qps: that message is not acknowledged */
	uint32_t send_msn, read_msn; /* of the next message on QN 0, QN 1 */

	/* Reads and atomics that we asked for: [reads_head, reads_tail); grows up to ord */
	struct iw_read *reads;
	uint32_t reads_size, reads_head, reads_tail; /* size: a power of two, or 0 */
	uint32_t ord;
	bool reads_gather; /* those to come: is_full() in sq.c */
	uint32_t read_stag;  /* iw_mr_read_stag(), of the next read that has one */
	uint32_t atomic_msn; /* on QN 3, of the response to the next atomic that we ask for */
	uint32_t ord_max; /* the peer takes no more */

	/* Requests of the peer: MSNs [irq_head, irq_tail) are delivered and not answered; up to ird */
	struct iw_inbound_read *irq;
	uint32_t irq_size, irq_head, irq_tail; /* size: a power of two, or 0 */
	uint32_t ird;
	uint32_t response_msn; /* on QN 3, of our next Atomic Response */

	/* The peer's last RDMA Write, as far as delivered */
	uint32_t written;  /* its bytes */
	bool in_write;	   /* more of it is to come */
	bool behind_write; /* nothing but responses came after it */

	/* QN 0: ring index = MSN + rq_delta */
	uint32_t rq_delta;
	uint32_t rq_tail;     /* as last seen; held Sends before it have been placed */
	uint32_t deliver_msn; /* next that DDP delivers */

	/* Held Sends of the MSNs from rq_tail on */
	struct iw_unexpected *unexpected;
	uint32_t unexpected_size;	/* a power of two, or 0 */
	uint32_t unexpected_count;	/* of messages */
	uint32_t held_delivered; /* of them */
	size_t unexpected_bytes;

	/*
	 * With an SRQ every message that takes a receive goes through held[]: rq_tail is the head of the queue,
	 * the next one that completes; it and those behind it have taken this many receives, what follows is
	 * held; held_delivered counts what is delivered and not complete.
	 */
	struct list_node waiting; /* iw_srq_full.waiting */
	uint32_t taken;

	/* Of its Writes and the peer's: answer.c */
	uint16_t rounds; /* in turn, less the others */
	uint16_t rounds_needed;
	uint8_t trust;	 /* so many waits in vain turn it off; 0: completions do not wait */
	bool asked;	    /* a Write of ours was completed since the last of the peer */
	bool awaits_answer; /* its completion waits in the CQ */

	struct list_node windows; /* of type 2, bound to this QP */
};

struct iw_qp_full {
	struct iw_qp qp;
	struct iw_qp_private priv;
};

static inline struct iw_send_wqe *iw_sq_at(const struct iw_qp *qp, uint32_t index)
{
	return (void *)(qp->sq.slots + (size_t)(index & qp->sq.mask) * qp->sq.stride);
}

static inline struct iw_recv_wqe *iw_rq_at(const struct iw_qp *qp, uint32_t index)
{
	return (void *)(qp->rq.slots + (size_t)(index & qp->rq.mask) * qp->rq.stride);
}

static inline uint32_t iw_ring_head(const struct iw_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_relaxed);
}

static inline uint32_t iw_ring_tail(const struct iw_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_acquire);
}

static inline void iw_ring_release(struct iw_ring *r, uint32_t head)
{
	atomic_store_explicit(&r->head, head, memory_order_release);
}

static inline enum iw_qp_state iw_qp_state(const struct iw_qp *qp)
{
	return (enum iw_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

void iw_qp_set_state(struct iw_qp *qp, enum iw_qp_state state);
/* For a new session: MSNs start anew. -EINVAL: wrong state or bound already; -ENOMEM. */
int iw_qp_bind(struct iw_qp *qp, struct iw_session *s, uint32_t ird, uint32_t ord);
void iw_qp_unbind(struct iw_qp *qp);
/* To ERR: everything is flushed, with f's status where f names a WQE. f may be NULL. */
void iw_qp_enter_error(struct iw_qp *qp, const struct iw_failure *f);
/* A completion was lost: the QP is in error with its session. */
void iw_qp_overflow(struct iw_qp *qp);

/* sq.c: the send queue */
bool iw_sq_has_work(struct iw_qp *qp);
/*
 * The next segment of QP's messages behind room for the DDP-SSN: its length with that, or 0: none, or
 * it does not fit. May end the session.
 */
size_t iw_qp_pull(struct iw_session *s, uint8_t *buf, size_t limit);
void iw_sq_flush(struct iw_qp *qp, const struct iw_failure *f);
/* Completes in posting order what is done. May end the session (CQ overflow). */
void iw_sq_complete(struct iw_qp *qp);
/* The WQE that a Terminate of the peer is about: fills fault, index, status. */
void iw_sq_blame(struct iw_qp *qp, const struct term_message *t, struct iw_failure *f);
/* Sends the RTR indication of this kind as the first message (RFC 6581 9.2). */
size_t iw_rtr_pull(struct iw_session *s, uint8_t *buf, size_t limit);

/* read.c: both ends of RDMA Read; the requests of atomics share its queues (RFC 7306 5.2) */
static inline uint32_t iw_reads_outstanding(const struct iw_qp_private *p)
{
	return p->reads_tail - p->reads_head;
}

static inline struct iw_read *iw_read_at(const struct iw_qp_private *p, uint32_t i)
{
	return &p->reads[i & (p->reads_size - 1)];
}

/* Room for n of them; those that are outstanding move. -ENOMEM: as it was. */
int iw_reads_reserve(struct iw_qp_private *p, uint32_t n);

/* f, which is filled, is about a wrong answer: it is the oldest request that has got it. -EPROTO. */
int iw_read_wrong(const struct iw_qp_private *p, struct iw_failure *f);
/* The oldest request is answered. May end the session (CQ overflow). */
void iw_read_answered(struct iw_session *s);
/* Where a Read Response segment (payload > 0) goes. */
int iw_read_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_read_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
int iw_irq_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_irq_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Room for n requests beginning with irq_head. -ENOMEM: as it was. */
int iw_irq_reserve(struct iw_qp_private *p, uint32_t n);
bool iw_response_ready(const struct iw_qp *qp);
size_t iw_response_pull(struct iw_session *s, uint8_t *buf, size_t limit);

/* atomic.c: both ends of atomics (RFC 7306 5) */
/* What the word becomes; arg: struct rdmap_atomic_request. */
uint64_t iw_atomic_next(uint64_t old, const void *arg);
/*
 * The operation, now that its turn has come, and its Atomic Response: the length. 0: limit is too
 * small, and nothing was done; -EPROTO: refused, f is filled.
 */
int iw_atomic_respond(struct iw_session *s, const struct iw_inbound_read *in, uint8_t *buf,
		      size_t limit, struct iw_failure *f);
/* Our request for this WQE, DDP header included, to buf of enough room. */
size_t iw_atomic_put_request(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint8_t *buf);
/* The old value (8 bytes, host order) to the WQE's SGEs; NULL: checks them. false: not allowed. */
bool iw_atomic_scatter(struct iw_qp *qp, const struct iw_send_wqe *wqe, const uint8_t *value);
/* Atomic Responses to our requests. */
int iw_atomic_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_atomic_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);

/* zcopy.c: long segments are sent from the application's memory */
/* References len bytes at from, the end of the segment being pulled. false: they are to be copied. */
bool iw_zcopy_reference(struct iw_qp *qp, const uint8_t *from, uint32_t len);
/* The same for the current WQE: only where the application has more to do than wait for it. */
bool iw_zcopy_reference_wqe(struct iw_qp *qp, const uint8_t *from, uint32_t len);
/* The session of the QP ends: it references nothing any more, and what had referenced is done, but for what f blames. */
void iw_zcopy_release(struct iw_qp *qp, const struct iw_failure *f);
/* Somebody is about to lose the right to read some memory: it may be another's soon. */
void iw_zcopy_copy_out(struct iw_rnic *rnic);
/* It had referenced memory, and has it back. */
bool iw_zcopy_is_released(const struct iw_qp *qp, const struct iw_send_wqe *wqe);

/* answer.c: completions of Writes that come with the peer's answer */
/* The QP has a new session. */
void iw_answer_forget(struct iw_qp_private *p);
/* A Write of len bytes was completed, its entry is the newest of the CQ. */
void iw_answer_expect(struct iw_qp *qp, uint32_t len);
/* The peer's Write is placed and delivered. */
void iw_answer_came(struct iw_qp *qp);

/* immediate.c: Immediate Data (RFC 7306 6) */
#define IW_REC_BEHIND_WRITE 0x04 /* in iw_rx_rec.control of Immediate Data, once delivered */
size_t iw_imm_put(const struct iw_send_wqe *wqe, uint8_t *buf);
/* The segment is a whole Immediate Data message? */
int iw_imm_check(const struct iw_segment *seg, struct iw_failure *f);
/* What delivery has to know of it: its octets take the place of STag and MO. */
void iw_imm_record(struct iw_rx_rec *rec, const uint8_t *payload);
/* It is delivered now: the record for its completion, which knows of the Write before it. */
struct iw_rx_rec iw_imm_resolve(const struct iw_qp_private *p, const struct iw_rx_rec *rec);
/* Opcode, flags, length and data of the completion. */
void iw_imm_complete(const struct iw_rx_rec *rec, struct iw_cqe *cqe);

/* rq.c: receive queue and held Sends */
int iw_rq_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_rq_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* New receives were posted: held Sends move in. May end the session. */
void iw_rq_refresh(struct iw_session *s);
/* The receive did not come in time. */
void iw_rq_timeout(struct iw_session *s);
void iw_rq_flush(struct iw_qp *qp, const struct iw_failure *f);
void iw_unexpected_clear(struct iw_qp_private *p);
/*
 * SGEs of a receive, read or atomic take a payload at an offset of all; data NULL: would they? 0 or the
 * status of the WQE.
 */
uint32_t iw_scatter(struct iw_qp *qp, const struct iw_sge *sges, uint32_t n, uint64_t offset,
		    const uint8_t *data, uint32_t len);
/* Payload of the message with this ring index into its receive. */
int iw_rq_place_at(struct iw_qp *qp, const struct iw_recv_wqe *wqe, uint32_t index,
		   const struct iw_rx_rec *rec, const uint8_t *payload, struct iw_failure *f);
/*
 * The message is whole, and its turn has come: does it fit, and may it invalidate what it names? rec: as
 * iw_imm_resolve() left it, where it is Immediate Data.
 */
int iw_rq_judge(struct iw_qp *qp, const struct iw_recv_wqe *wqe, uint32_t index,
		const struct iw_rx_rec *rec, struct iw_failure *f);
/* The CQE of a receive that is over; its slot is free already. rec: of its last segment, or NULL. */
bool iw_rq_push(struct iw_qp *qp, uint64_t wr_id, uint32_t status, const struct iw_rx_rec *rec,
		uint16_t vendor_err);
static inline struct iw_unexpected *iw_unexpected_at(const struct iw_qp_private *p, uint32_t index)
{
	return &p->unexpected[index & (p->unexpected_size - 1)];
}

/* The entry of the message with this index (at or behind rq_tail), NULL: out of memory. */
struct iw_unexpected *iw_unexpected_entry(struct iw_qp_private *p, uint32_t index);
/* Keeps a segment, within the budget of the QP. */
int iw_unexpected_keep(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
	    const uint8_t *payload, struct iw_failure *f);
/* What h has moves into its receive, and is freed; ssn: of the last one that was looked at. */
int iw_unexpected_move(struct iw_qp *qp, const struct iw_unexpected *h, const struct iw_recv_wqe *wqe,
		 uint32_t index, uint16_t *ssn, struct iw_failure *f);
void iw_unexpected_free(const struct iw_unexpected *h); /* its segments */
void iw_rnr_start(struct iw_session *s);

/* srq.c, srq_rx.c: an SRQ, and the messages of the QPs that have one */
int iw_srq_place(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
		 const uint8_t *payload, struct iw_failure *f);
/* The last segment of the message. */
int iw_srq_deliver(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec,
		   struct iw_failure *f);
/* QPs that wait get what was posted, in turn. May end their sessions. */
void iw_srq_serve(struct iw_srq *srq);
/* By the next iw_next_event(): for where sessions must not end. */
void iw_srq_serve_later(struct iw_srq *srq);
/* The QP waits no more; receives that it has taken stay with it, to be flushed or returned. */
void iw_srq_unbind(struct iw_qp *qp);
void iw_srq_flush(struct iw_qp *qp, const struct iw_failure *f);
void iw_srq_return(struct iw_qp *qp);
/* The next posted receive, 1 + its slot; 0: none, or not for a QP that has so many. */
uint32_t iw_srq_take(struct iw_qp *qp);
void iw_srq_give_back(struct iw_srq *srq, uint32_t slot);
/* In front of what is posted. */
void iw_srq_repost(struct iw_srq *srq, uint32_t slot);
/* From now on each receive that is posted is told of, or none. */
void iw_srq_await(struct iw_srq *srq, bool awaited);
static inline uint32_t iw_srq_left(const struct iw_srq *srq)
{
	return atomic_load_explicit(&srq->posted_tail, memory_order_acquire) - srq->posted_head;
}

static inline struct iw_recv_wqe *iw_srq_at(const struct iw_srq *srq, uint32_t slot)
{
	return (void *)(srq->slots + (size_t)(slot - 1) * srq->stride);
}

/* ---- session ---- */

enum iw_session_state {
	IW_S_INITIATING,  /* active: Initiate queued or sent; the QP is bound */
	IW_S_PENDING,	  /* passive: the application decides */
	IW_S_AWAITING,	  /* passive: accepted, and nothing is sent before the RTR indication is there */
	IW_S_ESTABLISHED,
	IW_S_CLOSING,	  /* over for QP and application; the Terminates are on their way */
	IW_S_OVER,	  /* off its stream; freed when nobody holds it */
};

struct iw_session {
	struct iw_rnic *rnic;
	struct iw_assoc *assoc; /* NULL once that is lost */
	struct list_node all;	/* rnic->sessions or graveyard */
	struct list_node ready; /* assoc->ready */
	struct iw_event_node event;
	struct timerq_node timer;
	struct iw_qp *qp;	 /* bound */
	struct iw_qp *closed_qp; /* for the CLOSED event */
	struct iw_session_user user; /* all zero: nobody outside knows the session yet */
	uint16_t sid;
	uint16_t tx_ssn; /* not beside what has_work() reads: compilers load that in one piece */
	uint8_t state; /* enum iw_session_state */
	bool active;
	bool enhanced;	/* opened with an Enhanced Initiate */
	bool announced; /* the INITIATE event was fetched */
	bool user_gone; /* the pointer is not held outside any more */
	bool counted;	/* in assoc->live */

	/* Sending */
	uint16_t tx_control; /* function of the message to be sent first, or 0 */
	bool tx_ended;	     /* our last message is out */
	bool want_terminate; /* a session Terminate is due */
	bool term_pending;   /* an RDMAP Terminate before it */
	bool answered;	     /* the peer has our first message: it sent something in answer */
	bool rtr;	     /* an RTR indication is due */
	uint32_t first_seq, last_seq; /* assoc->pulled at the first, the last message */
	struct term_message term;

	/* Receiving */
	uint16_t rx_ssn; /* next in order */
	bool rx_ended;	 /* the peer's last message came in order */
	bool begun;	 /* a segment of the peer's was delivered */
	bool to_self;	 /* the peer is this session */
	bool rx_loose;	 /* what comes is only counted, in rx_ssn, until all up to end_ssn has come */
	bool end_known;	 /* the peer's Terminate came, before its turn */
	uint16_t end_ssn;
	bool failing;	 /* the segment fail_ssn is wrong: what is behind it is dropped */
	uint16_t fail_ssn;
	struct iw_failure failure;
	struct iw_rx_rec *slots; /* what came before its turn, by DDP-SSN */
	uint32_t slots_size;	 /* a power of two, or 0 */
	uint32_t slots_used;
	struct iw_early *early, *early_last; /* in_order.c; by DDP-SSN */
	size_t early_bytes;
	uint8_t term_buf[64]; /* the untagged buffer of QN 2 */
	bool term_seen;

	uint8_t rnr_retry_count;
	uint64_t close_at; /* closing: when the peer's Terminate is given up */
	uint64_t ack_poll; /* closing: interval, ns */
	int error;	   /* for CLOSED */
	struct session_enhanced offer; /* the peer's establishment data */
	struct iw_session_param *local;  /* until sent for good */
	struct iw_session_param *remote; /* until fetched as an event */
};

/* session.c */
struct iw_session *iw_session_new(struct iw_assoc *assoc, bool active);
/* Judged by DDP-SSN: now, or when its turn comes. */
void iw_session_wrong(struct iw_session *s, uint16_t ssn, const struct iw_failure *f);
/* The QP in error, an RDMAP Terminate as f says, a session Terminate, CLOSED. */
void iw_session_fail(struct iw_session *s, const struct iw_failure *f);
/*
 * Ends a session from this side (or after the peer's end): the QP in error and unbound, a session
 * Terminate behind what was sent. notify: with a CLOSED event. f: as iw_qp_enter_error(). Sessions are
 * freed by iw_rnic_reap() only.
 */
void iw_session_end(struct iw_session *s, int error, bool notify, const struct iw_failure *f);
/* Is it over? Then it leaves its stream. */
void iw_session_settle(struct iw_session *s);
void iw_session_leave(struct iw_session *s);
void iw_session_timer(struct iw_session *s);
void iw_session_set_timer(struct iw_session *s, uint64_t when);
void iw_session_bury(struct iw_session *s);

/* session_rx.c */
void iw_session_receive(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len);
/*
 * Of a session that closes, gives the memory back that the order of its messages takes: from now on they are
 * counted alone. SCTP delivers each once, so the peer's end is there when as many have come as its DDP-SSN says.
 */
void iw_session_loosen(struct iw_session *s);

/* in_order.c */
/* True: the message came early, and is kept. When it cannot be the session fails. */
bool iw_early_keep(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len);
/* The message whose turn it is, or any where order is given up, to be freed with free(); or NULL. */
struct iw_early *iw_early_take(struct iw_session *s);
const uint8_t *iw_early_message(const struct iw_early *m, uint32_t *ppid, size_t *len);
void iw_early_clear(struct iw_session *s);

/* session_setup.c */
/* Control message with the DDP-SSN in turn while INITIATING. */
void iw_setup_answer(struct iw_session *s, const struct session_control *c, int verdict);
/*
 * The peer's Initiate has come on the stream that ours was to go on. The stream is the peer's, and has no session
 * any more; ours goes to one of the other parity, and fails where there is none.
 */
void iw_setup_give_way(struct iw_session *s);
/* First message of a stream without a session. */
void iw_setup_first(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		    size_t len);
size_t iw_setup_encode(struct iw_session *s, uint8_t *buf, size_t limit);
/*
 * An RTR indication by a Send takes no receive of the application's, so MSN 1 must be it, and no other kind
 * may be what came: the Accept names this one alone, where the initiator can make no other.
 */
static inline bool iw_rtr_is_send(const struct iw_session *s)
{
	return s->offer.rtr_send && !s->offer.rtr_write && !s->offer.rtr_read;
}

/*
 * AWAITING, the peer's first segment, where iw_rtr_is_send(): 0: it is the RTR indication, rec is filled; 1: a
 * Terminate; -EPROTO: what must not come first.
 */
int iw_rtr_place(const uint8_t *data, size_t len, struct iw_rx_rec *rec, struct iw_failure *f);
/* AWAITING: the peer's first message says that it is ready. True: it says nothing else. */
bool iw_rtr_deliver(struct iw_session *s, const struct iw_rx_rec *rec);

/* ddp_rx.c, rdmap_rx.c, terminate.c */
int iw_ddp_place(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len,
		 struct iw_rx_rec *rec, struct iw_failure *f);
int iw_rdmap_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
int iw_term_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_term_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
size_t iw_term_pull(struct iw_session *s, uint8_t *buf, size_t limit);
/* The async event that tells the application of f, as enum iw_event_type. */
enum iw_event_type iw_term_event(const struct iw_failure *f);

/* ---- association ---- */

#define IW_STREAM_PAGE 256

struct iw_assoc {
	struct iw_rnic *rnic;
	struct iw_llp_ops ops;
	void *llp;
	struct list_node all; /* rnic->assocs */
	bool initiator;
	bool pulling;
	unsigned int streams;
	size_t max_msg;
	uint32_t pulled;      /* messages */
	uint32_t acked;	      /* of them, when iw_assoc_acked() was called last */
	struct list_node zcopy_qps; /* iw_qp_private.zcopy_node */
	struct iw_msg *msg;   /* being pulled */
	unsigned int live;    /* sessions that are not over: iw_session_uncount() */
	struct list_node idle; /* rnic->idle: the last of them has ended since */
	unsigned int cursor;  /* where the search for an idle stream goes on */
	struct list_node ready;
	struct iw_session **pages[65536 / IW_STREAM_PAGE];
};

struct iw_session *iw_assoc_session(const struct iw_assoc *assoc, unsigned int sid);
/* Puts the session on the stream. -ENOMEM. */
int iw_assoc_link(struct iw_assoc *assoc, struct iw_session *s, unsigned int sid);
void iw_assoc_unlink(struct iw_session *s);
/* The session counts no longer as one that lives. Idempotent. */
void iw_session_uncount(struct iw_session *s);
/* Our sessions take even stream ids from now on, else odd ones. */
void iw_assoc_set_initiator(struct iw_assoc *assoc, bool initiator);
/* An idle stream of our parity, or -EAGAIN. */
int iw_assoc_idle_stream(struct iw_assoc *assoc);
/* The message with this number of assoc->pulled has arrived at the peer. */
bool iw_assoc_is_acked(const struct iw_assoc *assoc, uint32_t seq);
/* The session may have something to be pulled. Cheap, idempotent. */
void iw_session_wake(struct iw_session *s);

#endif
