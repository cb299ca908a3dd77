/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The table of attack-cost. */
#ifndef SCTPIW_BENCH_ATTACK_COST_H
#define SCTPIW_BENCH_ATTACK_COST_H

/* Processor time of this thread, s. */
double attack_seconds(void);
/* A row: spent seconds for n packets of that kind. */
void attack_row(const char *name, double spent, unsigned long n);

/* The rows of packets to a process that has a key, each measured for limit seconds. None, and a line, without GnuTLS. */
void attack_dtls(double limit);

#endif
