/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asynchronous events on demand (docs/faults.md): `raise`, for the contexts and objects of this
 * process. If an event reports an end, this end takes place.
 */
#ifndef SCTPIW_VERBS_FAULTS_ASYNC_H
#define SCTPIW_VERBS_FAULTS_ASYNC_H

#include "faults/fault_rule.h"

struct shard;

/*
 * Performs `raise` or `overrun` on the object that attrs name, or on all objects of the kind if
 * they name none. Needs the shard lock.
 */
void faults_raise(struct shard *s, const struct fault_action *a, const struct fault_attrs *attrs);

#endif
