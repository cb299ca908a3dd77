/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: config */
/* The settings cert, cert-key and ca: which go together, and the errors for wrong files. */
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
#include "config/config_certs.h"
#include "fixture/written.h"

#define CERT "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
#define KEY "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"
#define SEALED "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"

static const char *const names[] = { "cert", "cert-key", "ca" };

static struct config_builder *b;
static struct config_error err;

static bool set(const char *name, const char *value)
{
	return config_set(b, "file:1", name, value, &err);
}

static void not_finished(const char *why)
{
	assert_false(config_finish(b, &err));
	assert_non_null(strstr(err.text, why));
	config_init(b);
}

static void test_together(void **state)
{
	/* Each incomplete subset of the three settings. */
	for (unsigned int parts = 1; parts < 7; parts++) {
		for (unsigned int i = 0; i < 3; i++)
			assert_true(!(parts >> i & 1) || set(names[i], "/some/file"));
		not_finished("cert, cert-key and ca go together");
	}
	assert_true(set("cert", "/some/file"));
	not_finished("file:1: cert needs cert-key, too");
	assert_true(set("ca", "/some/file"));
	not_finished("file:1: ca needs cert, too");
	assert_true(set("cert-names", "any"));
	not_finished("cert-names needs a certificate");
	assert_false(set("cert-names", "none"));
	assert_false(config_is_sealed(&b->config));
	for (unsigned int i = 0; i < 3; i++)
		assert_true(set(names[i], "/some/file"));
	assert_true(set("cert-names", "any"));
	assert_true(set("key-optional", "yes"));
	assert_true(config_finish(b, &err));
	assert_true(config_is_sealed(&b->config) && b->config.any_name);
	assert_true(set("llp", "ip"));
	assert_true(set("encap-port", "none"));
	not_finished("file:1: cert does not go with llp = ip");
}

static void not_read(const char *why)
{
	struct config_certs certs;

	assert_false(config_certs_read(&b->config, &certs, &err));
	assert_non_null(strstr(err.text, why));
	assert_null(certs.cert);
	assert_null(certs.key);
	assert_null(certs.ca);
	assert_false(config_certs_check(b, &err));
}

static void test_files(void **state)
{
	char dir[] = "/tmp/certsXXXXXX", path[3][64];
	struct config_certs certs;

	config_init(b);
	assert_true(config_certs_check(b, &err));
	assert_non_null(mkdtemp(dir));
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%s", dir, names[i]);
		assert_true(set(names[i], path[i]));
		not_read("No such file");
		write_with_mode(path[i], i == 1 ? KEY : CERT, i == 1 ? 0600 : 0644);
	}
	assert_true(config_certs_read(&b->config, &certs, &err));
	assert_int_equal(certs.key_len, strlen(KEY));
	assert_memory_equal(certs.ca, CERT, strlen(CERT));
	config_certs_forget(&certs);
	assert_true(config_certs_check(b, &err));
	for (mode_t bit = 1; bit < 0100; bit <<= 1) {
		assert_int_equal(chmod(path[1], 0600 | bit), 0);
		not_read("chmod 600");
	}
	assert_int_equal(chmod(path[1], 0600), 0);
	write_with_mode(path[1], SEALED, 0600);
	not_read("that key has a password");
	write_with_mode(path[1], CERT, 0600);
	not_read("PRIVATE KEY");
	write_with_mode(path[1], KEY, 0600);
	write_with_mode(path[0], KEY, 0600);
	not_read("cert = ");
	write_with_mode(path[0], CERT, 0600);
	write_with_mode(path[2], "nothing", 0600);
	not_read("ca = ");
	for (unsigned int i = 0; i < 3; i++)
		unlink(path[i]);
	rmdir(dir);
}

static int setup(void **state)
{
	b = malloc(sizeof(*b));
	config_init(b);
	return 0;
}

static int teardown(void **state)
{
	free(b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_together, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
