/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of completions and of their notifications (docs/faults.md): functions in front of those of poll.c. A CQ
 * hands its completions out in their order whatever happens, so one that has to wait holds up those behind it.
 */
#ifndef SCTPIW_VERBS_FAULTS_CQ_H
#define SCTPIW_VERBS_FAULTS_CQ_H

#include "conn/events.h"
#include "verbs/pabi.h"

/* A bit, 1 << FAULT_DO_x, for each action that is done to a completion here. */
#define FAULTS_CQ_ACTIONS                                                                          \
	(1ull << FAULT_DO_complete | 1ull << FAULT_DO_delay | 1ull << FAULT_DO_single |            \
	 1ull << FAULT_DO_gather)

struct cq_faults;
struct sctpiw_cq;

/* verbs_context_ops.poll_cq. */
int faults_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Puts the functions of an extended CQ in front of its own; another CQ is left as it is. */
void faults_cq_set_ops(struct sctpiw_cq *cq);
/* In place of channel_post(), for the event of a CQ. Shard lock. */
int faults_post_notification(struct event_source *src, const void *event, size_t len);
/* Overruns the CQ: its completions are lost, and it is of no use any more. Shard lock. */
void faults_cq_overrun(struct sctpiw_cq *cq);
/* The rule is not in force any more; 0: none is. What it holds back is let go. Shard lock. */
void faults_cq_release(struct sctpiw_cq *cq, uint32_t rule);
/* Nothing happens to the CQ any more: the RNIC has let go of it. Shard lock. */
void faults_cq_end(struct sctpiw_cq *cq);
/* Frees the state of a CQ that has ended, or that was a parent's. */
void faults_cq_forget(struct sctpiw_cq *cq);
/* Follows iw_cq_purge(), in front of it, and iw_cq_resize(), behind it; mask: the old ring's. Both locks. */
void faults_cq_purge(struct sctpiw_cq *cq, uint32_t qp_num);
void faults_cq_resized(struct sctpiw_cq *cq, uint32_t mask);

#endif
