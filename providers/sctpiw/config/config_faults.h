/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The setting faults: rules as text, or the name of a file with rules (docs/faults.md). */
#ifndef SCTPIW_CONFIG_CONFIG_FAULTS_H
#define SCTPIW_CONFIG_CONFIG_FAULTS_H

#include <stdbool.h>

struct config;
struct config_builder;
struct config_error;
struct fault_rule;

/* True if a value names a file: it has no blank, or begins with / or a dot. */
bool config_faults_is_file(const char *value);
/* Checks that the rules can be parsed. Returns false with the first mistake in err. */
bool config_faults_check(const struct config_builder *b, struct config_error *err);
/*
 * Reads the rules of the setting, and calls take() for each. take() returns false to stop. Returns
 * false with the mistake in err; take() may have got earlier rules.
 */
bool config_faults_read(const struct config *config,
			bool (*take)(void *ctx, const struct fault_rule *rule), void *ctx,
			struct config_error *err);

#endif
