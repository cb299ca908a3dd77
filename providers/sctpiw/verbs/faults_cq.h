/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of completions and of their notifications (docs/faults.md). The functions replace
 * functions of poll.c. A CQ always returns its completions in order, so a delayed completion delays
 * all later ones.
 */
#ifndef SCTPIW_VERBS_FAULTS_CQ_H
#define SCTPIW_VERBS_FAULTS_CQ_H

#include "conn/events.h"
#include "verbs/pabi.h"

/* The actions on a completion: one bit, 1 << FAULT_DO_x, for each. */
#define FAULTS_CQ_ACTIONS                                                                          \
	(1ull << FAULT_DO_complete | 1ull << FAULT_DO_delay | 1ull << FAULT_DO_single |            \
	 1ull << FAULT_DO_gather)

struct cq_faults;
struct sctpiw_cq;

/* Replaces verbs_context_ops.poll_cq. */
int faults_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Replaces the polling functions of an extended CQ. Has no effect on another CQ. */
void faults_cq_set_ops(struct sctpiw_cq *cq);
/* Replaces channel_post() for the event of a CQ. Needs the shard lock. */
int faults_post_notification(struct event_source *src, const void *event, size_t len);
/* Overruns the CQ: its completions are lost, and it becomes unusable. Needs the shard lock. */
void faults_cq_overrun(struct sctpiw_cq *cq);
/*
 * Releases all completions and notifications that a removed rule held back. rule 0: all rules were
 * removed. Needs the shard lock.
 */
void faults_cq_release(struct sctpiw_cq *cq, uint32_t rule);
/* Cancels the timers of a CQ whose iw_cq was freed. Needs the shard lock. */
void faults_cq_end(struct sctpiw_cq *cq);
/* Frees the state of a CQ after faults_cq_end(), or of a CQ that belongs to a parent process. */
void faults_cq_forget(struct sctpiw_cq *cq);
/*
 * Call faults_cq_purge() before iw_cq_purge(), and faults_cq_resized() after iw_cq_resize(). mask:
 * the mask of the ring before the change. Both need the CQ's lock and the shard lock.
 */
void faults_cq_purge(struct sctpiw_cq *cq, uint32_t qp_num);
void faults_cq_resized(struct sctpiw_cq *cq, uint32_t mask);

#endif
