/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of verbs and completions (docs/faults.md). The functions replace operations of
 * verbs/context.c. A context gets them when the first rule of these classes comes into force. While
 * no rule is in force, they only call the original operations.
 */
#ifndef SCTPIW_VERBS_FAULTS_VERBS_H
#define SCTPIW_VERBS_FAULTS_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/fault_rule.h"

struct fault_attrs;
struct fault_injector;
struct sctpiw_context;
struct sctpiw_cq;
struct sctpiw_qp;
struct verbs_context_ops;

/* For faults_verbs_open(). */
extern struct fault_injector faults_verbs;

/*
 * Call this when a device is opened. plain: the operations for contexts without faults. Registers
 * the injector, and sets the operations of the context. Returns 0, EPROTONOSUPPORT if
 * pabi_set_ops() fails, or the errno with which a rule makes open_device fail.
 */
int faults_verbs_open(struct sctpiw_context *ctx, const struct verbs_context_ops *plain);
void faults_verbs_close(struct sctpiw_context *ctx);
/*
 * Call this in the child of a fork(). The open contexts belong to the parent, and have no more
 * faults in the child.
 */
void faults_verbs_forget(void);

/*
 * Returns the context that this process opened after ctx, or NULL if ctx is the last one. With ctx
 * NULL, returns the first one. Needs the shard lock.
 */
struct sctpiw_context *faults_next_context(struct sctpiw_context *ctx);

/*
 * Checks the rules at a site of class VERB. If the call must fail, sets errno and returns it.
 * Otherwise returns 0.
 */
int faults_ask_verb(struct sctpiw_context *ctx, enum fault_site site,
		    const struct fault_attrs *attrs);
/* Return the attributes of a call on this object, for comparison with the rules. */
struct fault_attrs faults_qp_attrs(const struct sctpiw_qp *qp);
struct fault_attrs faults_cq_attrs(const struct sctpiw_cq *cq);
/* The operations without faults. */
extern const struct verbs_context_ops *faults_plain;

#endif
