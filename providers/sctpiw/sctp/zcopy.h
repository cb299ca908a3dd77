/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy: the end of a message stays in the user's memory while the message is in flight
 * (sctp_msg.zcopy in sctp.h). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_ZCOPY_H
#define SCTPIW_SCTP_ZCOPY_H

#include "sctp/outq.h"
#include "sctp/sctp.h"

struct sctp_tx;

/* State that depends on earlier losses. It survives a restart of the peer. */
struct sctp_zcopy {
	uint32_t copies;      /* number of messages that are still to be copied after a loss */
	uint32_t copies_next; /* messages to copy after the next loss; 0: no loss yet */
	/* Number of messages with references since the last loss or decrease of copies_next. */
	uint32_t lossless;
};

/* The new chunk o, the packet's last, references the end of its message as msg describes. */
void sctp_zcopy_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg);
/*
 * Writes the checksum of a packet of len bytes. `first` is the index in sctp.refs of the packet's
 * first reference.
 */
void sctp_zcopy_checksum(struct sctp_tx *tx, size_t len, unsigned int first);
/* If the outstanding chunk references memory, copies that memory into the chunk's image. */
void sctp_zcopy_copy_out(struct sctp_assoc *a, struct sctp_out *o);
/* Drops the reference of a chunk whose image is not sent any more, if it has a reference. */
void sctp_zcopy_release(struct sctp_assoc *a, struct sctp_out *o);
/* Called when a chunk that references memory is lost: the next messages are copied. */
void sctp_zcopy_lost(struct sctp_assoc *a);

#endif
