/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/faults_port.h"

#include "net/faults_net.h"
#include "net/port.h"
#include "runtime/faults_qp.h"
#include "runtime/rnic.h"
#include "runtime/shard.h"

/* The timer that ends the action `port down`. */
static struct fault_timer up;

static void go_up(struct fault_timer *t, struct shard *s, uint64_t now)
{
	port_force_down(false);
}

static void install(struct fault_injector *self, struct shard *s)
{
	up = (struct fault_timer){ .fire = go_up };
	faults_qp_install_net(s);
}

static void perform(struct fault_injector *self, struct shard *s, const struct fault_action *a,
		    uint64_t now)
{
	/*
	 * The cut has no rule: the port stays down even if the rule is removed. With the kernel's
	 * SCTP, no packets are dropped.
	 */
	const struct faults_net_cut all = {
		.kind = FAULTS_NET_LOSE,
		.until = now + a->arg[fault_port_down_time],
	};

	faults_net_cut(&s->conn, &all);
	port_force_down(true);
	/* If two actions overlap, the port comes up at the later of the two ends. */
	if (!faults_timer_is_set(&up) || up.when < all.until)
		faults_timer_set(&s->rnic->faults, &up, all.until);
}

struct fault_injector faults_port = {
	.does = { [FAULT_CLASS_NUMBER_TIMER] = 1ull << FAULT_DO_port_down },
	.install = install,
	.perform = perform,
};
