/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One turn of a shard: it receives, runs timers, and sends. All functions need the shard's lock,
 * and do not change conn.now, the shard's clock.
 */
#ifndef SCTPIW_RUNTIME_LOOP_H
#define SCTPIW_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/transport.h"

struct shard;

/*
 * Makes one pass: receives, runs the expired timers, and does the work of loop_finish(), unless
 * nothing happened. The pass ends early if another thread waits for the lock. A poller's pass may
 * leave preparations, such as the next deadline, to the next turn. It does so only if the progress
 * thread is parked, since the thread then guarantees a next turn. Returns true if more packets may
 * already be waiting in the sockets.
 */
bool loop_pass(struct shard *s, enum conn_depth depth);
/*
 * Call this before each release of the lock. Serves the doorbells, reports events, sends, frees
 * unused objects, and sets the timer to the next deadline. Other threads may post as fast as this
 * thread sends. After TUNING_ROUNDS rounds, this function wakes the progress thread for the rest,
 * and returns true.
 */
bool loop_finish(struct shard *s);
/* Prepares a control operation: sends all earlier work requests, and reports all earlier events. */
void loop_settle(struct shard *s);

#endif
