/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DTLS below SCTP (RFC 8261): the sessions and their keys. Each path has a session; a path is a
 * pair of addresses and the peer's UDP port. In RFC 8261, an association has only one path. All
 * associations and datagrams between the same two UDP ports share a session. This module has no
 * socket and no clock; the carrier (dtls_carrier.c) has them. Shard lock.
 *
 * A packet to a peer without a session waits in a bounded queue, and starts a handshake as client.
 * If both sides start a handshake at the same time, the side with the larger ClientHello random
 * stays client. A new session is set up while the present one is still in use. The present session
 * is used for sending until the peer has proved that it has the new key. For receiving it is used a
 * little longer. A host that has no key for a record answers with an alert of epoch 0, which is not
 * sealed. The peer then requests a new session. The peer also keeps the present session, since any
 * host can send such an alert.
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

/* Maximum peers of a port with a session or a handshake. Above it, a new peer replaces another. */
#define DTLS_PEERS 4096u
/* Maximum number of these peers that have sent a ClientHello, but not proved their key yet. */
#define DTLS_UNPROVEN 256u
/* Maximum packets and bytes that wait for a session of a peer. Further packets are lost. */
#define DTLS_WAITING_PACKETS 64u
#define DTLS_WAITING_BYTES 131072u
/*
 * Maximum records sealed with one key before the next is negotiated. AES-GCM is safe for about
 * 2^24.
 */
#define DTLS_REKEY (UINT64_C(1) << 23)

/* State that all ports of a process share. */
struct dtls;

struct dtls_ops {
	/* Sends a datagram, which may be lost. Must not call functions of this header. */
	void (*transmit)(void *port_ctx, const struct path_addr *to, const uint8_t *data,
			 size_t len);
	/* Delivers an opened packet. May call dtls_port_ask() and dtls_port_wait(). */
	void (*deliver)(void *port_ctx, const struct path_addr *from, uint8_t *packet, size_t len);
	/* Called for a packet that waited for a session that could not be set up. error: -errno. */
	void (*failed)(void *port_ctx, const struct path_addr *to, int error, const uint8_t *packet,
		       size_t len);
	/* True if a packet to this address would arrive at the same port. */
	bool (*is_self)(void *port_ctx, const struct path_addr *to);
};

struct dtls_param {
	const struct dtls_ops *ops;
	/* One of keys and certs may be NULL. Both may be freed after dtls_new(). */
	const struct config_keys *keys;
	const struct config_certs *certs;
	struct config_error *why; /* set if a certificate is wrong; may be NULL if certs is NULL */
	bool optional;		  /* exchange unsealed packets with peers that have no key */
	uint64_t rekey;		  /* DTLS_REKEY, or less in tests */
	struct conn_dtls_traffic *stats;
};

/* Returns NULL when out of memory, or for the reason in *param->why. */
struct dtls *dtls_new(const struct dtls_param *param);
/* Call this after all ports have been freed. */
void dtls_free(struct dtls *d);

/* Returns the ns time of the next timer, by the clock of `now` below, or TIME_NEVER. */
uint64_t dtls_next_timeout(const struct dtls *d);
void dtls_timers(struct dtls *d, uint64_t now);

struct dtls_port;
/* number is the port number, for the log. Returns NULL when out of memory. */
struct dtls_port *dtls_port_new(struct dtls *d, uint16_t number, void *ctx);
/* Sends a close_notify to each peer. Frees the peers and the port. */
void dtls_port_free(struct dtls_port *p);

/* Ways to send a packet. */
enum dtls_way {
	DTLS_SEALED, /* seal with *tx, which is valid until the next call of this header */
	DTLS_WAIT,   /* call dtls_port_wait(), since there is no session yet */
	DTLS_CLEAR,  /* send the packet unsealed */
	DTLS_NOT,    /* drop the packet */
};
/*
 * Returns the way to send packets to `to`. packet is the first of these packets, len bytes long.
 * For DTLS_SEALED, the first bytes of packet are kept, since an ICMP error may quote the record.
 */
enum dtls_way dtls_port_ask(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
			    size_t len, uint64_t now, struct dtls_cipher **tx);
/* Keeps a copy of a packet until a session exists. */
void dtls_port_wait(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
		    size_t len, uint64_t now);

/*
 * Returns the printable name of the session's peer: the identity of its key, or the subject of its
 * certificate. Returns "" if the peer is the port itself, or NULL if there is no session.
 */
const char *dtls_port_identity(struct dtls_port *p, const struct path_addr *to);

/*
 * Handles a received datagram, and overwrites its bytes. Returns false if the datagram is an
 * unsealed packet that the caller must accept. Unsealed packets that are not allowed are logged and
 * dropped.
 */
bool dtls_port_input(struct dtls_port *p, const struct path_addr *from, uint8_t *data, size_t len,
		     uint64_t now);

/*
 * Handles an ICMP error that quotes *len bytes sent to `to`. unreachable is -errno or 0. The buffer
 * `quoted` has room for size bytes. Returns true if the error quotes a sealed packet; quoted and
 * *len then have the known first bytes of that packet. Returns false if the quote is forged, or
 * quotes a handshake. In a handshake, failed() will be called for the packets that wait for the
 * session.
 */
bool dtls_port_error(struct dtls_port *p, const struct path_addr *to, uint8_t *quoted, size_t *len,
		     size_t size, int unreachable, uint64_t now);

#endif
