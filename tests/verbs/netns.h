/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tests that want addresses of their own: in a network namespace, in which lo is down at first. */
#ifndef TESTS_VERBS_NETNS_H
#define TESTS_VERBS_NETNS_H

#include <stdbool.h>

#define SKIPPED 77

/* As root, or as an ordinary user who is root in a user namespace; false: this user may do neither. */
bool enter_namespace(void);
/* Packets that arrive there from now on and fit this nftables expression are lost. NULL: none is. */
void lose(const char *expression);
/* What ip(8) is to do there; it must succeed. */
void ip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
