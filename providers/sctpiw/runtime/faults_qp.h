/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of queue pairs and of their peers (docs/faults.md): `fail qp`, `terminate`, `rnr`, `freeze
 * qp`, `lose session`, `freeze peer`, `kill peer`. A time or a packet triggers these actions.
 */
#ifndef SCTPIW_RUNTIME_FAULTS_QP_H
#define SCTPIW_RUNTIME_FAULTS_QP_H

#include "runtime/faults.h"

struct iw_qp;

/* For faults_start(). It also installs net/faults_net.h, which performs faults of packets. */
extern struct fault_injector faults_qp;

/*
 * Makes all packets pass through net/faults_net.h, for actions that are performed on packets.
 * Further calls have no effect. Needs the shard lock.
 */
void faults_qp_install_net(struct shard *s);

/*
 * True if the attributes select this QP. They come from a timed rule, a packet or a completion.
 * Needs the shard lock.
 */
bool faults_qp_is_meant(const struct shard *s, const struct iw_qp *qp,
			const struct fault_attrs *attrs);

/* Performs the action on this QP. Returns false if it is no action on QPs. Needs the shard lock. */
bool faults_qp_do(struct shard *s, struct iw_qp *qp, const struct fault_action *a);

#endif
