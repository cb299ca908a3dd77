/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The fast path from the RNIC: completions, by ibv_poll_cq() and by the extended CQ. */
#ifndef SCTPIW_VERBS_POLL_H
#define SCTPIW_VERBS_POLL_H

#include "verbs/pabi.h"

/*
 * verbs_context_ops.poll_cq: takes up to num_entries completions. If the CQ is empty, the shard
 * first looks for packets. Returns the number of completions, or -1 in a child of fork().
 */
int sctpiw_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/*
 * Arms the CQ: the next completion, or solicited completion, posts an event to the completion
 * channel. EIO.
 */
int sctpiw_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/*
 * Makes each shard that completes on the CQ look for packets, as sctpiw_poll_cq() does for an empty
 * CQ.
 */
struct sctpiw_cq;
void sctpiw_cq_progress(struct sctpiw_cq *cq);

/*
 * For faults, which replace the functions above. Both need the lock of the CQ's consumer end.
 * sctpiw_cq_take() takes up to max completions, and returns their number. sctpiw_cq_take_current()
 * makes the oldest completion the current one of an extended CQ. It returns 0, or ENOENT if the
 * ring is empty.
 */
int sctpiw_cq_take(struct sctpiw_cq *cq, uint32_t max, struct ibv_wc *wc);
int sctpiw_cq_take_current(struct sctpiw_cq *cq);

/*
 * Sets the polling functions of an extended CQ, and the functions that read fields requested by
 * wc_flags (IBV_WC_EX_WITH_*). A start_poll that returns 0 locks the CQ until end_poll.
 */
void sctpiw_cq_ex_init(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif
