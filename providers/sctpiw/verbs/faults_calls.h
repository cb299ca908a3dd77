/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Verbs that fail because of a rule, or of a limit that a rule has lowered (docs/faults.md). */
#ifndef SCTPIW_VERBS_FAULTS_CALLS_H
#define SCTPIW_VERBS_FAULTS_CALLS_H

#include "verbs/pabi.h"

struct sctpiw_qp;

/* Replaces the operations that make, change and destroy objects. */
void faults_calls_replace(struct verbs_context_ops *ops);
/* Replaces the operations that post work requests. */
void faults_posts_replace(struct verbs_context_ops *ops);
/* If the QP has functions of ibv_wr_*, replaces those that post work requests. */
void faults_qp_set_ops(struct sctpiw_qp *qp);

#endif
