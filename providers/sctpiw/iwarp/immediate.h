/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Immediate Data (RFC 7306 6). immediate.c describes the 8 octets. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_IMMEDIATE_H
#define SCTPIW_IWARP_IMMEDIATE_H

#include <stdbool.h>

#include "iwarp/segment.h"

struct iw_cqe;
struct iw_failure;
struct iw_send_wqe;

/*
 * The delivered part of the peer's last RDMA Write. The receiver gets no completion for a Write
 * (RFC 5040 5.1), but Immediate Data after the Write reports its length.
 */
struct iw_peer_write {
	uint32_t bytes;	  /* delivered so far */
	bool unfinished;  /* the Write's last segment was not delivered yet */
	bool just_before; /* only responses were delivered after the Write */
};

/*
 * Flag in iw_rx_rec.control of delivered Immediate Data, which belongs to the preceding Write. DDP
 * reserves the bit.
 */
#define IW_REC_BEHIND_WRITE 0x04

/* Writes the Immediate Data of a WQE, with its DDP header; returns the length. */
size_t iw_imm_put(const struct iw_send_wqe *wqe, uint8_t *buf);
/* Returns 0 for a whole Immediate Data message; else -EPROTO, and fills f. */
int iw_imm_check(const struct iw_segment *seg, struct iw_failure *f);
/* Stores the 8 octets in the record, in place of STag and MO. */
void iw_imm_record(struct iw_rx_rec *rec, const uint8_t *payload);
/*
 * Returns the record for the completion of delivered Immediate Data. The record includes the length
 * of the preceding Write, if the Immediate Data belongs to that Write.
 */
struct iw_rx_rec iw_imm_resolve(const struct iw_peer_write *w, const struct iw_rx_rec *rec);
/* Fills opcode, flags, length and data of the completion. rec: from iw_imm_resolve(). */
void iw_imm_complete(const struct iw_rx_rec *rec, struct iw_cqe *cqe);

#endif
