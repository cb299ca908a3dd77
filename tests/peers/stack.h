/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_STACK_H
#define PEERS_STACK_H
/*
 * One association of a foreign SCTP: usrsctp.c or lksctp.c, each with socket_api.c. If an internal
 * call fails, the program ends with a line that names the call.
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

/* The end of a DTLS session. */
enum stack_closing {
	STACK_FORGETS,	 /* without any message */
	STACK_CLOSES,	 /* this side sends a close_notify */
	STACK_IS_CLOSED, /* this side waits for the peer's close_notify */
};

struct stack_options {
	struct sockaddr_storage address; /* to listen on or to connect to, with the SCTP port */
	socklen_t address_len;
	uint16_t udp_port;	/* local port, for encapsulation; 0: SCTP on IP */
	uint16_t peer_udp_port; /* the peer's port, for the side that connects; 0: SCTP on IP */
	uint16_t outbound;	/* streams to request */
	uint16_t inbound;	/* maximum of streams to accept */
	bool has_adaptation;	/* the INIT or INIT ACK has an adaptation indication */
	uint32_t adaptation;	/* its code */

	bool leaves_paths; /* (usrsctp) it leaves a path at its first timeout */

	/* With DTLS (usrsctp_dtls.c). */
	const char *key;    /* the path of a key file of sctpiw, for its first key */
	const char *cipher; /* OpenSSL's name; NULL: any that both sides have */
	bool cookie;	    /* the listening side requests a cookie first */
	enum stack_closing closes;
};

enum stack_event {
	STACK_NOTHING, /* timeout, or an event without interest */
	STACK_MESSAGE, /* a whole message was received */
	STACK_UP,      /* the association is up */
	STACK_SHUT,    /* the association has ended by SHUTDOWN */
	STACK_ABORTED, /* it was aborted, lost, or never came up */
	STACK_DRY,     /* all sent messages are acknowledged; see stack_ask_dry() */
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

/*
 * The program calls one of them, once. STACK_UP or STACK_ABORTED then reports the result. *o must
 * stay valid.
 */
void stack_connect(const struct stack_options *o);
void stack_listen(const struct stack_options *o);

/* Waits up to ms milliseconds for the next event. */
enum stack_event stack_receive(struct stack_message *m, int ms);

/*
 * Sends a message of len bytes; ppid is in host order. Blocks while the send buffer is full.
 * Returns false if the association is over.
 */
bool stack_send(uint16_t stream, uint32_t ppid, bool ordered, const void *data, size_t len);

/* Requests a STACK_DRY as soon as all sent messages are acknowledged, which may be immediately. */
void stack_ask_dry(void);

/*
 * True if the peer has shut the association down, and has received all acknowledgements. Its
 * SHUTDOWN COMPLETE may be the last packet of a process, which cannot repeat a lost one.
 */
bool stack_awaits_shutdown_complete(void);

/* Begins an orderly shutdown: messages still arrive, and then STACK_SHUT. */
void stack_shutdown(void);
/* Aborts the association. */
void stack_abort(void);
/* Call this at the end of the program. */
void stack_end(void);

/* Known once the association is up. */
uint32_t stack_peer_adaptation(void); /* the peer's adaptation code; 0: none */
uint16_t stack_streams(void);	      /* streams that exist in both directions */
size_t stack_whole(void);	      /* bytes of the largest unfragmented message */

#endif
