/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One turn of a shard: what came in, what is due, what goes out. All of it needs the shard's lock,
 * and leaves the shard's own clock, conn.now, as it is.
 */
#ifndef SCTPIW_RUNTIME_LOOP_H
#define SCTPIW_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/transport.h"

struct shard;

/*
 * One pass: receives, runs the timers that are due, and does what loop_finish() does, unless there
 * is nothing to do. It ends early if another thread waits for the lock. A poller's leaves what only looks ahead, to
 * the next deadline for one, to the next turn, if the progress thread is parked and so sees to it that there is one.
 * Returns whether there may be more to receive at once.
 */
bool loop_pass(struct shard *s, enum conn_depth depth);
/*
 * What every holder of the lock does before it lets go: serves the doorbells, reports events,
 * sends, frees what is unused, and sets the timer to the next deadline. Other threads may post as
 * fast as this one sends; what is left after TUNING_ROUNDS is the progress thread's. Returns whether
 * it was woken for that.
 */
bool loop_finish(struct shard *s);
/*
 * Makes the state that a control operation starts from: what was posted before is sent, and what
 * happened before is reported.
 */
void loop_settle(struct shard *s);

#endif
