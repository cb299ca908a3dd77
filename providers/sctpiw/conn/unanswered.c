/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/unanswered.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/bytes.h"
#include "util/sockaddr.h"

#define HELLO_MIN 60u

void unanswered_init(struct conn_unanswered *u)
{
	memset(u, 0, sizeof(*u));
	list_init(&u->list);
}

void unanswered_tell(struct conn *c, const struct ip_addr *peer, uint16_t port, const char *format,
		     ...)
{
	struct conn_unanswered *u = &c->unanswered;
	char line[UNANSWERED_LINE];
	va_list args;

	if (u->told_port == port && ip_addr_equal(&u->told, peer))
		return;
	u->told = *peer;
	u->told_port = port;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log_error("%s", line);
}

const char *unanswered_cause(const struct conn *c, const struct path_addr *to, char *buf,
			     size_t len)
{
	if (to->udp_port && config_is_sealed(c->config))
		snprintf(
			buf, len,
			"the host is down, a firewall drops UDP to port %u, no running program of sctpiw has "
			"that port, or that program has no %s, while this one has one",
			to->udp_port, *c->config->key ? "key" : "certificate");
	else if (to->udp_port)
		snprintf(
			buf, len,
			"the host is down, a firewall drops UDP to port %u, no running program of sctpiw has "
			"that port, or that program has a key or a certificate, and this program needs one, too",
			to->udp_port);
	else
		snprintf(
			buf, len,
			"the host is down, a firewall drops IP protocol 132 (SCTP), or no program there "
			"has the port with llp = %s",
			config_carrier_name(c->config->carrier));
	return buf;
}

/* ---- silence ---- */

void unanswered_begin(struct conn_assoc *a, const struct path_addr *to, uint16_t port)
{
	a->attempt.since = a->ep->conn->now;
	a->attempt.to = *to;
	a->attempt.port = port;
	list_add_tail(&a->ep->conn->unanswered.list, &a->attempt.node);
}

void unanswered_up(struct conn_assoc *a)
{
	struct conn_unanswered *u = &a->ep->conn->unanswered;

	/* Log a new line if the peer disappears later. */
	if (u->told_port == a->attempt.port && ip_addr_equal(&u->told, &a->attempt.to.remote))
		u->told_port = 0;
	list_del(&a->attempt.node);
	a->attempt.since = 0;
}

static struct conn_assoc *oldest(const struct conn *c)
{
	if (list_empty(&c->unanswered.list))
		return NULL;
	return list_entry(c->unanswered.list.next, struct conn_assoc, attempt.node);
}

uint64_t unanswered_next_timeout(const struct conn *c)
{
	const struct conn_assoc *a = oldest(c);

	return a ? a->attempt.since + UNANSWERED_TIME : TIME_NEVER;
}

static struct transport_attempt state_of(const struct conn_assoc *a)
{
	struct transport_attempt state = { .reason = "" };

	if (a->ep->conn->transport->attempt)
		a->ep->conn->transport->attempt(a, &state);
	return state;
}

/*
 * Logs that rdma_connect() waits. QPs connected out of band have their own timer (oob.c), since
 * their log line depends on waiting WRs.
 */
static void tell_silence(struct conn_assoc *a)
{
	const struct path_addr *to = &a->attempt.to;
	char peer[SOCKADDR_TEXT], cause[UNANSWERED_LINE];

	if (list_empty(&a->waiting) || state_of(a).answered)
		return;
	sockaddr_text_ip(&to->remote, a->attempt.port, peer);
	unanswered_tell(
		a->ep->conn, &to->remote, a->attempt.port,
		"rdma_connect() waits for %s, which has not answered for %u s: %s; look with the "
		"same settings: sctpiw doctor %s",
		peer, (unsigned int)(UNANSWERED_TIME / NSEC_PER_SEC),
		unanswered_cause(a->ep->conn, to, cause, sizeof(cause)), peer);
}

void unanswered_key(struct conn *c, uint16_t port, const struct path_addr *from,
		    const uint8_t *packet, size_t len)
{
	static const uint8_t record[] = { 22, 0xfe };
	char peer[SOCKADDR_TEXT];

	/* A DTLS handshake record of epoch 0 with a ClientHello (RFC 6347 4.1, 4.2.2). */
	if (len < HELLO_MIN || memcmp(packet, record, sizeof(record)) != 0 ||
	    get_be16(packet + 3) != 0 || packet[13] != 1)
		return;
	log_error(
		"port %u: %s connects with a key, and gets no answer: this process has neither a key nor a "
		"certificate (--key, or --cert)",
		port, sockaddr_text_ip(&from->remote, from->udp_port, peer));
}

void unanswered_timers(struct conn *c)
{
	while (unanswered_next_timeout(c) <= c->now) {
		struct conn_assoc *a = oldest(c);

		list_del(&a->attempt.node);
		tell_silence(a);
	}
}

/* ---- refusals ---- */

/* Logs the value of the peer's setting llp, from the reason in its refusal. */
static void tell_llp(struct conn_assoc *a, const char *peer, const char *theirs)
{
	struct conn *c = a->ep->conn;

	unanswered_tell(
		c, &a->attempt.to.remote, a->attempt.port,
		"%s refuses: its program was started with llp = %s, and this one with llp = %s; "
		"start both with the same%s",
		peer, theirs, config_carrier_name(c->config->carrier),
		strstr(theirs, "UDP port") ? ", or this one with that encap-port" : "");
}

/* Logs that no process has the peer's UDP port, which the setting encap-port determines. */
static void tell_encap_port(struct conn_assoc *a, const char *peer)
{
	unsigned int port = a->attempt.to.udp_port;

	unanswered_tell(
		a->ep->conn, &a->attempt.to.remote, a->attempt.port,
		"no sctpiw program of %s has UDP port %u, which encap-port = %u selects; "
		"to use the UDP port of the same number as the SCTP port, set encap-port = same",
		peer, port, port);
}

/*
 * Logs that no program has the peer's port. A frequent cause is a server that was started without
 * sctpiw.
 */
static void tell_nobody(struct conn_assoc *a, const char *peer)
{
	unanswered_tell(a->ep->conn, &a->attempt.to.remote, a->attempt.port,
			"no program there has the port %s: start the server, also by sctpiw run",
			peer);
}

/* Logs that the peer's host does not accept SCTP on raw IP. */
static void tell_no_sctp(struct conn_assoc *a, const char *peer)
{
	struct conn *c = a->ep->conn;

	unanswered_tell(
		c, &a->attempt.to.remote, a->attempt.port,
		"%s is not there: no program of that host has llp = %s; if the one of that port has "
		"llp = udp, this one needs it, too",
		peer, config_carrier_name(c->config->carrier));
}

void unanswered_over(struct conn_assoc *a, int error)
{
	const struct path_addr *to = &a->attempt.to;
	struct conn *c = a->ep->conn;
	struct transport_attempt state;
	char peer[SOCKADDR_TEXT];

	list_del(&a->attempt.node);
	if (!a->attempt.since)
		return;
	state = state_of(a);
	sockaddr_text_ip(&to->remote, a->attempt.port, peer);
	if (!strncmp(state.reason, UNANSWERED_LLP, strlen(UNANSWERED_LLP)))
		tell_llp(a, peer, state.reason + strlen(UNANSWERED_LLP));
	else if (error == -ECONNREFUSED && to->udp_port && c->config->encap_port > 0)
		tell_encap_port(a, peer);
	else if (error == -ECONNREFUSED && !to->udp_port && state.unreachable)
		tell_no_sctp(a, peer);
	else if (error == -ECONNREFUSED && state.unreachable)
		tell_nobody(a, peer);
	else if (state.unreachable)
		log_info("%s cannot be reached: %s", peer, strerror(-error));
}
