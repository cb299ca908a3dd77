/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_STACK_H
#define PEERS_STACK_H
/*
 * One association of an SCTP that others wrote: usrsctp.c or lksctp.c, each with socket_api.c. A
 * call that fails inside ends the program with a line that says what failed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * The shortest retransmission timeout, ms. With the usual second, tests with loss would take
 * minutes.
 */
#define STACK_RTO_MIN 250

/* How a session of DTLS ends. */
enum stack_closing {
	STACK_FORGETS,	 /* nothing is said of it */
	STACK_CLOSES,	 /* this side sends a close_notify */
	STACK_IS_CLOSED, /* this side waits for the peer's */
};

struct stack_options {
	struct sockaddr_storage address; /* to listen on or to connect to, with the SCTP port */
	socklen_t address_len;
	uint16_t udp_port;	/* this side's, for encapsulation; 0: SCTP on IP */
	uint16_t peer_udp_port; /* the peer's, for the side that connects; 0: SCTP on IP */
	uint16_t outbound;	/* streams to ask for */
	uint16_t inbound;	/* streams to allow at most */
	bool has_adaptation;	/* the INIT or INIT ACK has an adaptation indication */
	uint32_t adaptation;	/* its code */

	bool leaves_paths; /* (usrsctp) it leaves a path at its first timeout */

	/* With DTLS below (usrsctp_dtls.c). */
	const char *key;    /* the path of a key file of sctpiw's, whose first key is used */
	const char *cipher; /* as OpenSSL names it; NULL: any that both have */
	bool cookie;	    /* the side that listens asks for a cookie first */
	enum stack_closing closes;
};

enum stack_event {
	STACK_NOTHING, /* the time is over, or something happened that is of no interest */
	STACK_MESSAGE, /* a whole message has come */
	STACK_UP,      /* the association is there */
	STACK_SHUT,    /* the association has ended by SHUTDOWN */
	STACK_ABORTED, /* it was aborted, given up, or never there */
	STACK_DRY,     /* all that was sent is acknowledged; see stack_ask_dry() */
};

/* The data is valid until the next stack_receive(). */
struct stack_message {
	uint16_t stream;
	uint32_t ppid; /* host order */
	bool unordered;
	const uint8_t *data;
	size_t len;
};

extern const char stack_name[]; /* "usrsctp" or the like */

/* The program calls one of them, once; then STACK_UP or STACK_ABORTED tells how it went. *o has to stay. */
void stack_connect(const struct stack_options *o);
void stack_listen(const struct stack_options *o);

/* Waits up to ms milliseconds for the next event. */
enum stack_event stack_receive(struct stack_message *m, int ms);

/*
 * Sends a message of len bytes; ppid is in host order. Blocks while the send buffer is full. False: the
 * association is over.
 */
bool stack_send(uint16_t stream, uint32_t ppid, bool ordered, const void *data, size_t len);

/* STACK_DRY comes as soon as nothing that was sent is unacknowledged, which may be at once. */
void stack_ask_dry(void);

/*
 * Returns whether the peer has shut the association down, and has been told that all is acknowledged. Its SHUTDOWN
 * COMPLETE may be the last packet of a process; if that is lost, nobody is there to send it again.
 */
bool stack_awaits_shutdown_complete(void);

/* Begins an orderly shutdown: messages still arrive, and then STACK_SHUT. */
void stack_shutdown(void);
/* Aborts the association. */
void stack_abort(void);
/* The program ends. */
void stack_end(void);

/* These are known once the association is up. */
uint32_t stack_peer_adaptation(void); /* the peer's adaptation code; 0: it told none */
uint16_t stack_streams(void);	      /* streams that exist both ways */
size_t stack_whole(void);	      /* bytes of the largest message that is not fragmented */

#endif
