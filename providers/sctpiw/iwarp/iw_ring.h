/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings of work requests, from the application to the RNIC, and doorbells.
 *
 * A work request is outstanding until its own completion, or the completion of a later work request
 * of the same queue, is polled. So slots are not freed by the RNIC, but by the thread that polls:
 * each CQ entry names the slots to free (iw_cq.h).
 *
 * The application's threads call functions marked "(producer)" without the shard's lock, and
 * serialise these calls with a lock of their own. The ring itself synchronises the producer with
 * the RNIC, without a lock. Two release/acquire pairs order slots and indexes on processors that
 * reorder memory accesses:
 *
 *	tail    iw_ring_publish() stores tail after filling the slots; iw_ring_tail() (iwarp/sq.h)
 *	        loads tail before the RNIC reads the slots and the data that they point to
 *	polled  iw_cq_consume() stores polled after reading a CQ entry, which the RNIC has pushed
 *	        after reading the slots; iw_ring_slot() loads polled before the producer fills slots
 *
 * The producer's loads of tail are relaxed, because no other thread writes tail.
 */
#ifndef SCTPIW_IWARP_IW_RING_H
#define SCTPIW_IWARP_IW_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

/* A slot of the send queue. Inline data is stored in place of the SGEs. */
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
		struct {		      /* used by the RNIC */
			uint32_t msn;	      /* MSN on QN 0, for a WR with a message on QN 0 */
			uint32_t sent_before; /* same WRs: iw_send_window.sent before it */
			/* IW_WQE_SENT: number of the last message (iw_assoc.pulled) */
			uint32_t seq;
			uint16_t ssn; /* IW_WQE_SENT: DDP-SSN of the last message */
			/* XRC, set by the verbs layer: number of the peer's SRQ; 0: none */
			uint16_t srq_num;
		};
		struct { /* ATOMIC_*, host order; length is 8 */
			uint64_t compare_add;
			uint64_t swap;
		};
		struct {		 /* BIND_MW: the part of an MR that starts at remote_to */
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

/* Slots of a fixed stride. Indexes increase modulo 2^32; the mask maps an index to a slot. */
struct iw_ring {
	uint8_t *slots;
	uint32_t mask;			    /* number of slots (a power of two) - 1 */
	uint32_t stride;		    /* bytes from slot to slot */
	uint32_t limit;			    /* maximum number of outstanding WRs */
	_Alignas(64) uint32_t head;	    /* used by the RNIC: index of the first incomplete WR */
	_Alignas(64) _Atomic uint32_t tail; /* written by the producer */
	_Atomic uint32_t polled; /* written by the CQ's consumer: earlier slots are free */
};

/* The slots to free when a completion is polled. */
struct iw_polled {
	/* iw_ring.polled, which will be set to `to`; or iw_srq.polled, which will be incremented */
	_Atomic uint32_t *at;
	uint32_t to;
	bool counts; /* `at` is iw_srq.polled */
};

/* Node in the list of QPs and SRQs that have new WRs. Producers add nodes without a lock. */
struct iw_doorbell {
	_Atomic bool pending;
	bool is_srq; /* the node is part of a struct iw_srq_part; otherwise of a struct iw_qp */
	bool is_ud;  /* the node's QP is a UD QP */
	struct iw_doorbell *next;
};

/*
 * (producer) Returns the next free slot after `ahead` slots that were filled and not published;
 * NULL if the queue is full. Fill the slot, then call iw_ring_publish().
 */
static inline void *iw_ring_slot(struct iw_ring *r, uint32_t ahead)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed) + ahead;

	/*
	 * The acquire load pairs with the store in iw_polled_free(): the RNIC has finished reading
	 * the slots that the store freed.
	 */
	if (tail - atomic_load_explicit(&r->polled, memory_order_acquire) >= r->limit)
		return NULL;
	return r->slots + (size_t)(tail & r->mask) * r->stride;
}

/*
 * Frees the slots of n polled completions of one queue. last: iw_cqe.polled of the last of these
 * completions. The release operations pair with the loads in iw_ring_slot() and iw_srq_slot().
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

	/* The release store publishes the slots; it pairs with the load in iw_ring_tail(). */
	atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

#endif
