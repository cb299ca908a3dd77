/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/oob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/cm.h"
#include "log/log.h"
#include "util/sockaddr.h"
#include "conn/to_self.h"
#include "util/bytes.h"

#define MSEC (NSEC_PER_SEC / 1000)
#define PAUSE_MIN (10 * MSEC)
#define PAUSE_MAX NSEC_PER_SEC
#define PASSIVE_WAIT (500 * MSEC)
#define VERSION 1

static const char magic[8] = {'s', 'c', 't', 'p', 'i', 'w', 'Q', 'P'};

enum oob_state {
	OOB_WAITING,	  /* for its time to begin, or for the other side to */
	OOB_CONNECTING, /* for the association */
	OOB_INITIATING, /* for the Accept */
	OOB_UP,
	OOB_OVER, /* has had its session, or has given up */
};

/* iw_qp.oob */
struct oob {
	struct engine *engine;
	struct iw_qp *qp;
	enum oob_state state;
	bool loop; /* the peer is in this process */
	bool self; /* and is this QP */
	uint32_t dest;
	struct path_addr path;
	struct endpoint *ep; /* of our number */
	uint32_t ird, ord;
	uint8_t rnr_retry;
	struct list_node wait_node; /* assoc.oob */
	struct iw_session *session;

	struct timerq_node timer;
	uint64_t begin_at; /* WAITING */
	uint64_t pause;
	uint64_t limit;	   /* 0: none */
	uint64_t gone;	   /* the same, once there was a session */
	uint64_t deadline; /* of the WRs that wait; TIME_NEVER: none do */
};

/* An Initiate whose QP is not ready for it. */
struct early {
	struct list_node node; /* engine.early */
	struct iw_session *session;
	struct oob_message msg;
};

/* What sessions of this file have as cm. Handles of ids are below, and pointers of user space too. */
#define COOKIE_OOB ((uintptr_t)1 << 62)
#define COOKIE_EARLY ((uintptr_t)1 << 61)

static void *cookie(void *p, uintptr_t kind)
{
	return (void *)((uintptr_t)p | kind);
}

static void *from_cookie(void *p, uintptr_t kind)
{
	return (uintptr_t)p & kind ? (void *)((uintptr_t)p & ~kind) : NULL;
}

/* ---- the message ---- */

size_t oob_encode(const struct oob_message *m, uint8_t *buf)
{
	memcpy(buf, magic, sizeof(magic));
	buf[8] = VERSION;
	buf[9] = m->reason;
	buf[10] = m->rnr_retry;
	buf[11] = 0;
	put_be32(buf + 12, m->src);
	put_be32(buf + 16, m->dst);
	put_be64(buf + 20, m->token);
	return OOB_MESSAGE_LEN;
}

bool oob_decode(struct oob_message *m, const uint8_t *data, size_t len)
{
	if (len != OOB_MESSAGE_LEN || memcmp(data, magic, sizeof(magic)) || data[8] != VERSION)
		return false;
	m->reason = data[9];
	m->rnr_retry = data[10] & 7;
	m->src = get_be32(data + 12);
	m->dst = get_be32(data + 16);
	m->token = get_be64(data + 20);
	return true;
}

static void fill_param(const struct oob *w, struct iw_session_param *p)
{
	struct oob_message m = {
		.rnr_retry = w->rnr_retry,
		.src = w->qp->num,
		.dst = w->dest,
		.token = w->loop ? w->engine->oob_token : 0,
	};

	memset(p, 0, sizeof(*p));
	p->ird = w->ird;
	p->ord = w->ord;
	p->rnr_retry_count = 7;
	p->private_data_len = (uint16_t)oob_encode(&m, p->private_data);
}

static void reject(struct iw_session *s, const struct oob_message *to, enum oob_reason reason)
{
	struct oob_message m = {.reason = (uint8_t)reason, .src = to->dst, .dst = to->src};
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(s));
	uint8_t buf[OOB_MESSAGE_LEN];

	log_debug("QP 0x%06x: Initiate of QP 0x%06x rejected, reason %d", to->dst, to->src, reason);
	/* Without memory for the answer: nothing may come of it any more either. */
	if (iw_session_reject(s, buf, oob_encode(&m, buf)))
		iw_session_refuse(s);
	conn_assoc_check_idle(a);
}

/* ---- time ---- */

static void arm(struct oob *w)
{
	uint64_t when = w->state == OOB_UP ? TIME_NEVER : w->deadline;

	if (w->state == OOB_WAITING && w->begin_at < when)
		when = w->begin_at;
	if (when == TIME_NEVER)
		timerq_remove(&w->engine->oob_timers, &w->timer);
	else
		timerq_set(&w->engine->oob_timers, &w->timer, when);
}

static void wait_until(struct oob *w, uint64_t when)
{
	w->state = OOB_WAITING;
	w->begin_at = when;
	arm(w);
}

/* Nobody is there, or not yet. */
static void begin_later(struct oob *w, const char *why, int error)
{
	char text[SOCKADDR_TEXT];

	if (log_enabled(LOG_LEVEL_DEBUG))
		log_debug("QP 0x%06x: %s: %s (error %d)", w->qp->num,
			  sockaddr_text_ip(&w->path.remote, qp_num_port(w->dest), text), why, -error);
	wait_until(w, w->engine->now + w->pause);
	w->pause = w->pause < PAUSE_MAX / 2 ? 2 * w->pause : PAUSE_MAX;
}

static void established(struct oob *w)
{
	log_debug("QP 0x%06x: session with QP 0x%06x", w->qp->num, w->dest);
	w->state = OOB_UP;
	w->deadline = TIME_NEVER;
	arm(w);
}

/* ---- the side that begins ---- */

static void initiate(struct oob *w, struct conn_assoc *a)
{
	struct iw_session_param param;
	int ret;

	fill_param(w, &param);
	ret = iw_session_initiate(a->iw, w->qp, &param, cookie(w, COOKIE_OOB), &w->session);
	if (ret) {
		w->session = NULL;
		begin_later(w, "no session", ret);
		return;
	}
	list_del(&a->idle_node);
	w->state = OOB_INITIATING;
	arm(w);
}

/* To itself a process goes from another port: there is no association of a port with itself. */
static int source_endpoint(struct oob *w, struct endpoint **ep)
{
	if (w->loop)
		return endpoint_open_client(w->engine,
					    ip_addr_is_v4(&w->path.remote) ? AF_INET : AF_INET6, 0, ep);
	w->ep->refs++;
	*ep = w->ep;
	return 0;
}

static void begin_with_self(struct oob *w)
{
	struct iw_assoc *iw = to_self_assoc(w->engine);
	struct iw_session_param param;
	int ret = -ENOMEM;

	fill_param(w, &param);
	if (iw)
		ret = iw_session_to_self(iw, w->qp, &param, cookie(w, COOKIE_OOB), &w->session);
	if (ret)
		begin_later(w, "no session", ret);
	else
		established(w);
}

static void begin(struct oob *w)
{
	uint16_t port = qp_num_port(w->dest);
	struct endpoint *ep;
	struct conn_assoc *a;
	int ret;

	if (w->self) {
		begin_with_self(w);
		return;
	}
	ret = source_endpoint(w, &ep);
	if (!ret) {
		w->path.udp_port = cm_encap_port(w->engine, port);
		ret = conn_assoc_connect(ep, &w->path, port, &a);
		endpoint_put(ep);
	}
	if (ret) {
		begin_later(w, "cannot connect", ret);
		return;
	}
	if (conn_assoc_is_up(a)) {
		initiate(w, a);
		conn_assoc_check_idle(a);
		return;
	}
	w->state = OOB_CONNECTING;
	list_add_tail(&a->oob, &w->wait_node);
	arm(w);
}

void oob_assoc_up(struct conn_assoc *a)
{
	struct list_node *node;

	while ((node = list_pop(&a->oob)))
		initiate(list_entry(node, struct oob, wait_node), a);
}

void oob_assoc_failed(struct conn_assoc *a, int error)
{
	struct list_node *node;

	while ((node = list_pop(&a->oob)))
		begin_later(list_entry(node, struct oob, wait_node), "no association", error);
}

/* ---- the side that is found ---- */

static bool is_named(const struct oob *w, const struct oob_message *m, const struct conn_assoc *a)
{
	const struct transport *t = w->engine->transport;

	if (m->src != w->dest)
		return false;
	if (w->loop)
		return m->token == w->engine->oob_token;
	return t->remote_port(a) == qp_num_port(w->dest) &&
	       ip_addr_equal(&t->addr(a)->remote, &w->path.remote);
}

static void accept_session(struct oob *w, struct iw_session *s, const struct oob_message *m)
{
	struct iw_session_param param;
	int ret;

	list_del(&w->wait_node);
	fill_param(w, &param);
	param.rnr_retry_count = m->rnr_retry;
	ret = iw_session_accept(s, w->qp, &param);
	if (ret) {
		iw_session_refuse(s);
		begin_later(w, "cannot accept", ret);
		return;
	}
	iw_session_set_cm(s, cookie(w, COOKIE_OOB));
	w->session = s;
	established(w);
}

static void keep_early(struct engine *e, struct iw_session *s, const struct oob_message *m)
{
	unsigned int n = 0;
	struct early *h;

	list_for_each(node, &e->early)
		n += list_entry(node, struct early, node)->msg.dst == m->dst;
	h = n < OOB_EARLY_PER_QP && e->n_early < OOB_EARLY_MAX ? malloc(sizeof(*h)) : NULL;
	if (!h) {
		reject(s, m, OOB_NO_QP);
		return;
	}
	h->session = s;
	h->msg = *m;
	list_add_tail(&e->early, &h->node);
	e->n_early++;
	iw_session_set_cm(s, cookie(h, COOKIE_EARLY));
	log_debug("QP 0x%06x: Initiate of QP 0x%06x early", m->dst, m->src);
}

static void drop_early(struct engine *e, struct early *h)
{
	list_del(&h->node);
	e->n_early--;
	free(h);
}

/* Theirs is the Initiate that counts. To SCTP both sides may be the initiator; iwarp has made it one. */
static bool yields(const struct oob *w, const struct oob_message *m, const struct conn_assoc *a)
{
	return m->src > w->qp->num || (m->src == w->qp->num && !iw_assoc_is_initiator(a->iw));
}

/* Until it is oob anew it has no use for a session. */
static bool is_in_error(const struct oob *w)
{
	return atomic_load_explicit(&w->qp->state, memory_order_relaxed) == IW_QPS_ERR;
}

/* Decides about an Initiate that is not early, or not any more. */
static void consider(struct engine *e, struct iw_session *s, const struct oob_message *m)
{
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(s)); /* who has lost it has said so */
	struct iw_qp *qp = iw_qp_by_num(e->rnic, m->dst);
	struct oob *w = qp ? qp->oob : NULL;

	if (!qp || !a->ep->block || a->ep->port != qp_num_port(m->dst)) {
		reject(s, m, OOB_NO_QP);
	} else if (qp->cm) {
		reject(s, m, OOB_STRANGER);
	} else if (!w || w->state >= OOB_UP || is_in_error(w)) {
		keep_early(e, s, m);
	} else if (!is_named(w, m, a)) {
		reject(s, m, OOB_STRANGER);
	} else if (w->state != OOB_INITIATING) {
		accept_session(w, s, m);
	} else if (yields(w, m, a)) {
		iw_session_close(w->session);
		w->session = NULL;
		accept_session(w, s, m);
	} else {
		reject(s, m, OOB_CROSSED);
	}
}

/* Those that came for a QP before it was ready. */
static void consider_early(struct engine *e, uint32_t num)
{
	struct list_node mine;
	struct list_node *node;

	list_init(&mine);
	list_for_each_safe(it, &e->early) {
		if (list_entry(it, struct early, node)->msg.dst == num) {
			list_del(it);
			list_add_tail(&mine, it);
		}
	}
	while ((node = list_pop(&mine))) {
		struct early *h = list_entry(node, struct early, node);
		struct iw_session *s = h->session;
		struct oob_message m = h->msg;

		drop_early(e, h);
		consider(e, s, &m);
	}
}

static bool request(struct engine *e, const struct iw_event *ev)
{
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(ev->session));
	struct oob_message m;

	/* Ours never ask for a peer-to-peer connection: its RTR indication would be waited for without a limit. */
	if (oob_decode(&m, ev->param.private_data, ev->param.private_data_len) && !ev->param.rtr) {
		list_del(&a->idle_node);
		consider(e, ev->session, &m);
		return true;
	}
	if (!a->ep->block)
		return false;
	log_debug("port %u: request refused: none of a QP connected out of band", a->ep->port);
	iw_session_refuse(ev->session);
	conn_assoc_check_idle(a);
	return true;
}

/* ---- events of the sessions ---- */

/* Nothing is told of it but to who sends: perhaps the application has heard all that it wants. */
static void over(struct oob *w)
{
	w->session = NULL;
	w->state = OOB_OVER;
	oob_doorbell(w->qp);
}

/* Who accepts what it does not understand, a listener of rdma_cm, is none of our peers. */
static void on_accept(struct oob *w, const struct iw_event *ev)
{
	struct oob_message m;

	if (!oob_decode(&m, ev->param.private_data, ev->param.private_data_len) ||
	    m.src != w->dest || m.dst != w->qp->num) {
		log_debug("QP 0x%06x: accepted by what is not QP 0x%06x", w->qp->num, w->dest);
		iw_session_close(ev->session);
		over(w);
		return;
	}
	iw_session_set_rnr_retry(ev->session, m.rnr_retry);
	established(w);
}

static void on_reject(struct oob *w, const struct iw_event *ev)
{
	struct oob_message m;
	bool ours = oob_decode(&m, ev->param.private_data, ev->param.private_data_len);

	w->session = NULL;
	begin_later(w, ours && m.reason == OOB_CROSSED ? "the Initiates crossed" :
		    ours && m.reason == OOB_STRANGER	 ? "it is oob to somebody else" :
		    ours				 ? "it has no such QP" :
							   "rejected",
		    -ECONNREFUSED);
}

bool oob_session_event(struct engine *e, const struct iw_event *ev)
{
	struct oob *w = from_cookie(ev->cm, COOKIE_OOB);
	struct early *h = from_cookie(ev->cm, COOKIE_EARLY);

	if (ev->type == IW_EVENT_INITIATE)
		return request(e, ev);
	if (h) {
		if (ev->type == IW_EVENT_CLOSED)
			drop_early(e, h);
		return true;
	}
	if (!w)
		return false;
	switch (ev->type) {
	case IW_EVENT_ACCEPT:
		on_accept(w, ev);
		break;
	case IW_EVENT_REJECT:
		on_reject(w, ev);
		break;
	case IW_EVENT_CLOSED:
		w->session = NULL;
		if (w->state == OOB_INITIATING)
			begin_later(w, "refused", ev->error);
		else
			over(w);
		break;
	default:
		break;
	}
	return true;
}

/* ---- timers ---- */

/* Gives up what goes on with the peer. */
static void hang_up(struct oob *w)
{
	list_del(&w->wait_node);
	if (w->session)
		iw_session_close(w->session);
	w->session = NULL;
	w->state = OOB_OVER;
	w->deadline = TIME_NEVER;
	arm(w);
}

void oob_doorbell(struct iw_qp *qp)
{
	struct oob *w = qp->oob;
	/* In SQD what has not begun waits, but without a session nothing that has begun can end. */
	enum iw_qp_state last = w->state == OOB_OVER ? IW_QPS_SQD : IW_QPS_RTS;

	if (w->state == OOB_UP || w->deadline != TIME_NEVER || iw_sq_is_empty(qp) ||
	    atomic_load_explicit(&qp->state, memory_order_relaxed) > last)
		return;
	if (w->state == OOB_OVER)
		w->deadline = w->engine->now + w->gone;
	else if (w->limit)
		w->deadline = w->engine->now + w->limit;
	arm(w);
}

uint64_t oob_next_timeout(const struct engine *e)
{
	const struct timerq_node *first = timerq_first(&e->oob_timers);

	return first ? first->when : TIME_NEVER;
}

void oob_timers(struct engine *e)
{
	struct timerq_node *first;

	while ((first = timerq_first(&e->oob_timers)) && first->when <= e->now) {
		struct oob *w = list_entry(first, struct oob, timer);

		timerq_remove(&e->oob_timers, first);
		if (w->deadline <= e->now) {
			log_debug("QP 0x%06x: its peer, QP 0x%06x, has %s", w->qp->num, w->dest,
				  w->state == OOB_OVER ? "gone" : "not come");
			hang_up(w);
			iw_qp_give_up(w->qp);
		} else if (is_in_error(w)) {
			hang_up(w);
		} else {
			begin(w);
		}
	}
}

/* ---- what the verbs layer asks for ---- */

static bool is_unicast(const struct ip_addr *ip)
{
	if (ip_addr_is_zero(ip) || ip->b[0] == 0xff)
		return false;
	return !ip_addr_is_v4(ip) || ip->b[12] < 224;
}

static bool is_own_address(struct engine *e, const struct ip_addr *ip)
{
	return (ip_addr_is_v4(ip) && ip->b[12] == 127) || engine_gid_find(e, ip->b, 0) >= 0;
}

static int set_path(struct oob *w, const struct oob_peer *wiring)
{
	struct ip_addr *local = &w->path.local, *remote = &w->path.remote;

	*local = sockaddr_ip((const struct sockaddr *)&wiring->local.addr);
	memcpy(remote->b, wiring->dgid, sizeof(remote->b));
	if (ip_addr_is_link_local(remote))
		remote->scope_id = wiring->local.ifindex;
	if (!is_unicast(remote) || ip_addr_is_v4(local) != ip_addr_is_v4(remote)) {
		log_debug("QP 0x%06x: the destination GID is no address that the source GID reaches",
			  w->qp->num);
		return -EINVAL;
	}
	w->loop = qp_num_endpoint(w->engine, w->dest) && is_own_address(w->engine, remote);
	w->self = w->loop && w->dest == w->qp->num;
	if (!qp_num_port(w->dest)) {
		log_debug("QP 0x%06x: 0x%06x is no number of a QP", w->qp->num, w->dest);
		return -EINVAL;
	}
	return 0;
}

static bool is_active(const struct oob *w)
{
	uint16_t ours = qp_num_port(w->qp->num), theirs = qp_num_port(w->dest);

	if (w->loop)
		return w->qp->num >= w->dest;
	if (ours != theirs)
		return ours > theirs;
	return memcmp(w->path.local.b, w->path.remote.b, sizeof(w->path.local.b)) > 0;
}

static struct oob *oob_new(struct engine *e, struct iw_qp *qp, const struct oob_peer *wiring)
{
	struct oob *w;

	if (timerq_reserve(&e->oob_timers, e->n_oob + 1))
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->engine = e;
	w->qp = qp;
	w->dest = wiring->dest_qp_num;
	w->ep = qp_num_endpoint(e, qp->num);
	w->ird = wiring->ird;
	w->rnr_retry = 7;
	w->pause = PAUSE_MIN;
	w->deadline = TIME_NEVER;
	list_init(&w->wait_node);
	return w;
}

int oob_connect(struct engine *e, struct iw_qp *qp, const struct oob_peer *wiring)
{
	struct oob *w;
	int ret;

	if (atomic_load_explicit(&qp->state, memory_order_relaxed) != IW_QPS_INIT)
		return -EINVAL;
	w = oob_new(e, qp, wiring);
	if (!w)
		return -ENOMEM;
	while (!e->oob_token)
		random_bytes(&e->random, &e->oob_token, sizeof(e->oob_token));
	ret = set_path(w, wiring);
	if (!ret)
		ret = endpoint_wake(w->ep, &w->path.local);
	if (ret) {
		free(w);
		return ret;
	}
	/* Behind all that can fail: a port that is awake answers peers. */
	iw_qp_modify(qp, IW_QPS_RTR);
	qp->oob = w;
	e->n_oob++;
	wait_until(w, is_active(w) ? e->now : e->now + PASSIVE_WAIT);
	consider_early(e, qp->num);
	if (w->state == OOB_WAITING && w->begin_at <= e->now)
		begin(w);
	return 0;
}

void oob_set_attr(struct iw_qp *qp, const struct oob_attr *attr)
{
	struct oob *w = qp->oob;

	iw_qp_set_ord(qp, attr->ord);
	w->ord = attr->ord;
	w->rnr_retry = attr->rnr_retry;
	w->limit = attr->limit;
	w->gone = attr->gone;
	oob_doorbell(qp);
}

void oob_disconnect(struct iw_qp *qp)
{
	struct oob *w = qp->oob;

	if (!w)
		return;
	hang_up(w);
	w->engine->n_oob--;
	qp->oob = NULL;
	free(w);
}

void oob_qp_gone(struct engine *e, uint32_t num)
{
	consider_early(e, num);
}
