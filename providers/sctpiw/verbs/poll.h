/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fast path from the RNIC to the program: completions, which ibv_poll_cq() or the functions of
 * the extended CQ return.
 */
#ifndef SCTPIW_VERBS_POLL_H
#define SCTPIW_VERBS_POLL_H

#include "verbs/pabi.h"

/*
 * verbs_context_ops.poll_cq: returns up to num_entries completions in wc. If the CQ is empty, the
 * shard first receives packets. Returns the number of completions, or -1 in a child of fork().
 */
int sctpiw_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/*
 * Arms the CQ: the next completion, or the next solicited completion, posts an event to the
 * completion channel. Errors: EIO.
 */
int sctpiw_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/*
 * Makes each shard whose QPs write completions to the CQ receive packets, as sctpiw_poll_cq() does
 * for an empty CQ.
 */
struct sctpiw_cq;
void sctpiw_cq_progress(struct sctpiw_cq *cq);

/*
 * For faults, which replace the functions above. Both functions need sctpiw_cq_lock().
 * sctpiw_cq_take() removes up to max completions, and returns their number.
 * sctpiw_cq_take_current() makes the oldest completion the current one of an extended CQ. It
 * returns 0, or ENOENT if the ring is empty.
 */
int sctpiw_cq_take(struct sctpiw_cq *cq, uint32_t max, struct ibv_wc *wc);
int sctpiw_cq_take_current(struct sctpiw_cq *cq);

/*
 * Sets the polling functions of an extended CQ, and the functions that read the fields that
 * wc_flags (IBV_WC_EX_WITH_*) request. If start_poll returns 0, the CQ stays locked until end_poll.
 */
void sctpiw_cq_ex_init(struct ibv_cq_ex *cq, uint64_t wc_flags);

#endif
