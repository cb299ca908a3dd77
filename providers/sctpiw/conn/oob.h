/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected out of band: each side knows the other's address and QP number, and nothing else. The upper
 * 16 bits of the number are the port of the owner's endpoint (qp_num.h), so that one association between
 * these two ports carries the sessions of all QPs of the two blocks. Shard lock.
 *
 * The side that oob_election.h names begins as soon as its QP is in RTR, and again with pauses that double,
 * 10 ms to 1 s, when nobody is there or the peer says that it has no such QP. The other side waits for it,
 * half a second at first, and then begins by itself, since the two may see their addresses differently. A QP
 * that is connected to itself is both sides at once, and has its session at once (to_self.h).
 *
 * An Initiate (its private data: oob_message.h) is for a QP that has named the sender: its number, its
 * address as that of the association, and its port. An Initiate that comes while its QP is not in RTR yet is
 * kept (oob_early.h) until that is decided; so is one that comes while the QP still has, or had, another
 * session, as it may be for the next one.
 */
#ifndef SCTPIW_CONN_OOB_H
#define SCTPIW_CONN_OOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/list.h"
#include "util/timerq.h"

struct conn;
struct conn_assoc;
struct iw_event;
struct iw_qp;
struct oob_message;
struct oob_second;
struct iw_session;

/* Part of struct conn. */
struct oob_table {
	struct timerq timers;	/* oob_qp.timer */
	unsigned int n;		/* QPs that are connected out of band */
	struct list_node early; /* Initiates that came before their QP was ready (oob_early.c) */
	unsigned int n_early;
	uint64_t token; /* by which this process knows itself; 0: not drawn yet */
};

void oob_table_init(struct oob_table *t);
/* No QP is connected out of band any more. */
void oob_table_fini(struct oob_table *t);

/* ---- what the verbs ask for ---- */

/* The other side, as ibv_modify_qp() to RTR names it. */
struct oob_peer {
	uint32_t dest_qp_num;
	struct ip_addr local;  /* the address of the source GID */
	struct ip_addr remote; /* the destination GID */
	unsigned int ifindex;  /* the interface of the source GID, for link-local addresses */
	uint32_t ird;
};

/* What may be changed later, too. */
struct oob_attr {
	uint32_t ord;
	uint8_t rnr_retry;
	uint64_t limit; /* ns that a WR may wait for the peer to come; 0: for ever */
	uint64_t gone;	/* and behind the end of the session */
};

/*
 * INIT to RTR: from now on the QP looks for its peer, and is found by it. -EINVAL: wrong state, or an
 * address or number that cannot be; -ENOMEM; -errno of the endpoint. Then nothing has changed.
 */
int oob_connect(struct conn *c, struct iw_qp *qp, const struct oob_peer *peer);
/* Of a QP that is connected out of band. */
void oob_set_attr(struct iw_qp *qp, const struct oob_attr *attr);
/* Behind the way to RESET: the QP is an ordinary one again. It may be one already. */
void oob_disconnect(struct iw_qp *qp);

/* What is kept of the second path of a QP that is connected out of band; NULL: it is not. */
struct oob_second *oob_second_of(const struct iw_qp *qp);

/* ---- what conn/ tells ---- */

/* The association is up, or is gone before or after that. */
void oob_assoc_up(struct conn_assoc *a);
void oob_assoc_failed(struct conn_assoc *a, int error);
/* An Initiate came. true: it was for QPs connected out of band, and was dealt with. */
bool oob_request(struct conn *c, const struct iw_event *ev);
/* Decides about an Initiate that is not kept as an early one, or not any more. */
void oob_consider(struct conn *c, struct iw_session *s, const struct oob_message *m);
/* Rejects the Initiate m; reason: enum oob_reason. */
void oob_reject(struct iw_session *s, const struct oob_message *m, uint8_t reason);
/* The QP has new WRs. */
void oob_doorbell(struct iw_qp *qp);
uint64_t oob_next_timeout(const struct conn *c);
void oob_timers(struct conn *c);

#endif
