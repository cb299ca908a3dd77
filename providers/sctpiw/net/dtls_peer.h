/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peers of a port, for the files dtls*.c only. */
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
#define DTLS_ALERT_LEN (DTLS_HEADER + 2u) /* bytes of an alert in the clear */
#define DTLS_HEAD 64u			  /* bytes kept of a packet that ICMP may quote */
#define DTLS_HEADS 16u			  /* batches whose first packets are kept for that */

/* Rate limits shared by addresses that hash to this slot. */
struct dtls_remote {
	uint64_t cookies, hints, handshakes; /* rations */
};

struct dtls {
	struct dtls_param param;
	struct dtls_credentials *credentials;
	struct dtls_cookies *cookies;
	uint8_t *scratch;     /* room for one record */
	struct timerq timers; /* dtls_peer.timer */
	unsigned int n_peers; /* peers of all ports */
	uint64_t accepts;     /* ration of accepted handshakes, for all peers together */
	uint64_t salt;	      /* for the slots in remote[], hidden from peers */
	struct dtls_remote remote[RATION_PLACES];
};

/* A peer that sent in the clear, with key-optional. */
struct dtls_clear_peer {
	struct ip_addr remote;
	uint16_t udp_port;
	uint64_t until; /* ns */
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

/* The two directions of a session. Either both are NULL, or none is. */
struct dtls_keys {
	struct dtls_cipher *tx, *rx;
};

struct dtls_waiting {
	struct list_node node; /* dtls_peer.waiting */
	size_t len;
	uint8_t data[];
};

/* The beginning of the first packet of a batch. */
struct dtls_head {
	uint64_t nth; /* records sealed before it with its key */
	size_t len;
	uint8_t bytes[DTLS_HEAD];
};

struct dtls_peer {
	struct list_node node; /* dtls_port.bucket */
	struct dtls_port *port;
	struct path_addr addr;
	struct timerq_node timer;
	bool self; /* the peer is the port itself, and has the port's keys */

	struct dtls_keys now;		      /* in use */
	char identity[DTLS_IDENTITY_MAX + 1]; /* printable; of its key or certificate */
	struct dtls_keys old;		      /* previous keys, for receiving until old_until */
	uint64_t old_until;		      /* ns */

	struct dtls_handshake *next;   /* handshake under way, or NULL */
	bool next_server;	       /* this side is the server of next */
	uint8_t random[DTLS_RANDOM];   /* of the last ClientHello, of either side */
	uint64_t next_at;	       /* ns: when next sends its flight again */
	uint64_t next_since;	       /* ns: when the first of several attempts began */
	uint64_t next_begun;	       /* ns: when next began */
	int unreachable;	       /* -errno that ICMP reported for next, or 0 */
	bool broken;		       /* next got a wrong record, and begins anew at next_at */
	uint8_t alert[DTLS_ALERT_LEN]; /* came in the clear, and takes effect at next_at */
	bool alerted;

	struct dtls_handshake *last; /* done as server: repeats its last flight until last_until */
	uint64_t last_until;	     /* ns */

	struct list_node waiting; /* dtls_waiting.node */
	unsigned int n_waiting;
	size_t waiting_bytes;

	uint64_t used;	     /* ns: last transmission or reception */
	uint64_t heard;	     /* ns: when the last record was opened */
	uint64_t hint_at;    /* ns: a hint of the peer has an effect from then on */
	uint64_t asked;	     /* ns: first transmission since the last opened record; 0: none */
	uint64_t doubt;	     /* ns: when the session is in doubt next */
	uint64_t patience;   /* ns: present wait for doubt; 0: not set yet */
	uint64_t retry_at;   /* ns: another session may be requested from then on */
	uint64_t retry_wait; /* ns: last wait after a session could not be set up */
	struct dtls_head head[DTLS_HEADS]; /* of the last batches sealed with now.tx */
	unsigned int n_heads;		   /* heads that were noted; the last ones are kept */
};

/* ---- dtls_peer.c ---- */

/* Returns NULL if there is none. */
struct dtls_peer *dtls_peer_find(struct dtls_port *p, const struct path_addr *addr);
/* Finds or creates a peer. Returns NULL when out of memory, or if better peers have all places. */
struct dtls_peer *dtls_peer_get(struct dtls_port *p, const struct path_addr *addr, uint64_t now);
/* Frees a peer, and its waiting packets. */
void dtls_peer_free(struct dtls_peer *peer);
/* Sets the timer to the earliest due time. */
void dtls_peer_arm(struct dtls_peer *peer);
void dtls_keys_free(struct dtls_keys *keys);
/* Serves the peer in the clear from now on, for a while (dtls.c). */
void dtls_port_note_clear(struct dtls_port *p, const struct path_addr *addr, uint64_t now);
/* Keeps the beginning of the packet that is sealed next. */
void dtls_peer_note(struct dtls_peer *peer, const uint8_t *packet, size_t len);
/* Returns the head of the batch of this record, or NULL if the batch is too old. */
const struct dtls_head *dtls_peer_head(const struct dtls_peer *peer, uint64_t nth);
/* Keeps a packet, unless too many wait. */
void dtls_peer_keep(struct dtls_peer *peer, const uint8_t *packet, size_t len);
/* Removes the packet that has waited longest, or returns NULL. The caller frees the packet. */
struct dtls_waiting *dtls_peer_next_waiting(struct dtls_peer *peer);

/* Returns the slot of that address. */
struct dtls_remote *dtls_remote_of(struct dtls *d, const struct ip_addr *remote);

/* ---- dtls_say.c ---- */

/* Logs that the handshake of the peer is done. */
void dtls_say_up(const struct dtls_peer *peer, const struct dtls_handshake *h);
/* Logs why peer->next failed. */
void dtls_say_failed(const struct dtls_peer *peer);

/* ---- dtls_setup.c ---- */

/* Begins a handshake as client, unless one is under way. */
void dtls_setup_connect(struct dtls_peer *peer, uint64_t now);
void dtls_setup_hello(struct dtls_port *p, const struct path_addr *from, const uint8_t *record,
		      size_t len, uint64_t now);
/* Handles another record of a handshake. May free the peer. */
void dtls_setup_record(struct dtls_peer *peer, const uint8_t *record, size_t len, uint64_t now);
/* Handles an alert in the clear. */
void dtls_setup_alert(struct dtls_peer *peer, const uint8_t *record, size_t len);
/* Handles the expiry of the peer's timer. May free the peer. */
void dtls_setup_timeout(struct dtls_peer *peer, uint64_t now);

#endif
