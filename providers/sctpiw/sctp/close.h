/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of an association (RFC 9260 9): shutdown and abort. Everything here may end it. Guarded
 * by the caller's lock.
 */
#ifndef SCTPIW_SCTP_CLOSE_H
#define SCTPIW_SCTP_CLOSE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/sctp_packet.h"

struct sctp_assoc;
struct sctp_in;

/* The orderly shutdown; nothing of it is valid in ESTABLISHED and before. Times are ns. */
struct sctp_closing {
	uint64_t since;	   /* when ESTABLISHED was left */
	uint64_t progress; /* when SHUTDOWN or SHUTDOWN ACK was due first, or DATA came meanwhile */
	unsigned int tries; /* expirations of T2-shutdown since then */
};

/* When everything is acknowledged, goes on with the shutdown that waited for it. */
void sctp_close_drained(struct sctp_assoc *a, uint64_t now);
/* T2-shutdown has expired. */
void sctp_close_timeout(struct sctp_assoc *a, uint64_t now);
/* Chunks that came. */
void sctp_close_shutdown(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_shutdown_complete(struct sctp_in *in, const struct wire_sctp_chunk *c);
void sctp_close_abort(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * Ends the association with an ABORT, which has that cause with len bytes of information unless
 * cause is 0, and SCTP_EVENT_LOST with error (-errno).
 */
void sctp_close_fail(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len, int error);
/* DATA came in SHUTDOWN-SENT (9.2): answers with SHUTDOWN. */
void sctp_close_data(struct sctp_assoc *a, uint64_t now);

#endif
