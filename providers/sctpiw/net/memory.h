/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Access to the application's memory, which the application may unmap at any time. No lock. */
#ifndef SCTPIW_NET_MEMORY_H
#define SCTPIW_NET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checks whether this process may read all of [addr, addr + len), and write to it if `write`.
 * Returns 0 or -EFAULT. The memory may be unmapped later; the functions below detect this.
 */
int memory_check(uint64_t addr, uint64_t len, bool write);
/*
 * Calls gap() for each unmapped range in [addr, end), in ascending order. Never calls gap() if
 * /proc is not available.
 */
void memory_gaps(uint64_t addr, uint64_t end, void (*gap)(uint64_t start, uint64_t end, void *arg),
		 void *arg);
/*
 * Makes the pages of [addr, addr + len) present, for reading or writing. Returns 0, or -EFAULT if
 * this process lacks the access. Kernels before 5.14 make no pages present, which is not an error.
 */
int memory_populate(uint64_t addr, uint64_t len, bool write);
/*
 * Installs the signal handlers. From then on the functions below return -EFAULT instead of
 * crashing. Returns 0, or -errno of sigaction().
 */
int memory_guard(void);

/*
 * Copies like memcpy(), but returns -EFAULT if memcpy() would fault. Bytes before the fault have
 * then been copied. Returns 0 on success.
 */
int memory_copy(void *dst, const void *src, size_t len);
/* Returns 0 if every page of the len > 0 bytes can be read, or -EFAULT. */
int memory_probe(const void *src, size_t len);
/* Adds the bytes to *crc like crc32c_add(). Returns 0, or -EFAULT with *crc unchanged. */
int memory_crc32c(uint32_t *crc, const void *src, size_t len);
/*
 * From this call on, memory_copy() writes in ascending order: a thread that sees a byte of a copy
 * also sees all bytes before that byte. (memcpy() writes the first and last bytes of short pieces
 * first.) Call this before the first copy.
 */
void memory_copy_ascending(void);

/*
 * Replaces the aligned *word by next(*word, arg) in an atomic operation, and sets *old to the
 * previous value. Calls next() again if another thread has changed *word meanwhile. next() must not
 * access the application's memory. Returns 0, or -EFAULT without a change if *word cannot be read
 * and written. Write access is needed even if next() returns the old value.
 */
int memory_atomic(uint64_t *word, uint64_t (*next)(uint64_t old, const void *arg), const void *arg,
		  uint64_t *old);

#endif
