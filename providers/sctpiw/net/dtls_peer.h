/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peers of a port, for dtls.c and its neighbours alone. */
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
#define DTLS_HEAD 64u			  /* bytes of a packet that ICMP may quote */
#define DTLS_HEADS 16u			  /* batches whose first packets are remembered for that */

/* What addresses that share this place may have of us. */
struct dtls_remote {
	uint64_t cookies, hints, handshakes; /* rations */
};

struct dtls {
	struct dtls_param param;
	struct dtls_credentials *credentials;
	struct dtls_cookies *cookies;
	uint8_t *scratch;     /* room for one record */
	struct timerq timers; /* of dtls_peer.timer */
	unsigned int n_peers; /* of all ports */
	uint64_t accepts;     /* a ration of accepted handshakes, for all peers together */
	uint64_t salt;	      /* for places in remote[], hidden from peers */
	struct dtls_remote remote[RATION_PLACES];
};

/* Who was heard in the clear, with key-optional. */
struct dtls_clear_peer {
	struct ip_addr remote;
	uint16_t udp_port;
	uint64_t until; /* ns */
};

struct dtls_port {
	struct dtls *dtls;
	uint16_t number;
	void *ctx;
	struct dtls_cipher *self_tx, *self_rx; /* of what the port sends to itself; or NULL */
	unsigned int n;
	struct list_node bucket[DTLS_BUCKETS]; /* dtls_peer.node */
	struct dtls_clear_peer clear[DTLS_CLEAR_PEERS];
};

/* The two directions of a session. Both are NULL, or none. */
struct dtls_keys {
	struct dtls_cipher *tx, *rx;
};

/* A packet that waits for a session. */
struct dtls_waiting {
	struct list_node node; /* dtls_peer.waiting */
	size_t len;
	uint8_t data[];
};

/* How the first packet of a batch began. */
struct dtls_head {
	uint64_t nth; /* of the records of its key */
	size_t len;
	uint8_t bytes[DTLS_HEAD];
};

struct dtls_peer {
	struct list_node node; /* dtls_port.bucket */
	struct dtls_port *port;
	struct path_addr addr;
	struct timerq_node timer;
	bool self; /* it is the port itself: the keys are the port's */

	struct dtls_keys now;		      /* in use */
	char identity[DTLS_IDENTITY_MAX + 1]; /* of the key or certificate that these came of */
	struct dtls_keys old;		      /* for receiving, until old_until */
	uint64_t old_until;		      /* ns */

	struct dtls_handshake *next; /* under way; or NULL */
	bool next_server;	     /* this side is the server of it */
	uint8_t random[DTLS_RANDOM]; /* of its ClientHello, or of the last one */
	uint64_t next_at;	     /* ns: when its flight is sent again */
	uint64_t next_since;	     /* ns: when the first one of those that begin anew has begun */
	uint64_t next_begun;	     /* ns: when this one has */
	int unreachable;	     /* -errno that ICMP has told of it; or 0 */
	bool broken;		     /* nonsense has ended it: it begins anew at next_at */
	uint8_t alert[DTLS_ALERT_LEN]; /* that came in the clear, and is believed at next_at */
	bool alerted;

	struct dtls_handshake
		*last;	     /* done as server: it sends its last flight again, until last_until */
	uint64_t last_until; /* ns */

	struct list_node waiting; /* dtls_waiting.node */
	unsigned int n_waiting;
	size_t waiting_bytes;

	uint64_t used;	     /* ns: when it was sent to, or heard, last */
	uint64_t heard;	     /* ns: when something of it was opened last */
	uint64_t hint_at;    /* ns: a hint of its is believed from then on */
	uint64_t asked;	     /* ns: since when nothing that opens has come back; 0: something has */
	uint64_t doubt;	     /* ns: the next time that this becomes a doubt */
	uint64_t patience;   /* ns: how long that takes; 0: as long as with a peer that answers */
	uint64_t retry_at;   /* ns: a session beside this one may be asked for from then on */
	uint64_t retry_wait; /* ns: what was waited last, after one could not be set up */
	struct dtls_head head[DTLS_HEADS]; /* of what was sealed last with now.tx */
	unsigned int n_heads;		   /* that were noted; the last ones are there */
};

/* ---- dtls_peer.c ---- */

/* NULL: there is none. */
struct dtls_peer *dtls_peer_find(struct dtls_port *p, const struct path_addr *addr);
/* The same, or a new one. NULL: no memory, or all places are taken by better ones. */
struct dtls_peer *dtls_peer_get(struct dtls_port *p, const struct path_addr *addr, uint64_t now);
/* Forgets it, with all that waits. */
void dtls_peer_free(struct dtls_peer *peer);
/* Sets the timer to the first of what is due. */
void dtls_peer_arm(struct dtls_peer *peer);
void dtls_keys_free(struct dtls_keys *keys);
/* The peer is served in the clear from now on, for a while (dtls.c). */
void dtls_port_note_clear(struct dtls_port *p, const struct path_addr *addr, uint64_t now);
/* Remembers how the packet begins that is to be sealed next. */
void dtls_peer_note(struct dtls_peer *peer, const uint8_t *packet, size_t len);
/* How the batch began that this record was in; NULL: that was too long ago. */
const struct dtls_head *dtls_peer_head(const struct dtls_peer *peer, uint64_t nth);
/* Keeps a packet, unless there are too many. */
void dtls_peer_keep(struct dtls_peer *peer, const uint8_t *packet, size_t len);
/* The packet that waits longest, taken from the queue; NULL: there is none. The caller frees it. */
struct dtls_waiting *dtls_peer_next_waiting(struct dtls_peer *peer);

/* The place of that address. */
struct dtls_remote *dtls_remote_of(struct dtls *d, const struct ip_addr *remote);

/* ---- dtls_say.c ---- */

/* The handshake of the peer is done. */
void dtls_say_up(const struct dtls_peer *peer, const struct dtls_handshake *h);
/* The next one of the peer has failed: a line says why. */
void dtls_say_failed(const struct dtls_peer *peer);

/* ---- dtls_setup.c ---- */

/* Begins a handshake as client, unless there is one. */
void dtls_setup_connect(struct dtls_peer *peer, uint64_t now);
/* A ClientHello has come. */
void dtls_setup_hello(struct dtls_port *p, const struct path_addr *from, const uint8_t *record,
		      size_t len, uint64_t now);
/* Another record of a handshake. The peer may be gone afterwards. */
void dtls_setup_record(struct dtls_peer *peer, const uint8_t *record, size_t len, uint64_t now);
/* An alert has come in the clear. */
void dtls_setup_alert(struct dtls_peer *peer, const uint8_t *record, size_t len);
/* The peer's timer has expired. The peer may be gone afterwards. */
void dtls_setup_timeout(struct dtls_peer *peer, uint64_t now);

#endif
