/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_file.h"
#include "faults/fault_parse.h"

bool config_faults_is_file(const char *value)
{
	return *value == '/' || *value == '.' || !strpbrk(value, " \t\n");
}

/* Reads all rules of a text. origin: source of the text, for error messages. */
static bool read_text(const char *origin, const char *text, size_t len,
		      bool (*take)(void *ctx, const struct fault_rule *rule), void *ctx,
		      struct config_error *err)
{
	struct fault_reader reader;
	struct fault_rule rule;
	struct fault_error why;
	int ret;

	fault_reader_init(&reader, text, len);
	while ((ret = fault_read(&reader, &rule, &why)) > 0) {
		if (!take(ctx, &rule))
			return true;
	}
	if (ret < 0)
		snprintf(err->text, sizeof(err->text), "%.150s:%u:%u: %s", origin, why.line,
			 why.column, why.text);
	return !ret;
}

static bool read_value(const char *origin, const char *value,
		       bool (*take)(void *ctx, const struct fault_rule *rule), void *ctx,
		       struct config_error *err)
{
	size_t len;
	char *text;
	bool ok;

	if (!*value)
		return true;
	if (!config_faults_is_file(value))
		return read_text(origin, value, strlen(value), take, ctx, err);
	text = config_file_read(value, "faults", &len, err);
	ok = text && read_text(value, text, len, take, ctx, err);
	free(text);
	return ok;
}

static bool look(void *ctx, const struct fault_rule *rule)
{
	return true;
}

bool config_faults_check(const struct config_builder *b, struct config_error *err)
{
	return read_value(config_origin(b, "faults"), b->config.faults, look, NULL, err);
}

bool config_faults_read(const struct config *config,
			bool (*take)(void *ctx, const struct fault_rule *rule), void *ctx,
			struct config_error *err)
{
	return read_value("faults", config->faults, take, ctx, err);
}
