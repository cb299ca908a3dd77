/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DTLS beneath SCTP (RFC 8261): the sessions and their keys. Each path has a session, where a path
 * is a pair of addresses and the peer's UDP port. In RFC 8261, an association has only one path.
 * All associations and datagrams between the two ports share the session. No socket and no clock:
 * the carrier (dtls_carrier.c) has these. Shard lock.
 *
 * A packet to a peer without a session waits in a bounded queue, and begins a handshake as client.
 * If both sides begin at once, the larger random of the two ClientHellos wins. A new session is set
 * up beside the present one. The present one is used until the peer has proved that it has the new
 * key, and a little longer for receiving. A host that cannot open a record answers in the clear (an
 * alert of epoch 0). The peer then requests a new session, but keeps the present one, since anybody
 * can send that alert.
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

/* Maximum peers of a port with a session or a handshake. A further peer replaces another one. */
#define DTLS_PEERS 4096u
/* Maximum of these that have proved nothing yet. */
#define DTLS_UNPROVEN 256u
/* Maximum packets and bytes that wait for a session. Further ones are lost, as in a network. */
#define DTLS_WAITING_PACKETS 64u
#define DTLS_WAITING_BYTES 131072u
/* Records sealed with one key before the next is negotiated. AES-GCM is safe for about 2^24. */
#define DTLS_REKEY (UINT64_C(1) << 23)

/* State that all ports of a process share. */
struct dtls;

struct dtls_ops {
	/* Sends a datagram, which may get lost. Must not call functions of this header. */
	void (*transmit)(void *port_ctx, const struct path_addr *to, const uint8_t *data,
			 size_t len);
	/* Takes an opened packet. May call dtls_port_ask() and dtls_port_wait(). */
	void (*deliver)(void *port_ctx, const struct path_addr *from, uint8_t *packet, size_t len);
	/* Reports a packet that waited for a session that could not be set up. error: -errno. */
	void (*failed)(void *port_ctx, const struct path_addr *to, int error, const uint8_t *packet,
		       size_t len);
	/* True if packets to this address come back to the same port. */
	bool (*is_self)(void *port_ctx, const struct path_addr *to);
};

struct dtls_param {
	const struct dtls_ops *ops;
	/* At most one of them is NULL. Both may be freed after dtls_new(). */
	const struct config_keys *keys;
	const struct config_certs *certs;
	struct config_error
		*why;	/* set if a certificate is wrong; may be NULL without certificates */
	bool optional;	/* peers without a key are served in the clear */
	uint64_t rekey; /* DTLS_REKEY, or less in tests */
	struct conn_dtls_traffic *stats;
};

/* Returns NULL when out of memory, or for the reason in *param->why. */
struct dtls *dtls_new(const struct dtls_param *param);
/* The ports must have been freed. */
void dtls_free(struct dtls *d);

/* Returns the time of the next timer in ns, on the clock of `now` below, or TIME_NEVER. */
uint64_t dtls_next_timeout(const struct dtls *d);
void dtls_timers(struct dtls *d, uint64_t now);

struct dtls_port;
/* number is for the log. Returns NULL when out of memory. */
struct dtls_port *dtls_port_new(struct dtls *d, uint16_t number, void *ctx);
/* Notifies the peers that the port closes, and frees them and the port. */
void dtls_port_free(struct dtls_port *p);

/* How to send a packet. */
enum dtls_way {
	DTLS_SEALED, /* with cipher *tx, valid until the next call of this header */
	DTLS_WAIT,   /* with dtls_port_wait(), until there is a session */
	DTLS_CLEAR,  /* unsealed */
	DTLS_NOT,    /* not at all */
};
/*
 * Returns how to send packets to `to`. packet is the first one, of len bytes. If it is to be
 * sealed, its beginning is kept, since an ICMP error may quote it.
 */
enum dtls_way dtls_port_ask(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
			    size_t len, uint64_t now, struct dtls_cipher **tx);
/* Keeps a copy of a packet until there is a session. */
void dtls_port_wait(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
		    size_t len, uint64_t now);

/*
 * Returns a printable name of the session's peer: the identity of its key, or the subject of its
 * certificate. Returns "" for the port itself, and NULL without a session.
 */
const char *dtls_port_identity(struct dtls_port *p, const struct path_addr *to);

/*
 * Handles a datagram, and overwrites it. Returns false if it is not DTLS, and the caller must
 * accept it in the clear. Other datagrams in the clear are dropped and logged.
 */
bool dtls_port_input(struct dtls_port *p, const struct path_addr *from, uint8_t *data, size_t len,
		     uint64_t now);

/*
 * Handles an ICMP error that quotes bytes sent to `to`. Returns true if quoted and *len are now the
 * known beginning of the packet that was sealed there. Returns false if the quote is forged, or is
 * about a handshake, whose packets get failed(). unreachable: -errno, or 0. size: bytes of room at
 * quoted.
 */
bool dtls_port_error(struct dtls_port *p, const struct path_addr *to, uint8_t *quoted, size_t *len,
		     size_t size, int unreachable, uint64_t now);

#endif
