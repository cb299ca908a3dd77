/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Access to the application's memory, which may go away under our hands. See also engine.h. */
#ifndef SCTPIW_ENGINE_MEMORY_H
#define SCTPIW_ENGINE_MEMORY_H

#include <stddef.h>

/*
 * memcpy() that returns -EFAULT where it would fault, once engine_memory_guard() has been called;
 * what it copied before is left as it is. 0 on success.
 */
int engine_copy(void *dst, const void *src, size_t len);
/*
 * From now on engine_copy() writes in ascending order: who sees a byte of a copy sees all before
 * it. memcpy() writes the ends of short pieces first. To be called before the first copy.
 */
void engine_copy_ascending(void);

#endif
