/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of verbs and completions (docs/faults.md): operations in front of those of verbs/context.c. A context has
 * them from the moment when the first rule of these classes comes into force; with no rule left they pass on what
 * they get.
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
 * To be called when a device is opened, with the operations that contexts have without faults: makes the injector
 * known, and gives the context its operations. 0, EPROTONOSUPPORT as pabi_set_ops() says it, or the errno with which
 * a rule lets open_device fail.
 */
int faults_verbs_open(struct sctpiw_context *ctx, const struct verbs_context_ops *plain);
/* The context is closed. */
void faults_verbs_close(struct sctpiw_context *ctx);
/* In the child of a fork(): the contexts that are open are the parent's, and have no faults any more. */
void faults_verbs_forget(void);

/* The next of all contexts that this process has opened; NULL: the first, or the end. Shard lock. */
struct sctpiw_context *faults_next_context(struct sctpiw_context *ctx);

/* Asks at a site of class VERB: the errno with which the call is to fail, which is in errno then, too; or 0. */
int faults_ask_verb(struct sctpiw_context *ctx, enum fault_site site,
		    const struct fault_attrs *attrs);
/* What a rule may select a call on this object by. */
struct fault_attrs faults_qp_attrs(const struct sctpiw_qp *qp);
struct fault_attrs faults_cq_attrs(const struct sctpiw_cq *cq);
/* The operations without faults. */
extern const struct verbs_context_ops *faults_plain;

#endif
