/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests a line that is printed if the program ends without having opened the device
 * (kernel-abi/unused.h).
 */
#ifndef UTILS_LAUNCHER_UNUSED_H
#define UTILS_LAUNCHER_UNUSED_H

/*
 * Requests the line, by the environment of the program that this process will become. Does so if
 * standard error is a terminal, or if the user has set summary, faults, capture or trace, which
 * would have no effect. If there is no directory for the file, no line is printed.
 */
void unused_begin(void);
/* Withdraws the request. Call this if the program could not be executed. */
void unused_forget(void);

#endif
