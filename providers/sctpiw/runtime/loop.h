/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One turn of a shard: receiving, timers and sending. All functions need the shard's lock, and do
 * not change conn.now, the shard's clock.
 */
#ifndef SCTPIW_RUNTIME_LOOP_H
#define SCTPIW_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/transport.h"

struct shard;

/*
 * Makes one pass: receives, runs the expired timers, and does the work of loop_finish(), unless
 * nothing happened. The pass ends early if another thread waits for the lock. A poller's pass
 * leaves preparations, such as the next deadline, to the next turn if the progress thread is
 * parked, which guarantees that turn. Returns true if more may be received at once.
 */
bool loop_pass(struct shard *s, enum conn_depth depth);
/*
 * Call this before each release of the lock: serves the doorbells, reports events, sends, frees
 * unused objects, and sets the timer to the next deadline. Other threads may post as fast as this
 * one sends. After TUNING_ROUNDS, the rest is left to the progress thread. Returns true if that
 * thread was woken.
 */
bool loop_finish(struct shard *s);
/* Prepares a control operation: sends all earlier work requests, and reports all earlier events. */
void loop_settle(struct shard *s);

#endif
