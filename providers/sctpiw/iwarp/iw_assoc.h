/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Associations carry user messages between the sessions and SCTP, the lower layer protocol (LLP) of
 * RFC 5041. All functions need the shard's lock.
 */
#ifndef SCTPIW_IWARP_IW_ASSOC_H
#define SCTPIW_IWARP_IW_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_assoc;
struct iw_shard;

/* Callbacks into the LLP; llp is the LLP's association. */
struct iw_llp_ops {
	/* Signals that iw_assoc_pull() will return a message. */
	void (*doorbell)(void *llp);
	/*
	 * Returns the number of pulled messages that the peer has acknowledged without a gap,
	 * modulo 2^32. A session Terminate must not overtake the Initiate or Accept. A stream is
	 * not reused while a message on it is outstanding (RFC 5043 6.6). Sessions poll this
	 * callback: while a session waits, iw_timers() is due every few milliseconds. NULL: a
	 * message counts as acknowledged once it is pulled.
	 */
	uint32_t (*acked)(void *llp);
	/*
	 * Returns the number of pulled messages that the peer is known to have placed and
	 * delivered, modulo 2^32. The LLP calls iw_assoc_placed() after a change. NULL: a WQE
	 * completes once its message is pulled.
	 */
	uint32_t (*placed)(void *llp);
	/* Copies the memory that messages reference. NULL if iw_msg.may_reference is never set. */
	void (*copy_out)(void *llp);
	/*
	 * Voids the voidable messages of a stream that were pulled so far. The LLP then sends each
	 * of them only as iw_put_void() writes it, and drops its references to memory. NULL: the
	 * LLP never retransmits, or cannot change its messages.
	 */
	void (*void_messages)(void *llp, uint16_t sid);
	/* Writes the peer's address into buf as a zero-terminated string. NULL: unknown. */
	void (*describe)(void *llp, char *buf, size_t len);
};

#define IW_VOID_LEN 24u /* bytes of a void message, including the DDP-SSN */

/* A message that iw_assoc_pull() returns. */
struct iw_msg {
	uint16_t sid;  /* stream */
	uint32_t ppid; /* 16: DDP segment, 17: session control (RFC 5043 4.2) */
	bool more;     /* another message may be pulled at once */
	/*
	 * Request a prompt acknowledgement: a completion, or a Send that the peer's window may
	 * stop, waits for placement of this message.
	 */
	bool awaited;
	/*
	 * The session owes the peer a receipt or Terminate. Until the peer has this message,
	 * acknowledgements must not mean placement: see iw_assoc_owes_receipt().
	 */
	bool receipt;
	bool voidable; /* belongs to a WR or to a response: see iw_llp_ops.void_messages */
	/*
	 * Set by the caller: the last ref_len bytes may stay unwritten and be referenced at ref in
	 * the application's memory. They stay there until iw_assoc_placed() reports the message as
	 * placed, or until iw_llp_ops.copy_out or void_messages is called.
	 */
	bool may_reference;
	const uint8_t *ref; /* NULL: the whole message is in the buffer */
	uint32_t ref_len;   /* bytes */
};

/*
 * initiator: this side opened the association, so its sessions take even stream ids, else odd ones
 * (RFC 5043 6.1). An Initiate from the peer on a stream of the same parity changes that. streams:
 * in each direction. max_msg: as for iw_assoc_set_max_msg(). Copies ops. Returns NULL if out of
 * memory.
 */
struct iw_assoc *iw_assoc_new(struct iw_shard *shard, const struct iw_llp_ops *ops, void *llp,
			      bool initiator, unsigned int streams, size_t max_msg);
void *iw_assoc_llp(const struct iw_assoc *assoc);
/* Sets the size limit for user messages, in bytes, to at least 518 (RFC 5043 9). */
void iw_assoc_set_max_msg(struct iw_assoc *assoc, size_t max_msg);
/*
 * Frees an association that is gone. Every session ends with IW_EVENT_CLOSED (error: a -errno), and
 * QPs enter the error state. An exception is the QP of an unanswered Initiate with a user: it keeps
 * its state.
 */
void iw_assoc_lost(struct iw_assoc *assoc, int error);
/* Returns the current value: see iw_assoc_new(). */
bool iw_assoc_is_initiator(const struct iw_assoc *assoc);
unsigned int iw_assoc_streams(const struct iw_assoc *assoc);
/* Returns the number of sessions that are not over. */
unsigned int iw_assoc_sessions(const struct iw_assoc *assoc);
/* Returns the number of live sessions that were neither refused nor rejected. */
unsigned int iw_assoc_wanted(const struct iw_assoc *assoc);
/* Limit for unacknowledged turned-away sessions of all peers together. */
#define IW_TURNED_AWAY_ALL 16384
bool iw_turned_too_many_away(const struct iw_shard *shard);
/*
 * If the limit is exceeded, returns the LLP's association with the most turned-away sessions, for
 * the LLP to abort; else NULL. Sessions acknowledged meanwhile do not count.
 */
void *iw_worst_asker(struct iw_shard *shard);
/*
 * Returns an LLP association whose last session, or last wanted session, has ended: each once, then
 * NULL. New sessions may have started on the association since.
 */
void *iw_next_idle(struct iw_shard *shard);

/*
 * Writes the next message, of at most room bytes, to buf; the sessions take turns. Returns its
 * length; 0 if no message is due, or if none is worth starting in the room. Untagged messages and
 * session control are not delayed for bundling.
 */
size_t iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg);
/*
 * Marks a message whose referenced bytes are no longer readable: gives it an invalid DDP version
 * (RFC 5041 4.1). The peer ends the session unless it already has the original message.
 */
void iw_poison(uint8_t *message);
/* Writes the void message that replaces a voidable one (docs/wire.md): IW_VOID_LEN bytes. */
void iw_put_void(uint8_t *to, const uint8_t *message);
/* Completes the WRs of messages that the peer has placed. May end sessions. */
void iw_assoc_placed(struct iw_assoc *assoc);
/*
 * Enables receipts; both sides support them. window: bytes of Sends without a receive that the peer
 * stores for each QP (unexpected.h). Call before the first session.
 */
void iw_assoc_set_receipts(struct iw_assoc *assoc, uint32_t window);
/* Enables queue numbers with an SRQ number, which sessions of XRC QPs need. */
void iw_assoc_set_srq_numbers(struct iw_assoc *assoc);
/*
 * True if the peer lacks information about received messages. Until the message that carries it
 * (iw_msg.receipt) has arrived, the peer must not take an acknowledgement for placement.
 */
bool iw_assoc_owes_receipt(const struct iw_assoc *assoc);

/*
 * Receives a user message. Messages may arrive in any order, each once. Places the payload directly
 * from data in its final buffer. Returns -EPROTO if the LLP must abort the association: the peer
 * broke a rule of the whole association, or requests thousands of sessions without acknowledging
 * their refusals. An error of one session is handled inside (Terminate).
 */
int iw_assoc_receive(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		     size_t len);

#endif
