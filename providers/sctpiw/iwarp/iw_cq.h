/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues: rings that the RNIC fills and the application empties.
 *
 * The application's threads call functions marked "(consumer)" without the shard's lock, and
 * serialise these calls with a lock of their own, the consumer's lock. All other functions need the
 * shard's lock. The ring itself synchronises the consumer with the RNIC, without a lock.
 *
 * Two release/acquire pairs order entries and indexes on processors that reorder memory accesses:
 *
 *	tail  iw_cq_push() stores tail after the entry and after the placed data;
 *	      iw_cq_count() loads tail before the consumer reads the entry and the data
 *	head  iw_cq_consume() stores head after the last read of an entry; iw_cq_push() and
 *	      iw_cq_is_past() load head before the RNIC overwrites the entry
 *
 * The queue slots of a work request, and of the unsignaled work requests before it, stay in use
 * until the work request's entry is polled (iw_ring.h).
 *
 * iw_cq_arm() and iw_next_notify() also use a pair of fences.
 *
 * A CQ belongs to the shard of the first queue that completes on the CQ. Once queues of other
 * shards complete on the CQ as well, the CQ's own lock (iw_cq.locked) serialises the shards.
 */
#ifndef SCTPIW_IWARP_IW_CQ_H
#define SCTPIW_IWARP_IW_CQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_ring.h"
#include "iwarp/iw_types.h"

struct iw_qp;
struct iw_shard;
struct iw_srq;

struct iw_cqe {
	uint64_t wr_id;
	uint16_t status; /* enum iw_wc_status */
	uint16_t opcode; /* enum iw_wc_opcode */
	uint32_t src_qp; /* valid with IW_WC_GRH: QP that sent the datagram */
	uint32_t byte_len;
	uint32_t qp_num;
	union {
		uint32_t inv_stag; /* valid with IW_WC_WITH_INV */
		uint32_t imm_data; /* valid with IW_WC_WITH_IMM; network order, as posted */
	};
	uint16_t flags; /* enum iw_wc_flags */
	/* if this WR is at fault, the Terminate's error: layer << 12 | type << 8 | code */
	uint16_t vendor_err;
	struct iw_polled polled; /* slots to free when the entry is polled or lost */
};

enum iw_cq_arm { IW_CQ_UNARMED, IW_CQ_ARM_SOLICITED, IW_CQ_ARM_ANY };

struct iw_cq {
	struct iw_cqe *ring;
	uint32_t mask;			    /* ring size (a power of two) - 1 */
	uint32_t limit;			    /* capacity as requested and reported */
	uint64_t *stamps;		    /* time of each entry, ns (iw_cq_stamp()); or NULL */
	_Alignas(64) _Atomic uint32_t head; /* written by the consumer */
	_Alignas(64) _Atomic uint32_t tail; /* written by the RNIC */
	_Atomic uint32_t armed;		    /* enum iw_cq_arm */
	_Atomic uint32_t armed_at;	    /* tail when the CQ was armed */
	struct iw_shard *shard;
	bool used;	     /* a queue completes on the CQ, or once did */
	bool shared;	     /* queues of several shards use the CQ; read under any shard's lock */
	_Atomic bool locked; /* the CQ's own lock, used if shared */
	uint32_t refs;	     /* number of send and receive queues that use the CQ */
	_Atomic bool overflown; /* an entry did not fit; all new completions are lost */
	bool ignore_overrun;	/* drop an entry that does not fit, without an event */
	bool notify_queued;	/* completions arrived after iw_next_notify() read `armed` */
	bool notify_solicited;	/* one of these counts for IW_CQ_ARM_SOLICITED */
	struct iw_shard
		*notify_shard; /* shard whose iw_next_notify() checks the CQ, if notify_queued */
	struct iw_cq *notify_next;
	void *ctx;    /* belongs to the verbs layer */
	uint32_t nth; /* number of the CQ in the program, counted from 1; for the verbs layer */
};

/* Returns NULL if entries is 0 or too large, if IW_MAX_CQ CQs exist, or if out of memory. */
struct iw_cq *iw_cq_new(struct iw_shard *shard, uint32_t entries, void *ctx);
/* Returns 0, or -EBUSY if a QP uses the CQ. */
int iw_cq_free(struct iw_cq *cq);
/* Records that a queue of this shard will complete on the CQ. Needs the locks of all shards. */
void iw_cq_join(struct iw_cq *cq, struct iw_shard *shard);
/*
 * Undoes iw_cq_join() for `queues` queues, which move to another shard. If no other queues use the
 * CQ, the CQ no longer belongs to the shard.
 */
void iw_cq_leave(struct iw_cq *cq, uint32_t queues);
/* Enables timestamps for new entries. Call once. Returns 0, or -ENOMEM. */
int iw_cq_stamp(struct iw_cq *cq);
/*
 * Delays the CQ's completion events until count completions have arrived since the CQ was armed,
 * but for at most period ns. If either is 0, events are immediate. Returns 0, or -ENOMEM.
 */
int iw_cq_moderate(struct iw_cq *cq, uint32_t count, uint64_t period);
/*
 * Resizes the ring. Needs the consumer's lock as well. Returns 0 or: -EINVAL if entries is 0, above
 * the limit, or below iw_cq_count(); -ENOMEM.
 */
int iw_cq_resize(struct iw_cq *cq, uint32_t entries);
/*
 * Removes the entries of a QP in RESET, and frees all slots of the QP's queues that complete on
 * this CQ. Needs the consumer's lock as well.
 */
void iw_cq_purge(struct iw_cq *cq, struct iw_qp *qp);
/*
 * Keeps the entries of an SRQ that is being destroyed, but detaches them from the SRQ's slots.
 * Needs the consumer's lock as well.
 */
void iw_cq_disown(struct iw_cq *cq, const struct iw_srq *srq);

/*
 * (consumer; in any other thread the result may be stale) Returns the number of entries. The
 * acquire load pairs with the store in iw_cq_push().
 */
static inline uint32_t iw_cq_count(const struct iw_cq *cq)
{
	return atomic_load_explicit(&cq->tail, memory_order_acquire) -
	       atomic_load_explicit(&cq->head, memory_order_relaxed);
}

static inline bool iw_cq_is_empty(const struct iw_cq *cq)
{
	return !iw_cq_count(cq);
}

/*
 * True if a successful completion of this QP is among the newest IW_CQ_LOOK_BACK entries; sets *pos
 * to the position of that entry. iw_cq_is_past(cq, *pos) becomes true once the entry is polled, or
 * moved by iw_cq_purge().
 */
#define IW_CQ_LOOK_BACK 4096
bool iw_cq_find_success(struct iw_cq *cq, uint32_t qp_num, uint32_t *pos);

static inline bool iw_cq_is_past(const struct iw_cq *cq, uint32_t pos)
{
	return (int32_t)(atomic_load_explicit(&cq->head, memory_order_acquire) - pos) > 0;
}

/* (consumer) Returns the index, in ring and stamps, of the i-th oldest entry; i < iw_cq_count(). */
static inline uint32_t iw_cq_slot(const struct iw_cq *cq, uint32_t i)
{
	return (atomic_load_explicit(&cq->head, memory_order_relaxed) + i) & cq->mask;
}

/*
 * (consumer) Removes the n oldest entries after they were read, and frees the slots of their work
 * requests; n <= iw_cq_count(). Entries are freed before slots: a work request posted to a free
 * slot may complete at once, and needs a free entry. The release store pairs with the load in
 * iw_cq_push().
 */
static inline void iw_cq_consume(struct iw_cq *cq, uint32_t n)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);

	while (n) {
		_Atomic uint32_t *at = cq->ring[head & cq->mask].polled.at;
		struct iw_polled last;
		uint32_t run = 1;

		while (run < n && cq->ring[(head + run) & cq->mask].polled.at == at)
			run++;
		head += run;
		last = cq->ring[(head - 1) & cq->mask].polled;
		atomic_store_explicit(&cq->head, head, memory_order_release);
		iw_polled_free(&last, run);
		n -= run;
	}
}

/* (consumer) Moves up to n entries to out. Returns the number of moved entries. */
unsigned int iw_cq_poll(struct iw_cq *cq, unsigned int n, struct iw_cqe *out);
/*
 * (consumer) Arms the CQ: iw_next_notify() returns the CQ once, after the next completion, or after
 * the next solicited completion if solicited_only.
 */
void iw_cq_arm(struct iw_cq *cq, bool solicited_only);

static inline bool iw_cq_is_overflown(const struct iw_cq *cq)
{
	return atomic_load_explicit(&cq->overflown, memory_order_relaxed);
}

/* Simulates an overrun: all later completions are lost. */
void iw_cq_overrun(struct iw_cq *cq);
/* Raises a completion event if the CQ is armed, as after a solicited completion. */
void iw_cq_notify(struct iw_cq *cq);

/*
 * Returns the next CQ that was armed and got a matching completion from this shard; NULL if no such
 * CQ remains. Call repeatedly after any call that may complete a WR, before releasing the shard's
 * lock. `armed` is checked only here, because a check for each completion would be slower.
 */
struct iw_cq *iw_next_notify(struct iw_shard *shard);

#endif
