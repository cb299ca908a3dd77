/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected out of band, without rdma_cm: each side only has the address and QP number of the
 * other side. The upper 16 bits of a QP number are the port of an endpoint of the QP's process
 * (qp_num.h). One association between two such ports carries the sessions of all QPs with these
 * ports. Callers hold the shard's lock.
 *
 * oob_election.h chooses one side. This side sends an Initiate as soon as its QP is in RTR. If no
 * peer answers, or if the peer rejects the Initiate, this side tries again, after pauses that
 * double from 10 ms to 1 s. The other side waits for half a second, and then sends an Initiate too,
 * because the election may have different results on the two sides. A QP connected to itself gets
 * its session at once (to_self.h).
 *
 * oob_message.h has the private data of an Initiate. A QP accepts an Initiate only from its peer:
 * the QP number, the port and an address of the association must be those passed to oob_connect().
 * An Initiate that arrives before its QP is in RTR is kept (oob_early.h). An Initiate that arrives
 * during or after another session of the QP is also kept, since it may be for the QP's next
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
	unsigned int n;		/* number of QPs connected out of band */
	struct list_node early; /* Initiates that arrived before their QP was ready (oob_early.c) */
	unsigned int n_early;
	uint64_t token; /* random number that identifies this process; 0: not set yet */
};

void oob_table_init(struct oob_table *t);
/* Frees the table. No QP may be connected out of band any more. */
void oob_table_fini(struct oob_table *t);

/* ---- for verbs ---- */

/* The peer, from the attributes of ibv_modify_qp() to RTR. */
struct oob_peer {
	uint32_t dest_qp_num;
	struct ip_addr local;  /* address of the source GID */
	struct ip_addr remote; /* destination GID */
	unsigned int ifindex;  /* interface of the source GID, for link-local addresses */
	uint32_t ird;
};

/* Attributes that may change while the QP is connected. */
struct oob_attr {
	uint32_t ord;
	uint8_t rnr_retry;
	uint64_t limit; /* ns that a WR may wait for the first session; 0: no limit */
	uint64_t gone;	/* ns that a WR may wait after the end of the session */
};

/*
 * Moves the QP from INIT to RTR, and begins to connect it to its peer. Returns 0, -EINVAL for a
 * wrong state or an invalid address or QP number, -ENOMEM, or the -errno of endpoint_wake(). An
 * error leaves the QP unchanged.
 */
int oob_connect(struct conn *c, struct iw_qp *qp, const struct oob_peer *peer);
/* Sets the attributes of a QP connected out of band. */
void oob_set_attr(struct iw_qp *qp, const struct oob_attr *attr);
/* Ends the out-of-band connection of a QP that was moved to RESET. Does nothing for other QPs. */
void oob_disconnect(struct iw_qp *qp);

/* Returns the second path of a QP connected out of band, or NULL for other QPs. */
struct oob_second *oob_second_of(const struct iw_qp *qp);

/* ---- for conn/ ---- */

/*
 * oob_assoc_up() continues the QPs that wait for the association. oob_assoc_failed() schedules
 * their next attempts, after the association was lost.
 */
void oob_assoc_up(struct conn_assoc *a);
void oob_assoc_failed(struct conn_assoc *a, int error);
/*
 * Handles an Initiate for QPs connected out of band. Returns false if the Initiate is for
 * rdma_cm.
 */
bool oob_request(struct conn *c, const struct iw_event *ev);
/*
 * Accepts, rejects or keeps an Initiate. Called when it arrives, and again when its QP becomes
 * ready.
 */
void oob_consider(struct conn *c, struct iw_session *s, const struct oob_message *m);
/* Rejects the Initiate that carried m. reason: enum oob_reason. */
void oob_reject(struct iw_session *s, const struct oob_message *m, uint8_t reason);
void oob_doorbell(struct iw_qp *qp);
uint64_t oob_next_timeout(const struct conn *c);
void oob_timers(struct conn *c);

#endif
