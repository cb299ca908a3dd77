/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Associations: the way of user messages between SCTP, which is the lower layer protocol (LLP) of
 * RFC 5041, and the sessions on its streams. Everything here needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_IW_ASSOC_H
#define SCTPIW_IWARP_IW_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_assoc;
struct iw_shard;

/* What an association asks of the LLP; llp is the LLP's association. */
struct iw_llp_ops {
	/* iw_assoc_pull() has something to give. */
	void (*doorbell)(void *llp);
	/*
	 * How many of the messages that were pulled so far the peer has acknowledged without a gap,
	 * modulo 2^32. A session Terminate must not overtake the Initiate or Accept, and a
	 * stream is not used again while anything on it is outstanding (RFC 5043 6.6). The sessions
	 * ask for it and are not told: while one waits, iw_timers() is due every few milliseconds.
	 * NULL: a message counts as acknowledged once it is pulled.
	 */
	uint32_t (*acked)(void *llp);
	/*
	 * How many of the messages that were pulled so far the peer has placed and delivered, as far as
	 * can be known, modulo 2^32; iw_assoc_placed() is to be called when it has changed. NULL: a
	 * WQE is complete once its message is pulled.
	 */
	uint32_t (*placed)(void *llp);
	/*
	 * Makes copies of the memory that messages reference. NULL if iw_msg.may_reference is never
	 * set.
	 */
	void (*copy_out)(void *llp);
	/*
	 * The messages of a stream that are voidable, and that were pulled so far, are void: whatever the LLP
	 * sends of them from now on is what iw_put_void() makes of them. It lets go of what they reference.
	 * NULL: the LLP sends nothing twice, or cannot change what it has.
	 */
	void (*void_messages)(void *llp, uint16_t sid);
	/* Writes the peer's address into buf, as text with a zero at its end. NULL: nobody can tell. */
	void (*describe)(void *llp, char *buf, size_t len);
};

#define IW_VOID_LEN 24u /* bytes of a void message, with the DDP-SSN */

/* A message that iw_assoc_pull() returns. */
struct iw_msg {
	uint16_t sid;  /* stream */
	uint32_t ppid; /* 16: DDP segment, 17: session control (RFC 5043 4.2) */
	bool more;     /* another message may be pulled at once */
	/*
	 * A completion, or a Send that the peer's window may stop, waits for the message to be placed: it
	 * is to be acknowledged soon.
	 */
	bool awaited;
	/*
	 * The message says what the peer must know before it may take an acknowledgement of ours for
	 * more than that: see iw_assoc_owes_receipt().
	 */
	bool receipt;
	bool voidable; /* of a WR, or a response to one: see iw_llp_ops.void_messages */
	/*
	 * Set by the caller: the last ref_len bytes of the message may be left unwritten: they are at ref in
	 * the application's memory, and stay there until iw_assoc_placed() is told that the message
	 * is placed, or iw_llp_ops.copy_out or void_messages was called.
	 */
	bool may_reference;
	const uint8_t *ref; /* NULL: the message is whole */
	uint32_t ref_len;   /* bytes */
};

/*
 * initiator: this side opened the association, so its sessions take even stream ids, else odd ones
 * (RFC 5043 6.1); a peer whose Initiates come on the same ones changes that. streams: in each
 * direction. max_msg: as of iw_assoc_set_max_msg(). ops are copied. NULL: out of memory.
 */
struct iw_assoc *iw_assoc_new(struct iw_shard *shard, const struct iw_llp_ops *ops, void *llp,
			      bool initiator, unsigned int streams, size_t max_msg);
/* The LLP's association, as iw_assoc_new() was told. */
void *iw_assoc_llp(const struct iw_assoc *assoc);
/*
 * The largest user message, in bytes, that is to be made; less than 518 counts as 518 (RFC 5043 9).
 */
void iw_assoc_set_max_msg(struct iw_assoc *assoc, size_t max_msg);
/*
 * The association is gone, and the iw_assoc is freed. Every session ends with IW_EVENT_CLOSED
 * (error: a -errno), and QPs enter the error state; but the QP of an Initiate with a user that has
 * no answer yet stays as it is.
 */
void iw_assoc_lost(struct iw_assoc *assoc, int error);
/* As of now: see iw_assoc_new(). */
bool iw_assoc_is_initiator(const struct iw_assoc *assoc);
/* As iw_assoc_new() was told. */
unsigned int iw_assoc_streams(const struct iw_assoc *assoc);
/* How many of its sessions are not over yet. */
unsigned int iw_assoc_sessions(const struct iw_assoc *assoc);
/* Of them, those that were neither refused nor rejected. */
unsigned int iw_assoc_wanted(const struct iw_assoc *assoc);
/* Sessions that were turned away and that the peers may leave unacknowledged, all of them together. */
#define IW_TURNED_AWAY_ALL 16384
bool iw_turned_too_many_away(const struct iw_shard *shard);
/*
 * If there are more of them, returns the LLP's association that has the most, which the LLP is to
 * abort, else NULL. Those that were acknowledged meanwhile do not count.
 */
void *iw_worst_asker(struct iw_shard *shard);
/*
 * Returns the LLP's associations whose last session has ended, or whose last wanted one has, each
 * once, then NULL. There may be new sessions on them by now.
 */
void *iw_next_idle(struct iw_shard *shard);

/*
 * Writes the next message, of at most room bytes, to buf; the sessions take turns. Returns its
 * length, or 0: there is none, or none that is worth starting in so little room. Untagged messages
 * and session control are not held back to be packed with others.
 */
size_t iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg);
/*
 * The bytes that a message references cannot be read any more. From now on its header says an
 * invalid DDP version (RFC 5041 4.1), so that the peer ends the session, unless it has the message
 * as it was.
 */
void iw_poison(uint8_t *message);
/*
 * Writes what is sent in the place of a message of the same session that is void (docs/wire.md):
 * IW_VOID_LEN bytes.
 */
void iw_put_void(uint8_t *to, const uint8_t *message);
/* The peer may have placed more messages: their WRs complete. May end sessions. */
void iw_assoc_placed(struct iw_assoc *assoc);
/*
 * Both sides know receipts. window: the bytes of Sends without a receive that the peer keeps for
 * each QP (unexpected.h). To be called before there are sessions.
 */
void iw_assoc_set_receipts(struct iw_assoc *assoc, uint32_t window);
/* Both sides know queue numbers with the number of an SRQ: QPs of XRC may have sessions here. */
void iw_assoc_set_srq_numbers(struct iw_assoc *assoc);
/*
 * Whether the peer has still to be told something of the messages that have come: until the message
 * that says it (iw_msg.receipt) has arrived, no acknowledgement may be taken for a placement.
 */
bool iw_assoc_owes_receipt(const struct iw_assoc *assoc);

/*
 * A user message arrived; they may come in any order, but none twice. Placement happens inside,
 * from data to its final buffer. -EPROTO: the peer broke a rule that concerns the whole
 * association, or asks for thousands of sessions and does not acknowledge that it gets none; the
 * association is to be aborted. An error of one session is dealt with inside (Terminate).
 */
int iw_assoc_receive(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		     size_t len);

#endif
