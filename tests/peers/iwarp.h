/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_IWARP_H
#define PEERS_IWARP_H
/*
 * A second implementation of RFC 5043 sessions, DDP (RFC 5041) and RDMAP (RFC 5040, 6581), over
 * stack.h. It was written from the RFCs alone and shares nothing with providers/. It judges all
 * that the peer sends: what no RFC allows ends the program.
 *
 * Segments are processed in the order of their DDP-SSN. While any function below waits for
 * something, Read Requests are answered, and session Terminates too.
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

/* A Send that has come. */
struct message {
	struct message *next; /* for iwarp.c */
	enum opcode opcode;   /* one of the four Sends */
	uint32_t invalidate;  /* the STag to invalidate, with *_INV; else 0 */
	size_t len;
	uint8_t data[];
};

/* The RDMAP Terminate of the peer, once it has come: its error, and what it quotes. */
struct end {
	bool came;
	unsigned int layer, type, code;	     /* RFC 5040 4.8 */
	bool has_length, has_ddp, has_rdmap; /* the M, D and R bits: what is quoted */
	unsigned int length;		     /* of the segment at fault, with M */
	const uint8_t *ddp, *rdmap;	     /* its headers in `bytes`, with D and R */
	uint8_t bytes[64];		     /* the Terminate as it came */
};

/* A session and its stream; iwarp_session.h has what is in it. */
struct session;

/* The kinds of message that may be the RTR indication, by their flags in RFC 6581 9. */
enum rtr {
	RTR_NONE,
	RTR_SEND = 0x40000000,
	RTR_WRITE = 0x8000,
	RTR_READ = 0x4000,
};

struct iwarp_options {
	size_t segment; /* bytes of a message to SCTP, at most; 0: as long as SCTP does not fragment it */
	bool ordered; /* send ordered messages, against RFC 5043 10; a receiver must cope */
	enum rtr rtr; /* make enhanced sessions peer-to-peer ones, with this kind of RTR alone */
};

/* To be set before the first session. */
extern struct iwarp_options iwarp;

/* STACK_NOTHING until the association is up, then the last event of its state. */
extern enum stack_event association;

/* Waits until the association is up. The peer must tell adaptation 1 (RFC 5043 5.1). */
void await_association(void);
/* Waits until the association is over, and returns how it ended. */
enum stack_event await_loss(void);
/* Returns whether it has ended by SHUTDOWN already. */
bool is_shut(void);

/* ---- sessions */

/*
 * Opens a session on a stream that has none, with len bytes of private data. enhanced: by RFC 6581.
 * Depths (IRD, ORD) are as they stand on the wire, here and below.
 */
struct session *initiate(uint16_t stream, bool enhanced, uint16_t ird, uint16_t ord,
			 const void *private_data, size_t len);
/* Waits for the peer's next Initiate. */
struct session *await_initiate(void);
/* Answers it with this function code: it is accepted, rejected, or ended at once (TERMINATE). */
void answer(struct session *s, enum function f, uint16_t ird, uint16_t ord,
	    const void *private_data, size_t len);
/* Waits for the answer to our Initiate, and returns its function code. */
enum function await_answer(struct session *s);

/* Return whether the Initiate was one of RFC 6581, and the stream of the session. */
bool is_enhanced(const struct session *s);
uint16_t stream_of(const struct session *s);
/*
 * Return what the peer's Initiate, Accept or Reject said: its depths, which a plain one does not have,
 * and *len bytes of private data, valid as long as the session.
 */
uint16_t peer_ird(const struct session *s);
uint16_t peer_ord(const struct session *s);
const void *private_data(const struct session *s, size_t *len);

/* Sends a session Terminate, unless one was sent. */
void end_session(struct session *s);
/*
 * Waits until both sides have sent one, and all that we have sent is acknowledged: then the stream
 * may be used again (RFC 5043 6.6).
 */
void await_end(struct session *s);
/* Returns whether the peer has sent one. */
bool peer_ended(const struct session *s);
/* Frees the session, after await_end(). */
void forget(struct session *s);

/* ---- data */

/*
 * Offers the peer a tagged buffer to read and write: len bytes at memory, which it names by stag and by
 * TOs from `to` on. A session has one; the last one counts. Nothing on the wire tells of it.
 */
void offer(struct session *s, uint8_t *memory, uint32_t stag, uint64_t to, uint32_t len);

/* Sends a Send of this opcode. invalidate: the peer's STag, with *_INV; else 0. */
void send_message(struct session *s, enum opcode op, uint32_t invalidate, const void *data,
		  size_t len);
/* Sends an RDMA Write to this place of the peer. */
void write_to(struct session *s, uint32_t stag, uint64_t to, const void *data, size_t len);
/* Sends a Read Request; the sink is what was offered, at this offset. */
void read_from(struct session *s, uint32_t stag, uint64_t to, uint32_t offset, uint32_t len);
/* Waits until all Read Responses have come. */
void await_reads(struct session *s);
/* Sends an RDMAP Terminate that quotes nothing. Behind it, only the session may be ended. */
void send_terminate(struct session *s, unsigned int layer, unsigned int type, unsigned int code);

/* Wait for the next Send, which the caller frees by free(), and for the RDMAP Terminate. */
struct message *await_message(struct session *s);
const struct end *await_terminate(struct session *s);

/* ---- what no decent peer sends */

/* Sends an untagged message to any queue, with any MSN and opcode. */
void send_untagged(struct session *s, uint32_t qn, uint32_t msn, enum opcode op, const void *data,
		   size_t len);

/* Returns the DDP header of the segment that was sent last. */
const uint8_t *latest_header(void);

/* Processes all that comes within ms milliseconds. */
void pass_time(int ms);
/* Returns how many bytes of messages have come so far, on all streams. */
uint64_t bytes_received(void);

#endif
