/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC: owner of the objects of this room that no shard has for itself, MRs and PDs above all, and
 * of the numbers of the others. Everything here needs the locks of all shards.
 */
#ifndef SCTPIW_IWARP_IW_RNIC_H
#define SCTPIW_IWARP_IW_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

struct iw_rnic;

struct iw_config {
	/* Bytes of Sends without a receive that one QP keeps copies of, bookkeeping included. */
	uint32_t unexpected_bytes_per_qp;
	/* Place segments in order, for programs that poll memory for the last byte: in_order.h. */
	bool in_order;
	uint32_t zcopy_min; /* a payload of so many bytes or more may be referenced: zcopy.h */
};

/* Whom a line is for: who wrote the program, or who looks for what has happened. */
enum iw_say_level { IW_SAY_ERROR, IW_SAY_INFO };

/* What the RNIC asks of its owner. None of them may fault or block. */
struct iw_rnic_ops {
	/*
	 * Copies from the application's memory. 0, or -EFAULT if that is not mapped (any more).
	 */
	int (*copy)(void *dst, const void *src, size_t len);
	/* The same to the application's memory, of what a peer has sent. */
	int (*place)(void *dst, const void *src, size_t len);
	/*
	 * Can each page of these len > 0 bytes be read? 0 or -EFAULT. Asked only about memory that
	 * is going to be referenced.
	 */
	int (*probe)(const void *src, size_t len);
	/*
	 * Replaces the 8 aligned bytes at `at` by next(what they were, arg), in host order, as one
	 * atomic instruction of the processor does; *old is what they were. next is called once or
	 * more often. -EFAULT if the bytes cannot be read and written.
	 */
	int (*atomic)(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg),
		      const void *arg, uint64_t *old);
	/*
	 * Whether [memory, memory + len) has a byte of the RNIC's own memory; a region with
	 * on-demand paging may cover such memory. NULL: no region covers it.
	 */
	bool (*is_own)(const void *memory, size_t len);
	/* Lets another thread have the processor that a shard waits for. NULL: nobody ever waits. */
	void (*yield)(void);
	/* The time for the time stamps of completions, ns; NULL: what iw_set_now() said last. */
	uint64_t (*clock)(void);
	/*
	 * Tells people why a QP has ended, in a line without a newline (explain.h). A line is made only
	 * if hears() says that anybody reads those of its level. Both are NULL if nobody ever asks.
	 */
	void (*say)(enum iw_say_level level, const char *line);
	bool (*hears)(enum iw_say_level level);
};

/* Copies config and ops, and takes its keys from random. NULL: out of memory. */
struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random);
/* The caller has freed every MR and PD, and every shard, before. */
void iw_rnic_free(struct iw_rnic *rnic);
/* From now on this function is iw_rnic_ops.place. */
void iw_rnic_set_place(struct iw_rnic *rnic, int (*place)(void *dst, const void *src, size_t len));
/* iw_config.unexpected_bytes_per_qp: the window that a peer with receipts is told of. */
uint32_t iw_rnic_send_window(const struct iw_rnic *rnic);

#endif
