/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/tuning.h"

/*
 * True if a poller runs the shard. With one processor, this proves nothing: a poller that is inside
 * may only be waiting for this thread to run.
 */
static bool is_poller_at_work(const struct tuning_app *app)
{
	return app->inside && !app->one_cpu;
}

static bool is_polling(const struct tuning_app *app)
{
	return app->inside || app->age < (int64_t)TUNING_POLLING_AGE;
}

/*
 * If a poll runs while the thread wakes up, as with long messages, the poll has most likely
 * received the packet that woke the thread. So one poll that is still running is enough to park.
 * Without a running poll, the packet would wait for the end of a nap.
 */
enum tuning_woken tuning_woken(const struct tuning_app *app)
{
	bool polls = app->active >= TUNING_POLLING_COUNT || is_poller_at_work(app);

	return polls && app->since_arm >= TUNING_POLLING_COUNT && is_polling(app) ?
		       TUNING_WOKEN_PARK :
		       TUNING_WOKEN_SERVE;
}

uint64_t tuning_park_nap(const struct tuning_app *app, uint64_t nap, bool rung)
{
	bool goes_on = app->active >= TUNING_POLLING_COUNT && is_polling(app);

	if (!goes_on && !is_poller_at_work(app))
		return 0;
	if (rung)
		return TUNING_PARK_BURST;
	if (!goes_on)
		return TUNING_PARK_FIRST;
	return nap < TUNING_PARK_LONG ? nap * 2 : nap;
}

bool tuning_may_answer(const struct tuning_app *app)
{
	return app->active >= TUNING_POLLING_COUNT && app->since_arm >= TUNING_POLLING_COUNT &&
	       app->age < (int64_t)TUNING_ANSWER_AGE;
}

enum tuning_idle tuning_served(const struct tuning_served *seen)
{
	return seen->short_sleep && seen->received && !seen->one_cpu &&
			       seen->now >= seen->no_linger_until ?
		       TUNING_IDLE_LINGER :
		       TUNING_IDLE_SLEEP;
}

enum tuning_idle tuning_lingered(uint64_t quiet)
{
	return quiet > TUNING_LINGER ? TUNING_IDLE_SLEEP : TUNING_IDLE_LINGER;
}

uint64_t tuning_no_linger(const struct tuning_lost *seen)
{
	if (seen->lingered >= seen->away * TUNING_LINGER_LOST_PART)
		return 0;
	if (!seen->last)
		return TUNING_NO_LINGER_MIN;
	return seen->last < TUNING_NO_LINGER_MAX ? seen->last * 2 : seen->last;
}

enum tuning_sleep tuning_sleep(int64_t since_cm_event)
{
	return since_cm_event < (int64_t)TUNING_CONNECTING ? TUNING_SLEEP_PPOLL :
							     TUNING_SLEEP_EPOLL;
}
