/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The common part of all QP types, and the operations of each type. A new QP type needs a file with
 * a struct that begins with struct iw_qp_base and a const struct iw_qp_ops, and a line in
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

/* Operations of a QP type. None is called for each segment or message. */
struct iw_qp_ops {
	/* Bits (1 << enum iw_wr_opcode) of the supported work requests. */
	uint32_t wr_opcodes;
	uint32_t max_msg;   /* maximum bytes of a work request's message */
	uint32_t slot_tail; /* type-specific bytes at the end of each send slot */
	/*
	 * Allocates a QP. Sets only the type's own fields; all other fields are zero. Returns NULL
	 * if out of memory.
	 */
	struct iw_qp *(*alloc)(void);
	void (*free)(struct iw_qp *qp);
	/*
	 * Checks whether the QP may move to INIT, RTR, RTS or SQD. Returns IW_QP_STAYS if the QP is
	 * already in a later state.
	 */
	enum iw_qp_move (*move)(const struct iw_qp *qp, enum iw_qp_state next);
	/* Ends the transport when the application moves the QP to ERR or RESET, or frees it. */
	void (*disconnect)(struct iw_qp *qp);
	/* Ends the peers' right to read the QP's memory. */
	void (*end_remote_read)(struct iw_qp *qp);
	void (*set_ord)(struct iw_qp *qp, uint32_t ord);
	/* Handles new WRs or a changed state. */
	void (*doorbell)(struct iw_qp *qp);
	/*
	 * Completes the receives taken from an SRQ as flushed, or returns them to the SRQ. f: see
	 * iw_qp_enter_error().
	 */
	void (*flush_receives)(struct iw_qp *qp, const struct iw_failure *f);
	/* In RESET: returns the receives taken from an SRQ to the SRQ. */
	void (*drop_receives)(struct iw_qp *qp);
	/*
	 * True if the QP may move to another shard, because no other object of its shard, such as a
	 * session, refers to the QP.
	 */
	bool (*may_leave)(const struct iw_qp *qp);
};

/* The first member of each type's struct. */
struct iw_qp_base {
	struct iw_qp qp;
	const struct iw_qp_ops *ops;
	struct iw_event_node event;
	struct iw_sq send;
	bool notify_drained;	   /* in SQD: raise IW_EVENT_SQ_DRAINED when the QP has drained */
	struct list_node windows;  /* iw_mw.node: type 2 windows bound to this QP */
	struct list_node all;	   /* iw_shard.all_qps */
	struct iw_traffic in, out; /* counts since the QP was created */
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
/*
 * Moves the QP to ERR and flushes all WRs, but the WQE that f names gets f's status. f may be NULL.
 */
void iw_qp_enter_error(struct iw_qp *qp, const struct iw_failure *f);
/*
 * Moves an unreliable QP to SQE (IBTA 10.3.1.6) and flushes the send queue. The WQE that f names
 * completes with f's status instead. The QP continues to receive.
 */
void iw_qp_enter_sq_error(struct iw_qp *qp, const struct iw_failure *f);

#define IW_OPCODE(opcode) (1u << RDMAP_##opcode)
/* Opcodes whose payload bytes, or whose messages, are counted in struct iw_traffic. */
#define IW_TRAFFIC_BYTES                                                                           \
	(IW_OPCODE(WRITE) | IW_OPCODE(READ_RESPONSE) | IW_OPCODE(SEND) | IW_OPCODE(SEND_INV) |     \
	 IW_OPCODE(SEND_SE) | IW_OPCODE(SEND_SE_INV) | IW_OPCODE(SEND_IMM) |                       \
	 IW_OPCODE(SEND_SE_IMM))
#define IW_TRAFFIC_MESSAGES                                                                        \
	(IW_TRAFFIC_BYTES | IW_OPCODE(READ_REQUEST) | IW_OPCODE(IMMEDIATE) |                       \
	 IW_OPCODE(IMMEDIATE_SE) | IW_OPCODE(ATOMIC_REQUEST) | IW_OPCODE(ATOMIC_RESPONSE))

/* Counts a segment with len payload bytes. *total: bytes of all QPs. last: its message ends. */
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

extern const struct iw_qp_ops iw_rc_ops;
extern const struct iw_qp_ops iw_uc_ops;
extern const struct iw_qp_ops iw_ud_ops;
extern const struct iw_qp_ops iw_xrc_send_ops, iw_xrc_recv_ops;

#endif
