/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The setting faults: rules as text, or the name of a file that has them (docs/faults.md). */
#ifndef SCTPIW_CONFIG_CONFIG_FAULTS_H
#define SCTPIW_CONFIG_CONFIG_FAULTS_H

#include <stdbool.h>

struct config;
struct config_builder;
struct config_error;
struct fault_rule;

/* Whether a value names a file: it has no blank, or begins with / or a dot. */
bool config_faults_is_file(const char *value);
/* Reads the rules only to see whether they can be understood. false: err says where the first mistake is. */
bool config_faults_check(const struct config_builder *b, struct config_error *err);
/*
 * Reads the rules of the setting, and gives each to take(), which returns false to end that. false: err says what is
 * wrong with the text; take() may have had some of the rules.
 */
bool config_faults_read(const struct config *config,
			bool (*take)(void *ctx, const struct fault_rule *rule), void *ctx,
			struct config_error *err);

#endif
