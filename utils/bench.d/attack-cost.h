/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The table of attack-cost. */
#ifndef SCTPIW_BENCH_ATTACK_COST_H
#define SCTPIW_BENCH_ATTACK_COST_H

/* Returns the processor time of this thread, in s. */
double attack_seconds(void);
/* Prints a row: `spent` seconds for n packets of that kind. */
void attack_row(const char *name, double spent, unsigned long n);

/*
 * Prints the rows of packets to a process with a key, each measured for limit seconds. Without
 * GnuTLS, prints a line instead.
 */
void attack_dtls(double limit);

#endif
