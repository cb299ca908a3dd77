/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A line at the end of a program that has never opened the device (kernel-abi/unused.h). */
#ifndef UTILS_LAUNCHER_UNUSED_H
#define UTILS_LAUNCHER_UNUSED_H

/*
 * Asks for that line in the environment of the program that this process is to become: if standard error is a terminal, or
 * the settings have a summary, faults, a capture or a trace, of which nothing would be seen. Without a directory
 * for the file there is no line.
 */
void unused_begin(void);
/* The program cannot be executed. */
void unused_forget(void);

#endif
