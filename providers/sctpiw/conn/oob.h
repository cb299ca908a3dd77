/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected out of band: each side only knows the other's address and QP number. The upper 16
 * bits of the number are the port of the owner's endpoint (qp_num.h). So one association between
 * these two ports carries the sessions of all QPs of the two blocks. Shard lock.
 *
 * The side chosen by oob_election.h sends an Initiate as soon as its QP is in RTR. Without a peer,
 * or if the peer has no such QP, this side tries again after pauses that double from 10 ms to 1 s.
 * The other side first waits half a second, and then begins itself, since the two may see different
 * addresses. A QP connected to itself is both sides, and has its session at once (to_self.h).
 *
 * An Initiate (private data: oob_message.h) is for a QP that named its sender: QP number, port, and
 * the association's address. An early Initiate, before its QP is in RTR, is kept (oob_early.h). So
 * is an Initiate while the QP still has, or had, another session: it may be for the next
 * connection.
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
	unsigned int n;		/* QPs connected out of band */
	struct list_node early; /* Initiates before their QP was ready (oob_early.c) */
	unsigned int n_early;
	uint64_t token; /* random number that identifies this process; 0: not drawn yet */
};

void oob_table_init(struct oob_table *t);
/* Frees the table. No QP may be connected out of band any more. */
void oob_table_fini(struct oob_table *t);

/* ---- for verbs ---- */

/* The peer, as named by ibv_modify_qp() to RTR. */
struct oob_peer {
	uint32_t dest_qp_num;
	struct ip_addr local;  /* address of the source GID */
	struct ip_addr remote; /* destination GID */
	unsigned int ifindex;  /* interface of the source GID, for link-local addresses */
	uint32_t ird;
};

/* Attributes that may also change later. */
struct oob_attr {
	uint32_t ord;
	uint8_t rnr_retry;
	uint64_t limit; /* ns that a WR may wait for the peer's first session; 0: no limit */
	uint64_t gone;	/* ns that a WR may wait after the end of the session */
};

/*
 * Moves the QP from INIT to RTR: the QP looks for its peer, and the peer finds the QP. Returns 0,
 * -EINVAL for a wrong state or an impossible address or number, -ENOMEM, or the endpoint's -errno.
 * After an error, nothing has changed.
 */
int oob_connect(struct conn *c, struct iw_qp *qp, const struct oob_peer *peer);
/* Sets the attributes of a QP connected out of band. */
void oob_set_attr(struct iw_qp *qp, const struct oob_attr *attr);
/* Makes the QP an ordinary one, after the change to RESET. The QP may be one already. */
void oob_disconnect(struct iw_qp *qp);

/* Returns the second path of a QP connected out of band, or NULL for other QPs. */
struct oob_second *oob_second_of(const struct iw_qp *qp);

/* ---- for conn/ ---- */

/* Continues QPs that wait for the association: it is up, or was lost before or after that. */
void oob_assoc_up(struct conn_assoc *a);
void oob_assoc_failed(struct conn_assoc *a, int error);
/* Handles an Initiate for QPs connected out of band. Returns false if it is for others. */
bool oob_request(struct conn *c, const struct iw_event *ev);
/* Decides about an Initiate that is not kept, or not any more. */
void oob_consider(struct conn *c, struct iw_session *s, const struct oob_message *m);
/* Rejects the Initiate m. reason: enum oob_reason. */
void oob_reject(struct iw_session *s, const struct oob_message *m, uint8_t reason);
/* The QP has new WRs. */
void oob_doorbell(struct iw_qp *qp);
uint64_t oob_next_timeout(const struct conn *c);
void oob_timers(struct conn *c);

#endif
