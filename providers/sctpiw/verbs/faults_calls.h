/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Verbs that fail by a rule, or because they exceed a lowered limit (docs/faults.md). */
#ifndef SCTPIW_VERBS_FAULTS_CALLS_H
#define SCTPIW_VERBS_FAULTS_CALLS_H

#include "verbs/pabi.h"

struct sctpiw_qp;

/* Replaces the operations that make, change and destroy objects. */
void faults_calls_replace(struct verbs_context_ops *ops);
/* Replaces the operations that post work requests. */
void faults_posts_replace(struct verbs_context_ops *ops);
/* Replaces functions of ibv_wr_*, if the QP has them. */
void faults_qp_set_ops(struct sctpiw_qp *qp);

#endif
