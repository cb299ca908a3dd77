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

/* Callbacks of the LLP. The argument llp is the LLP's own object for the association. */
struct iw_llp_ops {
	/* Called when iw_assoc_pull() has a message to return. */
	void (*doorbell)(void *llp);
	/*
	 * Returns the number of pulled messages that the peer has acknowledged without a gap,
	 * modulo 2^32. A session sends its Terminate only after its Initiate or Accept is
	 * acknowledged. A stream is reused only after all messages on the stream are acknowledged
	 * (RFC 5043 6.6). A session that waits for an acknowledgement polls this callback from
	 * iw_timers(), every few milliseconds. NULL: a message counts as acknowledged once it is
	 * pulled.
	 */
	uint32_t (*acked)(void *llp);
	/*
	 * Returns the number of pulled messages that the peer is known to have placed and
	 * delivered, modulo 2^32. The LLP calls iw_assoc_placed() after a change. NULL: a WQE
	 * completes once its message is pulled.
	 */
	uint32_t (*placed)(void *llp);
	/*
	 * Copies the application's memory that pulled messages reference (iw_msg.ref). NULL if
	 * iw_msg.may_reference is never set.
	 */
	void (*copy_out)(void *llp);
	/*
	 * Voids the stream's messages that were pulled with iw_msg.voidable set (void.h). From now
	 * on, the LLP sends the void message of iw_put_void() in place of each of these messages,
	 * and references none of their memory. NULL: the LLP never retransmits, or cannot change
	 * its messages.
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
	 * The LLP should request a prompt acknowledgement. Either a completion waits for the
	 * placement of this message, or the peer's window may stop the next Send.
	 */
	bool awaited;
	/*
	 * This message is a receipt or Terminate that the session owed the peer. Until the peer has
	 * received this message, the LLP must not let the peer take an acknowledgement for
	 * placement: see iw_assoc_owes_receipt().
	 */
	bool receipt;
	bool voidable; /* carries data of a WR or of a response: see iw_llp_ops.void_messages */
	/*
	 * Set by the caller of iw_assoc_pull() to permit references to memory. iw_assoc_pull() may
	 * then set ref and ref_len: the last ref_len bytes of the message are not in the buffer,
	 * but at ref in the application's memory. The bytes remain valid there until
	 * iw_assoc_placed() reports the message as placed, or until iw_llp_ops.copy_out or
	 * void_messages is called.
	 */
	bool may_reference;
	const uint8_t *ref; /* NULL: the whole message is in the buffer */
	uint32_t ref_len;   /* bytes */
};

/*
 * Creates an association; copies ops. initiator: this side opened the association. Local sessions
 * then use even stream ids, otherwise odd ids (RFC 5043 6.1). An Initiate from the peer on a stream
 * of the local parity may change the local parity. streams: number of streams in each direction.
 * max_msg: see iw_assoc_set_max_msg(). Returns NULL if out of memory.
 */
struct iw_assoc *iw_assoc_new(struct iw_shard *shard, const struct iw_llp_ops *ops, void *llp,
			      bool initiator, unsigned int streams, size_t max_msg);
void *iw_assoc_llp(const struct iw_assoc *assoc);
/* Sets the size limit for user messages, in bytes, to at least 518 (RFC 5043 9). */
void iw_assoc_set_max_msg(struct iw_assoc *assoc, size_t max_msg);
/*
 * Frees an association that the LLP has lost. Every session ends with IW_EVENT_CLOSED (error: a
 * -errno), and its QP enters the error state. As an exception, the QP keeps its state if the
 * session has a user and still waits for the answer to its Initiate.
 */
void iw_assoc_lost(struct iw_assoc *assoc, int error);
/* True if local sessions use even stream ids: see iw_assoc_new(). */
bool iw_assoc_is_initiator(const struct iw_assoc *assoc);
unsigned int iw_assoc_streams(const struct iw_assoc *assoc);
/* Returns the number of sessions that are not over. */
unsigned int iw_assoc_sessions(const struct iw_assoc *assoc);
/* Returns the number of live sessions that were neither refused nor rejected. */
unsigned int iw_assoc_wanted(const struct iw_assoc *assoc);
/*
 * Maximum number of turned-away sessions, of all peers together. A session is turned away if it was
 * refused or rejected, and the peer has not acknowledged the answer.
 */
#define IW_TURNED_AWAY_ALL 16384
bool iw_turned_too_many_away(const struct iw_shard *shard);
/*
 * If IW_TURNED_AWAY_ALL is exceeded, returns the llp of the association with the most turned-away
 * sessions, for the LLP to abort. Otherwise returns NULL. Before, the function removes sessions
 * whose answers were acknowledged meanwhile.
 */
void *iw_worst_asker(struct iw_shard *shard);
/*
 * Returns the llp of an association whose last session, or last wanted session (iw_assoc_wanted()),
 * has ended. Returns each such association once, then NULL. New sessions may have started on the
 * association since.
 */
void *iw_next_idle(struct iw_shard *shard);

/*
 * Writes the next message, of at most room bytes, to buf; the sessions take turns. Returns the
 * message's length in bytes. Returns 0 if no message is due, or if the room is too small to be
 * worth starting a message. Untagged messages and session control messages are never held back to
 * be bundled with later messages.
 */
size_t iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg);
/*
 * Gives the message an invalid DDP version (RFC 5041 4.1). The LLP calls this function if the
 * referenced bytes of the message can no longer be read. The peer ends the session unless the peer
 * has already received the original message.
 */
void iw_poison(uint8_t *message);
/* Writes the void message (IW_VOID_LEN bytes, docs/wire.md) that replaces a voidable message. */
void iw_put_void(uint8_t *to, const uint8_t *message);
/* Completes the WRs of messages that iw_llp_ops.placed counts as placed. May end sessions. */
void iw_assoc_placed(struct iw_assoc *assoc);
/*
 * Enables receipts (wire/rdmap_receipt.h), which both sides must support. window: number of bytes
 * that the peer can store for each QP if Sends have no posted receive (unexpected.h). Call before
 * the first session.
 */
void iw_assoc_set_receipts(struct iw_assoc *assoc, uint32_t window);
/* Enables queue numbers that contain an SRQ number. Sessions of XRC QPs need such queue numbers. */
void iw_assoc_set_srq_numbers(struct iw_assoc *assoc);
/*
 * True if a session owes the peer a receipt or Terminate: the peer lacks information about messages
 * that it sent. Until the peer has received that message (iw_msg.receipt), the LLP must not let the
 * peer take an acknowledgement for placement.
 */
bool iw_assoc_owes_receipt(const struct iw_assoc *assoc);

/*
 * Receives a user message. The LLP delivers messages in any order, and each message once. The
 * payload is copied from data directly to its final buffer. Returns 0, or -EPROTO if the LLP must
 * abort the association. The reason is that the peer violated a rule of the whole association, or
 * requested thousands of sessions without acknowledging the refusals. An error of one session ends
 * only that session, and returns 0.
 */
int iw_assoc_receive(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		     size_t len);

#endif
