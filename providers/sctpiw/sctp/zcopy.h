/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy: messages whose end is still the user's memory while they are in flight (sctp_msg.zcopy
 * in sctp.h). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_ZCOPY_H
#define SCTPIW_SCTP_ZCOPY_H

#include "sctp/outq.h"
#include "sctp/sctp.h"

struct sctp_tx;

/* What losses have taught of the user's memory. It outlives a restart of the peer. */
struct sctp_zcopy {
	uint32_t copies;      /* messages still to be copied, after a loss */
	uint32_t copies_next; /* how many will be copied after the next loss; 0: there was none */
	/* messages referenced since the last loss, or since copies_next became less */
	uint32_t lossless;
};

/* The new chunk o, the last one of the packet, references the end of its message as msg says. */
void sctp_zcopy_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg);
/*
 * Writes the checksum of the packet of len bytes. first: of sctp.refs, the first one in the packet.
 */
void sctp_zcopy_checksum(struct sctp_tx *tx, size_t len, unsigned int first);
/* Copies what an outstanding chunk references, if anything: its image is whole afterwards. */
void sctp_zcopy_copy_out(struct sctp_assoc *a, struct sctp_out *o);
/* Nothing of the chunk is sent any more: lets go of what it references, if anything. */
void sctp_zcopy_release(struct sctp_assoc *a, struct sctp_out *o);
/* A chunk that references is lost: the next messages are to be copied. */
void sctp_zcopy_lost(struct sctp_assoc *a);

#endif
