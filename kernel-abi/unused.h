/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw run" tells its user if a program ends and the device was never opened: a program that takes another
 * transport, such as TCP, does so without a word. The launcher makes a file for that, whose name is NUMBER.unused with the
 * number of its process, and puts the name into the variable SCTPIW_UNUSED. Whichever process opens the device first
 * removes the file; the process of that number, which was the launcher, prints the line at its end if it is still there.
 */
#ifndef KERNEL_ABI_UNUSED_H
#define KERNEL_ABI_UNUSED_H

/* This process opens the device. */
void unused_over(void);

#endif
