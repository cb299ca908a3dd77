/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asynchronous events on demand (docs/faults.md): `raise`, on the contexts and objects of this process. Where an event
 * says that something has ended, it has.
 */
#ifndef SCTPIW_VERBS_FAULTS_ASYNC_H
#define SCTPIW_VERBS_FAULTS_ASYNC_H

#include "faults/fault_rule.h"

struct shard;

/*
 * Does what `raise` or `overrun` says: to the object that attrs names; to all of their kind if it names none. Shard
 * lock.
 */
void faults_raise(struct shard *s, const struct fault_action *a, const struct fault_attrs *attrs);

#endif
