/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The second path of a QP that is connected out of band: InfiniBand's automatic path migration (IBTA 17.2.8), as far as
 * the association of the QP has two paths. The association moves when its path fails, as it does for all QPs on it
 * (sctp/paths.h); this tells the one whose program has named the new path, and has the association stay there, as
 * InfiniBand does, which never goes back by itself. Shard lock.
 */
#ifndef SCTPIW_CONN_OOB_SECOND_H
#define SCTPIW_CONN_OOB_SECOND_H

#include "util/addr.h"
#include "util/list.h"

struct conn;
struct conn_assoc;
struct iw_qp;

/* The numbers of enum ibv_mig_state. */
enum oob_migration {
	OOB_MIGRATED, /* no second path is wanted, or the QP is on it */
	OOB_REARM,    /* one is wanted, and cannot be used yet, or not now */
	OOB_ARMED,    /* it is used as soon as the first one fails */
};

/* Part of what conn/oob.c keeps of a QP. Zeroed memory before. */
struct oob_second {
	struct list_node node;	  /* conn_assoc.second, while there is a session */
	struct conn_assoc *assoc; /* of the session; NULL: there is none */
	struct iw_qp *qp;
	struct path_addr to; /* local and remote */
	bool wanted;
	bool elsewhere; /* it leads to another address of the peer than the QP's first path */
};

/* The QP has a session on that association, or none any more (NULL). */
void oob_second_attach(struct oob_second *s, struct iw_qp *qp, struct conn_assoc *a);
/* The association goes. */
void oob_second_detach_all(struct conn_assoc *a);
/* Another path of the association is in use. */
void oob_second_moved(struct conn_assoc *a);

/* ---- what the verbs ask for ---- */

/* Whether QPs can have second paths, as the transport is. */
bool oob_second_is_served(const struct conn *c);
/*
 * From now on the QP, which is connected out of band, is to move to the path between those addresses: OOB_REARM. If its
 * association is there already, the QP hears so at once. elsewhere: the path leads to another address of the peer than
 * the QP's first one. Then the QP hears so as well if data goes to that address from another one of ours: each side goes
 * where the other one is, and the two may meet across. Only where oob_second_is_served() says so.
 */
void oob_second_want(struct iw_qp *qp, const struct path_addr *to, bool elsewhere);
/* OOB_MIGRATED: an armed QP moves now, and hears of it when it has; else no path is wanted any more. */
void oob_second_migrate(struct iw_qp *qp);
/* Of a QP of any kind. */
enum oob_migration oob_second_state(const struct iw_qp *qp);

#endif
