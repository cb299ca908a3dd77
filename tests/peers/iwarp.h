/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_IWARP_H
#define PEERS_IWARP_H
/*
 * A second implementation of RFC 5043 sessions, DDP (RFC 5041) and RDMAP (RFC 5040, 6581), over
 * stack.h. It is based only on the RFCs and shares nothing with providers/. It checks everything
 * that the peer sends: a violation of an RFC ends the program.
 *
 * Segments are processed in the order of their DDP-SSN. While a function waits, Read Requests and
 * session Terminates are answered.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack.h"

enum function {
	INITIATE = 1,
	ACCEPT,
	REJECT,
	TERMINATE,
	ENHANCED_INITIATE,
	ENHANCED_ACCEPT,
	ENHANCED_REJECT,
};

enum opcode {
	WRITE,
	READ_REQUEST,
	READ_RESPONSE,
	SEND,
	SEND_INV,
	SEND_SE,
	SEND_SE_INV,
	RDMAP_TERMINATE
};

/* A received Send. */
struct message {
	struct message *next; /* for iwarp.c */
	enum opcode opcode;   /* one of the four Sends */
	uint32_t invalidate;  /* the STag to invalidate, with *_INV; otherwise 0 */
	size_t len;
	uint8_t data[];
};

/* The peer's RDMAP Terminate, once received: its error, and its quotations. */
struct end {
	bool came;
	unsigned int layer, type, code;	     /* RFC 5040 4.8 */
	bool has_length, has_ddp, has_rdmap; /* the M, D and R bits: the quoted parts */
	unsigned int length;		     /* of the wrong segment, with M */
	const uint8_t *ddp, *rdmap;	     /* its headers in `bytes`, with D and R */
	uint8_t bytes[64];		     /* the received Terminate */
};

/* A session and its stream, defined in iwarp_session.h. */
struct session;

/* The messages that may be the RTR indication, by their flags in RFC 6581 9. */
enum rtr {
	RTR_NONE,
	RTR_SEND = 0x40000000,
	RTR_WRITE = 0x8000,
	RTR_READ = 0x4000,
};

struct iwarp_options {
	size_t segment; /* maximum bytes of a message to SCTP; 0: no fragmentation by SCTP */
	bool ordered;	/* send ordered messages, against RFC 5043 10; receivers must accept them */
	enum rtr rtr;	/* make enhanced sessions peer-to-peer, with only this kind of RTR */
};

/* Set this before the first session. */
extern struct iwarp_options iwarp;

/* STACK_NOTHING until the association is up, then the last event of its state. */
extern enum stack_event association;

/* Waits until the association is up. The peer must send adaptation indication 1 (RFC 5043 5.1). */
void await_association(void);
/* Waits until the association is over. Returns the event of its end. */
enum stack_event await_loss(void);
/* True if the association has already ended by SHUTDOWN. */
bool is_shut(void);

/* ---- sessions */

/*
 * Opens a session on a free stream, with len bytes of private data. enhanced: as in RFC 6581. Here
 * and below, depths (IRD, ORD) are as on the wire.
 */
struct session *initiate(uint16_t stream, bool enhanced, uint16_t ird, uint16_t ord,
			 const void *private_data, size_t len);
/* Waits for the peer's next Initiate. */
struct session *await_initiate(void);
/*
 * Answers the Initiate with this function code: accepts or rejects the session, or ends it
 * (TERMINATE).
 */
void answer(struct session *s, enum function f, uint16_t ird, uint16_t ord,
	    const void *private_data, size_t len);
/* Waits for the answer to the local Initiate. Returns its function code. */
enum function await_answer(struct session *s);

/* True if the Initiate was enhanced (RFC 6581). stream_of() returns the session's stream. */
bool is_enhanced(const struct session *s);
uint16_t stream_of(const struct session *s);
/*
 * Return values of the peer's Initiate, Accept or Reject: its depths, which a plain message lacks,
 * and *len bytes of private data, valid as long as the session.
 */
uint16_t peer_ird(const struct session *s);
uint16_t peer_ord(const struct session *s);
const void *private_data(const struct session *s, size_t *len);

/* Sends a session Terminate, unless already sent. */
void end_session(struct session *s);
/*
 * Waits until both sides have sent a Terminate, and all local messages are acknowledged. Then the
 * stream may be used again (RFC 5043 6.6).
 */
void await_end(struct session *s);
/* True if the peer has sent a Terminate. */
bool peer_ended(const struct session *s);
/* Frees the session, after await_end(). */
void forget(struct session *s);

/* ---- data */

/*
 * Offers the peer a tagged buffer to read and write: len bytes at memory, with this stag and TOs
 * from `to` on. A session has only one buffer, the last one. Nothing is sent.
 */
void offer(struct session *s, uint8_t *memory, uint32_t stag, uint64_t to, uint32_t len);

/* Sends a Send of this opcode. invalidate: the peer's STag, with *_INV; otherwise 0. */
void send_message(struct session *s, enum opcode op, uint32_t invalidate, const void *data,
		  size_t len);
/* Sends an RDMA Write to this place of the peer. */
void write_to(struct session *s, uint32_t stag, uint64_t to, const void *data, size_t len);
/* Sends a Read Request. The sink is the offered buffer, at this offset. */
void read_from(struct session *s, uint32_t stag, uint64_t to, uint32_t offset, uint32_t len);
/* Waits for all Read Responses. */
void await_reads(struct session *s);
/* Sends an RDMAP Terminate without quotations. Afterwards, the session can only be ended. */
void send_terminate(struct session *s, unsigned int layer, unsigned int type, unsigned int code);

/* Wait for the next Send, which the caller frees by free(), and for the RDMAP Terminate. */
struct message *await_message(struct session *s);
const struct end *await_terminate(struct session *s);

/* ---- wrong messages */

/* Sends an untagged message to any queue, with any MSN and opcode. */
void send_untagged(struct session *s, uint32_t qn, uint32_t msn, enum opcode op, const void *data,
		   size_t len);

/* Returns the DDP header of the last segment sent. */
const uint8_t *latest_header(void);

/* Processes all messages that arrive within ms milliseconds. */
void pass_time(int ms);
/* Returns the bytes of messages received so far, on all streams. */
uint64_t bytes_received(void);

#endif
