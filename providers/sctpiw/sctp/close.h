/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of an association (RFC 9260 9): shutdown and abort. Every function here may end the
 * association. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_CLOSE_H
#define SCTPIW_SCTP_CLOSE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/sctp_packet.h"

struct sctp_assoc;
struct sctp_in;

/* The state of the orderly shutdown; valid only after ESTABLISHED. Times are ns. */
struct sctp_closing {
	uint64_t since; /* when the association left ESTABLISHED */
	/* time when SHUTDOWN or SHUTDOWN ACK was first due, or when DATA last came */
	uint64_t progress;
	unsigned int tries; /* expirations of T2-shutdown since `progress` */
};

/* Continues a shutdown once all DATA is acknowledged. Otherwise does nothing. */
void sctp_close_drained(struct sctp_assoc *a, uint64_t now);
/* Called when T2-shutdown has expired. */
void sctp_close_timeout(struct sctp_assoc *a, uint64_t now);
/* These handle received chunks. */
void sctp_close_shutdown(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_complete(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_abort(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * Sends an ABORT, and ends the association with SCTP_EVENT_LOST and error (-errno). If cause is not
 * 0, the ABORT has this error cause with len bytes of information.
 */
void sctp_close_fail(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len, int error);
/* Handles DATA that arrives in SHUTDOWN-SENT: answers with a SHUTDOWN (9.2). */
void sctp_close_data(struct sctp_assoc *a, uint64_t now);

#endif
