/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The second path of a QP connected out of band: InfiniBand's automatic path migration (IBTA
 * 17.2.8), if the QP's association has two paths. When its path fails, the association moves, with
 * all its QPs (sctp/paths.h). This module informs the QP whose program named the new path. The
 * association then stays there, as on InfiniBand, which never goes back by itself. Shard lock.
 */
#ifndef SCTPIW_CONN_OOB_SECOND_H
#define SCTPIW_CONN_OOB_SECOND_H

#include "util/addr.h"
#include "util/list.h"

struct conn;
struct conn_assoc;
struct iw_qp;

/* Values of enum ibv_mig_state. */
enum oob_migration {
	OOB_MIGRATED, /* no second path is wanted, or the QP uses it */
	OOB_REARM,    /* a second path is wanted, but not usable now */
	OOB_ARMED,    /* the second path is used as soon as the first one fails */
};

/* Part of a QP's state in conn/oob.c. Initially zero. */
struct oob_second {
	struct list_node node;	  /* conn_assoc.second, while there is a session */
	struct conn_assoc *assoc; /* association of the session; NULL: no session */
	struct iw_qp *qp;
	struct path_addr to; /* local and remote */
	bool wanted;
	bool elsewhere; /* the path leads to another address of the peer than the first path */
};

/* The QP has a session on that association, or no session (NULL). */
void oob_second_attach(struct oob_second *s, struct iw_qp *qp, struct conn_assoc *a);
/* Forgets the association, before it is freed. */
void oob_second_detach_all(struct conn_assoc *a);
/* Reacts to a change of the association's path in use. */
void oob_second_moved(struct conn_assoc *a);

/* ---- for verbs ---- */

/* True if the transport supports second paths. */
bool oob_second_is_served(const struct conn *c);
/*
 * Requests a move of the QP, connected out of band, to the path between those addresses
 * (OOB_REARM). If this is the path in use, the QP gets its event at once. elsewhere: the path leads
 * to another address of the peer than the QP's first path. Then the event also comes if data goes
 * to that address from another local address. Each side follows the other, so that the two may meet
 * on a crossed pair of addresses. Requires oob_second_is_served().
 */
void oob_second_want(struct iw_qp *qp, const struct path_addr *to, bool elsewhere);
/*
 * OOB_MIGRATED: an armed QP moves now, and then gets its event. Otherwise no path is wanted any
 * more.
 */
void oob_second_migrate(struct iw_qp *qp);
/* Returns the state of any QP. */
enum oob_migration oob_second_state(const struct iw_qp *qp);

#endif
