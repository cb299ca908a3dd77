/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Limits of the device that rules have lowered (docs/faults.md). */
#ifndef SCTPIW_VERBS_FAULTS_LIMITS_H
#define SCTPIW_VERBS_FAULTS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/pabi.h"

struct sctpiw_context;

/* The limits, in the order of FAULT_NAME(LIMIT). */
enum fault_limit {
	LIMIT_MAX_QP,
	LIMIT_MAX_QP_WR,
	LIMIT_MAX_SGE,
	LIMIT_MAX_SGE_RD,
	LIMIT_MAX_CQ,
	LIMIT_MAX_CQE,
	LIMIT_MAX_MR,
	LIMIT_MAX_MR_SIZE,
	LIMIT_MAX_PD,
	LIMIT_MAX_QP_RD_ATOM,
	LIMIT_MAX_QP_INIT_RD_ATOM,
	LIMIT_MAX_MW,
	LIMIT_MAX_SRQ,
	LIMIT_MAX_SRQ_WR,
	LIMIT_MAX_SRQ_SGE,
	LIMIT_MAX_AH,
	LIMIT_MAX_INLINE_DATA,
};

/*
 * True if the value exceeds a limit that a rule has lowered. The rule then counts as triggered. The
 * caller may hold any lock.
 */
bool faults_exceeds(struct sctpiw_context *ctx, enum fault_limit which, uint64_t value);
/* Returns the lowered limit, or UINT64_MAX if no rule has lowered it. */
uint64_t faults_device_limit(struct sctpiw_context *ctx, enum fault_limit which);
/* True if one more object would exceed this limit (max_qp, max_cq ...). The caller has no lock. */
bool faults_exceeds_count(struct sctpiw_context *ctx, enum fault_limit which);
/* Adds `more` to the number of address handles. A counter is needed since no list contains them. */
void faults_count_ah(int more);
/* Lowers the limits in *attr, the result of ibv_query_device_ex(). */
void faults_lower(struct sctpiw_context *ctx, struct ibv_device_attr *attr);
/* True if a QP with these capabilities exceeds a limit. */
bool faults_exceeds_cap(struct sctpiw_context *ctx, const struct ibv_qp_cap *cap, bool has_srq);

#endif
