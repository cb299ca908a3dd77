/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of rdma_cm (docs/faults.md): functions in front of those of the table of rnic_api.h, by which librdmacm's
 * commands come (faults_cm_calls.c), and of conn_ops.events, by which its events go (faults_cm.c).
 */
#ifndef SCTPIW_RUNTIME_FAULTS_CM_H
#define SCTPIW_RUNTIME_FAULTS_CM_H

#include "runtime/faults.h"

struct cm_id;

/* For faults_start(). */
extern struct fault_injector faults_cm;

/* What a rule may select a call or an event of this id by. Shard lock. */
struct fault_attrs faults_cm_attrs(const struct cm_id *id);
/* Puts the functions into the table. */
void faults_cm_calls_install(void);

#endif
