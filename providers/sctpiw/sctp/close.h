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

/* The orderly shutdown; valid only after ESTABLISHED. Times are ns. */
struct sctp_closing {
	uint64_t since;	    /* when the association left ESTABLISHED */
	uint64_t progress;  /* when SHUTDOWN or SHUTDOWN ACK was first due, or DATA last came */
	unsigned int tries; /* expirations of T2-shutdown since `progress` */
};

/* Continues a shutdown that waits for acknowledgements, once all DATA is acknowledged. */
void sctp_close_drained(struct sctp_assoc *a, uint64_t now);
/* T2-shutdown has expired. */
void sctp_close_timeout(struct sctp_assoc *a, uint64_t now);
/* Handle received chunks. */
void sctp_close_shutdown(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_complete(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_abort(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * Ends the association with an ABORT, and with SCTP_EVENT_LOST and error (-errno). Unless cause is
 * 0, the ABORT has that cause with len bytes of information.
 */
void sctp_close_fail(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len, int error);
/* Answers DATA in SHUTDOWN-SENT with SHUTDOWN (9.2). */
void sctp_close_data(struct sctp_assoc *a, uint64_t now);

#endif
