/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * Strangers send any requests and replies of rdma_cm for datagrams (conn/sidr.h) to a server and a
 * client, and forge ICMP quotations. Meanwhile, the application reads, accepts, rejects and
 * destroys. A packet gets at most one answer, to its source and not longer than the packet. A
 * request reaches the application only with a cookie that was sent to its source. The client gets
 * one event, for a reply from the address of its request.
 */
#include <errno.h>

#include "fixture/clock.h"
#include "fixture/datagram_host.h"
#include "fixture/input.h"
#include "util/sockaddr.h"
#include "wire/sidr.h"

#define STEPS 200
#define BACKLOG 3
#define LIMIT 8 /* of the fixture's request-limit */
#define PEER 9	/* the last byte of the address that the client sends to */
#define PEER_PORT 6000
#define CHILDREN 32
#define CHALLENGES 512
#define PACKET_MAX 400

struct source {
	struct path_addr from;
	uint16_t port; /* SCTP port */
};

struct challenge {
	struct source to;
	uint64_t request_id, cookie;
};

static struct datagram_host *const h = &datagram_host;
static struct cm_id *listener, *client;
static struct cm_id *child[CHILDREN]; /* held by the application */
static bool child_read[CHILDREN];
static unsigned int children;
static struct challenge challenge[CHALLENGES]; /* all challenges sent */
static unsigned int challenges;
static bool client_asks, client_proven;
static const struct wire_sidr *hearing; /* the reply being processed, or NULL */
static struct source hearing_from;
static uint64_t request_cookie; /* of the request being processed */
static uint64_t request_id;
static struct source request_from;
static bool request_comes;

static bool same(const struct source *a, const struct source *b)
{
	return a->port == b->port && a->from.udp_port == b->from.udp_port &&
	       ip_addr_equal(&a->from.remote, &b->from.remote);
}

/* ---- events ---- */

static bool was_challenged(void)
{
	for (unsigned int i = 0; i < challenges; i++)
		if (same(&challenge[i].to, &request_from) &&
		    challenge[i].request_id == request_id && challenge[i].cookie == request_cookie)
			return true;
	return false;
}

static void take_request(const struct rnic_cm_event *ev)
{
	struct cm_id *id = cm_id_get(&h->conn, ev->id);

	must(request_comes && was_challenged());
	must(id && id->sidr.id == request_id && ev->param.private_data_len <= 255);
	for (unsigned int i = 0; i < children; i++)
		must(child[i]->state != CM_REQUESTED || child[i]->sidr.id != request_id ||
		     child[i]->sidr.peer_port != request_from.port ||
		     child[i]->sidr.peer.udp_port != request_from.from.udp_port ||
		     !ip_addr_equal(&child[i]->sidr.peer.remote, &request_from.from.remote));
	if (children == CHILDREN)
		cm_id_free(id);
	else
		child_read[children] = false, child[children++] = id;
}

/* Checks the client's only event. refused: by ICMP, or after its limit of time. */
static void take_end(const struct rnic_cm_event *ev, bool refused)
{
	must(client_asks && ev->uid == client->uid);
	client_asks = false;
	if (refused) {
		must(ev->event == CM_EVENT_UNREACHABLE &&
		     (ev->status == -ETIMEDOUT || ev->status == WIRE_SIDR_UNSUPPORTED));
		return;
	}
	must(hearing && hearing->request_id == client->sidr.id && hearing_from.port == PEER_PORT);
	must(hearing_from.from.remote.b[15] == PEER && hearing_from.from.remote.b[0] == 0);
	must(hearing->status != WIRE_SIDR_CHALLENGE);
	if (hearing->status) {
		must(ev->event == CM_EVENT_UNREACHABLE && ev->status == hearing->status);
	} else {
		must(ev->event == CM_EVENT_ESTABLISHED && !ev->status);
		must(ev->param.qp_num == hearing->qp_num && ev->param.qkey == hearing->qkey);
	}
	must(ev->param.private_data_len == (hearing->private_data_len > CM_PRIVATE_SIDR_REP ?
						    hearing->private_data_len :
						    CM_PRIVATE_SIDR_REP));
	must(!hearing->private_data_len ||
	     !memcmp(ev->param.private_data, hearing->private_data, hearing->private_data_len));
}

static void take_events(bool refused)
{
	for (unsigned int i = 0; i < h->events; i++) {
		const struct rnic_cm_event *ev = &h->event[i];

		if (ev->event == CM_EVENT_CONNECT_REQUEST)
			take_request(ev);
		else
			take_end(ev, refused);
	}
	h->events = 0;
	must(cm_undecided(&h->conn) <= LIMIT);
	must(listener->listening.pending <= BACKLOG);
}

/* ---- the strangers ---- */

static struct source choose_source(struct input *in)
{
	uint8_t which = in_u8(in);
	struct source s = { .from = { .local = datagram_host_address(1) } };

	s.from.remote = which & 8 ? datagram_host_address6(PEER) :
				    datagram_host_address(which & 1 ? PEER : 10);
	s.from.udp_port = which & 2 ? PEER_PORT : 5000 + (which >> 6);
	s.port = which & 4 ? PEER_PORT + 1 : PEER_PORT;
	return s;
}

static uint64_t choose_id(struct input *in)
{
	uint8_t which = in_u8(in);

	if (which < 0x60)
		return client->sidr.id;
	if (which < 0xc0)
		return 0x100 + which % 4;
	return which < 0xe0 ? client->sidr.id ^ in_u8(in) : (uint64_t)in_u32(in) << 32 | in_u32(in);
}

/*
 * Returns a cookie sent to the same source for the same request, or to another source, or an
 * invalid one.
 */
static uint64_t choose_cookie(struct input *in, const struct source *from, uint64_t id)
{
	uint8_t which = in_u8(in);

	if (which < 0x40 || !challenges)
		return 0;
	for (unsigned int i = challenges; which < 0xd0 && i--;)
		if (same(&challenge[i].to, from) && challenge[i].request_id == id)
			return challenge[i].cookie;
	return which < 0xf0 ? challenge[which % challenges].cookie : in_u32(in);
}

/* Sets the header, applies the input's errors, and delivers the packet. Returns its length. */
static size_t deliver(struct input *in, const struct source *s, struct endpoint *ep, uint8_t *buf,
		      size_t len)
{
	struct wire_sctp_common common = { .sport = s->port, .dport = ep->bound.port };
	uint8_t how = in_u8(in);
	bool broken = false;

	h->sent = 0;
	h->sent_bytes = 0;
	if (how >= 0xe0) {
		buf[12 + in_u8(in) % 36] ^= in_u8(in);
		len = how & 1 ? in_u16(in) % (len + 1) : len;
		common.dport ^= how & 2 ? in_u8(in) : 0;
	}
	wire_sctp_common_put(buf, &common);
	if (len < 12)
		return 0;
	wire_sctp_checksum_put(buf, len);
	if (how == 0xff && len > 12)
		buf[12 + in_u16(in) % (len - 12)] ^= 1, broken = true;
	if (!datagram_host_input(ep, &s->from, buf, len))
		return 0;
	must(!broken || !h->sent);
	return len;
}

static void learn_answer(const struct source *s, size_t len)
{
	struct wire_sidr answer;

	must(h->sent <= 1 && h->sent_bytes <= len);
	if (!h->sent)
		return;
	must(h->sent_to.udp_port == s->from.udp_port);
	must(ip_addr_equal(&h->sent_to.remote, &s->from.remote));
	must(wire_sctp_checksum_ok(h->packet, h->len) && get_be16(h->packet + 2) == s->port);
	must(wire_datagram_kind(h->packet + 12, h->len - 12) == WIRE_DATAGRAM_SIDR_REPLY);
	must(wire_sidr_get(&answer, WIRE_DATAGRAM_SIDR_REPLY, h->packet + 12));
	if (answer.status != WIRE_SIDR_CHALLENGE || challenges == CHALLENGES)
		return;
	challenge[challenges++] = (struct challenge){
		.to = *s,
		.request_id = answer.request_id,
		.cookie = answer.cookie,
	};
}

static void request(struct input *in)
{
	uint8_t buf[PACKET_MAX] = { 0 };
	struct wire_sidr s = { 0 };
	size_t len, n;

	request_from = choose_source(in);
	s.request_id = choose_id(in);
	s.cookie = choose_cookie(in, &request_from, s.request_id);
	s.private_data = in_bytes(in, in_u8(in), &n);
	s.private_data_len = (uint8_t)n;
	n = wire_sidr_put(buf + 12, WIRE_DATAGRAM_SIDR_REQUEST, &s);
	len = deliver(in, &request_from, listener->ep, buf, 12 + n);
	/* The packet may have been changed. */
	request_id = get_be64(buf + 20);
	request_cookie = get_be64(buf + 28);
	request_comes = len > 0;
	learn_answer(&request_from, len);
	take_events(false);
	request_comes = false;
}

static void reply(struct input *in)
{
	uint8_t buf[PACKET_MAX] = { 0 }, status = in_u8(in);
	bool proven = client_proven;
	struct wire_sidr s = { .status = status < 0x40 ? WIRE_SIDR_ACCEPTED :
					 status < 0xa0 ? WIRE_SIDR_CHALLENGE :
							 status };
	struct wire_sidr got = { 0 };
	size_t len, n;

	hearing_from = choose_source(in);
	s.request_id = choose_id(in);
	s.cookie = in_u8(in);
	s.qp_num = in_u32(in) & 0xffffff;
	s.qkey = in_u8(in);
	s.private_data = in_bytes(in, in_u8(in), &n);
	s.private_data_len = (uint8_t)n;
	n = wire_sidr_put(buf + 12, WIRE_DATAGRAM_SIDR_REPLY, &s);
	len = deliver(in, &hearing_from, client->ep, buf, 12 + n);
	if (len && wire_sidr_get(&got, WIRE_DATAGRAM_SIDR_REPLY, buf + 12))
		hearing = &got;
	/*
	 * After a challenge the client repeats its request to the original address, but only once.
	 */
	must(h->sent <= 1);
	if (h->sent) {
		must(client_asks && hearing && !proven);
		must(h->sent_to.remote.b[15] == PEER && get_be16(h->packet + 2) == PEER_PORT);
		must(hearing->request_id == client->sidr.id);
		client_proven = true;
	}
	take_events(false);
	hearing = NULL;
}

/* Forges an ICMP message that quotes a part of a packet. */
static void refuse(struct input *in)
{
	uint8_t buf[PACKET_MAX] = { 0 }, how = in_u8(in), *quoted;
	struct wire_sidr s = { .request_id = choose_id(in) };
	size_t len = WIRE_SCTP_COMMON_LEN + wire_sidr_put(buf + 12, WIRE_DATAGRAM_SIDR_REQUEST, &s);
	bool asked = client_asks && s.request_id == client->sidr.id;

	if (how & 1)
		len = in_u16(in) % (len + 1);
	if (how & 2)
		buf[12 + in_u8(in) % 16] ^= in_u8(in);
	quoted = malloc(len ? len : 1);
	must(quoted);
	memcpy(quoted, buf, len);
	sidr_refused(client->ep, quoted, len);
	free(quoted);
	must(!h->events || ((asked || how & 2) && len >= 28));
	take_events(true);
}

/* ---- the application ---- */

static void forget_child(unsigned int i)
{
	child[i] = child[--children];
	child_read[i] = child_read[children];
}

static void decide(struct input *in)
{
	struct rnic_conn_param param = { .qp_num = in_u32(in) & 0x1ffffff, .qkey = in_u8(in) };
	uint8_t what = in_u8(in);
	unsigned int i = children ? in_u8(in) % children : 0;

	if (!children)
		return;
	if (!child_read[i])
		cm_leave_backlog(child[i]);
	child_read[i] = true;
	param.private_data_len = in_u8(in);
	if (what < 0x60) {
		cm_accept(child[i], &param, true, 77);
	} else if (what < 0xa0) {
		cm_reject(child[i], 0, param.private_data, param.private_data_len);
	} else if (what < 0xe0) {
		cm_id_free(child[i]);
		forget_child(i);
	}
	take_events(false);
}

static void ask(void)
{
	struct rnic_conn_param param = { .qp_num = 1, .private_data_len = 3 };
	struct ip_addr peer = datagram_host_address(PEER);
	struct sockaddr_storage to;

	sockaddr_make(&to, AF_INET, &peer, PEER_PORT);
	if (client)
		cm_id_free(client);
	client = datagram_host_id();
	client->uid = 2;
	must(!cm_resolve_addr(client, NULL, (struct sockaddr *)&to));
	must(!cm_resolve_route(client));
	h->events = 0;
	must(!cm_connect(client, &param));
	client_asks = true;
	client_proven = false;
}

static void hear(void)
{
	struct ip_addr own = datagram_host_address(1);
	struct sockaddr_storage at;

	if (listener)
		cm_id_free(listener);
	/* Requests that the application had not read are gone, too. */
	for (unsigned int i = children; i--;)
		if (!child_read[i])
			forget_child(i);
	listener = datagram_host_id();
	sockaddr_make(&at, AF_INET, &own, DATAGRAM_HOST_PORT);
	must(!cm_bind(listener, (struct sockaddr *)&at));
	must(!cm_listen(listener, BACKLOG));
}

static void wait_a_while(struct input *in)
{
	h->conn.now += in_u8(in) * (NSEC_PER_SEC / 4);
	h->sent = 0;
	sidr_timers(&h->conn);
	must(h->sent <= 1);
	must(!h->sent || (client_asks && h->sent_to.remote.b[15] == PEER));
	take_events(true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	datagram_host_start();
	listener = client = NULL;
	children = challenges = 0;
	request_comes = false;
	hearing = NULL;
	hear();
	ask();
	for (int i = 0; i < STEPS && in_more(&in); i++) {
		uint8_t what = in_u8(&in);

		if (what < 0x70)
			request(&in);
		else if (what < 0xa0)
			reply(&in);
		else if (what < 0xb0)
			refuse(&in);
		else if (what < 0xe0)
			decide(&in);
		else if (what < 0xf0)
			wait_a_while(&in);
		else if (what < 0xf8)
			ask();
		else
			hear();
	}
	must(!iw_ud_stats(h->conn.iw)->received);
	datagram_host_stop();
	return 0;
}
