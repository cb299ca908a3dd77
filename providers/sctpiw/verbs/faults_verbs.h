/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of verbs and completions (docs/faults.md): operations in front of those of verbs/context.c.
 */
#ifndef SCTPIW_VERBS_FAULTS_VERBS_H
#define SCTPIW_VERBS_FAULTS_VERBS_H

#include <stdbool.h>

struct sctpiw_context;
struct verbs_context_ops;

/*
 * To be called when a device is opened, with the operations that contexts have without faults: makes the injector
 * known, and gives the context its operations. False as pabi_set_ops().
 */
bool faults_verbs_open(struct sctpiw_context *ctx, const struct verbs_context_ops *plain);
/* The context is closed. sctpiw_lock(). */
void faults_verbs_close(struct sctpiw_context *ctx);
/* In the child of a fork(): the contexts that are open are the parent's, and have no faults any more. */
void faults_verbs_forget(void);

#endif
