/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/user_sctp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "conn/conn.h"
#include "conn/oob_second.h"
#include "conn/user_sctp_paths.h"
#include "iwarp/iwarp.h"
#include "log/log.h"
#include "sctp/inspect.h"
#include "sctp/sctp.h"
#include "sctp/trace.h"
#include "util/alloc.h"
#include "util/sockaddr.h"
#include "wire/datagram.h"

_Static_assert(IW_VOID_LEN == SCTP_VOID_LEN, "what iwarp writes is what SCTP has room for");

/* Maximum number of batches that an association sends in one turn. */
#define OUTPUT_TURN 8

/* The type of conn.transport_state. */
struct user_sctp {
	struct sctp *sctp;
	bool stirred;		/* the pass had an effect other than receiving datagrams */
	unsigned int n_blocked; /* number of endpoints with `blocked` */
	struct sctp_rx rx;
};

/* The type of endpoint.state. The type of conn_assoc.state is struct sctp_assoc. */
struct user_sctp_endpoint {
	struct sctp_endpoint *sctp;
	struct carrier_port *port;
	/* The socket's send buffer is full; `pending` is sent before other batches. */
	bool blocked;
	struct sctp_batch pending;
};

static struct user_sctp *user_sctp_of(const struct conn *c)
{
	return c->transport_state;
}

static struct user_sctp_endpoint *endpoint_of(const struct endpoint *ep)
{
	return ep->state;
}

struct carrier_port *user_sctp_port(const struct endpoint *ep)
{
	return endpoint_of(ep)->port;
}

void user_sctp_set_port(struct endpoint *ep, struct carrier_port *port)
{
	endpoint_of(ep)->port = port;
}

/* ---- callbacks for SCTP ---- */

/* Passes the next message of an association to SCTP (struct sctp_user_ops). */
static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct conn_assoc *a = user;
	struct iw_msg m;
	size_t len;

	if (!a || !a->iw)
		return 0;
	m.may_reference = msg->may_reference;
	len = iw_assoc_pull(a->iw, buf, room, &m);
	if (len) {
		msg->sid = m.sid;
		msg->ppid = m.ppid;
		msg->more = m.more;
		msg->awaited = m.awaited;
		msg->receipt = m.receipt;
		msg->voidable = m.voidable;
		msg->zcopy = m.ref;
		msg->zcopy_len = m.ref_len;
	}
	return len;
}

/* True if a session of the association owes a receipt. */
static bool receipt_due(void *user)
{
	const struct conn_assoc *a = user;

	return a->iw && iw_assoc_owes_receipt(a->iw);
}

/*
 * Writes the other local addresses of a wildcard endpoint. If QPs use several, writes none: each
 * needs its own association, but multihomed SCTP would permit only one for all of them.
 */
static unsigned int addresses(void *ctx, const struct path_addr *to, struct ip_addr *addr,
			      unsigned int max)
{
	const struct endpoint *ep = ctx;

	if (!ep->bound.wildcard || ep->locals.n > 1)
		return 0;
	return ep->conn->ops->addresses(ep->conn, to, addr, max);
}

/* An endpoint bound to one address sends from no other address. */
static bool source(void *ctx, const struct ip_addr *remote, struct ip_addr *local)
{
	const struct endpoint *ep = ctx;

	return ep->bound.wildcard && ep->conn->ops->source(ep->conn, remote, local);
}

static bool is_own(void *ctx, const struct ip_addr *addr)
{
	const struct endpoint *ep = ctx;

	return ep->conn->ops->is_own_address(ep->conn, addr);
}

static int user_sctp_start(struct conn *c, struct config_error *why)
{
	/* A capture needs whole packets, without references to memory. */
	bool references = c->carrier->references && !*c->config->capture;
	const struct sctp_user_ops user_ops = {
		.pull = pull,
		.receipt_due = receipt_due,
		.checksum = references ? c->ops->checksum : NULL,
		.copy_out = references ? c->ops->copy_out : NULL,
		.put_void = iw_put_void,
		.addresses = addresses,
		.source = source,
		.is_own = is_own,
	};
	struct sctp_config config;
	struct user_sctp *us;
	int ret;

	if (c->carrier->check && !c->carrier->check(why))
		return -EINVAL;
	us = alloc_lines(sizeof(*us));
	if (!us)
		return -ENOMEM;
	sctp_config_default(&config);
	config.receipts = (struct wire_sctp_receipts){
		.version = WIRE_SCTP_RECEIPTS_VERSION,
		.srq_numbers = true,
		.cm_messages = true,
		.asks = true,
		.window = iw_rnic_send_window(iw_shard_rnic(c->iw)),
	};
	config.asconf = true;
	config.silent_limit = c->config->silent_limit;
	config.spread = c->config->spread;
	config.overhead = c->carrier->overhead;
	if (c->carrier->packet_max)
		config.packet_max = c->carrier->packet_max;
	if (config.connect_limit > config.silent_limit)
		config.connect_limit = config.silent_limit;
	ret = -ENOMEM;
	us->sctp = sctp_new(&config, &user_ops, c->random);
	if (!us->sctp)
		goto err_free;
	ret = c->carrier->start(c, why);
	if (ret)
		goto err_sctp;
	c->transport_state = us;
	return 0;

err_sctp:
	sctp_free(us->sctp);
err_free:
	free(us);
	return ret;
}

static void user_sctp_stop(struct conn *c)
{
	struct user_sctp *us = user_sctp_of(c);

	c->carrier->stop(c);
	sctp_free(us->sctp);
	free(us);
	c->transport_state = NULL;
}

static uint64_t user_sctp_next_timeout(const struct conn *c)
{
	uint64_t next = sctp_next_timeout(user_sctp_of(c)->sctp), t;

	if (!c->carrier->next_timeout)
		return next;
	t = c->carrier->next_timeout(c);
	return t < next ? t : next;
}

static void user_sctp_timers(struct conn *c)
{
	if (c->carrier->timers)
		c->carrier->timers(c);
	sctp_timers(user_sctp_of(c)->sctp, c->now);
}

/* ---- endpoints ---- */

static int user_sctp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	struct user_sctp_endpoint *ue = alloc_lines(sizeof(*ue));
	const struct carrier *carrier = ep->conn->carrier;
	size_t rcvbuf;
	int ret;

	if (!ue)
		return -ENOMEM;
	ep->state = ue;
	ret = carrier->open(ep, addr, v6only, &rcvbuf);
	if (ret)
		goto err_free;
	ret = -ENOMEM;
	ue->sctp = sctp_endpoint_new(user_sctp_of(ep->conn)->sctp, ep->bound.port, rcvbuf, ep);
	if (!ue->sctp)
		goto err_close;
	ret = ep->dormant ? 0 : carrier->watch(ep);
	if (ret)
		goto err_sctp;
	log_debug("port %u: receive buffer %zu", ep->bound.port, rcvbuf);
	return 0;

err_sctp:
	sctp_endpoint_free(ue->sctp);
err_close:
	carrier->close(ep);
err_free:
	free(ue);
	ep->state = NULL;
	return ret;
}

static void user_sctp_close(struct endpoint *ep)
{
	struct user_sctp_endpoint *ue = endpoint_of(ep);

	if (ue->blocked) {
		sctp_batch_done(user_sctp_of(ep->conn)->sctp, &ue->pending);
		user_sctp_of(ep->conn)->n_blocked--;
	}
	sctp_endpoint_free(ue->sctp);
	ep->conn->carrier->close(ep);
	free(ue);
	ep->state = NULL;
}

static void user_sctp_forget(struct endpoint *ep)
{
	ep->conn->carrier->forget(ep);
}

static int user_sctp_set_accept(struct endpoint *ep, bool accept)
{
	sctp_endpoint_set_accept(endpoint_of(ep)->sctp, accept);
	return 0;
}

static void user_sctp_set_quiet(struct endpoint *ep, uint64_t until)
{
	sctp_endpoint_set_quiet(endpoint_of(ep)->sctp, until);
}

/* Accepts at all local addresses: an association uses only the address that got its INIT. */
static int user_sctp_accept_at(struct endpoint *ep, const struct ip_addr *local)
{
	int ret = ep->dormant ? ep->conn->carrier->watch(ep) : 0;

	return ret ? ret : user_sctp_set_accept(ep, true);
}

static int user_sctp_watch(struct endpoint *ep)
{
	return ep->conn->carrier->watch(ep);
}

static void user_sctp_set_tos(struct endpoint *ep)
{
	ep->conn->carrier->set_tos(ep);
}

static void user_sctp_readdress(struct endpoint *ep)
{
	sctp_endpoint_readdress(endpoint_of(ep)->sctp, ep->conn->now);
}

void user_sctp_icmp(struct endpoint *ep, const struct carrier_error *err)
{
	struct conn *c = ep->conn;

	user_sctp_of(c)->stirred = true;
	if (misplaced_error(ep, err))
		return;
	if (err->unreachable == -ECONNREFUSED)
		sidr_refused(ep, err->quoted, err->quoted_len);
	if (err->unreachable)
		sctp_unreachable(endpoint_of(ep)->sctp, &err->to, err->unreachable, err->quoted,
				 err->quoted_len, c->now);
	else if (err->mtu)
		sctp_packet_too_big(endpoint_of(ep)->sctp, &err->to, err->mtu,
				    err->local ? NULL : err->quoted, err->quoted_len, c->now);
}

/* ---- input ---- */

/* Logs the additional local addresses that the peer has learnt. */
static void note_told(const struct conn_assoc *a)
{
	const struct sctp_assoc *sa = a->state;
	char peer[SOCKADDR_TEXT], one[TRACE_ADDR_TEXT], all[8 * TRACE_ADDR_TEXT] = "";
	unsigned int n, i;
	const struct ip_addr *told = sctp_assoc_told(sa, &n);
	size_t len = 0;

	for (i = 0; i < n; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
					trace_addr_text(&told[i], one));
	if (n)
		log_info("%s reaches port %u of this host at %s",
			 sockaddr_text_ip(&sctp_assoc_addr(sa)->remote, sctp_assoc_remote_port(sa),
					  peer),
			 a->ep->bound.port, all);
}

/* Calls conn_assoc_up() unless a->iw exists. Returns false if the association was aborted. */
static bool up(struct conn_assoc *a)
{
	struct sctp_assoc *sa = a->state;
	struct conn *c = a->ep->conn;

	if (a->iw)
		return true;
	if (!sctp_assoc_is_initiator(sa))
		sctp_assoc_set_mtu(sa, known_mtu(c, sctp_assoc_addr(sa)));
	note_told(a);
	return conn_assoc_up(a, sctp_assoc_is_initiator(sa), sctp_assoc_streams(sa),
			     sctp_assoc_max_msg(sa));
}

/* Returns the association of this packet, or NULL if it was aborted for lack of memory. */
static struct conn_assoc *user_of(struct endpoint *ep, const struct sctp_rx *rx)
{
	struct conn_assoc *a = sctp_assoc_user(rx->assoc);

	if (!a) {
		a = conn_assoc_new(ep);
		if (!a) {
			sctp_assoc_abort(rx->assoc);
			return NULL;
		}
		a->state = rx->assoc;
		sctp_assoc_set_user(rx->assoc, a);
	}
	if (rx->restart)
		conn_assoc_restarted(a);
	if (rx->up || rx->restart || (rx->count && !a->closing))
		return up(a) ? a : NULL;
	return a;
}

static void input_packet(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
			 size_t len)
{
	struct conn *c = ep->conn;
	struct sctp_rx *rx = &user_sctp_of(c)->rx;
	struct conn_assoc *a;

	if (misplaced_packet(ep, from, packet, len))
		return;
	if (wire_is_datagram(packet, len)) {
		datagram_input(ep, from, packet, len);
		return;
	}
	/* SCTP ignores packets to a multicast group (RFC 9260 8.4). */
	if (ep->bound.multicast)
		return;
	sctp_input(endpoint_of(ep)->sctp, from, packet, len, c->now, rx);
	if (!rx->assoc) {
		unanswered_key(c, ep->bound.port, from, packet, len);
		return;
	}
	a = sctp_assoc_user(rx->assoc);
	if (a && a->iw)
		iw_assoc_placed(a->iw);
	if (!rx->count && !rx->up && !rx->restart)
		return;
	a = user_of(ep, rx);
	/* A closing association gets no session. An Initiate needs a new association. */
	if (!a || !a->iw || a->closing)
		return;
	for (unsigned int i = 0; i < rx->count; i++) {
		const struct sctp_data *d = &rx->data[i];

		if (iw_assoc_receive(a->iw, d->sid, d->ppid, d->data, d->len)) {
			conn_assoc_abort(a, -EPROTO);
			return;
		}
	}
	/* A receipt among the messages may report that more data was placed. */
	if (sctp_assoc_release_holds(rx->assoc))
		iw_assoc_placed(a->iw);
}

void user_sctp_input(struct endpoint *ep, const struct carrier_datagram *d)
{
	struct conn_traffic *traffic = &ep->conn->traffic;

	traffic->bytes_in += d->len;
	for (size_t off = 0; off < d->len; off += d->segment) {
		size_t left = d->len - off;

		traffic->packets_in++;
		input_packet(ep, &d->from, d->data + off, left < d->segment ? left : d->segment);
	}
	atomic_store_explicit(&ep->conn->sacks_asked, sctp_has_asked(user_sctp_of(ep->conn)->sctp),
			      memory_order_relaxed);
}

static void retry_blocked(struct conn *c)
{
	list_for_each(node, &c->endpoints.open) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);
		struct user_sctp_endpoint *ue = endpoint_of(ep);

		if (!ue->blocked || c->carrier->send(ep, &ue->pending) == -EAGAIN)
			continue;
		sctp_batch_done(user_sctp_of(c)->sctp, &ue->pending);
		ue->blocked = false;
		user_sctp_of(c)->n_blocked--;
		endpoint_await_room(ep, false);
		user_sctp_of(c)->stirred = true;
		list_for_each(anode, &ep->assocs) {
			struct conn_assoc *a = list_entry(anode, struct conn_assoc, node);

			if (!a->gone)
				sctp_assoc_doorbell(a->state);
		}
	}
}

static enum conn_received user_sctp_receive(struct conn *c, enum conn_depth depth)
{
	enum conn_received got;

	user_sctp_of(c)->stirred = false;
	if (user_sctp_of(c)->n_blocked)
		retry_blocked(c);
	got = c->carrier->receive(c, depth);
	return got == CONN_NOTHING && user_sctp_of(c)->stirred ? CONN_STIRRED : got;
}

static bool user_sctp_events(struct conn *c)
{
	struct sctp_event ev;
	bool any = false;

	if (!sctp_has_events(user_sctp_of(c)->sctp))
		return false;
	while (sctp_next_event(user_sctp_of(c)->sctp, &ev)) {
		struct conn_assoc *a = ev.user;

		any = true;
		if (!a)
			continue;
		switch (ev.type) {
		case SCTP_EVENT_UP:
			up(a);
			break;
		case SCTP_EVENT_PATH:
			oob_second_moved(a);
			break;
		case SCTP_EVENT_SHUTDOWN:
			conn_assoc_peer_closes(a);
			break;
		case SCTP_EVENT_LOST:
			conn_assoc_over(a, ev.error, false);
			break;
		case SCTP_EVENT_CLOSED:
			conn_assoc_over(a, -ECONNRESET, true);
			break;
		}
	}
	return any;
}

/* ---- output ---- */

static void count_out(struct conn *c, const struct sctp_batch *batch)
{
	c->traffic.bytes_out += batch->len;
	c->traffic.packets_out += (batch->len + batch->segment - 1) / batch->segment;
}

/* Sends a batch of sa. Returns false, and keeps the batch, if the send buffer is full. */
static bool send_batch(struct endpoint *ep, struct sctp_assoc *sa, struct sctp_batch *batch)
{
	struct user_sctp_endpoint *ue = endpoint_of(ep);
	struct conn *c = ep->conn;

	count_out(c, batch);
	sctp_trace_sent(sa, batch, c->now);
	if (c->carrier->send(ep, batch) != -EAGAIN) {
		sctp_batch_done(user_sctp_of(c)->sctp, batch);
		return true;
	}
	c->traffic.waits++;
	sctp_batch_keep(sa, batch);
	ue->pending = *batch;
	ue->blocked = true;
	user_sctp_of(c)->n_blocked++;
	endpoint_await_room(ep, true);
	return false;
}

static void output_assoc(struct conn *c, struct sctp_assoc *sa)
{
	struct endpoint *ep = sctp_endpoint_ctx(sctp_assoc_endpoint(sa));
	struct conn_assoc *a = sctp_assoc_user(sa);
	struct sctp_batch batch;

	/* retry_blocked() will call sctp_assoc_doorbell(). */
	if (endpoint_of(ep)->blocked)
		return;
	if (a)
		conn_assoc_set_max_msg(a, sctp_assoc_max_msg(sa));
	for (int i = 0; i < OUTPUT_TURN; i++) {
		if (sctp_output(sa, c->now, &batch) <= 0)
			return;
		if (!send_batch(ep, sa, &batch))
			return;
	}
	sctp_assoc_doorbell(sa);
}

static bool user_sctp_output(struct conn *c)
{
	struct sctp *sctp = user_sctp_of(c)->sctp;
	struct sctp_assoc *sa;
	struct sctp_batch batch;
	bool any = false;

	while ((sa = sctp_next_ready(sctp))) {
		output_assoc(c, sa);
		any = true;
	}
	while (sctp_output_ootb(sctp, &batch) > 0) {
		struct endpoint *ep = sctp_endpoint_ctx(batch.endpoint);

		/* Packets without an association are dropped if the send buffer is full. */
		if (!endpoint_of(ep)->blocked) {
			count_out(c, &batch);
			c->carrier->send(ep, &batch);
		}
		sctp_batch_done(sctp, &batch);
	}
	atomic_store_explicit(&c->sacks_asked, sctp_has_asked(sctp), memory_order_relaxed);
	return any;
}

static uint32_t user_sctp_in_flight(const struct conn *c)
{
	return sctp_in_flight(user_sctp_of(c)->sctp);
}

/* ---- associations ---- */

static int user_sctp_connect(struct conn_assoc *a, const struct path_addr *to, uint16_t port)
{
	struct conn *c = a->ep->conn;

	a->state = sctp_connect(endpoint_of(a->ep)->sctp, to, port, known_mtu(c, to), a, c->now);
	return a->state ? 0 : -ENOMEM;
}

static void user_sctp_doorbell(struct conn_assoc *a)
{
	sctp_assoc_doorbell(a->state);
}

static uint32_t user_sctp_acked(struct conn_assoc *a)
{
	return sctp_assoc_acked(a->state);
}

static uint32_t user_sctp_placed(struct conn_assoc *a)
{
	return sctp_assoc_placed(a->state);
}

static const struct wire_sctp_receipts *user_sctp_agreed(struct conn_assoc *a)
{
	return sctp_assoc_agreed(a->state);
}

static void user_sctp_flush_sacks(struct conn *c)
{
	sctp_flush_sacks(user_sctp_of(c)->sctp);
}

static void user_sctp_copy_out(struct conn_assoc *a)
{
	sctp_assoc_copy_out(a->state);
}

static void user_sctp_void(struct conn_assoc *a, uint16_t sid)
{
	sctp_assoc_void(a->state, sid);
}

static bool user_sctp_is_drained(const struct conn_assoc *a)
{
	if (endpoint_of(a->ep)->blocked)
		return false;
	return !sctp_assoc_is_up(a->state) || sctp_assoc_is_drained(a->state);
}

static void user_sctp_shutdown(struct conn_assoc *a)
{
	sctp_assoc_shutdown(a->state, a->ep->conn->now);
}

static void user_sctp_abort(struct conn_assoc *a)
{
	sctp_assoc_abort(a->state);
}

static uint16_t user_sctp_remote_port(const struct conn_assoc *a)
{
	return sctp_assoc_remote_port(a->state);
}

static void user_sctp_inspect(const struct conn_assoc *a, struct sctp_assoc_info *info)
{
	sctp_assoc_inspect(a->state, info);
}

static void user_sctp_attempt(const struct conn_assoc *a, struct transport_attempt *attempt)
{
	attempt->answered = sctp_assoc_is_answered(a->state);
	attempt->unreachable = sctp_assoc_is_unreachable(a->state);
	attempt->reason = sctp_assoc_reason(a->state);
}

static void user_sctp_stats(const struct conn *c, struct sctp_stats *stats)
{
	*stats = *sctp_stats(user_sctp_of(c)->sctp);
}

const struct transport transport_user_sctp = {
	.start = user_sctp_start,
	.stop = user_sctp_stop,
	.open = user_sctp_open,
	.close = user_sctp_close,
	.forget = user_sctp_forget,
	.set_accept = user_sctp_set_accept,
	.set_quiet = user_sctp_set_quiet,
	.accept_at = user_sctp_accept_at,
	.watch = user_sctp_watch,
	.set_tos = user_sctp_set_tos,
	.readdress = user_sctp_readdress,
	.receive = user_sctp_receive,
	.events = user_sctp_events,
	.output = user_sctp_output,
	.in_flight = user_sctp_in_flight,
	.next_timeout = user_sctp_next_timeout,
	.timers = user_sctp_timers,
	.connect = user_sctp_connect,
	.doorbell = user_sctp_doorbell,
	.acked = user_sctp_acked,
	.placed = user_sctp_placed,
	.agreed = user_sctp_agreed,
	.flush_sacks = user_sctp_flush_sacks,
	.copy_out = user_sctp_copy_out,
	.void_messages = user_sctp_void,
	.is_drained = user_sctp_is_drained,
	.shutdown = user_sctp_shutdown,
	.abort = user_sctp_abort,
	.addr = user_sctp_addr,
	.is_between = user_sctp_is_between,
	.has_address = user_sctp_has_address,
	.path_use = user_sctp_path_use,
	.prefer = user_sctp_prefer,
	.remote_port = user_sctp_remote_port,
	.inspect = user_sctp_inspect,
	.inspect_paths = user_sctp_inspect_paths,
	.attempt = user_sctp_attempt,
	.stats = user_sctp_stats,
};
