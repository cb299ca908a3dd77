/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: config */
/* Key files: valid ones, and the errors for others. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/config_keys.h"
#include "fixture/written.h"

#define KEY_A "00112233445566778899aabbccddeeff"
#define KEY_B "FFEEDDCCBBAA99887766554433221100"

static struct config_keys keys;
static struct config_error err;

static bool parse(const char *text)
{
	memset(&err, 0, sizeof(err));
	return config_keys_parse("keys", text, strlen(text), &keys, &err);
}

static void test_taken(void **state)
{
	static const uint8_t b[] = { 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88 };

	assert_true(
		parse("# of this cluster\n\n  \t\nlab " KEY_A "\r\n\tnew\t \t" KEY_B KEY_B "  "));
	assert_int_equal(keys.n, 2);
	assert_string_equal(keys.key[0].identity, "lab");
	assert_int_equal(keys.key[0].len, 16);
	assert_int_equal(keys.key[0].bytes[15], 0xff);
	assert_string_equal(keys.key[1].identity, "new");
	assert_int_equal(keys.key[1].len, 32);
	assert_memory_equal(keys.key[1].bytes, b, sizeof(b));
}

static void refused(const char *text, const char *why)
{
	assert_false(parse(text));
	assert_non_null(strstr(err.text, why));
	/* No part of a key may get into a log. */
	assert_null(strstr(err.text, "00112233"));
	assert_int_equal(keys.n, 0);
	assert_int_equal(keys.key[0].bytes[1], 0);
}

static void test_refused(void **state)
{
	char long_name[80], many[2048] = "";

	refused("", "there is no key; 'sctpiw keygen'");
	refused("# nothing\n", "there is no key");
	refused("lab\n", "keys:1: a line is an identity");
	refused("\nlab 0011\n", "keys:2: a key has 32 to 128");
	refused("lab " KEY_A "0\n", "an even number");
	refused("lab " KEY_A KEY_A KEY_A KEY_A "00\n", "32 to 128");
	refused("lab 0011223344556677889900112233445g\n", "no other characters");
	refused("lab " KEY_A " " KEY_A "\n", "an even number");
	refused("lab " KEY_A "\nlab " KEY_B "\n", "keys:2: an earlier line");
	refused("l\xc3\xa4"
		"b " KEY_A "\n",
		"printable ASCII");
	memset(long_name, 'x', 65);
	strcpy(long_name + 65, " 0011");
	refused(long_name, "64 characters");
	for (unsigned int i = 0; i < 17; i++)
		sprintf(many + strlen(many), "k%u " KEY_A "\n", i);
	refused(many, "keys:17: a file has 16 keys");
	assert_false(config_keys_parse("keys", "l\0b " KEY_A, 36, &keys, &err));
	assert_non_null(strstr(err.text, "no text"));
}

static void test_file(void **state)
{
	char dir[] = "/tmp/keysXXXXXX", path[64];
	static char big[65537];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/key", dir);
	assert_false(config_keys_read(path, &keys, &err));
	assert_non_null(strstr(err.text, "No such file"));
	write_with_mode(path, "lab " KEY_A "\n", 0600);
	assert_true(config_keys_read(path, &keys, &err));
	assert_int_equal(keys.n, 1);
	for (mode_t bit = 1; bit < 0100; bit <<= 1) {
		assert_int_equal(chmod(path, 0600 | bit), 0);
		assert_false(config_keys_read(path, &keys, &err));
		assert_non_null(strstr(err.text, "chmod 600"));
	}
	assert_int_equal(chmod(path, 0600), 0);
	/* Every user accepts a key file of root, and no key file of another user. */
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 0), 0);
		assert_false(config_keys_read(path, &keys, &err));
		assert_non_null(strstr(err.text, "another user"));
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(config_keys_read(path, &keys, &err));
	assert_non_null(strstr(err.text, "a regular file"));
	unlink(path);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_false(config_keys_read(path, &keys, &err));
	assert_non_null(strstr(err.text, "a regular file"));
	unlink(path);
	memset(big, 'x', sizeof(big) - 1);
	write_with_mode(path, big, 0600);
	assert_false(config_keys_read(path, &keys, &err));
	assert_non_null(strstr(err.text, "64 KiB"));
	unlink(path);
	rmdir(dir);
}

static bool finish(struct config_builder *b)
{
	memset(&err, 0, sizeof(err));
	return config_finish(b, &err);
}

static void test_settings(void **state)
{
	struct config_builder *b = malloc(sizeof(*b));

	config_init(b);
	assert_true(config_set(b, "file:1", "key-optional", "yes", &err));
	assert_false(finish(b));
	assert_non_null(strstr(err.text, "file:1: key-optional needs a key or a certificate"));
	assert_true(config_set(b, "file:2", "key", "/some/key", &err));
	assert_true(finish(b));
	assert_string_equal(b->config.key, "/some/key");
	assert_true(b->config.key_optional);
	for (unsigned int i = 0; i < 2; i++) {
		config_init(b);
		assert_true(config_set(b, "file:2", "key", "/some/key", &err));
		assert_true(config_set(b, "file:3", "llp", i ? "kernel" : "ip", &err));
		assert_false(finish(b));
		assert_non_null(strstr(err.text, "file:2: key does not go with llp = "));
		assert_non_null(strstr(err.text, "take llp = udp"));
	}
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
