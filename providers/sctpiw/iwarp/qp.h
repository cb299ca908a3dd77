/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every type of QP shares, and what each type does in its own way. A new type is a file with a
 * struct that begins with struct iw_qp_base, a const struct iw_qp_ops, and a line in
 * type_ops() of qp.c. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_QP_H
#define SCTPIW_IWARP_QP_H

#include "iwarp/event.h"
#include "iwarp/iw_qp.h"
#include "iwarp/iw_rnic.h"
#include "iwarp/sq.h"
#include "util/list.h"
#include "wire/rdmap.h"

struct iw_failure;

enum iw_qp_move { IW_QP_REFUSED, IW_QP_MOVES, IW_QP_STAYS };

/* None of them is called for a segment or a message. */
struct iw_qp_ops {
	/* Bit (1 << enum iw_wr_opcode) of each work request that the type takes. */
	uint32_t wr_opcodes;
	uint32_t max_msg;   /* bytes that one work request may send */
	uint32_t slot_tail; /* bytes of the type's own at the end of each slot of the send queue */
	/* A new QP of zeros but for what struct iw_qp_base has in common; NULL: out of memory. */
	struct iw_qp *(*alloc)(void);
	void (*free)(struct iw_qp *qp);
	/*
	 * May the QP move to INIT, RTR, RTS or SQD? IW_QP_STAYS: it need not, since it is further
	 * already.
	 */
	enum iw_qp_move (*move)(const struct iw_qp *qp, enum iw_qp_state next);
	/*
	 * The application moves the QP to ERR or RESET, or frees it: what carries its messages
	 * ends.
	 */
	void (*disconnect)(struct iw_qp *qp);
	/* The right of peers to read the QP's memory ends. */
	void (*end_remote_read)(struct iw_qp *qp);
	/* See iw_qp_set_ord(). */
	void (*set_ord)(struct iw_qp *qp, uint32_t ord);
	/* New WRs were posted, or the state has changed. */
	void (*doorbell)(struct iw_qp *qp);
	/* Receives that were taken from an SRQ complete as flushed, or go back to it; f as below. */
	void (*flush_receives)(struct iw_qp *qp, const struct iw_failure *f);
	/* In RESET: receives that were taken from an SRQ go back to it. */
	void (*drop_receives)(struct iw_qp *qp);
	/* May the QP go to another shard? Not if anything else of its shard knows it, such as a session. */
	bool (*may_leave)(const struct iw_qp *qp);
};

/* The first member of each type's struct. */
struct iw_qp_base {
	struct iw_qp qp;
	const struct iw_qp_ops *ops;
	struct iw_event_node event;
	struct iw_sq send;
	bool notify_drained;	   /* in SQD: IW_EVENT_SQ_DRAINED is to be raised */
	struct list_node windows;  /* iw_mw.node: of type 2, bound to this QP */
	struct list_node all;	   /* iw_rnic.all_qps */
	struct iw_traffic in, out; /* since it was made */
	uint64_t dropped;	   /* iw_qp_info.dropped */
	const char *error;	   /* iw_qp_info.error */
};

static inline struct iw_qp_base *iw_qp_base(const struct iw_qp *qp)
{
	return (struct iw_qp_base *)(uintptr_t)qp;
}

static inline enum iw_qp_state iw_qp_state(const struct iw_qp *qp)
{
	return (enum iw_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

void iw_qp_set_state(struct iw_qp *qp, enum iw_qp_state state);
/* Moves to ERR: everything is flushed, with f's status for the WQE that f blames. f may be NULL. */
void iw_qp_enter_error(struct iw_qp *qp, const struct iw_failure *f);
/*
 * Moves an unreliable QP to SQE (IBTA 10.3.1.6): its send queue is flushed, with f's status for the WQE that f
 * blames, and it goes on receiving.
 */
void iw_qp_enter_sq_error(struct iw_qp *qp, const struct iw_failure *f);

#define IW_OPCODE(opcode) (1u << RDMAP_##opcode)
/* What struct iw_traffic counts as messages, and whose bytes. */
#define IW_TRAFFIC_BYTES                                                                           \
	(IW_OPCODE(WRITE) | IW_OPCODE(READ_RESPONSE) | IW_OPCODE(SEND) | IW_OPCODE(SEND_INV) |     \
	 IW_OPCODE(SEND_SE) | IW_OPCODE(SEND_SE_INV) | IW_OPCODE(SEND_IMM) |                       \
	 IW_OPCODE(SEND_SE_IMM))
#define IW_TRAFFIC_MESSAGES                                                                        \
	(IW_TRAFFIC_BYTES | IW_OPCODE(READ_REQUEST) | IW_OPCODE(IMMEDIATE) |                       \
	 IW_OPCODE(IMMEDIATE_SE) | IW_OPCODE(ATOMIC_REQUEST) | IW_OPCODE(ATOMIC_RESPONSE))

/* Counts a segment of a message, with len bytes of payload; total: those of all QPs. */
static inline void iw_traffic_add(struct iw_traffic *t, uint64_t *total, unsigned int opcode,
				  bool last, uint32_t len)
{
	if (last && IW_TRAFFIC_MESSAGES >> opcode & 1)
		t->messages++;
	if (IW_TRAFFIC_BYTES >> opcode & 1) {
		t->bytes += len;
		*total += len;
	}
}

/* The operations of a type. */
extern const struct iw_qp_ops iw_rc_ops;
extern const struct iw_qp_ops iw_uc_ops;
extern const struct iw_qp_ops iw_ud_ops;
extern const struct iw_qp_ops iw_xrc_send_ops, iw_xrc_recv_ops;

#endif
