/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One turn of a shard: what came in, what is due, what goes out. Everything needs the shard's lock. */
#ifndef SCTPIW_RUNTIME_LOOP_H
#define SCTPIW_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/transport.h"

struct shard;

/* Receives, runs timers, reports events, sends, once. Returns whether there may be more at once. */
bool loop_pass(struct shard *s, enum conn_depth depth);
/* Doorbells, events, output: what every holder of the lock does before letting go. */
void loop_finish(struct shard *s);
/* Doorbells, what they send, and events: the state that a control operation starts from. */
void loop_settle(struct shard *s);

#endif
