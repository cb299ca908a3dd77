/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of rdma_cm (docs/faults.md). faults_cm_calls.c replaces functions of the table of
 * rnic_api.h, which receive librdmacm's commands. faults_cm.c replaces conn_ops.events, which sends
 * events to librdmacm.
 */
#ifndef SCTPIW_RUNTIME_FAULTS_CM_H
#define SCTPIW_RUNTIME_FAULTS_CM_H

#include "runtime/faults.h"

struct cm_id;

/* For faults_start(). */
extern struct fault_injector faults_cm;

/* Returns the attributes of this id, for comparison with the rules. Needs the shard lock. */
struct fault_attrs faults_cm_attrs(const struct cm_id *id);
/* Puts the functions of faults_cm_calls.c into the table. */
void faults_cm_calls_install(void);

#endif
