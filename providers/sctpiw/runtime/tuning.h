/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides when posters, pollers and the progress thread send, yield, sleep, linger, park and wake
 * up. These decisions affect only speed, never correctness. The functions are pure: they take the
 * observations of the caller, and return a decision. The caller keeps the state. They need no lock.
 * Times are in ns.
 *
 * Functions that run in each poll, post or look of a lingering thread are inline. An empty poll is
 * the code that runs most often.
 */
#ifndef SCTPIW_RUNTIME_TUNING_H
#define SCTPIW_RUNTIME_TUNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * All constants. Each comment begins with the unit of the value. The quoted names are rows of
 * docs/experiments.md, which has the measurements. A constant without a quoted name was chosen for
 * the given reason, and never measured by itself.
 */

/*
 * Bursts of small work requests: "Work requests that follow closely wait", "One clock reading and
 * one fence for several work requests".
 */

/*
 * ns. A work request belongs to a burst if it is posted within this time after the previous send.
 * Sending takes longer than this.
 */
#define TUNING_BURST_GAP 3000u
/*
 * Maximum number of times that the gap doubles. It is then 24 us, the longest delay for a program
 * that posts many small work requests.
 */
#define TUNING_BURST_GAP_SHIFT_MAX 3u
/*
 * Number of work requests in a burst. The gap doubles after a burst of MANY or more, and halves
 * after a burst of fewer than FEW.
 */
#define TUNING_BURST_MANY 8u
#define TUNING_BURST_FEW 2u
/*
 * bytes. A work request of more bytes does not wait, and a burst of more bytes is sent. The value
 * is four send batches of 64 KiB ("Full batches").
 */
#define TUNING_BURST_BYTES 262144u
/* Number of work requests of a burst between two clock readings, which take 20 to 30 ns each. */
#define TUNING_BURST_LOOK 4u
/*
 * Minimum number of unsignaled work requests before a signaled one in a batch ("A batch is sent
 * when it is whole"). Smaller batches make too small packets: a minimum of 32 costs 8 % of the
 * speed, and 17 more than half.
 */
#define TUNING_BATCH_MANY 48u
/*
 * bytes in flight on all associations. If at least this number is in flight, the end of a batch
 * does not cause a send. The value is one full packet on lo.
 */
#define TUNING_BATCH_IN_FLIGHT 65536u

/*
 * Number of times that posters of datagrams read the clock until they wake a progress thread that
 * is not parked. The wake-up makes the thread park ("The progress thread is not woken for the rest
 * of a burst of datagrams").
 */
#define TUNING_UNPARKED_LOOKS 16u

/* Pollers. */

/*
 * Number of polls that find the lock taken between two calls of sched_yield(). The holder of the
 * lock may need this processor.
 */
#define TUNING_YIELD_POLLS 16u
/*
 * Number of polls between two checks whether the progress thread should park ("A poller parks the
 * progress thread").
 */
#define TUNING_UNPARKED_POLLS 64u
/*
 * ns. Maximum time that a poller waits for a socket if the process has only one processor. During
 * this time, the poller does not notice completions by other threads.
 */
#define TUNING_ONE_CPU_NAP 50000u

/* Parking of the progress thread. */

/*
 * Minimum number of empty polls that shows a polling application. It applies to the polls since the
 * thread last looked, and to those since a CQ was armed ("The thread that a packet wakes parks,
 * too"). An application that spins on memory may poll fewer times. If the thread parked, this
 * application would wait for a nap in each round.
 */
#define TUNING_POLLING_COUNT 8u
/* ns. If the last poll is older than this, the application no longer polls. */
#define TUNING_POLLING_AGE 20000u
/*
 * ns. First nap of a parked thread. After each nap, the thread takes some 20 us of a processor from
 * a poller, unless another processor is idle. So while polling goes on, each nap is twice as long
 * as the previous one, up to TUNING_PARK_LONG ("Longer naps while an application polls"). An
 * application that stops polling without arming a CQ waits for the end of one nap.
 */
#define TUNING_PARK_FIRST 50000u
#define TUNING_PARK_LONG 800000u
/*
 * ns. When less than LEFT of a long nap remains, pollers move the end of the nap to a later time
 * ("Pollers put off the end of a nap"). So the thread does not wake up while polling goes on. The
 * new rest of the nap is 1/PART of the time since the thread was parked, but at least
 * TUNING_PARK_LONG and at most MAX. So an application that stops polling waits for at most 1/PART
 * of the time that it polled.
 *
 * MAX is longer than a tick of the kernel's clock. On a virtual machine, setting a timer that
 * expires before the next tick takes 11 us, and a later one 1 us ("Naps that end after the next
 * tick"). MAX is also longer than the time that a peer waits for an immediate answer before it
 * probes (sctp_rtt_prompt_margin()). So the peer may send one probe.
 */
#define TUNING_PARK_LEFT 400000u
#define TUNING_PARK_PART 8u
#define TUNING_PARK_MAX 6400000u
/* ns. Nap while work requests wait for the rest of a burst, which may never be posted. */
#define TUNING_PARK_BURST 200000u

/* Sleep of the progress thread. */

/*
 * ns. ANSWER is the maximum delay of an acknowledgement, if the application may be looking at its
 * memory and may post an answer. It is a guess: a running application answers within some
 * microseconds. AGE is the maximum time since that application last polled. It is longer than the
 * longest nap, during which the application waits for the thread.
 */
#define TUNING_ANSWER 50000u
#define TUNING_ANSWER_AGE 10000000u
/*
 * ns. Time for which the thread looks for more packets before it sleeps. A sleep that is shorter
 * than this cost more than it saved ("The progress thread lingers").
 */
#define TUNING_LINGER 50000u
/*
 * ns. If a yield takes longer than this, a computing program or the hypervisor has taken the
 * processor. An application that waits for the thread takes less time ("Losses are compared with
 * the time that was lingered").
 */
#define TUNING_LINGER_LOST 60000u
/*
 * The thread stops lingering if a loss of the processor took more than 1/PART of the time lingered
 * since the previous loss ("Losing the processor now and then", "Losses are compared with the time
 * that was lingered").
 */
#define TUNING_LINGER_LOST_PART 8u
/*
 * ns. Time without lingering after a loss that was too long. It doubles with each of these losses,
 * from MIN to MAX.
 */
#define TUNING_NO_LINGER_MIN 10000000u
#define TUNING_NO_LINGER_MAX 1280000000u
/*
 * ns. For this time after an event of RDMA CM, the thread assumes that connections are being made
 * ("`ppoll()` while connections are made", "No nice value while connections are made").
 */
#define TUNING_CONNECTING 10000000u
/*
 * Number of wake-ups by ppoll(), each with something to receive, between two checks of the
 * descriptors that are not sockets ("The thread checks its wake-up cause only after an empty
 * pass"). A guess: nothing on these descriptors is urgent.
 */
#define TUNING_UNASKED 16u
/*
 * ms. Interval between checks that the thread's descriptors are still open. A guess: this is
 * frequent enough, and costs no measurable time.
 */
#define TUNING_LOOK_AGAIN 1000

/*
 * The scheduler: "Short slices and a nice value of -10", "No nice value while connections are
 * made".
 */

/* ns. The progress thread's slice. It is the shortest slice that the kernel grants. */
#define TUNING_SLICE 100000u
/* The progress thread's nice value, if the process has the permission to set it. */
#define TUNING_NICE (-10)
/* ns. Timer slack. The default of 50 us would double the first nap. */
#define TUNING_TIMER_SLACK 1000u

/* Passes. */

/*
 * Maximum number of receive calls in a pass, which holds the lock. A guess, which limits the time
 * that other threads wait for the lock.
 */
#define TUNING_PASS_RECEIVES 4
/*
 * Number of rounds in which the holder of the lock serves new posts of other threads. After these
 * rounds, the progress thread serves the rest. A guess: one round is nearly always enough, but no
 * number is enough if a thread posts datagrams without pause.
 */
#define TUNING_ROUNDS 4u

/* ---- posters ---- */

/* Decisions for a posted work request. */
enum tuning_post {
	TUNING_POST_SEND, /* send the work request now, with all waiting ones */
	TUNING_POST_WAIT, /* let the work request wait for the rest of the burst */
	TUNING_POST_LOOK, /* read the clock, and call tuning_post_at() */
};

struct tuning_post_seen {
	uint64_t bytes;		 /* bytes of the new work request; UINT64_MAX: it must not wait */
	uint64_t gathered_bytes; /* bytes of the waiting work requests */
	uint32_t gathered;	 /* number of waiting work requests */
	uint32_t in_flight;	 /* bytes in flight when a holder of the lock last looked */
	bool ends_batch;	 /* the new work request ends a batch */
	/* the doorbell was not on the list, so no thread will serve it yet */
	bool first;
};

/* Decides if a work request may wait. Returns TUNING_POST_LOOK if the decision needs the clock. */
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
 * Counts a posted work request of a send queue. Returns true if it ends a batch. `asks` is true for
 * a signaled work request. *unasked: number of unsignaled work requests before it.
 */
static inline bool tuning_ends_batch(bool asks, uint32_t *unasked)
{
	bool ends = asks && *unasked >= TUNING_BATCH_MANY;

	*unasked = asks ? 0 : *unasked + 1;
	return ends;
}

/*
 * Decides after TUNING_POST_LOOK. Returns TUNING_POST_SEND or TUNING_POST_WAIT. since_send: ns
 * since the last send. gap_shift: the last result of tuning_gap_shift(). thread: the progress
 * thread runs, and will serve waiting work requests.
 */
static inline enum tuning_post tuning_post_at(uint64_t since_send, uint32_t gap_shift, bool thread)
{
	return since_send < TUNING_BURST_GAP << gap_shift && thread ? TUNING_POST_WAIT :
								      TUNING_POST_SEND;
}

/*
 * Returns the new gap_shift, the number of doublings of TUNING_BURST_GAP, after a burst of
 * `gathered` work requests. An application that posts in bursts gets a longer gap. An application
 * that posts one message and then waits, perhaps by looking at memory, gets a short gap.
 */
static inline uint32_t tuning_gap_shift(uint32_t gap_shift, uint32_t gathered)
{
	if (gathered >= TUNING_BURST_MANY && gap_shift < TUNING_BURST_GAP_SHIFT_MAX)
		return gap_shift + 1;
	return gathered < TUNING_BURST_FEW && gap_shift ? gap_shift - 1 : gap_shift;
}

/*
 * True if a poster of datagrams should wake the progress thread to make it park, as in
 * tuning_poll_wakes(). looks: the number of looks including this one.
 */
static inline bool tuning_looks_wake(uint32_t looks)
{
	return looks % TUNING_UNPARKED_LOOKS == 0;
}

/* ---- pollers ---- */

/*
 * True if a poller that found the lock taken should yield the processor. busy_polls: the number of
 * these polls including this one.
 */
static inline bool tuning_poll_yields(uint32_t busy_polls)
{
	return busy_polls % TUNING_YIELD_POLLS == 0;
}

/* True if it is time to call tuning_poll_wakes(). polls: the number of polls including this one. */
static inline bool tuning_poll_looks(uint32_t polls)
{
	return polls % TUNING_UNPARKED_POLLS == 0;
}

/*
 * True if a poller should wake the progress thread to make it park. since_arm: number of empty
 * polls since a CQ was armed.
 *
 * A thread that sleeps on the sockets cannot notice that polling has begun. Each packet wakes the
 * thread inside the kernel, but the poller receives the packet first. The kernel then has no event
 * to return, and the thread goes back to sleep.
 */
static inline bool tuning_poll_wakes(bool parked, uint32_t since_arm)
{
	return !parked && since_arm >= TUNING_UNPARKED_POLLS;
}

/*
 * True if a poller should put off the end of a long nap. Most polls should not, since each change
 * is a system call. until: the end of the nap, ns; 0: no long nap.
 */
static inline bool tuning_puts_nap_off(uint64_t until, uint64_t now)
{
	return until && now + TUNING_PARK_LEFT > until;
}

/*
 * Returns the new rest of the nap, ns. parked: ns since the thread was parked. waited: a work
 * request has waited for a burst recently. The rest is then short: an application that posts
 * several work requests and then computes leaves the last ones to the thread.
 */
static inline uint64_t tuning_put_off(uint64_t parked, bool waited)
{
	uint64_t part = waited ? 0 : parked / TUNING_PARK_PART;

	if (part > TUNING_PARK_MAX)
		return TUNING_PARK_MAX;
	return part > TUNING_PARK_LONG ? part : TUNING_PARK_LONG;
}

/*
 * True if a long nap would end too late for a work request that begins to wait now. until: as in
 * tuning_puts_nap_off().
 */
static inline bool tuning_shortens_nap(uint64_t until, uint64_t now)
{
	return until > now + TUNING_PARK_LONG;
}

/* ---- the progress thread ---- */

/* Activity of the application's threads, as the progress thread sees it. */
struct tuning_app {
	/* number of empty polls, and of posters' looks, since the thread last looked */
	uint32_t active;
	uint32_t since_arm; /* the same number since a CQ was armed */
	/* ns since the last of them; negative if that thread read the clock later */
	int64_t age;
	bool inside; /* a poller runs the shard, or sleeps until a socket is ready */
	/* the process has one processor: a poller that is inside may wait for this thread */
	bool one_cpu;
};

/* Decisions after the thread was woken. */
enum tuning_woken {
	TUNING_WOKEN_SERVE, /* run the shard */
	TUNING_WOKEN_PARK,  /* park, because polling has begun */
};

enum tuning_woken tuning_woken(const struct tuning_app *app);

/*
 * Returns the length of the next nap of a parked thread, whose last nap had `nap` ns. Returns 0 if
 * polling has stopped, so that the thread must run the shard. rung: a doorbell waits, or a SACK
 * that a peer requested.
 */
uint64_t tuning_park_nap(const struct tuning_app *app, uint64_t nap, bool rung);

/*
 * True if the application may post an answer soon. It has polled since the thread's previous run,
 * and may be looking at its memory now. Acknowledgements then wait for TUNING_ANSWER.
 *
 * An acknowledgement without an answer would complete a work request of the peer. The peer would
 * then stop polling as well, and its progress thread, which is slower, would have to receive the
 * answer ("The thread holds acknowledgements for the application's answer"). app->active counts
 * since the thread's previous run.
 */
bool tuning_may_answer(const struct tuning_app *app);

/* Decisions after a run of the shard, and after a look for more. */
enum tuning_idle {
	TUNING_IDLE_LINGER, /* look for more */
	TUNING_IDLE_SLEEP,
};

struct tuning_served {
	bool short_sleep; /* the sleep before this run was shorter than TUNING_LINGER */
	bool received;	  /* something was received since the previous run */
	/* the only processor is needed by the answering program, so do not linger */
	bool one_cpu;
	uint64_t now;		  /* current time, ns */
	uint64_t no_linger_until; /* end of the time without lingering, ns */
};

/*
 * Decides after a run of the shard. Sleeping and waking up are expensive, above all if an idle
 * processor returns to a hypervisor. So the thread lingers if the last packet arrived soon after
 * the thread had fallen asleep.
 */
enum tuning_idle tuning_served(const struct tuning_served *seen);

/*
 * Decides if the thread continues to linger. quiet: ns since the last received packet, or since the
 * lingering began.
 */
enum tuning_idle tuning_lingered(uint64_t quiet);

struct tuning_lost {
	uint64_t away;	   /* duration of the last yield, ns; more than TUNING_LINGER_LOST */
	uint64_t lingered; /* time lingered since the previous loss, ns, without that yield */
	uint64_t last;	   /* the result for the previous loss, ns, or 0 */
};

/*
 * Returns the time, ns, for which the thread must not linger after it lost the processor. The
 * thread yields between two looks, since other threads may need the processor. If a program keeps
 * the processor, for example to spin on memory, all yields take long. The scheduler prefers a
 * thread that has slept to this program, so sleeping is faster then. The thread tries to linger
 * again after longer and longer times.
 *
 * Returns 0 if only one of many yields was long, since lingering then gained more than the long
 * yield lost. The time in which the thread was parked or asleep does not count as lingering.
 */
uint64_t tuning_no_linger(const struct tuning_lost *seen);

/*
 * True if a lingering thread should lock the shard for another look after its yield. It should not
 * if the application polls, since the application then receives by itself. active: as in struct
 * tuning_app.
 */
static inline bool tuning_looks_once_more(uint32_t active)
{
	return active < TUNING_POLLING_COUNT;
}

/*
 * True if the thread should check which descriptor woke it. unasked: number of wake-ups since the
 * last check. received: the passes after the last wake-up received something.
 */
static inline bool tuning_asks(uint32_t unasked, bool received)
{
	return unasked && (!received || unasked >= TUNING_UNASKED);
}

/* The system call in which the thread sleeps. */
enum tuning_sleep {
	/*
	 * epoll_wait(). The kernel wakes the thread on the sender's processor, as if the sender
	 * were about to sleep.
	 */
	TUNING_SLEEP_EPOLL,
	/*
	 * ppoll() for the epoll set, which wakes the thread on its previous processor. While
	 * connections are made, both the sender and the local application continue to run. On the
	 * processor of one of them, the thread would delay it.
	 */
	TUNING_SLEEP_PPOLL,
};

/* since_cm_event: ns since an event of RDMA CM; negative if another thread read the clock later. */
enum tuning_sleep tuning_sleep(int64_t since_cm_event);

#endif
