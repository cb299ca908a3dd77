/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of queue pairs and of their peers (docs/faults.md): `fail qp`, `terminate`, `rnr`, `freeze qp`,
 * `lose session`, `freeze peer`, `kill peer`. They happen at a time or at a packet.
 */
#ifndef SCTPIW_RUNTIME_FAULTS_QP_H
#define SCTPIW_RUNTIME_FAULTS_QP_H

#include "runtime/faults.h"

struct iw_qp;

/* For faults.c; also that of packets, which are in front of the carrier of net/faults_net.h. */
extern struct fault_injector faults_qp;

/* Stands in front of the carrier from now on, for what acts by packets. Another call does nothing more. Shard lock. */
void faults_qp_install_net(struct shard *s);

/* Whether a rule of time, or what is known of a packet or a completion, is about this queue pair. Shard lock. */
bool faults_qp_is_meant(const struct shard *s, const struct iw_qp *qp,
			const struct fault_attrs *attrs);

/* Does what the action says to this queue pair. False: it is no action of queue pairs. Shard lock. */
bool faults_qp_do(struct shard *s, struct iw_qp *qp, const struct fault_action *a);

#endif
