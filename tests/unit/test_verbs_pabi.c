/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: verbs */
/* The private ABI: where operations lie in each layout, and that the installed library has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

static const struct pabi_layout *layout(const char *name, const char *marker)
{
	const struct pabi_layout *l = pabi_layouts;

	while (strcmp(l->register_driver, name) || !l->marker != !marker)
		l++;
	return l;
}

static void test_order_is_the_alphabet(void **state)
{
	/* Facts of private ABI 34, counted by hand in its list. */
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

	spread(layout("verbs_register_driver_34", NULL), where);
	for (int i = 0; i < (int)PABI_OPS; i++)
		assert_int_equal(where[i], i);

	spread(layout("verbs_register_driver_59", NULL), where); /* 79 operations */
	assert_int_equal(where[0], 0);
	assert_int_equal(where[INDEX(alloc_mw)], 3); /* behind alloc_dmah */
	assert_int_equal(where[INDEX(alloc_null_mr)], 4);
	assert_int_equal(where[INDEX(bind_mw)], 11);
	assert_int_equal(where[INDEX(dealloc_mw)], 27);
	assert_int_equal(where[INDEX(dealloc_pd)], 28);
	assert_int_equal(where[INDEX(free_dm)], 42);
	assert_int_equal(where[INDEX(reg_dm_mr)], 68);
	assert_int_equal(where[INDEX(rereg_mr)], 73);
	assert_int_equal(where[INDEX(reg_mr)], 70);
	assert_int_equal(where[INDEX(req_notify_cq)], 72); /* behind reg_mr_ex */
	assert_int_equal(where[INDEX(unimport_pd)], 78);

	spread(layout("verbs_register_driver_59", "x"), where); /* 81 */
	assert_int_equal(where[INDEX(destroy_wq)], 39);
	assert_int_equal(where[INDEX(free_context)], 42); /* behind dm_export_dmabuf_fd */
	assert_int_equal(where[INDEX(free_dm)], 43);
	assert_int_equal(where[INDEX(query_qp)], 65); /* behind query_port_speed */
	assert_int_equal(where[INDEX(reg_dm_mr)], 70);
	assert_int_equal(where[INDEX(rereg_mr)], 75);
	assert_int_equal(where[INDEX(unimport_pd)], 80);

	spread(layout("verbs_register_driver_64", NULL), where); /* 83 */
	assert_int_equal(where[INDEX(alloc_dm)], 2);		 /* behind alloc_buf */
	assert_int_equal(where[INDEX(alloc_mw)], 4);
	assert_int_equal(where[INDEX(alloc_null_mr)], 5);
	assert_int_equal(where[INDEX(bind_mw)], 12);
	assert_int_equal(where[INDEX(dealloc_mw)], 28);
	assert_int_equal(where[INDEX(free_context)], 44); /* behind free_buf */
	assert_int_equal(where[INDEX(free_dm)], 45);
	assert_int_equal(where[INDEX(reg_dm_mr)], 72);
	assert_int_equal(where[INDEX(rereg_mr)], 77);
	assert_int_equal(where[INDEX(unimport_pd)], 82);
}

static void test_installed_library_is_known(void **state)
{
	assert_true(pabi_init());
}

/* What libibverbs takes for an extended QP, and nothing else of it. */
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
		cmocka_unit_test(test_installed_library_is_known),
		cmocka_unit_test(test_mark_of_extended_qps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
