/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DTLS beneath SCTP (RFC 8261): who has which keys. There is a session for each path, that is a pair of addresses and
 * the peer's UDP port, unlike in RFC 8261, where an association has one path. All associations and datagrams between
 * the two ports share it. No socket and no clock: the carrier (dtls_carrier.c) has these. Shard lock.
 *
 * A packet to somebody who has no session yet waits in a bounded queue, and begins a handshake as client. If both sides
 * begin at once, the larger random of the two ClientHellos wins. A new session is set up beside the one that there is, which
 * stays until the peer has proven that it has the key, and for receiving a little longer. Whoever gets a record that
 * no key of its opens says so in the clear (an alert of epoch 0): the other side then asks for a new session, beside the one
 * that it has, since anybody can say so.
 */
#ifndef SCTPIW_NET_DTLS_H
#define SCTPIW_NET_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_handshake.h"
#include "util/addr.h"

struct config_certs;
struct config_error;
struct config_keys;
struct conn_dtls_traffic;

/* Peers of a port that it has a session with, or is about to. One more takes the place of another one. */
#define DTLS_PEERS 4096u
/* Of these, peers that have proven nothing yet. */
#define DTLS_UNPROVEN 256u
/* What waits for a session: packets, and bytes of them. The rest is lost, as in a network. */
#define DTLS_WAITING_PACKETS 64u
#define DTLS_WAITING_BYTES 131072u
/* Records that are sealed with one key before the next one is agreed on. AES-GCM is good for some 2^24. */
#define DTLS_REKEY (UINT64_C(1) << 23)

/* What all ports of a process share. */
struct dtls;

struct dtls_ops {
	/* Sends a datagram, which may get lost. Must not call anything of this header. */
	void (*transmit)(void *port_ctx, const struct path_addr *to, const uint8_t *data,
			 size_t len);
	/* Takes a packet that the peer has sealed. May call dtls_port_ask() and dtls_port_wait(). */
	void (*deliver)(void *port_ctx, const struct path_addr *from, uint8_t *packet, size_t len);
	/* No session could be agreed on, and that packet has waited for it. error: -errno. */
	void (*failed)(void *port_ctx, const struct path_addr *to, int error, const uint8_t *packet,
		       size_t len);
	/* Whether what is sent there comes back to the same port. */
	bool (*is_self)(void *port_ctx, const struct path_addr *to);
};

struct dtls_param {
	const struct dtls_ops *ops;
	/* NULL: none, but not both. They may go when dtls_new() is over. */
	const struct config_keys *keys;
	const struct config_certs *certs;
	struct config_error
		*why; /* set if something is wrong with the certificates; may be NULL without any */
	bool optional;	/* whoever has no key is served in the clear */
	uint64_t rekey; /* DTLS_REKEY, or less in tests */
	struct conn_dtls_traffic *stats;
};

/* NULL: no memory, or *param->why says what it is. */
struct dtls *dtls_new(const struct dtls_param *param);
/* There may be no port any more. */
void dtls_free(struct dtls *d);

/* ns, on the clock of `now` below; TIME_NEVER: nothing is waited for. */
uint64_t dtls_next_timeout(const struct dtls *d);
void dtls_timers(struct dtls *d, uint64_t now);

struct dtls_port;
/* number: the port's, for the log. NULL: no memory. */
struct dtls_port *dtls_port_new(struct dtls *d, uint16_t number, void *ctx);
/* Tells the peers that the port closes, and forgets them. */
void dtls_port_free(struct dtls_port *p);

/* How a packet may leave. */
enum dtls_way {
	DTLS_SEALED, /* with the cipher that *tx is now, until the next call of anything here */
	DTLS_WAIT,   /* by dtls_port_wait(), until there is a session */
	DTLS_CLEAR,  /* as it is */
	DTLS_NOT,    /* not at all */
};
/*
 * packet: the first one of what is to leave, of len bytes. If it is to be sealed, it is remembered: an ICMP error may be about
 * it.
 */
enum dtls_way dtls_port_ask(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
			    size_t len, uint64_t now, struct dtls_cipher **tx);
/* Keeps a packet until there is a session. It is copied. */
void dtls_port_wait(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
		    size_t len, uint64_t now);

/*
 * The identity of the key, or the subject of the certificate, that the session with that peer came of, fit to be printed; ""
 * with the port itself. NULL: there is no session.
 */
const char *dtls_port_identity(struct dtls_port *p, const struct path_addr *to);

/*
 * Takes a datagram, which is written to. false: it is not DTLS, and the port serves peers in the clear: it is the
 * caller's. What is in the clear otherwise is dropped, and said.
 */
bool dtls_port_input(struct dtls_port *p, const struct path_addr *from, uint8_t *data, size_t len,
		     uint64_t now);

/*
 * An ICMP error quotes what this side sent to `to`. true: quoted and *len are now the beginning of the packet that was
 * sealed in it, as far as that is known. false: it is not of ours, or is about a handshake, whose packets get failed().
 * unreachable: -errno, or 0. size: of the room at quoted.
 */
bool dtls_port_error(struct dtls_port *p, const struct path_addr *to, uint8_t *quoted, size_t *len,
		     size_t size, int unreachable, uint64_t now);

#endif
