/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"
#include "sys/sys.h"

#define BLANKS " \t"
#define FILE_SIZE 65536 /* bytes of a file, at most */

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

/* What is wrong with the digits of a key; NULL: nothing. */
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

/* Takes a line without blanks at its ends. Returns what is wrong with it; NULL: nothing. */
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

/* The length of a line without blanks at its ends; *line moves behind those at its beginning. */
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

/* Whether that file can have keys that nobody else knows, or has put there. */
static bool is_private(const char *path, int fd, struct config_error *err)
{
	struct stat st;
	int ret = sys_stat_fd(fd, &st);

	if (ret)
		snprintf(err->text, sizeof(err->text), "key = %.200s: %s", path, strerror(-ret));
	else if (!S_ISREG(st.st_mode))
		snprintf(err->text, sizeof(err->text),
			 "key = %.200s: keys are in a regular file, since every process reads it",
			 path);
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		snprintf(err->text, sizeof(err->text),
			 "key = %.200s: others than its owner may use that file: chmod 600 %.200s",
			 path, path);
	else if (st.st_uid && st.st_uid != sys_uid())
		snprintf(err->text, sizeof(err->text),
			 "key = %.200s: that file belongs to another user, who knows the keys",
			 path);
	else
		return true;
	return false;
}

/* Reads up to FILE_SIZE bytes. Returns how many they are, or -errno. */
static ssize_t read_text(int fd, char *text)
{
	ssize_t len = 0, n = 1;

	while (n > 0 && len < FILE_SIZE) {
		n = sys_read(fd, text + len, (size_t)(FILE_SIZE - len));
		if (n > 0)
			len += n;
	}
	return n < 0 ? n : len;
}

static bool read_keys(const char *path, int fd, struct config_keys *keys, struct config_error *err)
{
	char *text = malloc(FILE_SIZE);
	ssize_t len = text ? read_text(fd, text) : -ENOMEM;
	bool ok = false;

	if (len < 0)
		snprintf(err->text, sizeof(err->text), "key = %.200s: %s", path,
			 strerror((int)-len));
	else if (len == FILE_SIZE)
		snprintf(err->text, sizeof(err->text),
			 "key = %.200s: 64 KiB or longer: that is no file of keys", path);
	else
		ok = config_keys_parse(path, text, (size_t)len, keys, err);
	if (text)
		explicit_bzero(text, FILE_SIZE);
	free(text);
	return ok;
}

/* The file that is read is the one that was looked at: both are done with one descriptor. */
bool config_keys_read(const char *path, struct config_keys *keys, struct config_error *err)
{
	/* Without O_NONBLOCK, opening a pipe would wait for its other end. */
	int fd = sys_open(path, O_RDONLY | O_NONBLOCK);
	bool ok;

	memset(keys, 0, sizeof(*keys));
	if (fd < 0) {
		snprintf(err->text, sizeof(err->text), "%.300s: %s", path, strerror(-fd));
		return false;
	}
	ok = is_private(path, fd, err) && read_keys(path, fd, keys, err);
	sys_close(fd);
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
