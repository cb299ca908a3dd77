/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: verbs */
/*
 * The private ABI: the place of operations in each layout, and the layout of the installed library.
 * test_verbs_pabi_headers is the same program, built with a verbs.h newer than the library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "verbs/pabi.h"

static void fake_op(int i, void (**slot)(void))
{
	uintptr_t value = 0x1000 + i;

	memcpy(slot, &value, sizeof(value));
}

static int op_in(void (*slot)(void))
{
	uintptr_t value;

	memcpy(&value, &slot, sizeof(value));
	return value ? (int)(value - 0x1000) : -1;
}

static void spread(const struct pabi_layout *l, int *where)
{
	void (*ops[PABI_OPS])(void);
	void (*slots[PABI_MAX_OPS])(void);

	for (int i = 0; i < (int)PABI_OPS; i++)
		fake_op(i, &ops[i]);
	pabi_spread_ops(l, (const struct verbs_context_ops *)ops, slots);
	for (int i = 0; i < PABI_MAX_OPS; i++)
		if (op_in(slots[i]) >= 0)
			where[op_in(slots[i])] = i;
	for (int i = PABI_OPS + l->inserted; i < PABI_MAX_OPS; i++)
		assert_int_equal(op_in(slots[i]), -1);
}

#define INDEX(name) (offsetof(struct verbs_context_ops, name) / sizeof(void (*)(void)))

/*
 * Returns the layout whose symbol contains number, with this number of pointers before
 * verbs_context.
 */
static const struct pabi_layout *layout(const char *number, int front)
{
	const struct pabi_layout *l = pabi_layouts;

	while (!strstr(l->register_driver, number) || l->front != front) {
		l++;
		assert_non_null(l->register_driver);
	}
	return l;
}

static void test_order_is_the_alphabet(void **state)
{
	/* Indexes of private ABI 34, counted by hand in its list. */
	assert_int_equal(INDEX(advise_mr), 0);
	assert_int_equal(INDEX(alloc_dm), 1);
	assert_int_equal(INDEX(alloc_mw), 2);
	assert_int_equal(INDEX(alloc_null_mr), 3);
	assert_int_equal(INDEX(alloc_pd), 5);
	assert_int_equal(INDEX(bind_mw), 10);
	assert_int_equal(INDEX(create_cq), 15);
	assert_int_equal(INDEX(dealloc_mw), 25);
	assert_int_equal(INDEX(dealloc_pd), 26);
	assert_int_equal(INDEX(free_context), 39);
	assert_int_equal(INDEX(free_dm), 40);
	assert_int_equal(INDEX(poll_cq), 53);
	assert_int_equal(INDEX(reg_dm_mr), 66);
	assert_int_equal(INDEX(reg_mr), 68);
	assert_int_equal(INDEX(rereg_mr), 70);
	assert_int_equal(INDEX(unimport_pd), 75);
}

static void test_layouts(void **state)
{
	int where[PABI_OPS];

	spread(layout("_34", 40), where);
	for (int i = 0; i < (int)PABI_OPS; i++)
		assert_int_equal(where[i], i);
	spread(layout("_57", 40), where);
	for (int i = 0; i < (int)PABI_OPS; i++)
		assert_int_equal(where[i], i);

	spread(layout("_59", 43), where); /* 79 operations */
	assert_int_equal(where[0], 0);
	assert_int_equal(where[INDEX(alloc_mw)], 3); /* after alloc_dmah */
	assert_int_equal(where[INDEX(alloc_null_mr)], 4);
	assert_int_equal(where[INDEX(bind_mw)], 11);
	assert_int_equal(where[INDEX(dealloc_mw)], 27);
	assert_int_equal(where[INDEX(dealloc_pd)], 28);
	assert_int_equal(where[INDEX(free_dm)], 42);
	assert_int_equal(where[INDEX(reg_dm_mr)], 68);
	assert_int_equal(where[INDEX(rereg_mr)], 73);
	assert_int_equal(where[INDEX(reg_mr)], 70);
	assert_int_equal(where[INDEX(req_notify_cq)], 72); /* after reg_mr_ex */
	assert_int_equal(where[INDEX(unimport_pd)], 78);

	spread(layout("_59", 44), where); /* 81 */
	assert_int_equal(where[INDEX(destroy_wq)], 39);
	assert_int_equal(where[INDEX(free_context)], 42); /* after dm_export_dmabuf_fd */
	assert_int_equal(where[INDEX(free_dm)], 43);
	assert_int_equal(where[INDEX(query_qp)], 65); /* after query_port_speed */
	assert_int_equal(where[INDEX(reg_dm_mr)], 70);
	assert_int_equal(where[INDEX(rereg_mr)], 75);
	assert_int_equal(where[INDEX(unimport_pd)], 80);

	spread(layout("_64", 46), where);	     /* 83 */
	assert_int_equal(where[INDEX(alloc_dm)], 2); /* after alloc_buf */
	assert_int_equal(where[INDEX(alloc_mw)], 4);
	assert_int_equal(where[INDEX(alloc_null_mr)], 5);
	assert_int_equal(where[INDEX(bind_mw)], 12);
	assert_int_equal(where[INDEX(dealloc_mw)], 28);
	assert_int_equal(where[INDEX(free_context)], 44); /* after free_buf */
	assert_int_equal(where[INDEX(free_dm)], 45);
	assert_int_equal(where[INDEX(reg_dm_mr)], 72);
	assert_int_equal(where[INDEX(rereg_mr)], 77);
	assert_int_equal(where[INDEX(unimport_pd)], 82);
}

static void test_layout_65(void **state)
{
	int where[PABI_OPS];

	spread(layout("_65", 46), where); /* 93 operations */
	assert_int_equal(where[INDEX(advise_mr)], 0);
	assert_int_equal(where[INDEX(alloc_dm)], 2);
	assert_int_equal(where[INDEX(alloc_mw)], 4);
	assert_int_equal(where[INDEX(bind_mw)], 12);
	assert_int_equal(where[INDEX(create_cq)], 18); /* after create_comp_cntr */
	assert_int_equal(where[INDEX(dealloc_mw)], 29);
	assert_int_equal(where[INDEX(destroy_cq)], 36); /* after destroy_comp_cntr */
	assert_int_equal(where[INDEX(free_context)], 46);
	assert_int_equal(where[INDEX(free_dm)], 47);
	assert_int_equal(where[INDEX(modify_cq)], 54); /* after inc_err_comp_cntr */
	assert_int_equal(where[INDEX(poll_cq)], 62);
	assert_int_equal(where[INDEX(query_device_ex)], 69); /* after query_comp_cntr_caps */
	assert_int_equal(where[INDEX(query_qp)], 73);
	assert_int_equal(where[INDEX(read_counters)], 78); /* after read_comp_cntr */
	assert_int_equal(where[INDEX(reg_dm_mr)], 80);	   /* after read_err_comp_cntr */
	assert_int_equal(where[INDEX(reg_mr)], 82);
	assert_int_equal(where[INDEX(req_notify_cq)], 84);
	assert_int_equal(where[INDEX(resize_cq)], 86);
	assert_int_equal(where[INDEX(set_ece)], 88);	 /* after set_comp_cntr */
	assert_int_equal(where[INDEX(unimport_dm)], 90); /* after set_err_comp_cntr */
	assert_int_equal(where[INDEX(unimport_pd)], 92);
}

/* Each layout fits the room before the ibv_context, and the table of slots. */
static void test_layouts_fit(void **state)
{
	for (const struct pabi_layout *l = pabi_layouts; l->register_driver; l++) {
		assert_true(l->front <= PABI_MAX_FRONT);
		assert_true(l->inserted <= sizeof(l->before));
		assert_true(PABI_OPS + l->inserted < PABI_MAX_OPS);
	}
}

static void test_installed_library_is_known(void **state)
{
	assert_true(pabi_init());
}

/*
 * The installed libibverbs initialises a context inside the reserved room. libibverbs finds its own
 * data there: the operations that pabi_set_ops() compares, and the struct's size.
 */
static void test_context(void **state)
{
	static struct verbs_device device = { .refcount = 1 };
	void (*ops[PABI_OPS])(void) = { NULL };
	struct {
		struct pabi_context vctx;
		uint8_t ours[64];
	} * all, zero = { .ours = { 0 } };
	struct verbs_context *full;
	size_t size;

	assert_true(pabi_init());
	all = pabi_alloc_context(&device.device, open("/dev/null", O_RDWR | O_CLOEXEC),
				 sizeof(*all));
	assert_non_null(all);
	assert_ptr_equal(all->vctx.context.device, &device.device);
	assert_int_equal(all->vctx.context.async_fd, -1);

	full = pabi_full_context(&all->vctx);
	memcpy(&size, (char *)&all->vctx.context - sizeof(size), sizeof(size));
	assert_ptr_equal((char *)full + size, all->ours);

	for (int i = 0; i < (int)PABI_OPS; i++)
		fake_op(i, &ops[i]); /* all different, to detect a shift */
	assert_true(pabi_set_ops(&all->vctx, (const struct verbs_context_ops *)ops));
	assert_memory_equal(all->ours, zero.ours, sizeof(zero.ours));
	pabi_uninit_context(&all->vctx);
	free(all);
}

/* Sets only the mark by which libibverbs recognises an extended QP. */
static void test_mark_of_extended_qps(void **state)
{
	static struct verbs_qp qp;

	assert_true(pabi_init());
	assert_null(ibv_qp_to_qp_ex(&qp.qp));
	assert_true(pabi_mark_qp_ex(&qp));
	assert_ptr_equal(ibv_qp_to_qp_ex(&qp.qp), &qp.qp_ex);
	for (size_t i = 0; i < offsetof(struct ibv_qp_ex, wr_complete); i++)
		assert_int_equal(qp.room[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_the_alphabet),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_layout_65),
		cmocka_unit_test(test_layouts_fit),
		cmocka_unit_test(test_installed_library_is_known),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_mark_of_extended_qps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
