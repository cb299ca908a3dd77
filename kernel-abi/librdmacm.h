/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The location of the code of the program's librdmacm, to distinguish its calls from others.
 *
 * Locks: none of its own; librdmacm_find() takes the dynamic linker's.
 */
#ifndef KERNEL_ABI_LIBRDMACM_H
#define KERNEL_ABI_LIBRDMACM_H

#include <stdbool.h>

/*
 * Looks for librdmacm unless it was found before. Then keeps it loaded, so that no other code can
 * have its addresses. Does not find a librdmacm that is linked statically, or in a namespace of
 * dlmopen().
 */
void librdmacm_find(void);

/*
 * True if an address is in the code of the librdmacm found. Any thread or signal handler may call
 * this.
 */
bool librdmacm_has(const void *address);

#endif
