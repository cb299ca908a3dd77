/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/oob_second.h"

#include "conn/conn.h"
#include "conn/oob.h"
#include "iwarp/iw_qp.h"
#include "log/log.h"
#include "util/sockaddr.h"

static const struct transport *transport_of(const struct oob_second *s)
{
	return s->assoc->ep->conn->transport;
}

void oob_second_detach_all(struct conn_assoc *a)
{
	struct list_node *node;

	while ((node = list_pop(&a->second)))
		list_entry(node, struct oob_second, node)->assoc = NULL;
}

static void moved(struct oob_second *s)
{
	char text[SOCKADDR_TEXT];

	log_debug("QP 0x%06x: has moved to its second path, to %s", s->qp->num,
		  sockaddr_text_ip(&s->to.remote, 0, text));
	s->wanted = false;
	transport_of(s)->prefer(s->assoc, &s->to);
	iw_qp_tell_migrated(s->qp);
}

static bool is_there(const struct oob_second *s)
{
	const struct path_addr from_any = { .remote = s->to.remote };

	return transport_of(s)->path_use(s->assoc, s->elsewhere ? &from_any : &s->to) ==
	       SCTP_PATH_IN_USE;
}

/* Checks whether the association is on the second path already. */
static void look(struct oob_second *s)
{
	if (s->wanted && s->assoc && is_there(s))
		moved(s);
}

void oob_second_attach(struct oob_second *s, struct iw_qp *qp, struct conn_assoc *a)
{
	list_del(&s->node);
	s->qp = qp;
	s->assoc = a;
	if (a)
		list_add_tail(&a->second, &s->node);
	look(s);
}

void oob_second_moved(struct conn_assoc *a)
{
	list_for_each(node, &a->second)
		look(list_entry(node, struct oob_second, node));
}

bool oob_second_is_served(const struct conn *c)
{
	return c->transport->path_use;
}

void oob_second_want(struct iw_qp *qp, const struct path_addr *to, bool elsewhere)
{
	struct oob_second *s = oob_second_of(qp);

	s->to = *to;
	s->elsewhere = elsewhere;
	s->wanted = true;
	look(s);
}

void oob_second_migrate(struct iw_qp *qp)
{
	struct oob_second *s = oob_second_of(qp);

	if (!s || !s->wanted)
		return;
	if (oob_second_state(qp) == OOB_ARMED)
		transport_of(s)->prefer(s->assoc, &s->to);
	else
		s->wanted = false;
}

enum oob_migration oob_second_state(const struct iw_qp *qp)
{
	const struct oob_second *s = oob_second_of(qp);

	if (!s || !s->wanted)
		return OOB_MIGRATED;
	return s->assoc && transport_of(s)->path_use(s->assoc, &s->to) == SCTP_PATH_STANDBY ?
		       OOB_ARMED :
		       OOB_REARM;
}
