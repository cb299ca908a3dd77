/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw run" prints a line if a program ends and the device was never opened: programs that use
 * another transport, such as TCP, print nothing. The launcher makes a file NUMBER.unused, named
 * after its process number, and puts the name into the variable SCTPIW_UNUSED. The first process
 * that opens the device removes the file. The process of that number, once the launcher, prints the
 * line at its end if the file still exists.
 */
#ifndef KERNEL_ABI_UNUSED_H
#define KERNEL_ABI_UNUSED_H

/* This process opens the device, or has learnt that there is none. */
void unused_over(void);

#endif
