/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A QP connected out of band with more outstanding Reads than its peer accepts works here, but
 * would fail on other devices. A line at level info warns of this.
 */
#define _GNU_SOURCE
#include "out_of_band.h"

#include <sys/mman.h>
#include <unistd.h>

/*
 * Connects two QPs. Both accept 4 Reads, and one may have ord Reads outstanding. Returns true if
 * the line was written.
 */
static bool is_said(uint8_t ord)
{
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .rnr_retry = 7, .max_rd_atomic = ord
	};
	int said = memfd_create("stderr", MFD_CLOEXEC), real = dup(STDERR_FILENO);
	char text[8192] = "";
	struct where to_a, to_b;
	struct side a, b;

	CHECK(said >= 0 && real >= 0);
	open_pair(&a, &b);
	to_a = where_is(&a);
	to_b = where_is(&b);
	CHECK_EQ(dup2(said, STDERR_FILENO), STDERR_FILENO);
	CHECK_EQ(to_init(&a), 0);
	CHECK_EQ(to_init(&b), 0);
	CHECK_EQ(to_rtr(&a, &to_b), 0);
	CHECK_EQ(to_rtr(&b, &to_a), 0);
	CHECK_EQ(ibv_modify_qp(a.qp, &rts, RTS_MASK), 0);
	CHECK_EQ(to_rts(&b), 0);
	exchange(&a, &b, 1);
	CHECK_EQ(dup2(real, STDERR_FILENO), STDERR_FILENO);
	CHECK(pread(said, text, sizeof(text) - 1, 0) >= 0);
	close(said);
	close(real);
	close_pair(&a, &b);
	return strstr(text, "max_rd_atomic is 16") && strstr(text, "max_dest_rd_atomic 4");
}

static void test_said(void)
{
	CHECK_EQ(setenv("SCTPIW_LOG", "info", 1), 0);
	oob_open();
	CHECK(!is_said(4));
	CHECK(is_said(16));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { { "said", test_said } };

	return RUN_TESTS(argc, argv, tests);
}
