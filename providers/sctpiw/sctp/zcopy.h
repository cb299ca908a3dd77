/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy: messages whose end stays in the user's memory while they are in flight (sctp_msg.zcopy
 * in sctp.h). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_ZCOPY_H
#define SCTPIW_SCTP_ZCOPY_H

#include "sctp/outq.h"
#include "sctp/sctp.h"

struct sctp_tx;

/* Knowledge about the user's memory from losses. It survives a restart of the peer. */
struct sctp_zcopy {
	uint32_t copies;      /* messages still to copy after a loss */
	uint32_t copies_next; /* messages to copy after the next loss; 0: no loss yet */
	/* Messages referenced since the last loss, or since copies_next last fell. */
	uint32_t lossless;
};

/* The new chunk o, the last of the packet, references the end of its message as msg describes. */
void sctp_zcopy_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg);
/*
 * Writes the checksum of a packet of len bytes. first: index in sctp.refs of its first reference.
 */
void sctp_zcopy_checksum(struct sctp_tx *tx, size_t len, unsigned int first);
/* Copies the memory that an outstanding chunk references, if any. Its image is then complete. */
void sctp_zcopy_copy_out(struct sctp_assoc *a, struct sctp_out *o);
/* The image of the chunk is not sent any more: drops its reference, if any. */
void sctp_zcopy_release(struct sctp_assoc *a, struct sctp_out *o);
/* A chunk that references memory is lost: the next messages are copied. */
void sctp_zcopy_lost(struct sctp_assoc *a);

#endif
