/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/oob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "conn/oob_early.h"
#include "conn/oob_election.h"
#include "conn/oob_message.h"
#include "conn/oob_second.h"
#include "conn/to_self.h"
#include "log/log.h"
#include "util/sockaddr.h"

#define PAUSE_MIN (10 * NSEC_PER_MSEC)
#define PAUSE_MAX NSEC_PER_SEC
#define PASSIVE_WAIT (500 * NSEC_PER_MSEC)

/* Value of oob_qp.why. */
static const char NO_ASSOCIATION[] = "no association";

enum oob_state {
	OOB_WAITING,	/* until the next attempt, or until the peer sends an Initiate */
	OOB_CONNECTING, /* until the association is up */
	OOB_INITIATING, /* until the Accept arrives */
	OOB_UP,
	OOB_OVER, /* the session has ended, or the QP gave up */
};

/* Times at which oob_timers() has work for the QP. */
struct oob_clock {
	struct timerq_node timer;
	uint64_t begin_at; /* next attempt, in OOB_WAITING */
	uint64_t pause;	   /* ns before the next attempt */
	uint64_t deadline; /* when waiting WRs fail; TIME_NEVER: none wait */
	uint64_t tell_at;  /* when to log that WRs wait; TIME_NEVER: never */
};

/* iw_qp.oob */
struct oob_qp {
	struct conn *conn;
	struct iw_qp *qp;
	enum oob_state state;
	struct oob_ends ends;
	bool self;	     /* the QP is connected to itself */
	struct endpoint *ep; /* endpoint of the local QP number */
	uint32_t ird;
	struct oob_attr attr;
	struct list_node wait_node; /* conn_assoc.oob, in OOB_CONNECTING */
	struct iw_session *session; /* NULL: none */
	struct oob_second second;
	struct oob_clock clock;
	bool uc; /* the type is UC, else RC */
	bool had_session;
	bool type_told;	 /* it was logged that the peer's QP has another type */
	bool told;	 /* tell_at was set once: the line is logged only once */
	int error;	 /* -errno of the last attempt; 0: none failed */
	const char *why; /* text for `error` */
};

void oob_table_init(struct oob_table *t)
{
	list_init(&t->early);
}

void oob_table_fini(struct oob_table *t)
{
	timerq_fini(&t->timers);
}

static void session_event(const struct iw_event *ev);

static const struct iw_session_ops session_ops = { .event = session_event };

static struct iw_session_user user_of(struct oob_qp *o)
{
	return (struct iw_session_user){ .ops = &session_ops, .ctx = o };
}

/* ---- messages ---- */

static uint8_t type_of(const struct oob_qp *o)
{
	return o->uc ? OOB_UC : OOB_RC;
}

/* Logs once that the peer's QP has another type. */
static void tell_type(struct oob_qp *o)
{
	if (!o->type_told)
		log_error("QP 0x%06x is of type %s, and its peer, QP 0x%06x, is not", o->qp->num,
			  o->uc ? "UC" : "RC", o->ends.dest);
	o->type_told = true;
}

static void fill_param(const struct oob_qp *o, struct iw_session_param *p)
{
	struct oob_message m = {
		.rnr_retry = o->attr.rnr_retry,
		.type = type_of(o),
		.src = o->qp->num,
		.dst = o->ends.dest,
		.token = o->ends.loop ? o->conn->oob.token : 0,
	};

	memset(p, 0, sizeof(*p));
	p->ird = o->ird;
	p->ord = o->attr.ord;
	p->rnr_retry_count = 7;
	p->private_data_len = (uint16_t)oob_message_encode(&m, p->private_data);
}

void oob_reject(struct iw_session *s, const struct oob_message *to, uint8_t reason)
{
	struct oob_message m = { .reason = reason, .src = to->dst, .dst = to->src };
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(s));
	uint8_t buf[OOB_MESSAGE_LEN];

	log_debug("QP 0x%06x: Initiate of QP 0x%06x rejected, reason %d", to->dst, to->src, reason);
	/* Without memory for the answer, end the session without an answer. */
	if (iw_session_reject(s, buf, oob_message_encode(&m, buf)))
		iw_session_refuse(s);
	conn_assoc_check_idle(a);
}

/* ---- time ---- */

static void arm(struct oob_qp *o)
{
	struct timerq *timers = &o->conn->oob.timers;
	uint64_t when = o->state == OOB_UP ? TIME_NEVER : o->clock.deadline;

	if (o->state == OOB_WAITING && o->clock.begin_at < when)
		when = o->clock.begin_at;
	if (o->state < OOB_UP && o->clock.tell_at < when)
		when = o->clock.tell_at;
	if (when == TIME_NEVER)
		timerq_remove(timers, &o->clock.timer);
	else
		timerq_set(timers, &o->clock.timer, when);
}

static void wait_until(struct oob_qp *o, uint64_t when)
{
	o->state = OOB_WAITING;
	o->clock.begin_at = when;
	arm(o);
}

/* Schedules the next attempt after a pause. The last attempt has failed with this error. */
static void begin_later(struct oob_qp *o, const char *why, int error)
{
	struct oob_clock *clock = &o->clock;
	char text[SOCKADDR_TEXT];

	if (trace_enabled())
		log_debug("QP 0x%06x: %s: %s (error %d)", o->qp->num,
			  sockaddr_text_ip(&o->ends.remote, qp_num_port(o->ends.dest), text), why,
			  -error);
	o->why = why;
	o->error = error;
	if (o->had_session && iw_sq_is_empty(o->qp))
		wait_until(o, TIME_NEVER);
	else
		wait_until(o, o->conn->now + clock->pause);
	clock->pause = clock->pause < PAUSE_MAX / 2 ? 2 * clock->pause : PAUSE_MAX;
}

static void established(struct oob_qp *o)
{
	log_debug("QP 0x%06x: session with QP 0x%06x", o->qp->num, o->ends.dest);
	o->state = OOB_UP;
	o->had_session = true;
	o->clock.pause = PAUSE_MIN;
	o->clock.deadline = o->clock.tell_at = TIME_NEVER;
	if (!o->self)
		oob_second_attach(&o->second, o->qp, iw_assoc_llp(iw_session_assoc(o->session)));
	arm(o);
}

/* ---- the active side ---- */

static void initiate(struct oob_qp *o, struct conn_assoc *a)
{
	struct iw_session_user user = user_of(o);
	struct iw_session_param param;
	int ret;

	fill_param(o, &param);
	ret = iw_session_initiate(a->iw, o->qp, &param, &user, &o->session);
	if (ret) {
		o->session = NULL;
		begin_later(o, "no session", ret);
		return;
	}
	conn_assoc_in_use(a);
	o->state = OOB_INITIATING;
	arm(o);
}

/* Within a process, uses another port, since no association connects a port to itself. */
static int source_endpoint(struct oob_qp *o, struct endpoint **ep)
{
	int family = ip_addr_is_v4(&o->ends.remote) ? AF_INET : AF_INET6;

	if (o->ends.loop)
		return endpoint_open_client(o->conn, family, 0, ep);
	o->ep->refs++;
	*ep = o->ep;
	return 0;
}

static void begin_with_self(struct oob_qp *o)
{
	struct iw_assoc *iw = to_self_assoc(o->conn);
	struct iw_session_user user = user_of(o);
	struct iw_session_param param;
	int ret = -ENOMEM;

	fill_param(o, &param);
	if (iw)
		ret = iw_session_to_self(iw, o->qp, &param, &user, &o->session);
	if (ret)
		begin_later(o, "no session", ret);
	else
		established(o);
}

static void begin(struct oob_qp *o)
{
	uint16_t port = qp_num_port(o->ends.dest);
	struct path_addr to = {
		.local = o->ends.local,
		.remote = o->ends.remote,
		.udp_port = cm_encap_port(o->conn, port),
	};
	struct endpoint *ep;
	struct conn_assoc *a;
	int ret;

	if (o->self) {
		begin_with_self(o);
		return;
	}
	ret = source_endpoint(o, &ep);
	if (!ret) {
		ret = conn_assoc_connect(ep, &to, port, &a);
		endpoint_put(ep);
	}
	if (ret) {
		begin_later(o, "cannot connect", ret);
		return;
	}
	if (conn_assoc_is_up(a)) {
		initiate(o, a);
		conn_assoc_check_idle(a);
		return;
	}
	o->state = OOB_CONNECTING;
	list_add_tail(&a->oob, &o->wait_node);
	arm(o);
}

void oob_assoc_up(struct conn_assoc *a)
{
	struct list_node *node;

	while ((node = list_pop(&a->oob)))
		initiate(list_entry(node, struct oob_qp, wait_node), a);
}

void oob_assoc_failed(struct conn_assoc *a, int error)
{
	struct list_node *node;

	while ((node = list_pop(&a->oob)))
		begin_later(list_entry(node, struct oob_qp, wait_node), NO_ASSOCIATION, error);
}

/* ---- the passive side ---- */

static bool is_named(const struct oob_qp *o, const struct oob_message *m,
		     const struct conn_assoc *a)
{
	const struct transport *t = o->conn->transport;

	if (m->src != o->ends.dest)
		return false;
	if (o->ends.loop)
		return m->token == o->conn->oob.token;
	return t->remote_port(a) == qp_num_port(o->ends.dest) &&
	       conn_assoc_has_address(a, &o->ends.remote);
}

static void accept_session(struct oob_qp *o, struct iw_session *s, const struct oob_message *m)
{
	struct iw_session_user user = user_of(o);
	struct iw_session_param param;
	int ret;

	list_del(&o->wait_node);
	fill_param(o, &param);
	param.rnr_retry_count = m->rnr_retry;
	ret = iw_session_accept(s, o->qp, &param);
	if (ret) {
		iw_session_refuse(s);
		begin_later(o, "cannot accept", ret);
		return;
	}
	iw_session_set_user(s, &user);
	o->session = s;
	established(o);
}

/* True if the QP is in ERROR, where it needs no session. */
static bool is_in_error(const struct oob_qp *o)
{
	return atomic_load_explicit(&o->qp->state, memory_order_relaxed) == IW_QPS_ERR;
}

void oob_consider(struct conn *c, struct iw_session *s, const struct oob_message *m)
{
	/* The association exists: its loss would have ended the session before this call. */
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(s));
	struct iw_qp *qp = conn_qp(c, m->dst);
	struct oob_qp *o = qp ? qp->oob : NULL;

	if (!qp || qp->type == IW_QPT_UD || !a->ep->block ||
	    a->ep->bound.port != qp_num_port(m->dst)) {
		oob_reject(s, m, OOB_NO_QP);
	} else if (qp->by_cm) {
		oob_reject(s, m, OOB_STRANGER);
	} else if (!o || o->state >= OOB_UP || is_in_error(o)) {
		oob_early_keep(c, s, m);
	} else if (!is_named(o, m, a)) {
		oob_reject(s, m, OOB_STRANGER);
	} else if (m->type != type_of(o)) {
		tell_type(o);
		oob_reject(s, m, OOB_TYPE);
	} else if (o->state != OOB_INITIATING) {
		accept_session(o, s, m);
	} else if (oob_election_yields(qp->num, m->src, iw_assoc_is_initiator(a->iw))) {
		iw_session_close(o->session);
		o->session = NULL;
		accept_session(o, s, m);
	} else {
		oob_reject(s, m, OOB_CROSSED);
	}
}

bool oob_request(struct conn *c, const struct iw_event *ev)
{
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(ev->session));
	struct oob_message m;

	/*
	 * Refuse requests for a peer-to-peer connection (ev->param.rtr). QPs connected out of band
	 * never send any, and the wait for the RTR indication would have no limit.
	 */
	if (oob_message_decode(&m, ev->param.private_data, ev->param.private_data_len) &&
	    !ev->param.rtr) {
		conn_assoc_in_use(a);
		oob_consider(c, ev->session, &m);
		conn_assoc_check_idle(a); /* if the QP has no session now, the idle time starts */
		return true;
	}
	if (!a->ep->block)
		return false;
	log_debug("port %u: request refused: it is for no QP connected out of band",
		  a->ep->bound.port);
	iw_session_refuse(ev->session);
	conn_assoc_check_idle(a);
	return true;
}

/* ---- events of the sessions ---- */

/*
 * Handles the end of the session. An RC QP fails only if WRs wait: otherwise the application may
 * have received all the data that it needs. A UC QP gets another session once either side has data
 * to send.
 */
static void over(struct oob_qp *o)
{
	o->session = NULL;
	if (o->uc) {
		wait_until(o, TIME_NEVER);
		oob_early_consider(o->conn, o->qp->num);
		oob_doorbell(o->qp);
		return;
	}
	o->state = OOB_OVER;
	oob_doorbell(o->qp);
}

/* Checks that the peer QP has accepted: an rdma_cm listener may accept the Initiate, too. */
static void on_accept(struct oob_qp *o, const struct iw_event *ev)
{
	struct oob_message m;

	if (!oob_message_decode(&m, ev->param.private_data, ev->param.private_data_len) ||
	    m.src != o->ends.dest || m.dst != o->qp->num) {
		log_debug("QP 0x%06x: accepted by another QP than 0x%06x", o->qp->num,
			  o->ends.dest);
		iw_session_close(ev->session);
		over(o);
		return;
	}
	if (m.type != type_of(o)) {
		tell_type(o);
		iw_session_close(ev->session);
		over(o);
		return;
	}
	iw_session_set_rnr_retry(ev->session, m.rnr_retry);
	established(o);
}

static void on_reject(struct oob_qp *o, const struct iw_event *ev)
{
	const char *why = "rejected";
	struct oob_message m;

	if (oob_message_decode(&m, ev->param.private_data, ev->param.private_data_len)) {
		why = m.reason == OOB_CROSSED  ? "the Initiates crossed" :
		      m.reason == OOB_TYPE     ? "its QP is of another type" :
		      m.reason == OOB_STRANGER ? "it is connected to somebody else" :
						 "it has no such QP";
		if (m.reason == OOB_TYPE)
			tell_type(o);
	}
	o->session = NULL;
	begin_later(o, why, -ECONNREFUSED);
}

static void session_event(const struct iw_event *ev)
{
	struct oob_qp *o = ev->user.ctx;

	switch (ev->type) {
	case IW_EVENT_ACCEPT:
		on_accept(o, ev);
		break;
	case IW_EVENT_REJECT:
		on_reject(o, ev);
		break;
	case IW_EVENT_CLOSED:
		o->session = NULL;
		oob_second_attach(&o->second, o->qp, NULL);
		if (o->state == OOB_INITIATING)
			begin_later(o, "refused", ev->error);
		else
			over(o);
		break;
	default:
		break;
	}
}

/* ---- timers ---- */

/* Ends the session and all attempts to connect. */
static void hang_up(struct oob_qp *o)
{
	list_del(&o->wait_node);
	if (o->session)
		iw_session_close(o->session);
	o->session = NULL;
	oob_second_attach(&o->second, o->qp, NULL);
	o->state = OOB_OVER;
	o->clock.deadline = o->clock.tell_at = TIME_NEVER;
	arm(o);
}

/* Sets when waiting WRs fail, by the QP's attributes, and when to log that they wait. */
static void wait_for_peer(struct oob_qp *o)
{
	if (o->attr.limit)
		o->clock.deadline = o->conn->now + o->attr.limit;
	if (!o->told)
		o->clock.tell_at = o->conn->now + UNANSWERED_TIME;
	o->told = true;
}

void oob_doorbell(struct iw_qp *qp)
{
	struct oob_qp *o = qp->oob;
	/*
	 * In SQD, WRs that have not begun wait without a limit. After the session, WRs that have
	 * begun cannot complete, so the limit also applies in SQD.
	 */
	enum iw_qp_state last = o->state == OOB_OVER ? IW_QPS_SQD : IW_QPS_RTS;

	if (o->state == OOB_UP || o->clock.deadline != TIME_NEVER || iw_sq_is_empty(qp) ||
	    atomic_load_explicit(&qp->state, memory_order_relaxed) > last)
		return;
	if (o->state == OOB_OVER || o->had_session)
		o->clock.deadline = o->conn->now + o->attr.gone;
	else
		wait_for_peer(o);
	if (o->state == OOB_WAITING && o->clock.begin_at == TIME_NEVER)
		o->clock.begin_at = o->conn->now;
	arm(o);
}

/* Completes the WRs of a UC QP without a peer: their messages count as lost. */
static void lose(struct oob_qp *o)
{
	o->clock.deadline = o->clock.tell_at = TIME_NEVER;
	iw_uc_lose(o->qp);
	arm(o);
}

/* Returns the likely reason why the peer did not connect. */
static const char *cause(const struct oob_qp *o, const struct path_addr *to, char *buf, size_t len)
{
	if (o->state == OOB_INITIATING)
		return "it is there, and its QP is not in RTR";
	if (o->state == OOB_CONNECTING || !o->error || o->error == -ETIMEDOUT)
		return unanswered_cause(o->conn, to, buf, len);
	if (o->why != NO_ASSOCIATION)
		return o->why;
	return o->error == -ECONNREFUSED ? "its program has not come, or has gone" :
					   strerror(-o->error);
}

/* Logs that work requests wait, if they still do. */
static void tell(struct oob_qp *o)
{
	uint16_t port = qp_num_port(o->ends.dest);
	struct path_addr to = { .remote = o->ends.remote,
				.udp_port = cm_encap_port(o->conn, port) };
	char peer[SOCKADDR_TEXT], room[UNANSWERED_LINE];

	o->clock.tell_at = TIME_NEVER;
	if (!iw_sq_is_empty(o->qp) && !is_in_error(o))
		unanswered_tell(
			o->conn, &to.remote, port,
			"QP 0x%06x: work requests have waited for QP 0x%06x at %s for %u s: %s",
			o->qp->num, o->ends.dest, sockaddr_text_ip(&to.remote, port, peer),
			(unsigned int)(UNANSWERED_TIME / NSEC_PER_SEC),
			cause(o, &to, room, sizeof(room)));
	arm(o);
}

uint64_t oob_next_timeout(const struct conn *c)
{
	const struct timerq_node *first = timerq_first(&c->oob.timers);

	return first ? first->when : TIME_NEVER;
}

void oob_timers(struct conn *c)
{
	struct timerq *timers = &c->oob.timers;
	struct timerq_node *first;

	while ((first = timerq_first(timers)) && first->when <= c->now) {
		struct oob_qp *o = list_entry(first, struct oob_qp, clock.timer);

		timerq_remove(timers, first);
		if (o->clock.deadline <= c->now && o->uc) {
			lose(o);
		} else if (o->clock.deadline <= c->now) {
			log_debug("QP 0x%06x: its peer, QP 0x%06x, has %s", o->qp->num,
				  o->ends.dest, o->state == OOB_OVER ? "gone" : "not come");
			hang_up(o);
			iw_qp_give_up(o->qp);
		} else if (o->clock.tell_at <= c->now) {
			tell(o);
		} else if (is_in_error(o)) {
			hang_up(o);
		} else {
			begin(o);
		}
	}
}

/* ---- for verbs ---- */

static bool is_unicast(const struct ip_addr *ip)
{
	if (ip_addr_is_zero(ip) || ip->b[0] == 0xff)
		return false;
	return !ip_addr_is_v4(ip) || ip->b[12] < 224;
}

static bool is_own_address(struct conn *c, const struct ip_addr *ip)
{
	return ip_addr_is_loopback(ip) || c->ops->is_own_address(c, ip);
}

static int set_ends(struct oob_qp *o, const struct oob_peer *peer)
{
	struct oob_ends *ends = &o->ends;

	ends->qp_num = o->qp->num;
	ends->dest = peer->dest_qp_num;
	ends->local = peer->local;
	ends->remote = peer->remote;
	if (ip_addr_is_link_local(&ends->remote))
		ends->remote.scope_id = peer->ifindex;
	if (!is_unicast(&ends->remote) ||
	    ip_addr_is_v4(&ends->local) != ip_addr_is_v4(&ends->remote)) {
		log_debug(
			"QP 0x%06x: the destination GID is no address that the source GID reaches",
			o->qp->num);
		return -EINVAL;
	}
	ends->loop = qp_num_endpoint(o->conn, ends->dest) && is_own_address(o->conn, &ends->remote);
	o->self = ends->loop && ends->dest == o->qp->num;
	if (!qp_num_port(ends->dest)) {
		log_debug("QP 0x%06x: 0x%06x is no number of a QP", o->qp->num, ends->dest);
		return -EINVAL;
	}
	return 0;
}

static struct oob_qp *oob_qp_new(struct conn *c, struct iw_qp *qp, const struct oob_peer *peer)
{
	struct oob_qp *o;

	if (timerq_reserve(&c->oob.timers, c->oob.n + 1))
		return NULL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->conn = c;
	o->qp = qp;
	o->uc = qp->type == IW_QPT_UC;
	o->ep = qp_num_endpoint(c, qp->num);
	o->ird = peer->ird;
	o->attr.rnr_retry = 7;
	o->clock.pause = PAUSE_MIN;
	o->clock.deadline = o->clock.tell_at = TIME_NEVER;
	list_init(&o->wait_node);
	list_init(&o->second.node);
	return o;
}

int oob_connect(struct conn *c, struct iw_qp *qp, const struct oob_peer *peer)
{
	struct oob_qp *o;
	int ret;

	if (atomic_load_explicit(&qp->state, memory_order_relaxed) != IW_QPS_INIT)
		return -EINVAL;
	o = oob_qp_new(c, qp, peer);
	if (!o)
		return -ENOMEM;
	while (!c->oob.token)
		random_bytes(c->random, &c->oob.token, sizeof(c->oob.token));
	ret = set_ends(o, peer);
	if (!ret)
		ret = endpoint_wake(o->ep, &o->ends.local);
	if (ret) {
		free(o);
		return ret;
	}
	/* No later step may fail, because the port now answers peers. */
	iw_qp_modify(qp, IW_QPS_RTR);
	qp->oob = o;
	c->oob.n++;
	wait_until(o, oob_election_begins(&o->ends) ? c->now : c->now + PASSIVE_WAIT);
	oob_early_consider(c, qp->num);
	if (o->state == OOB_WAITING && o->clock.begin_at <= c->now)
		begin(o);
	return 0;
}

void oob_set_attr(struct iw_qp *qp, const struct oob_attr *attr)
{
	struct oob_qp *o = qp->oob;

	iw_qp_set_ord(qp, attr->ord);
	o->attr = *attr;
	oob_doorbell(qp);
}

struct oob_second *oob_second_of(const struct iw_qp *qp)
{
	struct oob_qp *o = qp->oob;

	return o ? &o->second : NULL;
}

void oob_disconnect(struct iw_qp *qp)
{
	struct oob_qp *o = qp->oob;

	if (!o)
		return;
	hang_up(o);
	o->conn->oob.n--;
	qp->oob = NULL;
	free(o);
}
