/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/sidr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "conn/carrier.h"
#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"
#include "sctp/sctp.h"
#include "util/sockaddr.h"
#include "wire/sidr.h"

/*
 * The client's pause between requests: the initial value, and the maximum, since each request
 * doubles the pause.
 */
#define WAIT_FIRST (NSEC_PER_SEC / 10)
#define WAIT_LAST (2 * NSEC_PER_SEC)
/*
 * Times after which the client gives up. SILENT_LIMIT applies until the first answer.
 * DECISION_LIMIT applies after the first cookie, until the server's application decides.
 */
#define SILENT_LIMIT (10 * NSEC_PER_SEC)
#define DECISION_LIMIT (30 * NSEC_PER_SEC)
/* A cookie is valid in the period in which it was created, and in the next period. */
#define COOKIE_PERIOD (60 * NSEC_PER_SEC)
/* Number and lifetime of the answers kept for repeated requests. */
#define ANSWERS 64u
#define ANSWER_LIFE DECISION_LIMIT

struct sidr_answer {
	struct path_addr to;
	uint16_t port, own_port; /* SCTP ports of the client and the endpoint */
	uint64_t request_id;
	uint64_t until; /* 0: entry is free */
	uint16_t chunk_len;
	uint8_t chunk[WIRE_SIDR_MAX];
};

void sidr_init(struct sidr *sidr)
{
	list_init(&sidr->asking);
	list_init(&sidr->asked);
}

void sidr_fini(struct sidr *sidr)
{
	free(sidr->answers);
	sidr->answers = NULL;
}

/* iWARP has no datagrams for programs, and the kernel's SCTP cannot send them. */
bool sidr_is_served(const struct conn *c)
{
	return config_is_ca(c->config) && c->carrier;
}

/* ---- common ---- */

static void take_private_data(struct cm_id *id, const void *data, uint8_t len)
{
	id->param.private_data_len = len;
	if (len)
		memcpy(id->param.private_data, data, len);
}

/* ---- the client ---- */

static void send_request(struct cm_id *id)
{
	const struct sidr_request *rq = &id->sidr;
	struct path_addr to = {
		.local = sockaddr_ip((struct sockaddr *)&id->src),
		.remote = sockaddr_ip((struct sockaddr *)&id->dst),
	};
	uint16_t port = sockaddr_port((struct sockaddr *)&id->dst);
	struct wire_sidr s = {
		.request_id = rq->id,
		.cookie = rq->cookie,
		.port = sockaddr_port((struct sockaddr *)&id->src),
		.private_data_len = (uint8_t)id->param.private_data_len,
		.private_data = id->param.private_data,
	};
	uint8_t chunk[WIRE_SIDR_MAX];

	to.udp_port = cm_encap_port(id->conn, port);
	datagram_send_chunk(id->ep, &to, port, chunk,
			    wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REQUEST, &s));
}

int sidr_connect(struct cm_id *id, const struct rnic_conn_param *param)
{
	struct sidr_request *rq = &id->sidr;
	struct conn *c = id->conn;

	if (id->state != CM_ROUTE_RESOLVED || !sockaddr_port((struct sockaddr *)&id->dst) ||
	    !cm_private_fits(c, param->private_data_len, CM_PRIVATE_SIDR_REQ))
		return -EINVAL;
	take_private_data(id, param->private_data, param->private_data_len);
	rq->id = (uint64_t)id->handle << 32 | random_u32(c->random);
	rq->cookie = 0;
	rq->wait = WAIT_FIRST;
	rq->again = c->now + rq->wait;
	rq->deadline = c->now + SILENT_LIMIT;
	list_add_tail(&c->sidr.asking, &rq->node);
	id->state = CM_CONNECTING;
	send_request(id);
	return 0;
}

/*
 * Ends the client's request without success. status: status of the event, from the peer's reply, or
 * -errno.
 */
static void fail(struct cm_id *id, int status, const struct wire_sidr *s)
{
	list_del(&id->sidr.node);
	id->state = CM_OVER;
	cm_post_datagram(id, CM_EVENT_UNREACHABLE, status, s);
}

/* Returns the client that sent the request with this id from ep, or NULL. */
static struct cm_id *asking(const struct endpoint *ep, uint64_t request_id)
{
	struct cm_id *id = cm_id_here(ep->conn, (uint32_t)(request_id >> 32));

	return id && !id->connected_type && id->state == CM_CONNECTING && id->ep == ep &&
			       id->sidr.id == request_id ?
		       id :
		       NULL;
}

/*
 * Handles a cookie from the server. Answers the first cookie at once, but a later cookie only with
 * the next request, so that no host controls the rate of requests. Ignores a cookie of 0, since
 * rq->cookie is 0 before the first cookie.
 */
static void challenged(struct cm_id *id, uint64_t cookie)
{
	struct sidr_request *rq = &id->sidr;
	bool first = !rq->cookie;

	if (!cookie)
		return;
	rq->cookie = cookie;
	if (!first)
		return;
	rq->deadline = id->conn->now + DECISION_LIMIT;
	send_request(id);
}

static void reply_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
			const struct wire_sidr *s)
{
	struct cm_id *id = asking(ep, s->request_id);
	struct ip_addr asked;

	if (!id)
		return;
	asked = sockaddr_ip((struct sockaddr *)&id->dst);
	if (port != sockaddr_port((struct sockaddr *)&id->dst) ||
	    memcmp(asked.b, from->remote.b, sizeof(asked.b)))
		return;
	if (s->status == WIRE_SIDR_CHALLENGE) {
		challenged(id, s->cookie);
	} else if (s->status != WIRE_SIDR_ACCEPTED) {
		fail(id, s->status, s);
	} else {
		list_del(&id->sidr.node);
		id->state = CM_ESTABLISHED;
		cm_post_datagram(id, CM_EVENT_ESTABLISHED, 0, s);
	}
}

void sidr_refused(struct endpoint *ep, const uint8_t *quoted, size_t len)
{
	const uint8_t *chunk = quoted + WIRE_SCTP_COMMON_LEN;
	struct cm_id *id;

	/*
	 * The quote must include the whole request id, which proves that the sender of the error is
	 * on the path.
	 */
	if (len < WIRE_SCTP_COMMON_LEN + WIRE_DATAGRAM_LEN + 8 || !wire_is_datagram(quoted, len) ||
	    chunk[5] != WIRE_DATAGRAM_SIDR_REQUEST)
		return;
	id = asking(ep, get_be64(chunk + WIRE_DATAGRAM_LEN));
	if (id)
		fail(id, WIRE_SIDR_UNSUPPORTED, NULL);
}

uint64_t sidr_next_timeout(const struct conn *c)
{
	uint64_t next = TIME_NEVER;

	list_for_each(node, &c->sidr.asking) {
		const struct sidr_request *rq = list_entry(node, struct sidr_request, node);

		if (rq->again < next)
			next = rq->again;
	}
	return next;
}

void sidr_timers(struct conn *c)
{
	list_for_each_safe(node, &c->sidr.asking) {
		struct cm_id *id = list_entry(node, struct cm_id, sidr.node);
		struct sidr_request *rq = &id->sidr;

		if (rq->again > c->now)
			continue;
		if (rq->deadline <= c->now) {
			log_debug("id %u: no answer to its requests", id->handle);
			fail(id, -ETIMEDOUT, NULL);
			continue;
		}
		send_request(id);
		rq->wait = rq->wait * 2 < WAIT_LAST ? rq->wait * 2 : WAIT_LAST;
		rq->again = c->now + rq->wait < rq->deadline ? c->now + rq->wait : rq->deadline;
	}
}

/* ---- the server's cookies ---- */

static uint64_t cookie_of(struct conn *c, const struct path_addr *from, uint16_t port,
			  uint64_t request_id, uint64_t period)
{
	uint8_t in[16 + 2 + 2 + 8 + 8], out[8], secret[32];
	struct sidr *sidr = &c->sidr;

	if (!sidr->has_key) {
		random_bytes(c->random, secret, sizeof(secret));
		hmac_sha256_set_key(&sidr->key, sizeof(secret), secret);
		memset(secret, 0, sizeof(secret));
		sidr->has_key = true;
	}
	memcpy(in, from->remote.b, 16);
	put_be16(in + 16, from->udp_port);
	put_be16(in + 18, port);
	put_be64(in + 20, request_id);
	put_be64(in + 28, period);
	hmac_sha256_update(&sidr->key, sizeof(in), in);
	hmac_sha256_digest(&sidr->key, sizeof(out), out);
	return get_be64(out);
}

/*
 * True if the request contains a cookie that was sent to its source address. Otherwise, sends a
 * cookie.
 */
static bool is_proven(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		      const struct wire_sidr *s)
{
	struct conn *c = ep->conn;
	uint64_t period = c->now / COOKIE_PERIOD;
	uint64_t cookie = cookie_of(c, from, port, s->request_id, period);
	struct wire_sidr challenge = {
		.request_id = s->request_id,
		.cookie = cookie,
		.status = WIRE_SIDR_CHALLENGE,
	};
	uint8_t chunk[WIRE_SIDR_MAX];

	if (s->cookie == cookie ||
	    (period && s->cookie == cookie_of(c, from, port, s->request_id, period - 1)))
		return true;
	datagram_send_chunk(ep, from, port, chunk,
			    wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, &challenge));
	return false;
}

/* ---- the server's answers ---- */

/*
 * Sends the kept answer again if the request was answered before. Returns false if there is none.
 */
static bool answer_again(struct endpoint *ep, const struct path_addr *from, uint16_t port,
			 uint64_t request_id)
{
	const struct conn *c = ep->conn;

	for (unsigned int i = 0; c->sidr.answers && i < ANSWERS; i++) {
		const struct sidr_answer *a = &c->sidr.answers[i];

		if (a->until <= c->now || a->request_id != request_id || a->port != port ||
		    a->own_port != ep->bound.port || a->to.udp_port != from->udp_port ||
		    !ip_addr_equal(&a->to.remote, &from->remote))
			continue;
		datagram_send_chunk(ep, from, port, a->chunk, a->chunk_len);
		return true;
	}
	return false;
}

/*
 * Keeps the answer for repeated requests. If memory runs out, a repeated request becomes a new
 * request to the application.
 */
static void keep_answer(const struct cm_id *id, const uint8_t *chunk, size_t len)
{
	struct sidr *sidr = &id->conn->sidr;
	struct sidr_answer *a;

	if (!sidr->answers)
		sidr->answers = calloc(ANSWERS, sizeof(*sidr->answers));
	if (!sidr->answers)
		return;
	a = &sidr->answers[sidr->next_answer++ % ANSWERS];
	*a = (struct sidr_answer){
		.to = id->sidr.peer,
		.port = id->sidr.peer_port,
		.own_port = id->ep->bound.port,
		.request_id = id->sidr.id,
		.until = id->conn->now + ANSWER_LIFE,
		.chunk_len = (uint16_t)len,
	};
	memcpy(a->chunk, chunk, len);
}

static void answer(struct cm_id *id, struct wire_sidr *s)
{
	uint8_t chunk[WIRE_SIDR_MAX];
	size_t len;

	list_del(&id->sidr.node);
	cm_decided(id);
	s->request_id = id->sidr.id;
	len = wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, s);
	datagram_send_chunk(id->ep, &id->sidr.peer, id->sidr.peer_port, chunk, len);
	keep_answer(id, chunk, len);
}

int sidr_accept(struct cm_id *id, const struct rnic_conn_param *param)
{
	struct wire_sidr s = { .status = WIRE_SIDR_ACCEPTED };

	if (param->qp_num >> 24 ||
	    !cm_private_fits(id->conn, param->private_data_len, CM_PRIVATE_SIDR_REP))
		return -EINVAL;
	id->qp_num = param->qp_num;
	s.qp_num = param->qp_num;
	s.qkey = param->qkey ? param->qkey : SIDR_QKEY;
	s.private_data_len = param->private_data_len;
	s.private_data = param->private_data;
	answer(id, &s);
	id->state = CM_ESTABLISHED;
	return 0;
}

int sidr_reject(struct cm_id *id, const void *private_data, uint8_t len)
{
	struct wire_sidr s = {
		.status = WIRE_SIDR_REJECTED,
		.private_data_len = len,
		.private_data = private_data,
	};

	if (id->state != CM_REQUESTED || !cm_private_fits(id->conn, len, CM_PRIVATE_SIDR_REP))
		return -EINVAL;
	answer(id, &s);
	id->state = CM_OVER;
	return 0;
}

void sidr_hang_up(struct cm_id *id)
{
	if (id->state == CM_REQUESTED)
		sidr_reject(id, NULL, 0);
	list_del(&id->sidr.node);
}

/* ---- the server's requests ---- */

/* True if the request already waits for the application. */
static bool is_asked(const struct endpoint *ep, const struct path_addr *from, uint16_t port,
		     uint64_t request_id)
{
	list_for_each(node, &ep->conn->sidr.asked) {
		const struct cm_id *id = list_entry(node, struct cm_id, sidr.node);

		if (id->sidr.id == request_id && id->ep == ep && id->sidr.peer_port == port &&
		    id->sidr.peer.udp_port == from->udp_port &&
		    ip_addr_equal(&id->sidr.peer.remote, &from->remote))
			return true;
	}
	return false;
}

/* Creates an id for the request, and posts CONNECT_REQUEST on the listener. */
static void new_request(struct endpoint *ep, const struct path_addr *from, uint16_t port,
			const struct wire_sidr *s)
{
	struct cm_id *child = cm_request_new(ep, from, s->port ? s->port : port);

	if (!child)
		return;
	child->sidr.id = s->request_id;
	child->sidr.peer = *from;
	child->sidr.peer_port = port;
	child->ep = ep;
	ep->refs++;
	list_add_tail(&ep->conn->sidr.asked, &child->sidr.node);
	take_private_data(child, s->private_data, s->private_data_len);
	if (cm_post_request(ep->listener, child, &child->param))
		cm_id_free(child);
}

/*
 * Refuses the request, or ignores it while the program may still begin to listen
 * (cm_grant_grace()). The client repeats an ignored request.
 */
static void nobody_listens(struct endpoint *ep, const struct path_addr *from, uint16_t port,
			   uint64_t request_id)
{
	const struct wire_sidr s = { .request_id = request_id, .status = WIRE_SIDR_UNSUPPORTED };
	uint8_t chunk[WIRE_SIDR_MAX];

	if (ep->conn->now >= ep->grace_until)
		datagram_send_chunk(ep, from, port, chunk,
				    wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, &s));
}

static void request_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
			  const struct wire_sidr *s)
{
	struct cm_id *listener = ep->listener;
	const char *why;

	if (!listener || listener->connected_type) {
		nobody_listens(ep, from, port, s->request_id);
		return;
	}
	if (answer_again(ep, from, port, s->request_id) || !is_proven(ep, from, port, s) ||
	    is_asked(ep, from, port, s->request_id))
		return;
	why = cm_why_not(ep->conn, listener, s->private_data_len);
	if (why)
		log_debug("port %u: request for datagrams dropped: %s", ep->bound.port, why);
	else
		new_request(ep, from, port, s);
}

bool sidr_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		enum wire_datagram_kind kind, const uint8_t *chunk)
{
	struct wire_sidr s;

	if (!wire_sidr_get(&s, kind, chunk))
		return false;
	if (kind == WIRE_DATAGRAM_SIDR_REQUEST)
		request_input(ep, from, port, &s);
	else
		reply_input(ep, from, port, &s);
	return true;
}
