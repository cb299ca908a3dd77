/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: config */
/* The settings of faults: values that name a file, and the place of a mistake. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/config_faults.h"
#include "fixture/written.h"

/* The value has the rules, or names their file. An error has its line in the value or file. */
static void faults(void **state)
{
	char path[] = "/tmp/sctpiw-faults-XXXXXX", text[128];
	int fd = mkstemp(path);
	struct config_builder b;
	struct config_error err;
	struct config c;

	assert_true(fd >= 0);
	close(fd);
	setenv("SCTPIW_CONFIG", "/dev/null", 1);
	config_init(&b);
	assert_true(config_set(&b, "X", "fault-seed", "999999999999999", &err));
	assert_false(config_set(&b, "X", "fault-seed", "0", &err));
	assert_false(config_set(&b, "X", "fault-seed", "1000000000000000", &err));
	assert_false(config_set(&b, "X", "faults", "", &err));
	assert_false(config_faults_is_file("packets: drop"));
	assert_false(config_faults_is_file("fail qp"));
	assert_true(config_faults_is_file("rules"));
	assert_true(config_faults_is_file("./my rules"));
	assert_true(config_faults_is_file("/my rules"));

	setenv("SCTPIW_FAULTS", "packets: drop; reg_mr: drop", 1);
	assert_false(config_load(&c, NULL, &err));
	assert_memory_equal(err.text, "SCTPIW_FAULTS:1:24: drop cannot be done to reg_mr", 49);
	setenv("SCTPIW_FAULTS", path, 1);
	write_file(path, "# rules\n\nreg_mr: fail with EIO\n");
	assert_true(config_load(&c, NULL, &err));
	assert_string_equal(c.faults, path);
	write_file(path, "# rules\n\nreg_mr: fail with MONEY\n");
	assert_false(config_load(&c, NULL, &err));
	snprintf(text, sizeof(text), "%s:3:19: MONEY is no errno", path);
	assert_memory_equal(err.text, text, strlen(text));
	unlink(path);
	assert_false(config_load(&c, NULL, &err));
	snprintf(text, sizeof(text), "%s: No such file or directory", path);
	assert_string_equal(err.text, text);
	unsetenv("SCTPIW_FAULTS");
	unsetenv("SCTPIW_CONFIG");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(faults) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
