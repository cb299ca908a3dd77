/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peers of a port. Used only by the files dtls*.c. */
#ifndef SCTPIW_NET_DTLS_PEER_H
#define SCTPIW_NET_DTLS_PEER_H

#include "config/config_keys.h"
#include "net/dtls.h"
#include "util/list.h"
#include "util/ration.h"
#include "util/time.h"
#include "util/timerq.h"

#define DTLS_BUCKETS 256u
#define DTLS_CLEAR_PEERS 64u
#define DTLS_ALERT_LEN (DTLS_HEADER + 2u) /* bytes of an unsealed alert */
#define DTLS_HEAD 64u			  /* bytes kept of a packet, since ICMP may quote it */
#define DTLS_HEADS 16u			  /* number of batches whose first packet is kept so */

/* Rate limits shared by addresses that hash to this slot. */
struct dtls_remote {
	uint64_t cookies, hints, handshakes; /* state of rate limits (util/ration.h) */
};

struct dtls {
	struct dtls_param param;
	struct dtls_credentials *credentials;
	struct dtls_cookies *cookies;
	uint8_t *scratch;     /* buffer for one record */
	struct timerq timers; /* dtls_peer.timer */
	unsigned int n_peers; /* number of peers of all ports */
	uint64_t accepts;     /* rate limit of handshakes from peers that have not proved a key */
	uint64_t salt;	      /* secret; peers cannot choose their slots in remote[] */
	struct dtls_remote remote[RATION_PLACES];
};

/* A peer that has sent unsealed packets, which key-optional allows. */
struct dtls_clear_peer {
	struct ip_addr remote;
	uint16_t udp_port;
	uint64_t until; /* ns: packets to the peer are unsealed until then */
};

struct dtls_port {
	struct dtls *dtls;
	uint16_t number;
	void *ctx;
	struct dtls_cipher *self_tx, *self_rx; /* for packets of the port to itself, or NULL */
	unsigned int n;
	struct list_node bucket[DTLS_BUCKETS]; /* dtls_peer.node */
	struct dtls_clear_peer clear[DTLS_CLEAR_PEERS];
};

/* Keys of a session, for both directions. Both are NULL if there is no session. */
struct dtls_keys {
	struct dtls_cipher *tx, *rx;
};

struct dtls_waiting {
	struct list_node node; /* dtls_peer.waiting */
	size_t len;
	uint8_t data[];
};

/* The first bytes of the first packet of a batch. */
struct dtls_head {
	uint64_t nth; /* number of records sealed with the key before this batch */
	size_t len;
	uint8_t bytes[DTLS_HEAD];
};

struct dtls_peer {
	struct list_node node; /* dtls_port.bucket */
	struct dtls_port *port;
	struct path_addr addr;
	struct timerq_node timer;
	bool self; /* the peer is the port itself; the keys belong to the port */

	struct dtls_keys now; /* keys in use */
	/* printable identity of the peer's key, or subject of its certificate */
	char identity[DTLS_IDENTITY_MAX + 1];
	/* previous keys; used until old_until, for receiving only */
	struct dtls_keys old;
	uint64_t old_until; /* ns */

	struct dtls_handshake *next; /* handshake in progress, or NULL */
	bool next_server;	     /* the local side is the server of next */
	uint8_t random[DTLS_RANDOM]; /* random of the last ClientHello, sent by either side */
	uint64_t next_at;	     /* ns: when next sends its flight again */
	uint64_t next_since;	     /* ns: start of the first of several attempts */
	uint64_t next_begun;	     /* ns: start of next */
	int unreachable;	     /* -errno from an ICMP error about next, or 0 */
	/* next got a wrong record; a new attempt starts at next_at */
	bool broken;
	uint8_t alert[DTLS_ALERT_LEN]; /* unsealed alert; takes effect at next_at */
	bool alerted;

	/* finished handshake as server; can send its last flight again until last_until */
	struct dtls_handshake *last;
	uint64_t last_until; /* ns */

	struct list_node waiting; /* dtls_waiting.node */
	unsigned int n_waiting;
	size_t waiting_bytes;

	uint64_t used;	     /* ns: last transmission or reception */
	uint64_t heard;	     /* ns: last record that was opened */
	uint64_t hint_at;    /* ns: further hints of the peer are ignored until then */
	uint64_t asked;	     /* ns: first transmission after the last opened record; 0: none */
	uint64_t doubt;	     /* ns: when the session is next in doubt (dtls.c) */
	uint64_t patience;   /* ns: present wait until the session is in doubt; 0: not set */
	uint64_t retry_at;   /* ns: no other session is requested before */
	uint64_t retry_wait; /* ns: last wait after a failed attempt to set up a session */
	/* first bytes of the last batches that were sealed with now.tx */
	struct dtls_head head[DTLS_HEADS];
	/* number of batches so far; the last DTLS_HEADS are in head[] */
	unsigned int n_heads;
};

/* ---- dtls_peer.c ---- */

/* Returns the peer with this address, or NULL. */
struct dtls_peer *dtls_peer_find(struct dtls_port *p, const struct path_addr *addr);
/* Finds or creates a peer. Returns NULL when out of memory, or if no other peer may be replaced. */
struct dtls_peer *dtls_peer_get(struct dtls_port *p, const struct path_addr *addr, uint64_t now);
/* Frees a peer, and its waiting packets. */
void dtls_peer_free(struct dtls_peer *peer);
/* Sets the peer's timer to its next due time. */
void dtls_peer_arm(struct dtls_peer *peer);
void dtls_keys_free(struct dtls_keys *keys);
/* From now on, for CLEAR_LIFE, packets to the peer are sent unsealed (dtls.c). */
void dtls_port_note_clear(struct dtls_port *p, const struct path_addr *addr, uint64_t now);
/* Keeps the first bytes of the packet that is sealed next. */
void dtls_peer_note(struct dtls_peer *peer, const uint8_t *packet, size_t len);
/* Returns the first bytes of the batch of record nth, or NULL if they are no longer kept. */
const struct dtls_head *dtls_peer_head(const struct dtls_peer *peer, uint64_t nth);
/* Appends a copy of a packet to the waiting packets. Drops it if too many wait. */
void dtls_peer_keep(struct dtls_peer *peer, const uint8_t *packet, size_t len);
/* Removes and returns the packet that has waited longest, or NULL. The caller frees it. */
struct dtls_waiting *dtls_peer_next_waiting(struct dtls_peer *peer);

/* Returns the slot of that address in remote[]. */
struct dtls_remote *dtls_remote_of(struct dtls *d, const struct ip_addr *remote);

/* ---- dtls_say.c ---- */

/* Logs that the handshake with the peer has succeeded. */
void dtls_say_up(const struct dtls_peer *peer, const struct dtls_handshake *h);
/* Logs why the handshake peer->next failed. */
void dtls_say_failed(const struct dtls_peer *peer);

/* ---- dtls_setup.c ---- */

/* Starts a handshake as client, unless one is in progress. */
void dtls_setup_connect(struct dtls_peer *peer, uint64_t now);
void dtls_setup_hello(struct dtls_port *p, const struct path_addr *from, const uint8_t *record,
		      size_t len, uint64_t now);
/* Handles a record of a handshake other than a ClientHello. May free the peer. */
void dtls_setup_record(struct dtls_peer *peer, const uint8_t *record, size_t len, uint64_t now);
/* Handles an unsealed alert. */
void dtls_setup_alert(struct dtls_peer *peer, const uint8_t *record, size_t len);
/* Handles the expiry of the peer's timer. May free the peer. */
void dtls_setup_timeout(struct dtls_peer *peer, uint64_t now);

#endif
