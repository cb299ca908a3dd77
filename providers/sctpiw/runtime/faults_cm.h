/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of rdma_cm (docs/faults.md): functions in front of those of the table of rnic_api.h, by which librdmacm's
 * commands come, and of conn_ops.events.post, by which its events go.
 */
#ifndef SCTPIW_RUNTIME_FAULTS_CM_H
#define SCTPIW_RUNTIME_FAULTS_CM_H

#include "runtime/faults.h"

/* For faults_register(). */
extern struct fault_injector faults_cm;

#endif
