/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of memory (docs/faults.md): the order in which the bytes of a segment are written to the
 * application's memory. faults_placement.c replaces iw_rnic_ops.place. All bytes are in place
 * before the message completes.
 */
#ifndef SCTPIW_RUNTIME_FAULTS_PLACEMENT_H
#define SCTPIW_RUNTIME_FAULTS_PLACEMENT_H

#include "runtime/faults.h"

/* For faults.c. */
extern struct fault_injector faults_placement;

#endif
