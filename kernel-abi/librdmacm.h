/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The location of the code of the program's librdmacm. It shows which calls come from librdmacm.
 *
 * Locks: none, but librdmacm_find() takes the lock of the dynamic linker.
 */
#ifndef KERNEL_ABI_LIBRDMACM_H
#define KERNEL_ABI_LIBRDMACM_H

#include <stdbool.h>

/*
 * Looks for librdmacm, unless an earlier call has found it. Keeps the library loaded, so that no
 * other code can get its addresses. Does not find a librdmacm that is linked statically, or that
 * dlmopen() has loaded into another namespace.
 */
void librdmacm_find(void);

/* True if the address is in the code of librdmacm. Any thread or signal handler may call this. */
bool librdmacm_has(const void *address);

#endif
