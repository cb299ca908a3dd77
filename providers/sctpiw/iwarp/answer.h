/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completions of RDMA Writes that come together with the peer's answer: see answer.c. Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_ANSWER_H
#define SCTPIW_IWARP_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

struct iw_qp;

/* What a QP has learned about its Writes and the peer's. */
struct iw_answer {
	uint16_t rounds;	/* Writes of both sides in turn, less other Writes */
	uint16_t rounds_needed; /* before completions wait */
	uint8_t trust; /* waits in vain until completions wait no more; 0: they do not wait */
	bool asked;    /* a Write of ours was completed since the last one of the peer */
	bool awaited;  /* the completion of a Write waits in the CQ for the answer */
};

/* The QP has a new session. */
void iw_answer_forget(struct iw_answer *a);
/* A Write of len bytes was completed; its entry is the newest of the CQ. */
void iw_answer_expect(struct iw_qp *qp, uint32_t len);
/* A Write of the peer is placed and delivered. */
void iw_answer_came(struct iw_qp *qp);

#endif
