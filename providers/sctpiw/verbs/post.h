/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fast path from the program to the RNIC: work requests are written directly into the rings of
 * iwarp/. If a work request of a chain is wrong, the work requests before it are posted, and
 * *bad_wr points to the wrong one.
 */
#ifndef SCTPIW_VERBS_POST_H
#define SCTPIW_VERBS_POST_H

#include <stdint.h>

#include "iwarp/iw_ring.h"
#include "verbs/pabi.h"

struct iw_qp;

/* Returns the total length of n elements in bytes. n is at most IW_MAX_SGE: no overflow. */
static inline uint64_t sctpiw_sge_total(const struct ibv_sge *sge, uint32_t n)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < n; i++)
		total += sge[i].length;
	return total;
}

static inline void sctpiw_copy_sges(struct iw_sge *to, const struct ibv_sge *sge, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		to[i].addr = sge[i].addr;
		to[i].length = sge[i].length;
		to[i].lkey = sge[i].lkey;
	}
}

/*
 * A WQE has 16 bits for the number of an SRQ. Returns 0, which is the number of no SRQ, for a
 * number that does not fit.
 */
static inline uint16_t sctpiw_srq_num(uint32_t remote_srqn)
{
	return remote_srqn <= UINT16_MAX ? (uint16_t)remote_srqn : 0;
}

/*
 * Checks a work request with `total` bytes of data, and fills a slot of the send queue. The slot
 * follows the first `ahead` slots, which are filled, but not published. The caller writes the data
 * to (*slot)->sge, before or after this call. The data is num_sge elements, or, with the flag
 * IW_SEND_INLINE, total bytes. wr->sg_list is ignored. wr->num_sge must be within the QP's limit.
 * The caller holds sq_lock, and publishes the slot. Returns 0, EINVAL, EOPNOTSUPP, or ENOMEM if the
 * queue is full. On failure, *slot is not set.
 */
int sctpiw_begin_send(struct iw_qp *iw, uint32_t ahead, const struct ibv_send_wr *wr,
		      uint64_t total, struct iw_send_wqe **slot);

/* Errors: EINVAL; EOPNOTSUPP; ENOMEM if the queue is full; EIO. */
int sctpiw_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int sctpiw_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int sctpiw_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif
