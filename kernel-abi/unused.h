/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * If a program that was started by "sctpiw run" ends without opening the device, this library
 * prints a line. A program that uses another transport instead, such as TCP, prints nothing about
 * this itself. The launcher makes a file NUMBER.unused, and puts its name into the variable
 * SCTPIW_UNUSED. NUMBER is the process number of the launcher, and later of the program, which
 * replaces the launcher in the same process. The first process that opens the device removes the
 * file. If the file still exists when the process with this number ends, this process prints the
 * line.
 */
#ifndef KERNEL_ABI_UNUSED_H
#define KERNEL_ABI_UNUSED_H

/* Removes the file. Call this when this process opens the device, or finds that there is none. */
void unused_over(void);

#endif
