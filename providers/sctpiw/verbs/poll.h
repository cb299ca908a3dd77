/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The fast path from the RNIC: completions, by ibv_poll_cq() and by the extended CQ. */
#ifndef SCTPIW_VERBS_POLL_H
#define SCTPIW_VERBS_POLL_H

#include "verbs/pabi.h"

/*
 * Takes up to num_entries completions; if there is none it makes the shard look for packets first.
 * Returns how many, or -1 in a child of fork(). (verbs_context_ops.poll_cq)
 */
int sctpiw_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/* The next completion, or solicited one, raises an event on the completion channel. EIO. */
int sctpiw_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/* Makes each shard that completes on the CQ look for packets, as sctpiw_poll_cq() does with an empty one. */
struct sctpiw_cq;
void sctpiw_cq_progress(struct sctpiw_cq *cq);

/*
 * For faults in front of these: with the CQ's consumer end locked, take up to max completions out of the ring, or
 * the oldest one, which becomes the current one of an extended CQ. How many; 0, or ENOENT if there is none.
 */
int sctpiw_cq_take(struct sctpiw_cq *cq, uint32_t max, struct ibv_wc *wc);
int sctpiw_cq_take_current(struct sctpiw_cq *cq);

/*
 * Sets the polling functions of an extended CQ, and the reading functions of the fields that
 * wc_flags (IBV_WC_EX_WITH_*) ask for. The CQ is locked from a start_poll that returns 0 until
 * end_poll.
 */
void sctpiw_cq_ex_init(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif
