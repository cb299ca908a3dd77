/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The setting `faults`. Its value is either the text of rules, or the name of a file with rules
 * (docs/faults.md).
 */
#ifndef SCTPIW_CONFIG_CONFIG_FAULTS_H
#define SCTPIW_CONFIG_CONFIG_FAULTS_H

#include <stdbool.h>

struct config;
struct config_builder;
struct config_error;
struct fault_rule;

/* True if the value is a file name: it contains no blank, or begins with a slash or a dot. */
bool config_faults_is_file(const char *value);
/* Parses the rules. Returns false if this fails, and sets err to the first mistake. */
bool config_faults_check(const struct config_builder *b, struct config_error *err);
/*
 * Reads the rules of the setting, and calls take() for each rule. take() may return false to stop.
 * Returns false if a rule is wrong, and sets err to the mistake. take() was then already called for
 * the rules before the wrong rule.
 */
bool config_faults_read(const struct config *config,
			bool (*take)(void *ctx, const struct fault_rule *rule), void *ctx,
			struct config_error *err);

#endif
