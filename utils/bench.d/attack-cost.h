/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The output and the DTLS part of attack-cost. */
#ifndef SCTPIW_BENCH_ATTACK_COST_H
#define SCTPIW_BENCH_ATTACK_COST_H

/* Returns the processor time that this thread has used, in s. */
double attack_seconds(void);
/* Prints a row of the table: n packets of the kind `name` took `spent` seconds. */
void attack_row(const char *name, double spent, unsigned long n);

/*
 * Measures the packets to a process that requires a key, and prints their rows. Measures each kind
 * for `limit` seconds. Without GnuTLS, prints a message instead.
 */
void attack_dtls(double limit);

#endif
