/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC owns the objects that all shards share, above all MRs and PDs. It numbers and counts the
 * other objects. All functions need the locks of all shards.
 */
#ifndef SCTPIW_IWARP_IW_RNIC_H
#define SCTPIW_IWARP_IW_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

struct iw_rnic;

struct iw_config {
	/* Limit per QP for copies of Sends without a receive, in bytes with overhead. */
	uint32_t unexpected_bytes_per_qp;
	/* Place segments in order, for programs that poll memory for the last byte: in_order.h. */
	bool in_order;
	uint32_t zcopy_min; /* minimum payload to reference instead of copy, bytes: zcopy.h */
};

/* Reader of a log line: the program's author, or a person who investigates. */
enum iw_say_level { IW_SAY_ERROR, IW_SAY_INFO };

/* Callbacks into the RNIC's owner. None may fault or block. */
struct iw_rnic_ops {
	/* Copies from the application's memory. Returns 0, or -EFAULT if it is not mapped. */
	int (*copy)(void *dst, const void *src, size_t len);
	/* Copies a peer's data to the application's memory. Returns the same. */
	int (*place)(void *dst, const void *src, size_t len);
	/*
	 * Tests whether each page of len > 0 bytes is readable. Returns 0 or -EFAULT. Called only
	 * for memory to be referenced.
	 */
	int (*probe)(const void *src, size_t len);
	/*
	 * Replaces the 8 aligned bytes at `at` by next(old value, arg), in host order, with one
	 * atomic processor instruction; *old is the old value. May call next repeatedly. Returns 0,
	 * or -EFAULT if the bytes cannot be read and written.
	 */
	int (*atomic)(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg),
		      const void *arg, uint64_t *old);
	/*
	 * True if [memory, memory + len) contains a byte of the RNIC's own memory. A region with
	 * on-demand paging may cover such memory. NULL: no region covers it.
	 */
	bool (*is_own)(const void *memory, size_t len);
	/* Yields the processor to a thread that a shard waits for. NULL: no shard ever waits. */
	void (*yield)(void);
	/* Returns the time for completion timestamps, ns. NULL: use iw_set_now()'s time. */
	uint64_t (*clock)(void);
	/*
	 * Logs why a QP has ended, in a line without a newline (explain.h). Lines are made only if
	 * hears() returns true for their level. Both are NULL for no lines.
	 */
	void (*say)(enum iw_say_level level, const char *line);
	bool (*hears)(enum iw_say_level level);
};

/* Copies config and ops, and draws its keys from random. Returns NULL if out of memory. */
struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random);
/* Frees the RNIC. The caller has freed all MRs, PDs and shards. */
void iw_rnic_free(struct iw_rnic *rnic);
/* Replaces iw_rnic_ops.place. */
void iw_rnic_set_place(struct iw_rnic *rnic, int (*place)(void *dst, const void *src, size_t len));
/* Returns iw_config.unexpected_bytes_per_qp: the window announced to peers with receipts. */
uint32_t iw_rnic_send_window(const struct iw_rnic *rnic);

#endif
