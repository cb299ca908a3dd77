/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Access to the application's memory, which may go away under our hands. No lock. */
#ifndef SCTPIW_NET_MEMORY_H
#define SCTPIW_NET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * May this process read (write: also write) all of [addr, addr + len)? 0 or -EFAULT. The answer holds for a
 * moment: memory that goes away later is caught when it is touched.
 */
int memory_check(uint64_t addr, uint64_t len, bool write);
/*
 * Calls gap() for each unmapped stretch of [addr, end), in order; without /proc calls are not made.
 */
void memory_gaps(uint64_t addr, uint64_t end, void (*gap)(uint64_t start, uint64_t end, void *arg),
		 void *arg);
/*
 * Brings the pages of [addr, addr + len) in, to be read or written: 0, or -EFAULT where there are none that
 * this process may use like that. A kernel that cannot (before 5.14) brings none, without an error.
 */
int memory_populate(uint64_t addr, uint64_t len, bool write);
/* From the first call on, faults in the copies below become errors. 0 or -errno of sigaction(). */
int memory_guard(void);

/*
 * memcpy() that returns -EFAULT where it would fault, once memory_guard() has been called;
 * what it copied before is left as it is. 0 on success.
 */
int memory_copy(void *dst, const void *src, size_t len);
/* Whether each page of the len > 0 bytes can be read: 0 or -EFAULT, guarded as above. */
int memory_probe(const void *src, size_t len);
/* crc32c_add() to *crc, guarded as above. -EFAULT: *crc is as it was. */
int memory_crc32c(uint32_t *crc, const void *src, size_t len);
/*
 * From now on memory_copy() writes in ascending order: a thread that sees a byte of a copy sees all bytes
 * before it. (memcpy() writes the ends of short pieces first.) It must be called before the first copy.
 */
void memory_copy_ascending(void);

/*
 * Replaces the word, which is aligned, by next(word, arg), atomically also towards other processors; *old is
 * what it was. next is called again if somebody changes the word meanwhile, and must not touch the
 * application's memory. -EFAULT, and no change, if the word cannot be read and written, also if next would
 * leave it as it is.
 */
int memory_atomic(uint64_t *word, uint64_t (*next)(uint64_t old, const void *arg), const void *arg,
		  uint64_t *old);

#endif
