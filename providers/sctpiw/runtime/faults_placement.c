/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/faults_placement.h"

#include <stdatomic.h>

#include "iwarp/iwarp.h"
#include "net/memory.h"
#include "runtime/rnic.h"
#include "runtime/shard.h"
#include "sys/sys.h"

#define MOMENT 1000u /* ns. Default pause between the pieces of a placement */
#define WORD sizeof(uint64_t)

/* static, since struct iw_rnic_ops has no context argument, and a process has only one RNIC. */
static struct faults *faults;

/*
 * Places the bytes [from, to). On any processor, pieces become visible in the order of the calls.
 */
static int place_piece(uint8_t *dst, const uint8_t *src, size_t from, size_t to)
{
	int ret = memory_copy(dst + from, src + from, to - from);

	atomic_thread_fence(memory_order_seq_cst);
	return ret;
}

/* Busy-waits, since a sleep would take longer than most of these times. */
static void wait_moment(uint64_t ns)
{
	uint64_t until = sys_now() + ns;

	while (sys_now() < until)
		;
}

static int reverse(uint8_t *dst, const uint8_t *src, size_t len)
{
	int ret = 0;

	for (size_t i = len; i && !ret; i--)
		ret = place_piece(dst, src, i - 1, i);
	return ret;
}

static int last_first(uint8_t *dst, const uint8_t *src, size_t len, uint64_t ns)
{
	int ret = place_piece(dst, src, len - 1, len);

	if (ret || len == 1)
		return ret;
	wait_moment(ns);
	return place_piece(dst, src, 0, len - 1);
}

/* Places the bytes, and pauses for ns in the middle of the first aligned word. */
static int tear(uint8_t *dst, const uint8_t *src, size_t len, uint64_t ns)
{
	size_t at = (WORD - (uintptr_t)dst % WORD) % WORD;
	int ret;

	if (at + WORD > len)
		return memory_copy(dst, src, len);
	ret = place_piece(dst, src, 0, at + WORD / 2);
	if (ret)
		return ret;
	wait_moment(ns);
	return place_piece(dst, src, at + WORD / 2, len);
}

static uint64_t moment(const struct fault_action *a, unsigned int arg)
{
	return fault_given(a, arg) ? a->arg[arg] : MOMENT;
}

/* Replaces memory_copy() as iw_rnic_ops.place. */
static int place(void *dst, const void *src, size_t len)
{
	const struct fault_attrs attrs = { .bytes = len };
	struct fault_action a;

	if (!len || !faults_ask(faults, FAULT_SITE_placement, &attrs, &a))
		return memory_copy(dst, src, len);
	switch (a.id) {
	case FAULT_DO_reverse:
		return reverse(dst, src, len);
	case FAULT_DO_last_first:
		return last_first(dst, src, len, moment(&a, fault_last_first_time));
	case FAULT_DO_tear:
		return tear(dst, src, len, moment(&a, fault_tear_time));
	default:
		return memory_copy(dst, src, len);
	}
}

static void install(struct fault_injector *self, struct shard *s)
{
	faults = &s->rnic->faults;
	iw_rnic_set_place(s->rnic->iw, place);
}

struct fault_injector faults_placement = {
	.does = { [FAULT_CLASS_NUMBER_PLACEMENT] = 1ull << FAULT_DO_reverse |
						   1ull << FAULT_DO_last_first |
						   1ull << FAULT_DO_tear },
	.install = install,
};
