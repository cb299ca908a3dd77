/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Makes calls of rdma_cm fail. A call that fails has no effect. */
#include <errno.h>

#include "runtime/api.h"
#include "runtime/faults_cm.h"
#include "runtime/rnic.h"

static struct sctpiw_rnic_api plain; /* copy of the table before this file replaced functions */

/*
 * Returns the -errno with which the call must fail, or 0 if no rule makes it fail. handle 0: the
 * call has no id yet. Any other value of handle may be invalid.
 */
static int ask(enum fault_site site, uint32_t handle)
{
	struct rnic *r = rnic_get();
	struct fault_attrs attrs = { 0 };
	const struct cm_id *id;
	struct fault_action a;
	bool fails;

	if (!r || !faults_watch(&r->faults, site))
		return 0;
	shard_lock(&r->shard); /* holding the lock keeps the id and its association alive */
	id = handle ? cm_id_get(&r->shard.conn, handle) : NULL;
	if (id)
		attrs = faults_cm_attrs(id);
	fails = faults_ask(&r->faults, site, &attrs, &a) && a.id == FAULT_DO_fail;
	shard_unlock(&r->shard);
	return fails ? -(int)a.arg[fault_fail_error] : 0;
}

#define MAY_FAIL(name, site, id, params, args)                                                     \
	static int may_fail_##name params                                                          \
	{                                                                                          \
		int ret = ask(FAULT_SITE_##site, id);                                              \
                                                                                                   \
		return ret ? ret : plain.name args;                                                \
	}

MAY_FAIL(cm_create_id, rdma_create_id, 0,
	 (struct rnic_channel * chan, uint64_t uid, uint16_t ps, uint8_t qp_type, uint32_t *id),
	 (chan, uid, ps, qp_type, id))
MAY_FAIL(cm_destroy_id, rdma_destroy_id, id, (uint32_t id, uint32_t *events_reported),
	 (id, events_reported))
MAY_FAIL(cm_migrate_id, rdma_migrate_id, id,
	 (uint32_t id, struct rnic_channel *to, uint32_t *events_reported),
	 (id, to, events_reported))
MAY_FAIL(cm_bind, rdma_bind_addr, id, (uint32_t id, const struct sockaddr *addr), (id, addr))
MAY_FAIL(cm_resolve_addr, rdma_resolve_addr, id,
	 (uint32_t id, const struct sockaddr *src, const struct sockaddr *dst, uint32_t timeout_ms),
	 (id, src, dst, timeout_ms))
MAY_FAIL(cm_resolve_route, rdma_resolve_route, id, (uint32_t id, uint32_t timeout_ms),
	 (id, timeout_ms))
MAY_FAIL(cm_connect, rdma_connect, id, (uint32_t id, const struct rnic_conn_param *param),
	 (id, param))
MAY_FAIL(cm_listen, rdma_listen, id, (uint32_t id, int backlog), (id, backlog))
MAY_FAIL(cm_accept, rdma_accept, id,
	 (uint32_t id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid),
	 (id, param, has_uid, uid))
MAY_FAIL(cm_reject, rdma_reject, id,
	 (uint32_t id, uint8_t reason, const void *private_data, uint8_t len),
	 (id, reason, private_data, len))
MAY_FAIL(cm_disconnect, rdma_disconnect, id, (uint32_t id), (id))
MAY_FAIL(cm_init_qp_attr, rdma_init_qp_attr, id,
	 (uint32_t id, uint32_t qp_state, struct rnic_qp_attr *attr), (id, qp_state, attr))
MAY_FAIL(cm_set_option, rdma_set_option, id,
	 (uint32_t id, int level, int name, const void *val, size_t len),
	 (id, level, name, val, len))
MAY_FAIL(cm_notify, rdma_notify, id, (uint32_t id, uint32_t event), (id, event))
MAY_FAIL(cm_join_mcast, rdma_join_multicast, id,
	 (uint32_t id, const struct sockaddr *group, uint64_t uid, bool send_only,
	  uint32_t *handle),
	 (id, group, uid, send_only, handle))
MAY_FAIL(cm_leave_mcast, rdma_leave_multicast, 0,
	 (struct rnic_channel * chan, uint32_t handle, uint32_t *events_reported),
	 (chan, handle, events_reported))

/*
 * Readers of the table need no lock: each pointer changes atomically, and both the old and the new
 * function are valid.
 */
#define REPLACE(name) __atomic_store_n(&sctpiw_rnic_api.name, may_fail_##name, __ATOMIC_RELEASE)

void faults_cm_calls_install(void)
{
	if (plain.version) /* the parent process has installed the functions */
		return;
	plain = sctpiw_rnic_api;
	REPLACE(cm_create_id);
	REPLACE(cm_destroy_id);
	REPLACE(cm_migrate_id);
	REPLACE(cm_bind);
	REPLACE(cm_resolve_addr);
	REPLACE(cm_resolve_route);
	REPLACE(cm_connect);
	REPLACE(cm_listen);
	REPLACE(cm_accept);
	REPLACE(cm_reject);
	REPLACE(cm_disconnect);
	REPLACE(cm_init_qp_attr);
	REPLACE(cm_set_option);
	REPLACE(cm_notify);
	REPLACE(cm_join_mcast);
	REPLACE(cm_leave_mcast);
}
