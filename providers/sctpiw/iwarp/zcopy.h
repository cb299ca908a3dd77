/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy sending: the LLP reads the payload of a long segment from the application's memory. See
 * zcopy.c for when that is done, and what follows from it. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_ZCOPY_H
#define SCTPIW_IWARP_ZCOPY_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct iw_failure;
struct iw_rc;
struct iw_rnic;

/* What messages of a QP reference. */
struct iw_zcopy {
	bool current;	       /* the current WQE has referenced memory */
	uint32_t seq;	       /* number of the last message that references (iw_assoc.pulled) */
	struct list_node node; /* iw_assoc.zcopy_qps, until that message is acknowledged */
};

/*
 * References len bytes at from as the end of the Read Response segment that is being pulled. false:
 * they are to be copied.
 */
bool iw_zcopy_reference(struct iw_rc *rc, const uint8_t *from, uint32_t len);
/*
 * The same for a segment of the current WQE; only if the application has more to do than wait for
 * it.
 */
bool iw_zcopy_reference_wqe(struct iw_rc *rc, const uint8_t *from, uint32_t len);
/*
 * The session of the QP ends: its messages reference nothing any more, and WQEs that referenced are
 * done, but for the one that f blames.
 */
void iw_zcopy_release(struct iw_rc *rc, const struct iw_failure *f);
/* Copies out all that is referenced: the right to read some memory is about to end. */
void iw_zcopy_copy_out(struct iw_rnic *rnic);

#endif
