/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The file of the setting `key`, with keys that this host shares with its peers (docs/security.md).
 * Each line contains an identity, a blank, and the key in hexadecimal digits. Lines that begin with
 * # are comments. When this process opens an association, it uses the key of the first line. When a
 * peer opens an association, the peer may use any key of the file.
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
	unsigned int n; /* at least 1 after the file was read */
	struct config_key {
		char identity[CONFIG_IDENTITY_MAX + 1];
		size_t len; /* bytes of the key */
		uint8_t bytes[CONFIG_KEY_MAX];
	} key[CONFIG_KEYS_MAX];
};

/*
 * Parses the text of a key file. path: name of the file. After an error, returns false, and sets
 * err to the line and the reason. err contains no part of a key.
 */
bool config_keys_parse(const char *path, const char *text, size_t len, struct config_keys *keys,
		       struct config_error *err);
/*
 * Reads a key file. Refuses a file that other users than its owner may access. After an error,
 * returns false, and sets err to the reason and the remedy.
 */
bool config_keys_read(const char *path, struct config_keys *keys, struct config_error *err);
/*
 * True if the file of the setting is usable, or if the setting is not set. Otherwise sets err to
 * the reason.
 */
bool config_keys_check(const struct config_builder *b, struct config_error *err);
/* Overwrites the keys. */
void config_keys_forget(struct config_keys *keys);

#endif
