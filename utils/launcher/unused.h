/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A line at the end of a program that has never opened the device (kernel-abi/unused.h). */
#ifndef UTILS_LAUNCHER_UNUSED_H
#define UTILS_LAUNCHER_UNUSED_H

/*
 * Requests that line in the environment of the program that this process will become. It is
 * requested if standard error is a terminal, or for a setting whose effect would be missed:
 * summary, faults, capture or trace. Without a directory for the file, no line is printed.
 */
void unused_begin(void);
/* Call this if the program cannot be executed. */
void unused_forget(void);

#endif
