/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The setting key: a file of keys that two hosts have in common (docs/security.md). A line is an identity, a blank,
 * and the key as hexadecimal digits; lines that begin with # are comments. This side asks others by the first line's
 * identity, and accepts all of them from those who ask.
 */
#ifndef SCTPIW_CONFIG_CONFIG_KEYS_H
#define SCTPIW_CONFIG_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_KEYS_MAX 16
#define CONFIG_IDENTITY_MAX 64 /* bytes of an identity */
#define CONFIG_KEY_MIN 16      /* bytes */
#define CONFIG_KEY_MAX 64

struct config_builder;
struct config_error;

struct config_keys {
	unsigned int n; /* at least 1 once they are read */
	struct config_key {
		char identity[CONFIG_IDENTITY_MAX + 1];
		size_t len; /* bytes of the key */
		uint8_t bytes[CONFIG_KEY_MAX];
	} key[CONFIG_KEYS_MAX];
};

/* Takes the text of a key file of that name. false: err says which line is wrong, and nothing of any key. */
bool config_keys_parse(const char *path, const char *text, size_t len, struct config_keys *keys,
		       struct config_error *err);
/*
 * Reads a key file. false: err says why, and the remedy; one that the group or others may read is refused.
 */
bool config_keys_read(const char *path, struct config_keys *keys, struct config_error *err);
/* Whether the file of the setting can be used, if there is one. false: err says why not. */
bool config_keys_check(const struct config_builder *b, struct config_error *err);
/* Overwrites them. */
void config_keys_forget(struct config_keys *keys);

#endif
