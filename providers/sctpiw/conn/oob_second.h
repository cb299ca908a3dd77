/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The second path of a QP connected out of band. It implements InfiniBand's automatic path
 * migration (IBTA 17.2.8) for associations with two paths. When the path in use fails, the
 * association moves to the other path, with the sessions of all its QPs (sctp/paths.h). This module
 * posts an event for each QP whose program named the new path as its second path. The association
 * then stays on the new path, as InfiniBand requires. Callers hold the shard's lock.
 */
#ifndef SCTPIW_CONN_OOB_SECOND_H
#define SCTPIW_CONN_OOB_SECOND_H

#include "util/addr.h"
#include "util/list.h"

struct conn;
struct conn_assoc;
struct iw_qp;

/* Same values as in enum ibv_mig_state. */
enum oob_migration {
	OOB_MIGRATED, /* no second path is requested, or the QP has moved to it */
	OOB_REARM,    /* a second path is requested, but not usable now */
	OOB_ARMED,    /* the QP will use its second path once the first path fails */
};

/* Part of struct oob_qp (oob.c). Initially zero. */
struct oob_second {
	struct list_node node;	  /* conn_assoc.second, while the QP has a session */
	struct conn_assoc *assoc; /* association of the QP's session; NULL: no session */
	struct iw_qp *qp;
	struct path_addr to; /* local and remote */
	bool wanted;
	bool elsewhere; /* the first path has another remote address */
};

/* Notes that the QP has a session on this association, or that it has no session (a is NULL). */
void oob_second_attach(struct oob_second *s, struct iw_qp *qp, struct conn_assoc *a);
/* Sets `assoc` of all QPs of the association to NULL, before the association is freed. */
void oob_second_detach_all(struct conn_assoc *a);
/* Handles a change of the path that the association uses. */
void oob_second_moved(struct conn_assoc *a);

/* ---- for verbs ---- */

/* True if the transport supports second paths. */
bool oob_second_is_served(const struct conn *c);
/*
 * Sets the second path of a QP connected out of band, and its state to OOB_REARM. If the
 * association uses this path already, the QP gets its event at once. elsewhere: the QP's first path
 * has another remote address than this path. If elsewhere is true, the QP also gets the event if
 * the association uses this remote address with another local address. This can happen when both
 * sides move, since each side follows the moves of the other. Requires oob_second_is_served().
 */
void oob_second_want(struct iw_qp *qp, const struct path_addr *to, bool elsewhere);
/*
 * Handles a change to IBV_MIG_MIGRATED by ibv_modify_qp(). An armed QP moves to its second path,
 * and then gets its event. In another state, the QP's request for a second path is dropped.
 */
void oob_second_migrate(struct iw_qp *qp);
/* Returns the migration state of any QP. */
enum oob_migration oob_second_state(const struct iw_qp *qp);

#endif
