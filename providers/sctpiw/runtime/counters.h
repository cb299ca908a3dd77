/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The port's counters by name, as the files of sysfs show them. They take the shard's lock themselves. */
#ifndef SCTPIW_RUNTIME_COUNTERS_H
#define SCTPIW_RUNTIME_COUNTERS_H

#include <stdint.h>

struct shard;

/*
 * A counter, named as its file in ports/1/counters or ports/1/hw_counters: what this process has sent and
 * received since it opened the device. -ENOENT: there is none of this name.
 */
int counters_get(struct shard *s, const char *name, uint64_t *value);

#endif
