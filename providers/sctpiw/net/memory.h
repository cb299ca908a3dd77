/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Access to the application's memory, which may go away meanwhile. No lock. */
#ifndef SCTPIW_NET_MEMORY_H
#define SCTPIW_NET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checks if this process may read (write: also write) all of [addr, addr + len). Returns 0 or
 * -EFAULT. The result holds for a moment: an access detects memory that goes away later.
 */
int memory_check(uint64_t addr, uint64_t len, bool write);
/*
 * Calls gap() for each unmapped stretch of [addr, end), in order. Without /proc it makes no calls.
 */
void memory_gaps(uint64_t addr, uint64_t end, void (*gap)(uint64_t start, uint64_t end, void *arg),
		 void *arg);
/*
 * Brings in the pages of [addr, addr + len), for reading or writing. Returns 0, or -EFAULT where
 * this process may not use them so. A kernel before 5.14 brings in none, without an error.
 */
int memory_populate(uint64_t addr, uint64_t len, bool write);
/*
 * After the first call, faults in the functions below are errors. Returns 0, or -errno of
 * sigaction().
 */
int memory_guard(void);

/*
 * As memcpy(), but returns -EFAULT where memcpy() would fault, once memory_guard() has been called.
 * Bytes that were copied before the fault stay. Returns 0 on success.
 */
int memory_copy(void *dst, const void *src, size_t len);
/* Checks if each page of the len > 0 bytes can be read. Returns 0 or -EFAULT, guarded as above. */
int memory_probe(const void *src, size_t len);
/* As crc32c_add() to *crc, guarded as above. Returns 0, or -EFAULT with *crc unchanged. */
int memory_crc32c(uint32_t *crc, const void *src, size_t len);
/*
 * From now on memory_copy() writes in ascending order: a thread that sees a byte of a copy sees all
 * bytes before it. (memcpy() writes the ends of short pieces first.) Call this before the first
 * copy.
 */
void memory_copy_ascending(void);

/*
 * Replaces the aligned word by next(word, arg), atomically also for other processors. *old is the
 * previous value. next is called again if another thread changes the word meanwhile. It must not
 * access the application's memory. Returns -EFAULT without a change if the word cannot be read and
 * written, even if next would not change it.
 */
int memory_atomic(uint64_t *word, uint64_t (*next)(uint64_t old, const void *arg), const void *arg,
		  uint64_t *old);

#endif
