/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The setting key: a file of keys that two hosts share (docs/security.md). A line is an identity, a
 * blank, and the key in hexadecimal digits. Lines that begin with # are comments. When this process
 * connects, it uses the first line's identity. From peers that connect, it accepts all.
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
	unsigned int n; /* at least 1 after reading */
	struct config_key {
		char identity[CONFIG_IDENTITY_MAX + 1];
		size_t len; /* bytes of the key */
		uint8_t bytes[CONFIG_KEY_MAX];
	} key[CONFIG_KEYS_MAX];
};

/*
 * Parses the text of a key file. Returns false with the line and reason in err, which has no part
 * of a key. path: name of the file.
 */
bool config_keys_parse(const char *path, const char *text, size_t len, struct config_keys *keys,
		       struct config_error *err);
/*
 * Reads a key file. Returns false with reason and remedy in err. Refuses a file that the group or
 * others may use.
 */
bool config_keys_read(const char *path, struct config_keys *keys, struct config_error *err);
/* True if the setting's file is usable, or not set. Otherwise err has the reason. */
bool config_keys_check(const struct config_builder *b, struct config_error *err);
/* Overwrites the keys. */
void config_keys_forget(struct config_keys *keys);

#endif
