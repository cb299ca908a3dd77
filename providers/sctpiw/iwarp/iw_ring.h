/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings of work requests, from the application to the RNIC, and doorbells.
 *
 * A work request is outstanding until its own completion, or a later completion of its queue, is
 * polled. So the RNIC does not give slots back: each entry of a CQ names the slots that removing
 * the entry frees (iw_cq.h).
 *
 * Functions marked "(producer)" are called by the application's threads without the shard's lock;
 * the caller serialises them by a lock of its own. Towards the RNIC the ring is lock-free. Two pairs
 * of a store that releases and a load that acquires keep slots and indexes in order on processors
 * that reorder both:
 *
 *	tail    iw_ring_publish() stores it after the slots it has filled; iw_ring_tail() (iwarp/sq.h)
 *	        loads it, and then the RNIC reads the slots, and the data that they point to
 *	polled  iw_cq_consume() stores it, and has seen by the entry of the CQ that the RNIC has read the slots;
 *	        iw_ring_slot() loads it, and then the producer writes the slot anew
 *
 * The producer loads its own index relaxed, since nobody else writes it.
 */
#ifndef SCTPIW_IWARP_IW_RING_H
#define SCTPIW_IWARP_IW_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

/* A slot of the send queue. Inline data stands in place of the SGEs. */
struct iw_send_wqe {
	uint64_t wr_id;
	uint8_t opcode; /* enum iw_wr_opcode */
	uint8_t flags;	/* enum iw_send_flags */
	uint8_t num_sge;
	uint8_t progress; /* the RNIC's: enum iw_wqe_progress */
	uint32_t length;  /* bytes of the message: the sum of the SGEs, or of the inline data */
	uint64_t remote_to;
	uint32_t rkey; /* BIND_MW: the window's new STag */
	union {
		uint32_t inv_stag; /* SEND_WITH_INV, LOCAL_INV; BIND_MW: the window, by its index */
		uint32_t imm_data; /* *_WITH_IMM; network order, as it was posted */
	};
	union {
		struct {	      /* the RNIC's */
			uint32_t msn; /* on QN 0, if the WR makes a message there */
			/* The same: iw_send_window.sent before it. */
			uint32_t sent_before;
			uint32_t seq;	  /* IW_WQE_SENT: of its last message (iw_assoc.pulled) */
			uint16_t ssn;	  /* the same: the DDP-SSN of that message */
			uint16_t srq_num; /* the verbs layer's, of XRC: the peer's SRQ; 0: none */
		};
		struct { /* ATOMIC_*, host order; length is 8 */
			uint64_t compare_add;
			uint64_t swap;
		};
		struct {		 /* BIND_MW: the part of an MR from remote_to on */
			uint64_t length; /* bytes */
			uint32_t lkey;
			uint32_t access; /* IW_ACCESS_REMOTE_*, IW_ACCESS_ZERO_BASED */
		} bind;
	};
	struct iw_sge sge[]; /* or uint8_t[length] with IW_SEND_INLINE */
};

struct iw_recv_wqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t length; /* bytes: the sum of the SGEs */
	struct iw_sge sge[];
};

/* Slots of a fixed stride. The indexes run freely and are masked when they are used. */
struct iw_ring {
	uint8_t *slots;
	uint32_t mask;			    /* number of slots, a power of two, less 1 */
	uint32_t stride;		    /* bytes from slot to slot */
	uint32_t limit;			    /* WRs that may be outstanding */
	_Alignas(64) uint32_t head;	    /* the RNIC's: WRs before it are complete */
	_Alignas(64) _Atomic uint32_t tail; /* written by the producer */
	_Atomic uint32_t polled; /* written by the CQ's consumer: slots before it are free */
};

/* The slots that polling a completion frees. */
struct iw_polled {
	/* iw_ring.polled, to be set to `to`; or iw_srq.polled, to be incremented. */
	_Atomic uint32_t *at;
	uint32_t to;
	bool counts; /* `at` is iw_srq.polled */
};

/* Of a QP or SRQ with new WRs: its place on the RNIC's list, where producers push it lock-free. */
struct iw_doorbell {
	_Atomic bool pending;
	bool is_srq; /* it is in a struct iw_srq, else in a struct iw_qp */
	bool is_ud;  /* that is a UD QP */
	struct iw_doorbell *next;
};

/*
 * (producer) The free slot behind `ahead` others that were filled and are not published yet, or
 * NULL if the queue is full. Fill it, then publish.
 */
static inline void *iw_ring_slot(struct iw_ring *r, uint32_t ahead)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed) + ahead;

	/* Acquire: pairs with the store of iw_polled_free(). The RNIC has finished reading a slot that is free. */
	if (tail - atomic_load_explicit(&r->polled, memory_order_acquire) >= r->limit)
		return NULL;
	return r->slots + (size_t)(tail & r->mask) * r->stride;
}

/*
 * Frees the slots of n polled completions of one queue; last belongs to the last of them. Release:
 * pairs with the loads of iw_ring_slot() and iw_srq_slot().
 */
static inline void iw_polled_free(const struct iw_polled *last, uint32_t n)
{
	if (last->counts)
		atomic_fetch_add_explicit(last->at, n, memory_order_release);
	else
		atomic_store_explicit(last->at, last->to, memory_order_release);
}

/* (producer) Hands n filled slots to the RNIC. */
static inline void iw_ring_publish(struct iw_ring *r, uint32_t n)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	/* Release: pairs with the load of iw_ring_tail(), which then sees the slots. */
	atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

#endif
