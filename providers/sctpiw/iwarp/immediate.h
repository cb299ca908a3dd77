/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Immediate Data (RFC 7306 6): immediate.c says what its 8 octets are. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_IMMEDIATE_H
#define SCTPIW_IWARP_IMMEDIATE_H

#include <stdbool.h>

#include "iwarp/segment.h"

struct iw_cqe;
struct iw_failure;
struct iw_send_wqe;

/*
 * The peer's last RDMA Write, as far as it is delivered. Nobody is told of a Write (RFC 5040 5.1),
 * but Immediate Data behind it says how long it was.
 */
struct iw_peer_write {
	uint32_t bytes;	  /* delivered so far */
	bool unfinished;  /* more of it is to come */
	bool just_before; /* nothing but responses came after it */
};

/*
 * In iw_rx_rec.control of Immediate Data, once it is delivered: it belongs to the Write before it.
 * The bit is a reserved one of DDP.
 */
#define IW_REC_BEHIND_WRITE 0x04

/* Writes the Immediate Data of a WQE, DDP header included; returns its length. */
size_t iw_imm_put(const struct iw_send_wqe *wqe, uint8_t *buf);
/* Is the segment a whole Immediate Data message? Else -EPROTO, f is filled. */
int iw_imm_check(const struct iw_segment *seg, struct iw_failure *f);
/* Keeps the 8 octets in the record, in place of STag and MO. */
void iw_imm_record(struct iw_rx_rec *rec, const uint8_t *payload);
/* It is delivered now: returns the record for its completion, with the Write before it. */
struct iw_rx_rec iw_imm_resolve(const struct iw_peer_write *w, const struct iw_rx_rec *rec);
/* Fills opcode, flags, length and data of the completion. rec: as iw_imm_resolve() returned it. */
void iw_imm_complete(const struct iw_rx_rec *rec, struct iw_cqe *cqe);

#endif
