/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Random programmes of requests. */
#include "sim/stack.h"

/* Returns a local write that a read can read back, as its bytes have one writer; or NULL. */
static const struct stack_op *some_write(const struct stack_side *s)
{
	for (unsigned int tries = 0; tries < 4 && s->n_ops; tries++) {
		const struct stack_op *op =
			&s->ops[sim_random_below(&s->node->w->random, s->n_ops)];

		if (stack_op_is_write(op) && op->len && !op->bad)
			return op;
	}
	return NULL;
}

bool stack_op_add(struct stack_side *s, uint8_t opcode, uint32_t len)
{
	struct sim_random *r = &s->node->w->random;
	struct stack_op op = { .opcode = opcode, .len = len };
	const uint32_t share = STACK_SINK / 2;

	if (stack_op_is_atomic(&op)) {
		if (s->read_to + 8 > share)
			return false;
		s->read_to += 8;
		op.len = 8;
		op.local = STACK_SINK - s->read_to;
		op.remote = sim_random_below(r, STACK_WORDS);
		op.fence = sim_random_chance(r, 0.1);
		/* Small numbers: about half of the comparisons succeed. */
		op.compare_add = opcode == IW_WR_ATOMIC_CMP_AND_SWP ? sim_random_below(r, 2) :
								      sim_random_u64(r);
		op.swap = sim_random_below(r, 2);
	} else if (opcode == IW_WR_RDMA_READ) {
		const struct stack_op *write =
			s->work->overlap || sim_random_chance(r, 0.5) ? NULL : some_write(s);

		op.remote = sim_random_below(r, STACK_SOURCE - len);
		if (write) {
			op.back = true;
			op.remote = write->remote;
			op.len = write->len;
		}
		if (s->read_to + op.len > share)
			return false;
		s->read_to += op.len;
		op.local = STACK_SINK - s->read_to;
		op.fence = sim_random_chance(r, 0.2);
	} else {
		op.local = sim_random_below(r, STACK_SOURCE - len);
		op.fence = sim_random_chance(r, 0.1);
	}
	op.imm = (uint32_t)sim_random_u64(r);
	if (stack_op_is_write(&op)) {
		op.remote = s->written;
		if (s->work->overlap)
			op.remote = sim_random_below(r, share / 8);
		else if (s->written + len > share)
			return false;
		s->written += len;
	}
	if (stack_op_takes_receive(&op)) {
		s->send_op = realloc(s->send_op, (s->sends + 1) * sizeof(*s->send_op));
		assert_non_null(s->send_op);
		s->send_op[s->sends++] = s->n_ops;
	}
	if (!(s->n_ops & (s->n_ops + 1))) {
		s->ops = realloc(s->ops, (2 * s->n_ops + 2) * sizeof(*s->ops));
		assert_non_null(s->ops);
	}
	s->ops[s->n_ops++] = op;
	return true;
}

static void plan_side(struct stack_side *s, unsigned int max)
{
	static const uint8_t kinds[] = { IW_WR_SEND,
					 IW_WR_RDMA_WRITE,
					 IW_WR_RDMA_READ,
					 IW_WR_SEND,
					 IW_WR_RDMA_WRITE,
					 IW_WR_RDMA_READ,
					 IW_WR_RDMA_WRITE_WITH_IMM,
					 IW_WR_SEND_WITH_IMM,
					 IW_WR_ATOMIC_CMP_AND_SWP,
					 IW_WR_ATOMIC_FETCH_AND_ADD };
	struct sim_random *r = &s->node->w->random;

	for (unsigned int n = sim_random_below(r, max); n; n--) {
		uint8_t kind = kinds[sim_random_below(r, sizeof(kinds))];
		uint32_t len = sim_random_below(r, sim_random_chance(r, 0.3) ? STACK_RECV : 200);

		if (kind == IW_WR_SEND_WITH_IMM)
			len = 0;
		if ((kind == IW_WR_RDMA_WRITE || kind == IW_WR_RDMA_WRITE_WITH_IMM) &&
		    sim_random_chance(r, 0.2))
			len = sim_random_below(r, 40000);
		stack_op_add(s, kind, len);
	}
	/* At its delivery, every earlier write has arrived. */
	stack_op_add(s, IW_WR_SEND, sim_random_below(r, 200));
}

void stack_plan(struct stack_work *work, unsigned int max)
{
	plan_side(&work->side[0], max);
	if (!work->self && !work->xrc)
		plan_side(&work->side[1], max);
}
