/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The carrier of SCTP in DTLS over UDP (RFC 8261), for processes with a key or a certificate. It
 * uses the sockets of udp.c and the sessions of dtls.h, and seals and opens the packets. Shard
 * lock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_certs.h"
#include "config/config_keys.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "log/log.h"
#include "net/append_file.h"
#include "net/carrier_port.h"
#include "net/carriers.h"
#include "net/dtls.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_ipsec_mb.h"
#include "net/memory.h"
#include "net/udp.h"
#include "sctp/sctp.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

/* Maximum bytes of one call with UDP_SEGMENT. An IPv4 datagram has at most 65,507 bytes. */
#define BATCH_MAX 65000u
/* Maximum packet size, chosen so that a batch has room for four packets. */
#define PACKET_MAX ((BATCH_MAX / 4 - DTLS_OVERHEAD) & ~3u)

_Static_assert(PACKET_MAX <= DTLS_PLAIN_MAX, "a packet is one record");

/* State that all ports share (net.dtls). */
struct dtls_carrier {
	struct dtls *dtls;
	bool told_groups; /* logged once: this carrier has no multicast */
	uint8_t sealed[BATCH_MAX + DTLS_OVERHEAD];
};

static struct dtls_port *port_of(const struct endpoint *ep)
{
	return carrier_port_of(ep)->dtls;
}

/* ---- operations for sessions ---- */

static void transmit(void *ctx, const struct path_addr *to, const uint8_t *data, size_t len)
{
	udp_send_one(ctx, to, data, len);
}

static void deliver(void *ctx, const struct path_addr *from, uint8_t *packet, size_t len)
{
	const struct carrier_datagram d = {
		.data = packet,
		.len = len,
		.segment = len,
		.from = *from,
	};

	if (len)
		carrier_port_of(ctx)->ops->deliver(ctx, &d);
}

static void failed(void *ctx, const struct path_addr *to, int error, const uint8_t *packet,
		   size_t len)
{
	struct carrier_error err = { .to = *to, .unreachable = error };

	err.quoted_len = len < sizeof(err.quoted) ? len : sizeof(err.quoted);
	memcpy(err.quoted, packet, err.quoted_len);
	user_sctp_icmp(ctx, &err);
}

/*
 * True if the port has address `to`. A port bound to all addresses has every address of the host.
 */
static bool is_self(void *ctx, const struct path_addr *to)
{
	const struct endpoint *ep = ctx;
	struct ip_addr own;

	if (to->udp_port != ep->bound.port)
		return false;
	if (ep->bound.wildcard)
		return ep->conn->ops->is_own_address(ep->conn, &to->remote) ||
		       ip_addr_is_loopback(&to->remote);
	own = sockaddr_ip((const struct sockaddr *)&ep->bound.local);
	return ip_addr_equal(&own, &to->remote);
}

static const struct dtls_ops dtls_ops = {
	.transmit = transmit,
	.deliver = deliver,
	.failed = failed,
	.is_self = is_self,
};

/* ---- starting ---- */

/*
 * The caller must not hold the shard lock: dlopen() waits for other threads that load libraries,
 * and these threads may wait for the shard lock.
 */
static bool load(struct config_error *why)
{
	if (!dtls_gnutls_load(why))
		return false;
	dtls_gcm_load();
	return true;
}

/* Returns NULL when out of memory, or for the reason in *why. */
static struct dtls *make_dtls(struct conn *c, struct config_error *why)
{
	const struct config *config = c->config;
	struct dtls_param param = {
		.ops = &dtls_ops,
		.why = why,
		.optional = config->key_optional,
		.rekey = DTLS_REKEY,
		.stats = &c->traffic.dtls,
	};
	struct config_keys keys = { 0 };
	struct config_certs certs = { 0 };
	struct dtls *d = NULL;

	if ((!*config->key || config_keys_read(config->key, &keys, why)) &&
	    (!*config->cert || config_certs_read(config, &certs, why))) {
		param.keys = *config->key ? &keys : NULL;
		param.certs = *config->cert ? &certs : NULL;
		d = dtls_new(&param);
	}
	config_keys_forget(&keys);
	config_certs_forget(&certs);
	return d;
}

static void warn(const struct conn *c)
{
	const char *secrets = secure_getenv("SSLKEYLOGFILE"), *unused;

	if (c->config->key_optional)
		log_error(
			"warning: key-optional: whoever has no key is served in the clear, and anybody on the "
			"way can have it so");
	/* Create the file with mode 0600 first: GnuTLS would create one that all users can read. */
	if (secrets) {
		sys_close(append_file_open(secrets, &unused));
		log_error("warning: SSLKEYLOGFILE: readers of %s can decrypt all packets", secrets);
	}
}

static int dtls_start(struct conn *c, struct config_error *why)
{
	struct dtls_carrier *dc = calloc(1, sizeof(*dc));
	int ret = -ENOMEM;

	if (!dc)
		return ret;
	dc->dtls = make_dtls(c, why);
	if (dc->dtls)
		ret = udp_start(c, why);
	if (ret) {
		dtls_free(dc->dtls);
		free(dc);
		return ret;
	}
	c->net->dtls = dc;
	warn(c);
	return 0;
}

static void dtls_stop(struct conn *c)
{
	udp_stop(c);
	dtls_free(c->net->dtls->dtls);
	free(c->net->dtls);
	c->net->dtls = NULL;
}

/* ---- receiving ---- */

static void dtls_input(struct endpoint *ep, const struct carrier_datagram *d)
{
	for (size_t off = 0; off < d->len; off += d->segment) {
		size_t left = d->len - off;
		size_t len = left < d->segment ? left : d->segment;
		const struct carrier_datagram clear = {
			.data = d->data + off,
			.len = len,
			.segment = len,
			.from = d->from,
		};

		if (!dtls_port_input(port_of(ep), &d->from, d->data + off, len, ep->conn->now))
			carrier_port_of(ep)->ops->deliver(ep, &clear);
	}
}

/*
 * Replaces the sealed bytes that an ICMP error quotes by the bytes of the packet, since SCTP checks
 * that it has sent the quoted packet.
 */
static bool dtls_next_error(struct endpoint *ep, struct carrier_error *err)
{
	if (!udp_next_error(ep, err))
		return false;
	if (!err->local &&
	    !dtls_port_error(port_of(ep), &err->to, err->quoted, &err->quoted_len,
			     sizeof(err->quoted), err->unreachable, ep->conn->now) &&
	    !ep->conn->config->key_optional) {
		err->unreachable = 0;
		err->mtu = 0;
	}
	return true;
}

static const struct carrier_port_ops port_ops = {
	.rx_batch = 1,
	.receive = udp_receive,
	.next_error = dtls_next_error,
	.input = dtls_input,
	.deliver = user_sctp_input,
};

/* ---- ports ---- */

static void dtls_close(struct endpoint *ep)
{
	if (port_of(ep))
		dtls_port_free(port_of(ep));
	carrier_port_free(ep);
}

static int dtls_open_port(struct endpoint *ep, const struct sockaddr *addr, bool v6only,
			  size_t *rcvbuf)
{
	int ret = udp_open_port(ep, addr, v6only, rcvbuf, &port_ops);
	struct carrier_port *p;

	if (ret)
		return ret;
	p = carrier_port_of(ep);
	p->dtls = dtls_port_new(ep->conn->net->dtls->dtls, ep->bound.port, ep);
	if (p->dtls)
		return 0;
	carrier_port_free(ep);
	return -ENOMEM;
}

/* ---- sending ---- */

/*
 * Copies a packet of the batch to p, including the application's memory that it references. The
 * cipher does not read this memory directly, since the application may unmap it. *ref is the index
 * of the first reference not used by an earlier packet. Returns false if the memory is unmapped.
 */
static bool copy_packet(const struct sctp_batch *batch, const uint8_t *packet, size_t len,
			unsigned int *ref, uint8_t *p)
{
	const uint8_t *at = packet, *end = packet + len;

	for (; *ref < batch->n_refs && batch->refs[*ref].at < end; (*ref)++) {
		const struct sctp_ref *r = &batch->refs[*ref];

		if (r->at < at)
			continue;
		memcpy(p, at, (size_t)(r->at - at));
		p += r->at - at;
		if (memory_copy(p, r->from, r->len))
			return false;
		p += r->len;
		at = r->at + r->len;
	}
	memcpy(p, at, (size_t)(end - at));
	return true;
}

/*
 * Seals packets from the start of the batch, up to BATCH_MAX bytes. Returns the number of bytes of
 * the batch that were sealed, or 0 on failure.
 */
static size_t seal_some(struct dtls_carrier *dc, const struct sctp_batch *batch,
			struct dtls_cipher *tx, struct sctp_batch *sealed)
{
	size_t front = dtls_cipher_front(tx), each = batch->segment + dtls_cipher_overhead(tx);
	size_t done = 0, out = 0;
	unsigned int ref = 0;

	while (done < batch->len && out + each <= BATCH_MAX) {
		size_t left = batch->len - done, n;
		size_t len = left < batch->segment ? left : batch->segment;

		if (!copy_packet(batch, batch->data + done, len, &ref, dc->sealed + out + front))
			return 0;
		n = dtls_seal(tx, DTLS_DATA, dc->sealed + out, len);
		if (!n)
			return 0;
		done += len;
		out += n;
	}
	*sealed = (struct sctp_batch){
		.endpoint = batch->endpoint,
		.data = dc->sealed,
		.len = out,
		.segment = each,
		.to = batch->to,
		.df = batch->df,
	};
	return done;
}

/* After a full send buffer, the rest of the batch is sealed again, with new sequence numbers. */
static int send_sealed(struct endpoint *ep, struct sctp_batch *batch, struct dtls_cipher *tx)
{
	struct dtls_carrier *dc = ep->conn->net->dtls;
	struct sctp_batch sealed;

	if (batch->segment > DTLS_PLAIN_MAX)
		return 0;
	while (batch->len) {
		size_t done = seal_some(dc, batch, tx, &sealed);

		if (!done)
			return 0;
		if (udp_send(ep, &sealed) == -EAGAIN) {
			size_t gone = (size_t)(sealed.data - dc->sealed) / sealed.segment;

			batch->data += gone * batch->segment;
			batch->len -= gone * batch->segment;
			return -EAGAIN;
		}
		batch->data += done;
		batch->len -= done;
	}
	return 0;
}

/* Keeps the packets of the batch until a session exists. */
static void wait_for_session(struct endpoint *ep, const struct sctp_batch *batch)
{
	uint8_t *packet = ep->conn->net->dtls->sealed;
	unsigned int ref = 0;

	for (size_t done = 0, len; done < batch->len; done += len) {
		len = batch->len - done < batch->segment ? batch->len - done : batch->segment;
		if (len > DTLS_PLAIN_MAX ||
		    !copy_packet(batch, batch->data + done, len, &ref, packet))
			return;
		dtls_port_wait(port_of(ep), &batch->to, packet, len, ep->conn->now);
	}
}

static int dtls_send(struct endpoint *ep, struct sctp_batch *batch)
{
	struct dtls_carrier *dc = ep->conn->net->dtls;
	size_t first = batch->len < batch->segment ? batch->len : batch->segment;
	struct dtls_cipher *tx;

	if (carrier_port_of(ep)->fd < 0)
		return 0;
	switch (dtls_port_ask(port_of(ep), &batch->to, batch->data, first, ep->conn->now, &tx)) {
	case DTLS_SEALED:
		return send_sealed(ep, batch, tx);
	case DTLS_WAIT:
		wait_for_session(ep, batch);
		return 0;
	case DTLS_CLEAR:
		return udp_send(ep, batch);
	case DTLS_NOT:
		break;
	}
	if (ip_addr_is_multicast(&batch->to.remote) && !dc->told_groups) {
		dc->told_groups = true;
		log_error(
			"a group has no key: nothing is sent to multicast groups by a process that has one");
	}
	return 0;
}

static const char *dtls_key(const struct endpoint *ep, const struct path_addr *to)
{
	return dtls_port_identity(port_of(ep), to);
}

static uint64_t dtls_carrier_next_timeout(const struct conn *c)
{
	return dtls_next_timeout(c->net->dtls->dtls);
}

static void dtls_carrier_timers(struct conn *c)
{
	dtls_timers(c->net->dtls->dtls, c->now);
}

/* No multicast, since DTLS needs a secret that only two peers share. */
const struct carrier carrier_dtls = {
	.references = true,
	.whole_batches = true,
	.overhead = DTLS_OVERHEAD,
	.packet_max = PACKET_MAX,
	.check = load,
	.start = dtls_start,
	.stop = dtls_stop,
	.open = dtls_open_port,
	.close = dtls_close,
	.watch = carrier_port_watch,
	.forget = carrier_port_forget,
	.set_tos = carrier_port_set_tos,
	.receive = carrier_port_receive,
	.send = dtls_send,
	.await_room = carrier_port_await_room,
	.room = udp_room,
	.key = dtls_key,
	.next_timeout = dtls_carrier_next_timeout,
	.timers = dtls_carrier_timers,
};
