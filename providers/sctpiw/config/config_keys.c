/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config_keys.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/config_private.h"

#define BLANKS " \t"

void config_keys_forget(struct config_keys *keys)
{
	explicit_bzero(keys, sizeof(*keys));
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Converts the hexadecimal digits of a key. Returns NULL, or the text of an error. */
static const char *take_digits(const char *hex, size_t len, struct config_key *key)
{
	if (len % 2 || len < 2 * CONFIG_KEY_MIN || len > 2 * CONFIG_KEY_MAX)
		return "a key has 32 to 128 hexadecimal digits, an even number of them";
	for (size_t i = 0; i < len / 2; i++) {
		int hi = digit(hex[2 * i]), lo = digit(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return "a key has no other characters than 0 to 9 and a to f";
		key->bytes[i] = (uint8_t)(hi << 4 | lo);
	}
	key->len = len / 2;
	return NULL;
}

/*
 * Parses a line that neither begins nor ends with a blank. Returns NULL, or the text of an error.
 */
static const char *take_line(const char *line, size_t len, struct config_keys *keys)
{
	struct config_key *key = &keys->key[keys->n];
	size_t name = 0, hex;

	if (keys->n == CONFIG_KEYS_MAX)
		return "a file has 16 keys at most";
	while (name < len && !strchr(BLANKS, line[name])) {
		if (line[name] < ' ' || line[name] > '~')
			return "an identity has printable ASCII characters alone";
		name++;
	}
	if (name == len)
		return "a line is an identity, a blank, and the key";
	if (name > CONFIG_IDENTITY_MAX)
		return "an identity has 64 characters at most";
	for (hex = name; strchr(BLANKS, line[hex]);)
		hex++;
	memcpy(key->identity, line, name);
	key->identity[name] = 0;
	for (unsigned int i = 0; i < keys->n; i++)
		if (!strcmp(keys->key[i].identity, key->identity))
			return "an earlier line has this identity";
	return take_digits(line + hex, len - hex, key);
}

/*
 * Removes the blanks at both ends of a line. Sets *line to the new beginning, and returns the new
 * length.
 */
static size_t trim(const char **line, size_t len)
{
	while (len && (strchr(BLANKS "\r", (*line)[len - 1]) && (*line)[len - 1]))
		len--;
	while (len && **line && strchr(BLANKS, **line)) {
		(*line)++;
		len--;
	}
	return len;
}

bool config_keys_parse(const char *path, const char *text, size_t len, struct config_keys *keys,
		       struct config_error *err)
{
	const char *why = NULL;
	unsigned int number = 0;

	memset(keys, 0, sizeof(*keys));
	for (const char *next, *end = text + len; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = trim(&text, (size_t)((newline ? newline : end) - text));

		next = newline ? newline + 1 : end;
		number++;
		if (!n || *text == '#')
			continue;
		why = memchr(text, 0, n) ? "this is no text" : take_line(text, n, keys);
		if (why)
			break;
		keys->n++;
	}
	if (why)
		snprintf(err->text, sizeof(err->text), "%.300s:%u: %s", path, number, why);
	else if (!keys->n)
		snprintf(err->text, sizeof(err->text),
			 "%.300s: there is no key; 'sctpiw keygen' writes a file with one", path);
	if (!why && keys->n)
		return true;
	config_keys_forget(keys);
	return false;
}

bool config_keys_read(const char *path, struct config_keys *keys, struct config_error *err)
{
	size_t len;
	char *text = config_private_read("key", path, &len, err);
	bool ok = text && config_keys_parse(path, text, len, keys, err);

	config_private_free(text);
	if (!ok)
		config_keys_forget(keys);
	return ok;
}

bool config_keys_check(const struct config_builder *b, struct config_error *err)
{
	struct config_keys keys;
	bool ok = true;

	if (*b->config.key) {
		ok = config_keys_read(b->config.key, &keys, err);
		config_keys_forget(&keys);
	}
	return ok;
}
