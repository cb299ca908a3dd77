/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program with AddressSanitizer, on a device without a sanitizer. The program starts. At its end,
 * memory that only the device's objects reference is no leak.
 */
#include "fixture.h"

static struct ibv_qp *qp;

static __attribute__((noinline)) void make_qp(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(open_device());
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };

	CHECK(pd);
	attr.qp_context = malloc(77);
	attr.send_cq = attr.recv_cq = ibv_create_cq(pd->context, 2, NULL, NULL, 0);
	CHECK(attr.send_cq);
	qp = ibv_create_qp(pd, &attr);
	CHECK(qp);
}

int main(void)
{
	make_qp();
	return 0;
}
