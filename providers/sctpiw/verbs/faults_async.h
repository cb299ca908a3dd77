/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Performs `raise` (docs/faults.md), which posts asynchronous events to the contexts and objects of
 * this process. If an event reports the failure of an object, the object also fails.
 */
#ifndef SCTPIW_VERBS_FAULTS_ASYNC_H
#define SCTPIW_VERBS_FAULTS_ASYNC_H

#include "faults/fault_rule.h"

struct shard;

/*
 * Performs `raise` or `overrun` on the object that attrs select. If attrs select no object,
 * performs it on all objects of the kind. Needs the shard lock.
 */
void faults_raise(struct shard *s, const struct fault_action *a, const struct fault_attrs *attrs);

#endif
