/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw run" prints a line if a program ends and the device was never opened; a program that uses
 * another transport, such as TCP, prints nothing itself. The launcher makes a file NUMBER.unused,
 * named after its process number, and puts the name into the variable SCTPIW_UNUSED. The first
 * process that opens the device removes the file. The launcher's process, which becomes the
 * program, prints the line at its end if the file still exists.
 */
#ifndef KERNEL_ABI_UNUSED_H
#define KERNEL_ABI_UNUSED_H

/* Call this when this process opens the device, or finds that no device exists. */
void unused_over(void);

#endif
