/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport that is our own SCTP (sctp/), over a carrier of packets (llp.h). An endpoint is
 * one socket; the associations on it have none of their own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "net/carrier.h"
#include "log/log.h"
#include "net/memory.h"
#include "runtime/private.h"
#include "sys/sys.h"

/* With so many sockets a poller asks each; with more it asks epoll first. */
#define DIRECT_ENDPOINTS 2
#define EPOLL_BATCH 16
/* A datagram below this is not part of a bulk transfer. */
#define SMALL_DATAGRAM 8192
/* Batches that one association may send before the next has its turn. */
#define OUTPUT_TURN 8
#define RX_MEMORY ((size_t)CARRIER_RX_DATAGRAMS * CARRIER_RX_SIZE)

/* engine.transport_state */
struct user_sctp {
	struct sctp *sctp;
	bool stirred; /* something happened that is not a datagram */
	struct sctp_rx rx;
	uint8_t *rx_memory;
};

/* endpoint.state; assoc.state is a struct sctp_assoc. */
struct user_sctp_endpoint {
	struct sctp_endpoint *sctp;
	/* The socket's buffer was full: nothing more is sent before this one. */
	bool blocked;
	struct sctp_batch pending;
};

static struct user_sctp *user_sctp_of(const struct engine *e)
{
	return e->transport_state;
}

static struct user_sctp_endpoint *user_sctp_endpoint(const struct endpoint *ep)
{
	return ep->state;
}

/* ---- the engine's part ---- */

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct conn_assoc *a = user;
	struct iw_msg m;
	size_t len;

	if (!a || !a->iw)
		return 0;
	m.zcopy_window = a->ep->carrier->gathers && !a->ep->engine->capture ? msg->zcopy_window : 0;
	len = iw_assoc_pull(a->iw, buf, room, &m);
	if (len) {
		msg->sid = m.sid;
		msg->ppid = m.ppid;
		msg->more = m.more;
		msg->zcopy = m.ref;
		msg->zcopy_len = m.ref_len;
	}
	return len;
}

static bool checksum(uint32_t *crc, const uint8_t *from, size_t len)
{
	return memory_crc32c(crc, from, len) == 0;
}

static void copy_out(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len)
{
	if (!memory_copy(to, from, len))
		return;
	memset(to, 0, len);
	iw_poison(msg);
}

static const struct sctp_user_ops user_ops = {
	.pull = pull,
	.checksum = checksum,
	.copy_out = copy_out,
};

static int user_sctp_start(struct engine *e, struct config_error *why)
{
	static const struct carrier *const carriers[] = {
		[CONFIG_CARRIER_UDP] = &carrier_udp,
		[CONFIG_CARRIER_IP] = &carrier_ip,
	};
	struct user_sctp *own;
	struct sctp_config config;

	e->carrier = carriers[e->config.carrier];
	if (e->carrier->check && !e->carrier->check(why))
		return -EINVAL;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	/* Pages come when they are first written to. */
	own->rx_memory = mmap(NULL, RX_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	if (own->rx_memory == MAP_FAILED)
		goto err_free;
	sctp_config_default(&config);
	config.silent_limit = e->config.silent_limit;
	if (config.connect_limit > config.silent_limit)
		config.connect_limit = config.silent_limit;
	own->sctp = sctp_new(&config, &user_ops, &e->random);
	if (!own->sctp)
		goto err_unmap;
	e->transport_state = own;
	return 0;

err_unmap:
	munmap(own->rx_memory, RX_MEMORY);
err_free:
	free(own);
	return -ENOMEM;
}

static void user_sctp_stop(struct engine *e)
{
	struct user_sctp *own = user_sctp_of(e);

	sctp_free(own->sctp);
	munmap(own->rx_memory, RX_MEMORY);
	free(own);
	e->transport_state = NULL;
}

static uint64_t user_sctp_next_timeout(const struct engine *e)
{
	return sctp_next_timeout(user_sctp_of(e)->sctp);
}

static void user_sctp_timers(struct engine *e)
{
	sctp_timers(user_sctp_of(e)->sctp, e->now);
}

/* ---- endpoints ---- */

void endpoint_close_fds(struct endpoint *ep)
{
	sys_close(ep->fd);
	sys_close(ep->fd4);
	sys_close(ep->claim);
	ep->fd = ep->fd4 = ep->claim = ep->out_fd = -1;
}

/* A child of fork() may hold it open: closing it would not take it out of the set. */
static void unwatch(struct endpoint *ep)
{
	sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_DEL, ep->fd, NULL);
	if (ep->fd4 >= 0)
		sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_DEL, ep->fd4, NULL);
}

static int watch(struct endpoint *ep)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = ep};
	int ret = sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_ADD, ep->fd, &ev);

	if (!ret && ep->fd4 >= 0)
		ret = sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_ADD, ep->fd4, &ev);
	if (ret)
		unwatch(ep);
	return ret;
}

static int user_sctp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	struct engine *e = ep->engine;
	struct user_sctp_endpoint *oe = calloc(1, sizeof(*oe));
	int ret;

	if (!oe)
		return -ENOMEM;
	ep->carrier = e->carrier;
	ret = ep->carrier->open(ep, addr, v6only);
	if (ret)
		goto err_free;
	ret = -ENOMEM;
	oe->sctp = sctp_endpoint_new(user_sctp_of(e)->sctp, ep->port, ep->rcvbuf, ep);
	if (!oe->sctp)
		goto err_close;
	ret = ep->dormant ? 0 : watch(ep);
	if (ret)
		goto err_sctp;
	ep->state = oe;
	log_debug("port %u: receive buffer %zu", ep->port, ep->rcvbuf);
	return 0;

err_sctp:
	sctp_endpoint_free(oe->sctp);
err_close:
	endpoint_close_fds(ep);
err_free:
	free(oe);
	return ret;
}

static void user_sctp_close(struct endpoint *ep)
{
	struct user_sctp_endpoint *oe = user_sctp_endpoint(ep);
	struct engine *e = ep->engine;

	if (oe->blocked)
		sctp_batch_done(user_sctp_of(e)->sctp, &oe->pending);
	sctp_endpoint_free(oe->sctp);
	if (ep->fd >= 0) {
		unwatch(ep);
		endpoint_close_fds(ep);
	}
	free(oe);
}

static void user_sctp_forget(struct endpoint *ep)
{
	endpoint_close_fds(ep);
}

static int user_sctp_set_accept(struct endpoint *ep, bool accept)
{
	sctp_endpoint_set_accept(user_sctp_endpoint(ep)->sctp, accept);
	return 0;
}

/* Our own SCTP tells a peer of the address that it has named and of no other, wherever it accepts. */
static int user_sctp_accept_at(struct endpoint *ep, const struct ip_addr *local)
{
	int ret = ep->dormant ? watch(ep) : 0;

	return ret ? ret : user_sctp_set_accept(ep, true);
}

static void user_sctp_set_tos(struct endpoint *ep)
{
	endpoint_mark(ep, ep->fd);
	endpoint_mark(ep, ep->fd4);
}

void endpoint_errors(struct endpoint *ep)
{
	struct carrier_error err;

	user_sctp_of(ep->engine)->stirred = true;
	/* Bounded by the socket's buffer; more come only with what is sent. */
	for (int i = 0; i < 256 && ep->carrier->next_error(ep, &err); i++) {
		if (err.unreachable)
			sctp_unreachable(user_sctp_endpoint(ep)->sctp, &err.to, err.quoted, err.quoted_len,
					 ep->engine->now);
		else if (err.mtu)
			sctp_packet_too_big(user_sctp_endpoint(ep)->sctp, &err.to, err.mtu,
					    err.local ? NULL : err.quoted, err.quoted_len,
					    ep->engine->now);
	}
}

/* ---- input ---- */

static bool up(struct conn_assoc *a)
{
	struct sctp_assoc *sa = a->state;

	if (a->iw)
		return true;
	if (!sctp_assoc_is_initiator(sa))
		sctp_assoc_set_mtu(sa, route_mtu(sctp_assoc_addr(sa)));
	return conn_assoc_up(a, sctp_assoc_is_initiator(sa), sctp_assoc_streams(sa),
			sctp_assoc_max_msg(sa));
}

/* Who an association of this packet belongs to; NULL: nobody, and it was aborted. */
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
	struct engine *e = ep->engine;
	struct sctp_rx *rx = &user_sctp_of(e)->rx;
	struct conn_assoc *a;

	sctp_input(user_sctp_endpoint(ep)->sctp, from, packet, len, e->now, rx);
	if (!rx->assoc)
		return;
	a = sctp_assoc_user(rx->assoc);
	if (a && a->iw)
		iw_assoc_acked(a->iw);
	if (!rx->count && !rx->up && !rx->restart)
		return;
	a = user_of(ep, rx);
	/*
	 * While it closes there are no sessions to deliver to; a peer whose Initiate crosses our
	 * SHUTDOWN asks again on a new association.
	 */
	if (!a || !a->iw || a->closing)
		return;
	for (unsigned int i = 0; i < rx->count; i++) {
		const struct sctp_data *d = &rx->data[i];

		if (iw_assoc_receive(a->iw, d->sid, d->ppid, d->data, d->len)) {
			conn_assoc_abort(a, -EPROTO);
			return;
		}
	}
}

static void input(struct endpoint *ep, const struct carrier_datagram *d)
{
	ep->engine->traffic.bytes_in += d->len;
	for (size_t off = 0; off < d->len; off += d->segment) {
		size_t left = d->len - off;

		ep->engine->traffic.packets_in++;
		input_packet(ep, &d->from, d->data + off, left < d->segment ? left : d->segment);
	}
}

/*
 * One after the other while they are large, so that the staging memory stays in the cache. A small one
 * ends the round: perhaps it is what somebody waits for.
 */
static enum loop_received receive(struct engine *e, struct endpoint *ep)
{
	struct carrier_datagram dgrams[CARRIER_RX_DATAGRAMS];
	unsigned int batch = ep->carrier->rx_batch, total = 0;

	while (total < CARRIER_RX_DATAGRAMS) {
		unsigned int n;

		for (unsigned int i = 0; i < batch; i++)
			dgrams[i].data = user_sctp_of(e)->rx_memory + (size_t)i * CARRIER_RX_SIZE;
		n = ep->carrier->receive(ep, dgrams, batch);
		for (unsigned int i = 0; i < n; i++)
			input(ep, &dgrams[i]);
		total += n;
		if (n < batch)
			return total ? LOOP_SOME : LOOP_NOTHING;
		if (batch == 1 && dgrams[0].len < SMALL_DATAGRAM)
			return LOOP_SOME;
	}
	return LOOP_MORE;
}

static enum loop_received receive_direct(struct engine *e)
{
	enum loop_received all = LOOP_NOTHING;

	list_for_each(node, &e->endpoints) {
		enum loop_received one = receive(e, list_entry(node, struct endpoint, node));

		all = one > all ? one : all;
	}
	return all;
}

static enum loop_received receive_ready(struct engine *e)
{
	struct epoll_event ev[EPOLL_BATCH];
	enum loop_received all = LOOP_NOTHING;
	int n;

	n = sys_epoll_poll(e->epoll_fd, ev, EPOLL_BATCH);
	if (n == EPOLL_BATCH)
		all = LOOP_MORE;
	for (int i = 0; i < n; i++) {
		struct endpoint *ep = ev[i].data.ptr;
		enum loop_received one = LOOP_NOTHING;

		if (!engine_is_socket(e, ep))
			continue;
		if (ev[i].events & EPOLLERR)
			endpoint_errors(ep);
		if (ev[i].events & (EPOLLIN | EPOLLERR))
			one = receive(e, ep);
		all = one > all ? one : all;
	}
	return all;
}

static void retry_blocked(struct engine *e);

static enum loop_received user_sctp_receive(struct engine *e, enum loop_depth depth)
{
	bool direct = e->n_endpoints <= DIRECT_ENDPOINTS;
	enum loop_received got = LOOP_NOTHING;

	user_sctp_of(e)->stirred = false;
	retry_blocked(e);
	if (direct)
		got = receive_direct(e);
	/* What woke the thread may be an error that no receive call tells of. */
	if (!direct || (got == LOOP_NOTHING && depth == LOOP_THOROUGH))
		got = receive_ready(e);
	return got == LOOP_NOTHING && user_sctp_of(e)->stirred ? LOOP_STIRRED : got;
}

static bool user_sctp_events(struct engine *e)
{
	struct sctp_event ev;
	bool any = false;

	while (sctp_next_event(user_sctp_of(e)->sctp, &ev)) {
		struct conn_assoc *a = ev.user;

		any = true;
		if (!a)
			continue;
		switch (ev.type) {
		case SCTP_EVENT_UP:
			up(a);
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

static void set_blocked(struct endpoint *ep, bool blocked)
{
	struct epoll_event ev = {
		.events = EPOLLIN | (blocked ? EPOLLOUT : 0u),
		.data.ptr = ep,
	};

	user_sctp_endpoint(ep)->blocked = blocked;
	sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_MOD, ep->out_fd, &ev);
}

static void count_out(struct engine *e, const struct sctp_batch *batch)
{
	e->traffic.bytes_out += batch->len;
	e->traffic.packets_out += (batch->len + batch->segment - 1) / batch->segment;
}

/* Of sa. False: the socket is full, and the batch is kept. */
static bool send_batch(struct engine *e, struct endpoint *ep, struct sctp_assoc *sa,
		       struct sctp_batch *batch)
{
	count_out(e, batch);
	if (ep->fd < 0 || ep->carrier->send(ep, batch) != -EAGAIN) {
		sctp_batch_done(user_sctp_of(e)->sctp, batch);
		return true;
	}
	e->traffic.waits++;
	sctp_batch_keep(sa, batch);
	user_sctp_endpoint(ep)->pending = *batch;
	set_blocked(ep, true);
	return false;
}

static void retry_blocked(struct engine *e)
{
	list_for_each(node, &e->endpoints) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);
		struct user_sctp_endpoint *oe = user_sctp_endpoint(ep);

		if (!oe->blocked || ep->carrier->send(ep, &oe->pending) == -EAGAIN)
			continue;
		sctp_batch_done(user_sctp_of(e)->sctp, &oe->pending);
		set_blocked(ep, false);
		user_sctp_of(e)->stirred = true;
		list_for_each(anode, &ep->assocs) {
			struct conn_assoc *a = list_entry(anode, struct conn_assoc, node);

			if (!a->gone)
				sctp_assoc_doorbell(a->state);
		}
	}
}

static void output_assoc(struct engine *e, struct sctp_assoc *sa)
{
	struct endpoint *ep = sctp_endpoint_ctx(sctp_assoc_endpoint(sa));
	struct conn_assoc *a = sctp_assoc_user(sa);
	struct sctp_batch batch;

	/* retry_blocked() will doorbell it. */
	if (user_sctp_endpoint(ep)->blocked)
		return;
	if (a)
		conn_assoc_set_max_msg(a, sctp_assoc_max_msg(sa));
	for (int i = 0; i < OUTPUT_TURN; i++) {
		if (sctp_output(sa, e->now, &batch) <= 0)
			return;
		if (!send_batch(e, ep, sa, &batch))
			return;
	}
	sctp_assoc_doorbell(sa);
}

static void user_sctp_output(struct engine *e)
{
	struct sctp *sctp = user_sctp_of(e)->sctp;
	struct sctp_assoc *sa;
	struct sctp_batch batch;

	while ((sa = sctp_next_ready(sctp)))
		output_assoc(e, sa);
	while (sctp_output_ootb(sctp, &batch) > 0) {
		struct endpoint *ep = sctp_endpoint_ctx(batch.endpoint);

		/* Answers to nobody in particular: lost when the socket is full. */
		if (!user_sctp_endpoint(ep)->blocked && ep->fd >= 0) {
			count_out(e, &batch);
			ep->carrier->send(ep, &batch);
		}
		sctp_batch_done(sctp, &batch);
	}
}

/* ---- associations ---- */

static int user_sctp_connect(struct conn_assoc *a, const struct path_addr *to, uint16_t port)
{
	a->state = sctp_connect(user_sctp_endpoint(a->ep)->sctp, to, port, route_mtu(to), a,
				a->ep->engine->now);
	return a->state ? 0 : -ENOMEM;
}

static void user_sctp_kick(struct conn_assoc *a)
{
	sctp_assoc_doorbell(a->state);
}

static uint32_t user_sctp_acked(struct conn_assoc *a)
{
	return sctp_assoc_acked(a->state);
}

static void user_sctp_recall(struct conn_assoc *a, int sid)
{
	sctp_assoc_copy_out(a->state, sid);
}

static bool user_sctp_is_drained(const struct conn_assoc *a)
{
	if (user_sctp_endpoint(a->ep)->blocked)
		return false;
	return !sctp_assoc_is_up(a->state) || sctp_assoc_is_drained(a->state);
}

static void user_sctp_shutdown(struct conn_assoc *a)
{
	sctp_assoc_shutdown(a->state, a->ep->engine->now);
}

static void user_sctp_abort(struct conn_assoc *a)
{
	sctp_assoc_abort(a->state);
}

static const struct path_addr *user_sctp_addr(const struct conn_assoc *a)
{
	return sctp_assoc_addr(a->state);
}

static uint16_t user_sctp_remote_port(const struct conn_assoc *a)
{
	return sctp_assoc_remote_port(a->state);
}

static void user_sctp_stats(const struct engine *e, struct sctp_stats *stats)
{
	*stats = *sctp_stats(user_sctp_of(e)->sctp);
}

const struct transport transport_user_sctp = {
	.start = user_sctp_start,
	.stop = user_sctp_stop,
	.open = user_sctp_open,
	.close = user_sctp_close,
	.forget = user_sctp_forget,
	.set_accept = user_sctp_set_accept,
	.accept_at = user_sctp_accept_at,
	.set_tos = user_sctp_set_tos,
	.receive = user_sctp_receive,
	.events = user_sctp_events,
	.output = user_sctp_output,
	.next_timeout = user_sctp_next_timeout,
	.timers = user_sctp_timers,
	.connect = user_sctp_connect,
	.doorbell = user_sctp_kick,
	.acked = user_sctp_acked,
	.copy_out = user_sctp_recall,
	.is_drained = user_sctp_is_drained,
	.shutdown = user_sctp_shutdown,
	.abort = user_sctp_abort,
	.addr = user_sctp_addr,
	.remote_port = user_sctp_remote_port,
	.stats = user_sctp_stats,
};
