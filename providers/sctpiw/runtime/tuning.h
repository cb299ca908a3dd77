/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When to send, yield, sleep, linger, park and wake: every decision of posters, pollers and the
 * progress thread that is a matter of speed alone, never of correctness. The functions are pure.
 * They take what the caller has observed and return what it should do; the caller keeps the state
 * and acts. No lock; times are ns.
 *
 * What poll, post and linger ask for each call is inline, because an empty poll is the hottest path
 * that there is.
 */
#ifndef SCTPIW_RUNTIME_TUNING_H
#define SCTPIW_RUNTIME_TUNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The table of all constants. A comment begins with the unit. The quoted names are rows of
 * docs/experiments.md, which has the figures; a constant without one was chosen for the reason that
 * is given, and was never measured alone.
 */

/*
 * Bursts of small work requests: "Work requests that follow closely wait", "One clock reading and
 * one fence for several work requests".
 */

/*
 * ns. A work request that is posted within this time of the last send belongs to a burst. A send
 * takes longer.
 */
#define TUNING_BURST_GAP 3000u
/*
 * Doublings of the gap at most, to 24 us: what a poster of many small work requests may be made to
 * wait.
 */
#define TUNING_BURST_GAP_SHIFT_MAX 3u
/* Work requests in one burst. At MANY or more the gap doubles, below FEW it halves. */
#define TUNING_BURST_MANY 8u
#define TUNING_BURST_FEW 2u
/* bytes. More than this never waits, alone or together: four send batches of 64 KiB ("Full batches"). */
#define TUNING_BURST_BYTES 262144u
/* Work requests of a burst for each reading of the clock, which costs 20 to 30 ns. */
#define TUNING_BURST_LOOK 4u
/*
 * A batch is so many work requests that do not ask for their completion, and one that does ("A batch is
 * sent when it is whole"). With fewer the packets get too small: 32 cost 8 %, and 17 more than half.
 */
#define TUNING_BATCH_MANY 48u
/* bytes in flight, of all associations, from which on a batch waits like others: a full packet on lo. */
#define TUNING_BATCH_IN_FLIGHT 65536u

/*
 * Looks of posters of datagrams, while the progress thread is not parked, for each wake-up that is to
 * have it park ("The progress thread is not woken for the rest of a burst of datagrams").
 */
#define TUNING_UNPARKED_LOOKS 16u

/* Pollers. */

/*
 * Polls that found the lock taken for each sched_yield(): the holder may be waiting for this
 * processor.
 */
#define TUNING_YIELD_POLLS 16u
/*
 * Polls for each look whether the progress thread should be told to park ("A poller parks the
 * progress thread").
 */
#define TUNING_UNPARKED_POLLS 64u
/*
 * ns. How long a poller waits for a socket where there is one processor. Another thread may
 * complete something meanwhile, which the poller would not notice.
 */
#define TUNING_ONE_CPU_NAP 50000u

/* Parking of the progress thread. */

/*
 * Empty polls since the thread last looked, and since a CQ was armed, that make a polling
 * application ("The thread that a packet wakes parks, too"). Fewer may come from one that spins on
 * memory and asks the CQ now and then; parking would cost it a nap in each round.
 */
#define TUNING_POLLING_COUNT 8u
/* ns. The last poll of a polling application is not older than this. */
#define TUNING_POLLING_AGE 20000u
/*
 * ns. The first nap of a parked thread. Each look costs a poller its processor for some 20 us if
 * none is to spare, so naps double up to a long one while polling goes on ("Longer naps while an
 * application polls"). An application that stops polling without arming a CQ waits for the end of
 * one nap.
 */
#define TUNING_PARK_FIRST 50000u
#define TUNING_PARK_LONG 800000u
/*
 * Pollers put the end of a long nap off when less than LEFT ns of it are left, and the thread does
 * not look at all ("Pollers put off the end of a nap"). They put it off for this part of the time
 * since the thread was parked, so that who stops polling waits for no larger part of the time in
 * which it polled; for TUNING_PARK_LONG at least; and for MAX ns at most, which is more than a tick of
 * the kernel's clock: a timer that goes off before the next tick costs 11 us to set on a virtual
 * machine, and one behind it 1 us ("Naps that end after the next tick"). MAX is also more than the
 * time that a peer gives to an answer at once (sctp_rtt_prompt_margin()), so that it may probe, once.
 */
#define TUNING_PARK_LEFT 400000u
#define TUNING_PARK_PART 8u
#define TUNING_PARK_MAX 6400000u
/*
 * ns. The nap while work requests wait for the rest of their burst, whose end the poster may have
 * left behind.
 */
#define TUNING_PARK_BURST 200000u

/* Sleep of the progress thread. */

/*
 * ns. How long an acknowledgement is held for the answer of an application that may look at its memory, and how long ago
 * that polled at most: longer than the longest nap, during which it has waited for the thread. The first is a guess: an
 * application that runs answers within some microseconds.
 */
#define TUNING_ANSWER 50000u
#define TUNING_ANSWER_AGE 10000000u
/*
 * ns. How long the thread looks for more before it sleeps, and the sleep that is short enough to
 * have been a mistake ("The progress thread lingers").
 */
#define TUNING_LINGER 50000u
/*
 * ns. A yield that took longer than this has lost the processor, to somebody who computes or to the
 * hypervisor: an application that waits for what the thread brings needs less ("Losses are compared with the time that
 * was lingered").
 */
#define TUNING_LINGER_LOST 60000u
/*
 * The processor is somebody else's if one such loss took more than this part of the time in which the thread has lingered
 * since the one before ("Losing the processor now and then", "Losses are compared with the time that was lingered").
 */
#define TUNING_LINGER_LOST_PART 8u
/* ns. For how long the thread does not linger then: it doubles from the first to the last. */
#define TUNING_NO_LINGER_MIN 10000000u
#define TUNING_NO_LINGER_MAX 1280000000u
/*
 * ns. Connections are being made for this long after an event of the RDMA CM ("`ppoll()` while
 * connections are made", "No nice value while connections are made").
 */
#define TUNING_CONNECTING 10000000u
/*
 * Wake-ups by ppoll(), each with something to receive, for each look whether anything beside the sockets wakes the
 * thread ("The thread checks its wake-up cause only after an empty pass"). A guess: what waits for it is not urgent.
 */
#define TUNING_UNASKED 16u
/*
 * ms. The thread looks so often whether its descriptors are still there. A guess: often enough, and
 * no load.
 */
#define TUNING_LOOK_AGAIN 1000

/* The scheduler: "Short slices and a nice value of -10", "No nice value while connections are made". */

/* ns. The slice that the progress thread asks for: the shortest that the kernel grants. */
#define TUNING_SLICE 100000u
/* The nice value that it asks for, where the process may lower it. */
#define TUNING_NICE (-10)
/* ns. The timer slack; the default of 50 us would double the first nap. */
#define TUNING_TIMER_SLACK 1000u

/* Passes. */

/*
 * Receive calls for which one pass holds the lock. A guess, which bounds what a waiter for the lock
 * waits.
 */
#define TUNING_PASS_RECEIVES 4
/*
 * Rounds of serving what other threads post meanwhile, before a holder of the lock leaves the rest to
 * the progress thread. A guess: nearly always one is enough, and datagrams of a thread that posts
 * without pause fill any number.
 */
#define TUNING_ROUNDS 4u

/* ---- posters ---- */

/* What a poster does with a work request. */
enum tuning_post {
	TUNING_POST_SEND, /* sends it now, with all that waits */
	TUNING_POST_WAIT, /* lets it wait for the rest of the burst */
	TUNING_POST_LOOK, /* reads the clock, and then asks tuning_post_at() */
};

struct tuning_post_seen {
	uint64_t bytes;		 /* of the new work request; UINT64_MAX: it must not wait */
	uint64_t gathered_bytes; /* of the work requests that wait already */
	uint32_t gathered;	 /* their number */
	uint32_t in_flight;	 /* bytes, a moment ago */
	bool ends_batch;	 /* it is the last one of a batch */
	bool first; /* this doorbell was not on the list yet, so nobody was told of it */
};

/* Whether a work request may wait, as far as that can be said without a clock. */
static inline enum tuning_post tuning_post(const struct tuning_post_seen *seen)
{
	if (seen->bytes > TUNING_BURST_BYTES ||
	    seen->gathered_bytes + seen->bytes > TUNING_BURST_BYTES)
		return TUNING_POST_SEND;
	if (seen->ends_batch && seen->in_flight < TUNING_BATCH_IN_FLIGHT)
		return TUNING_POST_SEND;
	return seen->first || seen->gathered % TUNING_BURST_LOOK == 0 ? TUNING_POST_LOOK :
									TUNING_POST_WAIT;
}

/*
 * Counts a work request of a send queue that is posted, and returns whether it is the last one of a batch.
 * asks: for its completion; *unasked: how many in front of it do not.
 */
static inline bool tuning_ends_batch(bool asks, uint32_t *unasked)
{
	bool ends = asks && *unasked >= TUNING_BATCH_MANY;

	*unasked = asks ? 0 : *unasked + 1;
	return ends;
}

/*
 * The answer for TUNING_POST_LOOK, never that again. since_send: ns since what was posted was last
 * sent. gap_shift: as tuning_gap_shift() returned it last. thread: the progress thread runs, so
 * that somebody will come for what waits.
 */
static inline enum tuning_post tuning_post_at(uint64_t since_send, uint32_t gap_shift, bool thread)
{
	return since_send < TUNING_BURST_GAP << gap_shift && thread ? TUNING_POST_WAIT :
								      TUNING_POST_SEND;
}

/*
 * The next gap, at the end of a burst of so many work requests: TUNING_BURST_GAP is to be doubled
 * as often as the result says. An application that posts in bursts gets more time for the next one.
 * One that posts one message and waits for what follows from it, by looking at memory perhaps, gets
 * little.
 */
static inline uint32_t tuning_gap_shift(uint32_t gap_shift, uint32_t gathered)
{
	if (gathered >= TUNING_BURST_MANY && gap_shift < TUNING_BURST_GAP_SHIFT_MAX)
		return gap_shift + 1;
	return gathered < TUNING_BURST_FEW && gap_shift ? gap_shift - 1 : gap_shift;
}

/*
 * Whether a poster of datagrams wakes the progress thread to have it park, as a poller does
 * (tuning_poll_wakes()). looks: this one and those before.
 */
static inline bool tuning_looks_wake(uint32_t looks)
{
	return looks % TUNING_UNPARKED_LOOKS == 0;
}

/* ---- pollers ---- */

/*
 * Whether a poller that found the lock taken lets go of the processor. busy_polls: this one and
 * those before.
 */
static inline bool tuning_poll_yields(uint32_t busy_polls)
{
	return busy_polls % TUNING_YIELD_POLLS == 0;
}

/* Whether it is time to ask tuning_poll_wakes(). polls: this one and those before. */
static inline bool tuning_poll_looks(uint32_t polls)
{
	return polls % TUNING_UNPARKED_POLLS == 0;
}

/*
 * Whether a poller wakes the progress thread to have it park. If the thread sleeps on the sockets,
 * each packet wakes it, while a poller takes the packet: the kernel finds nothing to tell then and
 * lets the thread sleep on, so that the thread cannot see by itself that polling has begun.
 * since_arm: empty polls since a CQ was armed.
 */
static inline bool tuning_poll_wakes(bool parked, uint32_t since_arm)
{
	return !parked && since_arm >= TUNING_UNPARKED_POLLS;
}

/*
 * Whether a poller puts the end of a long nap off; not with each poll, since that is a system call.
 * until: the end, ns; 0: there is no such nap.
 */
static inline bool tuning_puts_nap_off(uint64_t until, uint64_t now)
{
	return until && now + TUNING_PARK_LEFT > until;
}

/*
 * For how long a poller puts the nap off, ns. parked: for how long the thread has been parked, ns. waited: a work request
 * has waited lately. An application that posts several and then computes has left the last ones to the thread.
 */
static inline uint64_t tuning_put_off(uint64_t parked, bool waited)
{
	uint64_t part = waited ? 0 : parked / TUNING_PARK_PART;

	if (part > TUNING_PARK_MAX)
		return TUNING_PARK_MAX;
	return part > TUNING_PARK_LONG ? part : TUNING_PARK_LONG;
}

/* Whether the end of a long nap is too far for a work request that begins to wait now, ns. until: as above. */
static inline bool tuning_shortens_nap(uint64_t until, uint64_t now)
{
	return until > now + TUNING_PARK_LONG;
}

/* ---- the progress thread ---- */

/* What the application's threads have done, as the progress thread sees it. */
struct tuning_app {
	uint32_t active;    /* empty polls and looks of posters since the thread last looked */
	uint32_t since_arm; /* the same since a CQ was armed */
	int64_t age; /* ns since the last of them; negative if its clock reading is the later one */
	bool inside; /* a poller runs the shard, or naps for it */
	bool one_cpu; /* one processor for all: a poller inside waits for this thread, too */
};

/* What the thread does when it wakes up. */
enum tuning_woken {
	TUNING_WOKEN_SERVE, /* runs the shard */
	TUNING_WOKEN_PARK,  /* parks, since polling has begun */
};

enum tuning_woken tuning_woken(const struct tuning_app *app);

/*
 * The next nap of a parked thread after one of nap ns, or 0: polling has stopped, so the thread
 * runs the shard. rung: a doorbell waits to be served, or a SACK that a peer has asked for.
 */
uint64_t tuning_park_nap(const struct tuning_app *app, uint64_t nap, bool rung);

/*
 * Whether the application may answer what the thread has received: it has polled since the thread ran before, and may look
 * at its memory now. Then acknowledgements are held for TUNING_ANSWER. One that left alone would complete a work request of
 * the peer's. The peer would stop polling, too, so that its own thread would have to bring it the answer, and so on ("The
 * thread holds acknowledgements for the application's answer"). active: since the thread ran before.
 */
bool tuning_may_answer(const struct tuning_app *app);

/* What the thread does when it has run the shard, and when it has looked for more. */
enum tuning_idle {
	TUNING_IDLE_LINGER, /* looks for more */
	TUNING_IDLE_SLEEP,
};

struct tuning_served {
	bool short_sleep; /* the sleep before this run was shorter than TUNING_LINGER */
	bool received;	  /* something came in since the run before */
	bool one_cpu;	  /* lingering would keep whoever is to answer from the only processor */
	uint64_t now;	  /* ns */
	uint64_t no_linger_until; /* ns */
};

/*
 * To sleep and be woken is dear, above all where an idle processor is handed back to a hypervisor.
 * So if the last thing came soon after the thread had gone to sleep, the thread lingers: it looks
 * for the next thing for a while.
 */
enum tuning_idle tuning_served(const struct tuning_served *seen);

/* Whether to go on lingering. quiet: ns since something came in, or since the lingering began. */
enum tuning_idle tuning_lingered(uint64_t quiet);

struct tuning_lost {
	uint64_t away;	   /* ns that the last yield took: more than TUNING_LINGER_LOST */
	uint64_t lingered; /* ns, since the loss before, without that yield */
	uint64_t last;	   /* ns. The answer for the loss before, 0 if there was none */
};

/*
 * For how long not to linger, ns, now that the processor was lost. The thread yields between two
 * looks, so that whoever else wants the processor gets it. If somebody keeps it, as a program does
 * that spins on memory, all yields take long; the thread that sleeps instead is woken in front of
 * the program, and lingering is not tried again for longer and longer. If it was but one yield of
 * many (0), lingering has won more than was lost. The time in which the thread was parked or asleep says nothing of that.
 */
uint64_t tuning_no_linger(const struct tuning_lost *seen);

/*
 * Whether a lingering thread takes the lock for another look, now that it has yielded. An application
 * that polls finds what comes in by itself. active: as in struct tuning_app.
 */
static inline bool tuning_looks_once_more(uint32_t active)
{
	return active < TUNING_POLLING_COUNT;
}

/*
 * Whether the thread asks what has woken it. unasked: wake-ups for which it has not asked yet; received: the passes after
 * the last one have brought something.
 */
static inline bool tuning_asks(uint32_t unasked, bool received)
{
	return unasked && (!received || unasked >= TUNING_UNASKED);
}

/* How the thread sleeps. */
enum tuning_sleep {
	/*
	 * In epoll_wait(). The kernel wakes the thread on the processor of the sender, as if that
	 * was about to sleep.
	 */
	TUNING_SLEEP_EPOLL,
	/*
	 * In ppoll() for the epoll set, which wakes the thread where it went to sleep. While
	 * connections are made the sender goes on, and so does the application here: on the
	 * processor of one of them the thread would be in the way of both.
	 */
	TUNING_SLEEP_PPOLL,
};

/*
 * since_cm_event: ns since an event of the RDMA CM; negative if its clock reading is the later one.
 */
enum tuning_sleep tuning_sleep(int64_t since_cm_event);

#endif
