/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_IWARP_SESSION_H
#define PEERS_IWARP_SESSION_H
/*
 * The state of a session, for iwarp.c, which sends and waits, and iwarp_rx.c, which checks received
 * messages.
 */
#include "iwarp.h"

#define PPID_SEGMENT 16 /* RFC 5043 5.2 */
#define PPID_CONTROL 17
#define ADAPTATION_DDP 1

#define STREAMS 65536		/* maximum number */
#define WINDOW 32768		/* DDP-SSNs in flight (RFC 5043 10) */
#define PRIVATE_MAX 512		/* bytes, with the depths of an enhanced message (RFC 6581 9) */
#define QUEUES 3		/* of Sends, of Read Requests, of Terminates (RFC 5040 4.2) */
#define READS 64		/* maximum of outstanding local Read Requests */
#define LARGEST_SEND (4u << 20) /* maximum bytes of a peer's Send */
#define TAGGED_LEN (2 + 14)	/* the DDP-SSN and the header */
#define UNTAGGED_LEN (2 + 18)
#define READ_REQUEST_LEN 28

/* The first octet of a DDP header (RFC 5041 4.1), and the second (RFC 5040 4.1). */
#define DDP_TAGGED 0x80
#define DDP_LAST 0x40
#define DDP_RESERVED 0x3c
#define DDP_VERSION 0x03
#define RDMAP_VERSION 0xc0
#define RDMAP_RESERVED 0x30
#define RDMAP_OPCODE 0x0f

/* The flags of RFC 6581 9: A in one field; B, C and D in the other. */
#define PEER_TO_PEER 0x80000000u
#define RTR_KINDS (RTR_SEND | RTR_WRITE | RTR_READ)

/* A message that arrived out of order. */
struct early {
	uint32_t ppid;
	size_t len;
	uint8_t data[];
};

/* A local Read Request, and the missing part of its response. */
struct pending_read {
	uint64_t to; /* address of the next byte */
	uint32_t left;
};

enum state {
	INITIATED,   /* the local Initiate was sent */
	OFFERED,     /* the peer's Initiate was received */
	OPEN,	     /* accepted */
	TURNED_DOWN, /* rejected */
};

struct session {
	uint16_t stream;
	enum state state;
	bool enhanced;		 /* its Initiate was enhanced (RFC 6581) */
	bool sent_end, got_end;	 /* session Terminates */
	bool silent;		 /* an RDMAP Terminate was sent: only the session's may follow */
	bool rtr_due;		 /* the peer's first segment must be an RTR indication */
	enum function answered;	 /* function code of the peer's answer; 0: none yet */
	uint16_t tx_ssn, rx_ssn; /* DDP-SSNs of the next message in each direction */
	uint32_t tx_msn[QUEUES]; /* of the next message to each queue of the peer */
	uint32_t rx_msn[QUEUES]; /* of the next message from the peer */
	struct early **early;	 /* messages that arrived out of order, by DDP-SSN */
	uint16_t ird, ord;	 /* the peer's values */
	uint8_t private_data[PRIVATE_MAX];
	size_t private_len;
	uint8_t *memory; /* as in offer(); NULL: nothing yet */
	uint32_t stag, memory_len;
	uint64_t to;
	struct message *part;		  /* a Send whose last segment is missing */
	struct message *first, **last;	  /* whole Sends that await_message() has not taken */
	struct pending_read reads[READS]; /* a ring, oldest first, as responses arrive in order */
	unsigned int read_first, read_count;
	struct end end;
};

extern struct session *current[STREAMS]; /* the latest session of each stream */
extern uint64_t received;		 /* bytes of messages */

/* Makes a session, the latest of its stream. */
struct session *new_session(uint16_t stream);
/* Checks a message of the peer, and executes it. */
void on_message(const struct stack_message *m);
/* Sends a tagged message: an RDMA Write or a Read Response. */
void tagged(struct session *s, enum opcode op, uint32_t stag, uint64_t to, const uint8_t *data,
	    size_t len);

/* Write octets in network order, and return the position after them; read such octets. */
static inline uint8_t *put16(uint8_t *p, uint16_t v)
{
	*p++ = (uint8_t)(v >> 8);
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *put32(uint8_t *p, uint32_t v)
{
	return put16(put16(p, (uint16_t)(v >> 16)), (uint16_t)v);
}

static inline uint8_t *put64(uint8_t *p, uint64_t v)
{
	return put32(put32(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

static inline uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static inline uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

#endif
