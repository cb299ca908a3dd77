/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_IWARP_H
#define PEERS_IWARP_H
/*
 * RFC 5043 sessions, DDP (RFC 5041) and RDMAP (RFC 5040, 6581) over stack.h, read from the RFCs
 * once more: nothing here comes from providers/. All that the peer sends is judged; whatever no RFC
 * allows ends the program.
 *
 * Segments are processed in the order of their DDP-SSN. Read requests are answered, and a session
 * Terminate too, while any function below waits for something.
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

struct message { /* a Send that came */
	struct message *next;
	enum opcode opcode;
	uint32_t invalidate;
	size_t len;
	uint8_t data[];
};

struct end { /* an RDMAP Terminate that came */
	bool came;
	unsigned int layer, type, code;
	bool has_length, has_ddp, has_rdmap;
	unsigned int length;
	const uint8_t *ddp, *rdmap;
	uint8_t bytes[64];
};

struct session;

enum rtr { /* what makes an RTR indication, as RFC 6581 9 flags it */
	RTR_NONE,
	RTR_SEND = 0x40000000,
	RTR_WRITE = 0x8000,
	RTR_READ = 0x4000,
};

struct iwarp_options {
	size_t segment; /* of a message to SCTP, at most; 0: what is not fragmented */
	bool ordered;   /* against RFC 5043 10; a receiver copes */
	enum rtr rtr;   /* enhanced sessions are peer-to-peer, by this kind alone */
};

extern struct iwarp_options iwarp;

/* What became of the association; STACK_NOTHING as long as it is not up. */
extern enum stack_event association;

/* Until the association is up; the peer must tell adaptation 1. */
void await_association(void);
/* Until it is no more; returns how. */
enum stack_event await_loss(void);
/* It has ended by SHUTDOWN already. */
bool is_shut(void);

/* ---- sessions */

/* All depths on the wire. */
struct session *initiate(uint16_t stream, bool enhanced, uint16_t ird, uint16_t ord,
                         const void *private_data, size_t len);
/* Waits for the next Initiate. */
struct session *await_initiate(void);
void answer(struct session *s, enum function f, uint16_t ird, uint16_t ord,
            const void *private_data, size_t len);
/* Waits for the answer to our Initiate and returns which it was. */
enum function await_answer(struct session *s);

bool is_enhanced(const struct session *s);
uint16_t stream_of(const struct session *s);
/* Of the peer's Initiate, Accept or Reject. */
uint16_t peer_ird(const struct session *s);
uint16_t peer_ord(const struct session *s);
const void *private_data(const struct session *s, size_t *len);

/* A session Terminate, once. */
void end_session(struct session *s);
/* Both sides have sent one, and all of ours is acknowledged: the stream may be used again. */
void await_end(struct session *s);
/* Has the peer sent one? */
bool peer_ended(const struct session *s);
/* Frees it. Not to be used before await_end(). */
void forget(struct session *s);

/* ---- data */

/* The one tagged buffer of a session, which the peer may read and write. */
void offer(struct session *s, uint8_t *memory, uint32_t stag, uint64_t to, uint32_t len);

void send_message(struct session *s, enum opcode op, uint32_t invalidate, const void *data,
                  size_t len);
void write_to(struct session *s, uint32_t stag, uint64_t to, const void *data, size_t len);
/* A Read Request; into what was offered, at this offset. */
void read_from(struct session *s, uint32_t stag, uint64_t to, uint32_t offset, uint32_t len);
void await_reads(struct session *s);
void send_terminate(struct session *s, unsigned int layer, unsigned int type, unsigned int code);

/* The next Send; the caller frees it. */
struct message *await_message(struct session *s);
const struct end *await_terminate(struct session *s);

/* ---- what no decent peer sends */

void send_untagged(struct session *s, uint32_t qn, uint32_t msn, enum opcode op, const void *data,
                   size_t len);

/* The DDP header of the segment that was sent last. */
const uint8_t *latest_header(void);

/* Processes what comes within ms milliseconds. */
void pass_time(int ms);
uint64_t bytes_received(void);

#endif
