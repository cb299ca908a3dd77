/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues: rings that the RNIC fills and the application empties.
 *
 * Functions marked "(consumer)" are called by the application's threads without the shard's lock;
 * the caller serialises them by a lock of its own. Towards the RNIC the ring is lock-free. All
 * other functions need the shard's lock.
 *
 * Two pairs of a store that releases and a load that acquires keep entries and indexes in order on
 * processors that reorder both:
 *
 *	tail  iw_cq_push() stores it behind the entry, and behind the data that was placed;
 *	      iw_cq_count() loads it, and the consumer reads the entry, and the data, behind that
 *	head  iw_cq_consume() stores it behind the last look at an entry; iw_cq_push() and
 *	      iw_cq_is_past() load it, and the RNIC writes the entry anew behind that
 *
 * An entry keeps the slots of its work request, and of earlier unsignaled work requests, until the
 * entry is taken out (iw_ring.h).
 *
 * Beside them stands a pair of fences: iw_cq_arm() and iw_next_notify().
 *
 * A CQ belongs to the shard of the first queue that completes on it. Once it has queues of other shards as well, a
 * lock of its own orders what the shards do with it.
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
	uint32_t src_qp; /* with IW_WC_GRH: who has sent the datagram */
	uint32_t byte_len;
	uint32_t qp_num;
	union {
		uint32_t inv_stag; /* with IW_WC_WITH_INV */
		uint32_t imm_data; /* with IW_WC_WITH_IMM; network order, as it was posted */
	};
	uint16_t flags; /* enum iw_wc_flags */
	/* layer << 12 | type << 8 | code of the Terminate, if this WR is at fault */
	uint16_t vendor_err;
	struct iw_polled polled; /* the slots that taking out or losing the entry frees */
};

enum iw_cq_arm { IW_CQ_UNARMED, IW_CQ_ARM_SOLICITED, IW_CQ_ARM_ANY };

struct iw_cq {
	struct iw_cqe *ring;
	uint32_t mask;			    /* size of the ring, a power of two, less 1 */
	uint32_t limit;			    /* entries that were asked for and are reported */
	uint64_t *stamps;		    /* time of each entry, ns (iw_cq_stamp()); or NULL */
	_Alignas(64) _Atomic uint32_t head; /* written by the consumer */
	_Alignas(64) _Atomic uint32_t tail; /* written by the RNIC */
	_Atomic uint32_t armed;		    /* enum iw_cq_arm */
	_Atomic uint32_t armed_at;	    /* tail at the time it was armed */
	struct iw_shard *shard;
	bool used;	     /* a queue completes here, or did */
	bool shared;	     /* several shards complete here; read by whoever has a shard's lock */
	_Atomic bool locked; /* by a shard, if it is shared */
	uint32_t refs;	     /* send and receive queues that complete here */
	_Atomic bool overflown; /* an async event was raised; what completes from now on is lost */
	bool ignore_overrun;	/* an entry that does not fit is lost, and nobody is told */
	/* Completions came since iw_next_notify() last looked at armed: */
	bool notify_queued;
	bool notify_solicited;	       /* one of them counts for IW_CQ_ARM_SOLICITED */
	struct iw_shard *notify_shard; /* whose iw_next_notify() looks, if notify_queued */
	struct iw_cq *notify_next;
	void *ctx;    /* the verbs layer's */
	uint32_t nth; /* how many the program had made, with this one; the verbs layer's */
};

/* NULL: no or too many entries, IW_MAX_CQ reached, or out of memory. */
struct iw_cq *iw_cq_new(struct iw_shard *shard, uint32_t entries, void *ctx);
/* -EBUSY: a QP uses it. */
int iw_cq_free(struct iw_cq *cq);
/* Queues of this shard complete on it from now on. The locks of all shards are held. */
void iw_cq_join(struct iw_cq *cq, struct iw_shard *shard);
/* So many of the queues that complete here leave their shard: if there are no others, the CQ leaves it as well. */
void iw_cq_leave(struct iw_cq *cq, uint32_t queues);
/* From now on the CQ keeps the time at which each entry came. Called once. -ENOMEM. */
int iw_cq_stamp(struct iw_cq *cq);
/*
 * From now on an event comes only once count completions have come since the CQ was armed, or
 * period ns after the first that is due. If either is 0 it comes at once. -ENOMEM.
 */
int iw_cq_moderate(struct iw_cq *cq, uint32_t count, uint64_t period);
/* The caller has locked the consumer's side as well. -EINVAL: more entries wait in it; -ENOMEM. */
int iw_cq_resize(struct iw_cq *cq, uint32_t entries);
/*
 * Removes the entries of a QP in RESET. All slots of its queues that complete on this CQ become
 * free. The caller has locked the consumer's side as well.
 */
void iw_cq_purge(struct iw_cq *cq, struct iw_qp *qp);
/* The entries of a destroyed SRQ stay, and free no slots later. The same locks. */
void iw_cq_disown(struct iw_cq *cq, const struct iw_srq *srq);

/*
 * (consumer; anyone, who may learn then how many waited a moment ago) How many entries wait. Acquire: pairs with the store of
 * iw_cq_push().
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
 * Does a completion of this QP that succeeded wait among the newest IW_CQ_LOOK_BACK entries? Then
 * iw_cq_is_past(*pos) becomes true when it is taken out or moved by iw_cq_purge().
 */
#define IW_CQ_LOOK_BACK 4096
bool iw_cq_find_success(struct iw_cq *cq, uint32_t qp_num, uint32_t *pos);

static inline bool iw_cq_is_past(const struct iw_cq *cq, uint32_t pos)
{
	return (int32_t)(atomic_load_explicit(&cq->head, memory_order_acquire) - pos) > 0;
}

/* (consumer) The index, in ring and in stamps, of the i-th oldest entry; i < iw_cq_count(). */
static inline uint32_t iw_cq_slot(const struct iw_cq *cq, uint32_t i)
{
	return (atomic_load_explicit(&cq->head, memory_order_relaxed) + i) & cq->mask;
}

/*
 * (consumer) Removes the n oldest entries, which have been read, and frees the slots of their work
 * requests; n <= iw_cq_count(). Entries are removed before slots become free: a work request in a
 * free slot may complete at once, and needs room in the CQ. Release: pairs with the load of
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

/* (consumer) Moves up to n entries to out; returns how many. */
unsigned int iw_cq_poll(struct iw_cq *cq, unsigned int n, struct iw_cqe *out);
/* (consumer) The next matching completion makes cq appear in iw_next_notify(), once. */
void iw_cq_arm(struct iw_cq *cq, bool solicited_only);

static inline bool iw_cq_is_overflown(const struct iw_cq *cq)
{
	return atomic_load_explicit(&cq->overflown, memory_order_relaxed);
}

/* Behaves as if an entry had found no room: whatever completes from now on is lost. */
void iw_cq_overrun(struct iw_cq *cq);
/* Looks at `armed` as if a completion had come that is solicited. */
void iw_cq_notify(struct iw_cq *cq);

/*
 * Returns the CQs whose armed completion has come from this shard, each once; then NULL. To be called before the
 * shard's lock is given up, after anything that may have completed a WR: `armed` is looked at here
 * and not for each completion.
 */
struct iw_cq *iw_next_notify(struct iw_shard *shard);

#endif
