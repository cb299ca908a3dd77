/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings of work requests, from the application to the RNIC, and doorbells.
 *
 * A work request is outstanding until its own completion, or a later completion of its queue, is
 * polled. So the RNIC does not free slots: each CQ entry names the slots that polling the entry
 * frees (iw_cq.h).
 *
 * The application's threads call functions marked "(producer)" without the shard's lock; the caller
 * serialises these calls with its own lock. Towards the RNIC the ring is lock-free. Two
 * release/acquire pairs order slots and indexes on processors that reorder memory accesses:
 *
 *	tail    iw_ring_publish() stores tail after filling the slots; iw_ring_tail() (iwarp/sq.h)
 *	        loads tail before the RNIC reads the slots and the data that they point to
 *	polled  iw_cq_consume() stores polled after the CQ entry, which shows that the RNIC has read
 *	        the slots; iw_ring_slot() loads polled before the producer overwrites the slot
 *
 * The producer loads its own index relaxed, since no other thread writes it.
 */
#ifndef SCTPIW_IWARP_IW_RING_H
#define SCTPIW_IWARP_IW_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

/* A slot of the send queue. Inline data replaces the SGEs. */
struct iw_send_wqe {
	uint64_t wr_id;
	uint8_t opcode; /* enum iw_wr_opcode */
	uint8_t flags;	/* enum iw_send_flags */
	uint8_t num_sge;
	uint8_t progress; /* enum iw_wqe_progress, used by the RNIC */
	uint32_t length;  /* bytes of the message: the sum of the SGEs, or of the inline data */
	uint64_t remote_to;
	uint32_t rkey; /* BIND_MW: the window's new STag */
	union {
		uint32_t inv_stag; /* SEND_WITH_INV, LOCAL_INV; BIND_MW: index of the window */
		uint32_t imm_data; /* *_WITH_IMM; network order, as posted */
	};
	union {
		struct {	      /* used by the RNIC */
			uint32_t msn; /* on QN 0, for a WR with a message there */
			/* For the same WRs: iw_send_window.sent before the message. */
			uint32_t sent_before;
			uint32_t seq;	  /* IW_WQE_SENT: of the last message (iw_assoc.pulled) */
			uint16_t ssn;	  /* IW_WQE_SENT: DDP-SSN of the last message */
			uint16_t srq_num; /* XRC, set by the verbs layer: the peer's SRQ; 0: none */
		};
		struct { /* ATOMIC_*, host order; length is 8 */
			uint64_t compare_add;
			uint64_t swap;
		};
		struct {		 /* BIND_MW: part of an MR from remote_to */
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

/* Slots of a fixed stride. Indexes run freely and are masked on use. */
struct iw_ring {
	uint8_t *slots;
	uint32_t mask;			    /* number of slots (a power of two) - 1 */
	uint32_t stride;		    /* bytes from slot to slot */
	uint32_t limit;			    /* maximum number of outstanding WRs */
	_Alignas(64) uint32_t head;	    /* used by the RNIC: earlier WRs are complete */
	_Alignas(64) _Atomic uint32_t tail; /* written by the producer */
	_Atomic uint32_t polled; /* written by the CQ's consumer: earlier slots are free */
};

/* The slots that polling a completion frees. */
struct iw_polled {
	/* iw_ring.polled, to set to `to`; or iw_srq.polled, to increment. */
	_Atomic uint32_t *at;
	uint32_t to;
	bool counts; /* `at` is iw_srq.polled */
};

/* Node of a QP or SRQ with new WRs on the RNIC's list; producers push it lock-free. */
struct iw_doorbell {
	_Atomic bool pending;
	bool is_srq; /* contained in a struct iw_srq, else in a struct iw_qp */
	bool is_ud;  /* the struct iw_qp is a UD QP */
	struct iw_doorbell *next;
};

/*
 * (producer) Returns the next free slot after `ahead` filled, unpublished ones; NULL if the queue
 * is full. Fill it, then publish.
 */
static inline void *iw_ring_slot(struct iw_ring *r, uint32_t ahead)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed) + ahead;

	/*
	 * Acquire: pairs with the store in iw_polled_free(). The RNIC has finished reading a free
	 * slot.
	 */
	if (tail - atomic_load_explicit(&r->polled, memory_order_acquire) >= r->limit)
		return NULL;
	return r->slots + (size_t)(tail & r->mask) * r->stride;
}

/*
 * Frees the slots of n polled completions of one queue; last is from the last completion. Release:
 * pairs with the loads in iw_ring_slot() and iw_srq_slot().
 */
static inline void iw_polled_free(const struct iw_polled *last, uint32_t n)
{
	if (last->counts)
		atomic_fetch_add_explicit(last->at, n, memory_order_release);
	else
		atomic_store_explicit(last->at, last->to, memory_order_release);
}

/* (producer) Passes n filled slots to the RNIC. */
static inline void iw_ring_publish(struct iw_ring *r, uint32_t n)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	/* Release: pairs with the load in iw_ring_tail(), which then sees the slots. */
	atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

#endif
