/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC owns the objects that all shards share, such as MRs and PDs. The RNIC also numbers and
 * counts the shards' objects. All functions need the locks of all shards.
 */
#ifndef SCTPIW_IWARP_IW_RNIC_H
#define SCTPIW_IWARP_IW_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

struct iw_rnic;

struct iw_config {
	/* Maximum bytes, per QP, for copies of Sends that have no posted receive (unexpected.h). */
	uint32_t unexpected_bytes_per_qp;
	/* Place segments in order, for programs that poll a Write's last byte: in_order.h. */
	bool in_order;
	uint32_t zcopy_min; /* minimum bytes of a payload to reference, not copy: zcopy.h */
};

/* Importance of a log line: an error of the program, or information for an investigation. */
enum iw_say_level { IW_SAY_ERROR, IW_SAY_INFO };

/* Callbacks of the RNIC's owner. No callback may fault or block. */
struct iw_rnic_ops {
	/* Copies from the application's memory. Returns 0, or -EFAULT for unmapped memory. */
	int (*copy)(void *dst, const void *src, size_t len);
	/* Copies to the application's memory. Returns 0, or -EFAULT for unmapped memory. */
	int (*place)(void *dst, const void *src, size_t len);
	/*
	 * Tests whether each page of len > 0 bytes is readable. Returns 0 or -EFAULT. Called only
	 * for memory that the LLP is to reference.
	 */
	int (*probe)(const void *src, size_t len);
	/*
	 * Replaces the 8 aligned bytes at `at` by next(old value, arg), in host order, with one
	 * atomic processor instruction. Sets *old to the old value. May call next repeatedly.
	 * Returns 0, or -EFAULT if the bytes cannot be read and written.
	 */
	int (*atomic)(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg),
		      const void *arg, uint64_t *old);
	/*
	 * True if [memory, memory + len) contains a byte of the RNIC's own memory. A region with
	 * on-demand paging may contain such memory. NULL: no region contains such memory.
	 */
	bool (*is_own)(const void *memory, size_t len);
	/*
	 * Yields the processor, so that the holder of a spinlock (iw_spin.h) can run. NULL: no
	 * shard ever waits for a spinlock.
	 */
	void (*yield)(void);
	/* Returns the time for completion timestamps, ns. NULL: use iw_set_now()'s time. */
	uint64_t (*clock)(void);
	/*
	 * Logs why a QP has ended, in a line without a newline (explain.h). The shard builds a line
	 * only if hears() returns true for the line's level. If both callbacks are NULL, nothing is logged.
	 */
	void (*say)(enum iw_say_level level, const char *line);
	bool (*hears)(enum iw_say_level level);
};

/* Copies config and ops. Takes the keys for STags from random. Returns NULL if out of memory. */
struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random);
/* Frees the RNIC. The caller frees all MRs, PDs and shards first. */
void iw_rnic_free(struct iw_rnic *rnic);
void iw_rnic_set_place(struct iw_rnic *rnic, int (*place)(void *dst, const void *src, size_t len));
/* Returns iw_config.unexpected_bytes_per_qp, which is announced to peers as their window. */
uint32_t iw_rnic_send_window(const struct iw_rnic *rnic);

#endif
