/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the code of the program's librdmacm is, so that a call that comes from there can be told from others.
 *
 * Locks: none of its own; librdmacm_find() takes the dynamic linker's.
 */
#ifndef KERNEL_ABI_LIBRDMACM_H
#define KERNEL_ABI_LIBRDMACM_H

#include <stdbool.h>

/*
 * Looks for librdmacm unless it was found before. It stays loaded from then on, so that nothing else is ever
 * where its code was. A program that does not have it, or has it linked in statically, or in a namespace of dlmopen(), is
 * one without.
 */
void librdmacm_find(void);

/* Whether an address is in the code of the librdmacm that was found. Any thread, also in a signal handler. */
bool librdmacm_has(const void *address);

#endif
