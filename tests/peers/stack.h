/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_STACK_H
#define PEERS_STACK_H
/*
 * An SCTP that others wrote, with one association: usrsctp.c or lksctp.c. Whatever fails inside
 * ends the program with a line that says what.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Milliseconds. With the usual second, tests with loss would take minutes. */
#define STACK_RTO_MIN 250

struct stack_options {
	struct sockaddr_storage address; /* to listen on or to connect to, with the SCTP port */
	socklen_t address_len;
	uint16_t udp_port;      /* ours, for encapsulation; 0: raw IP */
	uint16_t peer_udp_port; /* the peer's, where we connect */
	uint16_t outbound;      /* streams offered */
	uint16_t inbound;       /* streams wanted at most */
	bool has_adaptation;
	uint32_t adaptation;
};

enum stack_event {
	STACK_NOTHING, /* the time is over, or something of no interest happened */
	STACK_MESSAGE,
	STACK_UP,
	STACK_SHUT,    /* by SHUTDOWN, to the end */
	STACK_ABORTED, /* or given up, or never there */
	STACK_DRY,     /* everything sent was acknowledged; see stack_ask_dry() */
};

/* data lies in the stack's buffer until the next stack_receive(). */
struct stack_message {
	uint16_t stream;
	uint32_t ppid; /* host order */
	bool unordered;
	const uint8_t *data;
	size_t len;
};

extern const char stack_name[];

/* One of them; STACK_UP or STACK_ABORTED tells how it went. */
void stack_connect(const struct stack_options *o);
void stack_listen(const struct stack_options *o);

/* Waits up to ms milliseconds for the next event. */
enum stack_event stack_receive(struct stack_message *m, int ms);

/* Blocks while the send buffer is full. false: the association is no more. */
bool stack_send(uint16_t stream, uint32_t ppid, bool ordered, const void *data, size_t len);

/* STACK_DRY comes when the stack has nothing unacknowledged, which may be at once. */
void stack_ask_dry(void);

/* Begins an orderly shutdown; messages still arrive, and then STACK_SHUT. */
void stack_shutdown(void);
void stack_abort(void);

/* Once it is up. */
uint32_t stack_peer_adaptation(void); /* 0: none was told */
uint16_t stack_streams(void);         /* usable pairs */
size_t stack_whole(void);             /* the largest message that is not fragmented */

#endif
