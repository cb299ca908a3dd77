/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When to send, yield, sleep, linger, park and wake: all decisions of posters, pollers and the
 * progress thread that affect speed alone, never correctness. The functions are pure. They take the
 * observations of the caller, and return what to do; the caller keeps the state. They need no lock.
 * Times are in ns.
 *
 * The functions that poll, post and linger call each time are inline: an empty poll is the hottest
 * path.
 */
#ifndef SCTPIW_RUNTIME_TUNING_H
#define SCTPIW_RUNTIME_TUNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * All constants. Each comment begins with the unit. The quoted names are rows of
 * docs/experiments.md, which has the figures. A constant without a quotation was chosen for the
 * given reason, and was never measured alone.
 */

/*
 * Bursts of small work requests: "Work requests that follow closely wait", "One clock reading and
 * one fence for several work requests".
 */

/*
 * ns. A work request belongs to a burst if it is posted within this time after the last send. A
 * send takes longer than this.
 */
#define TUNING_BURST_GAP 3000u
/*
 * Maximum doublings of the gap, to 24 us: the longest delay of a poster of many small work
 * requests.
 */
#define TUNING_BURST_GAP_SHIFT_MAX 3u
/* Work requests in a burst. The gap doubles at MANY or more, and halves below FEW. */
#define TUNING_BURST_MANY 8u
#define TUNING_BURST_FEW 2u
/*
 * bytes. Work requests of more bytes never wait, alone or together. This is four send batches of 64
 * KiB ("Full batches").
 */
#define TUNING_BURST_BYTES 262144u
/* Work requests of a burst between two readings of the clock, each of which takes 20 to 30 ns. */
#define TUNING_BURST_LOOK 4u
/*
 * A batch is at least this number of unsignaled work requests, and a signaled one ("A batch is sent
 * when it is whole"). With fewer, the packets get too small: 32 cost 8 %, and 17 more than half.
 */
#define TUNING_BATCH_MANY 48u
/*
 * bytes in flight of all associations. From this number on, a batch waits as other work requests
 * do. This is a full packet on lo.
 */
#define TUNING_BATCH_IN_FLIGHT 65536u

/*
 * Looks at the clock by posters of datagrams before they wake a progress thread that is not parked.
 * The wake-up makes the thread park ("The progress thread is not woken for the rest of a burst of
 * datagrams").
 */
#define TUNING_UNPARKED_LOOKS 16u

/* Pollers. */

/*
 * Polls that find the lock taken between two calls of sched_yield(): the holder may need this
 * processor.
 */
#define TUNING_YIELD_POLLS 16u
/*
 * Polls between two checks if the progress thread should park ("A poller parks the progress
 * thread").
 */
#define TUNING_UNPARKED_POLLS 64u
/*
 * ns. Time that a poller waits for a socket on the only processor. If another thread completes
 * something meanwhile, the poller does not notice.
 */
#define TUNING_ONE_CPU_NAP 50000u

/* Parking of the progress thread. */

/*
 * Empty polls of a polling application, both since the thread last looked and since a CQ was armed
 * ("The thread that a packet wakes parks, too"). An application that spins on memory may poll fewer
 * times. Parking would cost this application a nap in each round.
 */
#define TUNING_POLLING_COUNT 8u
/* ns. Maximum age of the last poll of a polling application. */
#define TUNING_POLLING_AGE 20000u
/*
 * ns. First nap of a parked thread. After each nap, the thread takes the processor from a poller
 * for some 20 us, unless another is idle. So naps double up to TUNING_PARK_LONG while polling goes
 * on ("Longer naps while an application polls"). An application that stops polling without arming a
 * CQ waits for the end of one nap.
 */
#define TUNING_PARK_FIRST 50000u
#define TUNING_PARK_LONG 800000u
/*
 * ns. While less than LEFT of a long nap is left, pollers put its end off, and the thread does not
 * look at all ("Pollers put off the end of a nap"). They put the end off by 1/PART of the time
 * since the thread was parked. So an application that stops polling waits for at most 1/PART of its
 * time of polling. The minimum is TUNING_PARK_LONG, and the maximum is MAX.
 *
 * MAX is longer than a tick of the kernel's clock. On a virtual machine, setting a timer that
 * expires before the next tick takes 11 us, and a later one 1 us ("Naps that end after the next
 * tick"). MAX is also longer than the time for an immediate answer (sctp_rtt_prompt_margin()). So
 * the peer may probe, once.
 */
#define TUNING_PARK_LEFT 400000u
#define TUNING_PARK_PART 8u
#define TUNING_PARK_MAX 6400000u
/* ns. The nap while work requests wait for the rest of a burst, which may never be posted. */
#define TUNING_PARK_BURST 200000u

/* Sleep of the progress thread. */

/*
 * ns. ANSWER is the time for which an acknowledgement waits for the answer of an application that
 * may look at its memory. It is a guess: a running application answers within some microseconds.
 * AGE is the maximum time since that application polled. It is longer than the longest nap, during
 * which the application waits for the thread.
 */
#define TUNING_ANSWER 50000u
#define TUNING_ANSWER_AGE 10000000u
/*
 * ns. Time for which the thread looks for more before it sleeps. A sleep shorter than this was most
 * likely a mistake ("The progress thread lingers").
 */
#define TUNING_LINGER 50000u
/*
 * ns. A longer yield has lost the processor, to a computing program or to the hypervisor. An
 * application that waits for the thread needs less ("Losses are compared with the time that was
 * lingered").
 */
#define TUNING_LINGER_LOST 60000u
/*
 * The thread stops lingering if a loss took more than 1/PART of the time lingered since the
 * previous loss ("Losing the processor now and then", "Losses are compared with the time that was
 * lingered").
 */
#define TUNING_LINGER_LOST_PART 8u
/* ns. Time without lingering after such a loss. It doubles from MIN to MAX. */
#define TUNING_NO_LINGER_MIN 10000000u
#define TUNING_NO_LINGER_MAX 1280000000u
/*
 * ns. Connections are being made for this time after an event of RDMA CM ("`ppoll()` while
 * connections are made", "No nice value while connections are made").
 */
#define TUNING_CONNECTING 10000000u
/*
 * Wake-ups by ppoll(), each with something to receive, between two checks of the descriptors that
 * are no sockets ("The thread checks its wake-up cause only after an empty pass"). A guess: nothing
 * urgent comes by these descriptors.
 */
#define TUNING_UNASKED 16u
/*
 * ms. Interval of checks that the thread's descriptors are open. A guess: often enough, and no
 * load.
 */
#define TUNING_LOOK_AGAIN 1000

/*
 * The scheduler: "Short slices and a nice value of -10", "No nice value while connections are
 * made".
 */

/* ns. The progress thread's slice: the shortest that the kernel grants. */
#define TUNING_SLICE 100000u
/* The progress thread's nice value, if the process may lower it. */
#define TUNING_NICE (-10)
/* ns. Timer slack. The default of 50 us would double the first nap. */
#define TUNING_TIMER_SLACK 1000u

/* Passes. */

/*
 * Maximum receive calls of a pass, which holds the lock. A guess, which bounds the wait of other
 * threads for the lock.
 */
#define TUNING_PASS_RECEIVES 4
/*
 * Rounds in which the holder of the lock serves new posts of other threads, before it leaves the
 * rest to the progress thread. A guess: one is nearly always enough, but a thread that posts
 * datagrams without pause fills any number.
 */
#define TUNING_ROUNDS 4u

/* ---- posters ---- */

/* Decisions for a posted work request. */
enum tuning_post {
	TUNING_POST_SEND, /* send it now, with all waiting work requests */
	TUNING_POST_WAIT, /* let it wait for the rest of the burst */
	TUNING_POST_LOOK, /* read the clock, and call tuning_post_at() */
};

struct tuning_post_seen {
	uint64_t bytes;		 /* of the new work request; UINT64_MAX: it must not wait */
	uint64_t gathered_bytes; /* of the waiting work requests */
	uint32_t gathered;	 /* number of waiting work requests */
	uint32_t in_flight;	 /* bytes, recently */
	bool ends_batch;	 /* it is the last work request of a batch */
	bool first;		 /* the doorbell was not on the list, so no thread knows of it */
};

/* Decides if a work request may wait, as far as possible without the clock. */
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
 * Counts a posted work request of a send queue. Returns true if it is the last one of a batch.
 * `asks`: it is signaled. *unasked: unsignaled work requests before it.
 */
static inline bool tuning_ends_batch(bool asks, uint32_t *unasked)
{
	bool ends = asks && *unasked >= TUNING_BATCH_MANY;

	*unasked = asks ? 0 : *unasked + 1;
	return ends;
}

/*
 * Decides after TUNING_POST_LOOK, by the clock: SEND or WAIT. since_send: ns since the last send.
 * gap_shift: the last result of tuning_gap_shift(). thread: the progress thread runs, and will
 * serve waiting work requests.
 */
static inline enum tuning_post tuning_post_at(uint64_t since_send, uint32_t gap_shift, bool thread)
{
	return since_send < TUNING_BURST_GAP << gap_shift && thread ? TUNING_POST_WAIT :
								      TUNING_POST_SEND;
}

/*
 * Returns the doublings of TUNING_BURST_GAP after a burst of `gathered` work requests. An
 * application that posts in bursts gets more time for the next work request. An application that
 * posts one message and waits for an effect, perhaps by looking at memory, gets little.
 */
static inline uint32_t tuning_gap_shift(uint32_t gap_shift, uint32_t gathered)
{
	if (gathered >= TUNING_BURST_MANY && gap_shift < TUNING_BURST_GAP_SHIFT_MAX)
		return gap_shift + 1;
	return gathered < TUNING_BURST_FEW && gap_shift ? gap_shift - 1 : gap_shift;
}

/*
 * True if a poster of datagrams should wake the progress thread to make it park, as in
 * tuning_poll_wakes(). looks: number of looks, with this one.
 */
static inline bool tuning_looks_wake(uint32_t looks)
{
	return looks % TUNING_UNPARKED_LOOKS == 0;
}

/* ---- pollers ---- */

/*
 * True if a poller that found the lock taken should yield the processor. busy_polls: number of such
 * polls, with this one.
 */
static inline bool tuning_poll_yields(uint32_t busy_polls)
{
	return busy_polls % TUNING_YIELD_POLLS == 0;
}

/* True if it is time to call tuning_poll_wakes(). polls: number of polls, with this one. */
static inline bool tuning_poll_looks(uint32_t polls)
{
	return polls % TUNING_UNPARKED_POLLS == 0;
}

/*
 * True if a poller should wake the progress thread to make it park. since_arm: empty polls since a
 * CQ was armed.
 *
 * A thread that sleeps on the sockets cannot notice that polling has begun. Each packet wakes it in
 * the kernel, but the poller takes the packet. So the kernel finds no event to return, and the
 * thread sleeps on.
 */
static inline bool tuning_poll_wakes(bool parked, uint32_t since_arm)
{
	return !parked && since_arm >= TUNING_UNPARKED_POLLS;
}

/*
 * True if a poller should put off the end of a long nap. Not each poll does, since that is a system
 * call. until: the end, ns; 0: no such nap.
 */
static inline bool tuning_puts_nap_off(uint64_t until, uint64_t now)
{
	return until && now + TUNING_PARK_LEFT > until;
}

/*
 * Returns the ns by which a poller puts the nap off. parked: ns since the thread was parked.
 * waited: a work request has waited recently. An application that posts several work requests and
 * then computes leaves the last ones to the thread.
 */
static inline uint64_t tuning_put_off(uint64_t parked, bool waited)
{
	uint64_t part = waited ? 0 : parked / TUNING_PARK_PART;

	if (part > TUNING_PARK_MAX)
		return TUNING_PARK_MAX;
	return part > TUNING_PARK_LONG ? part : TUNING_PARK_LONG;
}

/* True if a long nap ends too late for a work request that begins to wait now. until: as above. */
static inline bool tuning_shortens_nap(uint64_t until, uint64_t now)
{
	return until > now + TUNING_PARK_LONG;
}

/* ---- the progress thread ---- */

/* Activity of the application's threads, as observed by the progress thread. */
struct tuning_app {
	uint32_t active;    /* empty polls, and looks of posters, since the thread last looked */
	uint32_t since_arm; /* the same since a CQ was armed */
	int64_t age;	    /* ns since the last of them; negative if that clock reading is later */
	bool inside;	    /* a poller runs the shard, or naps for it */
	bool one_cpu;	    /* one processor: a poller that is inside waits for this thread, too */
};

/* Decisions after a wake-up. */
enum tuning_woken {
	TUNING_WOKEN_SERVE, /* run the shard */
	TUNING_WOKEN_PARK,  /* park: polling has begun */
};

enum tuning_woken tuning_woken(const struct tuning_app *app);

/*
 * Returns the next nap of a parked thread, after one of nap ns. Returns 0 if polling has stopped,
 * and the thread must run the shard. rung: a doorbell, or a SACK that a peer requested, waits.
 */
uint64_t tuning_park_nap(const struct tuning_app *app, uint64_t nap, bool rung);

/*
 * True if the application may post an answer. It has polled since the thread's previous run, and
 * may look at its memory now. Acknowledgements then wait for TUNING_ANSWER.
 *
 * A lone acknowledgement would complete a work request of the peer. The peer would stop polling,
 * too, so that its own thread would have to receive the answer, and so on ("The thread holds
 * acknowledgements for the application's answer"). active: since the thread's previous run.
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
	bool one_cpu;	  /* lingering would keep the answering program from the only processor */
	uint64_t now;	  /* ns */
	uint64_t no_linger_until; /* ns */
};

/*
 * Sleeping and waking up are expensive, above all if an idle processor returns to a hypervisor. So
 * the thread lingers if the last packet came soon after the thread fell asleep.
 */
enum tuning_idle tuning_served(const struct tuning_served *seen);

/*
 * Decides if the thread goes on lingering. quiet: ns since the last receipt, or since the lingering
 * began.
 */
enum tuning_idle tuning_lingered(uint64_t quiet);

struct tuning_lost {
	uint64_t away;	   /* ns of the last yield: more than TUNING_LINGER_LOST */
	uint64_t lingered; /* ns since the previous loss, without that yield */
	uint64_t last;	   /* ns. The result for the previous loss, or 0 */
};

/*
 * Returns the ns for which the thread must not linger after it lost the processor. The thread
 * yields between two looks, for others that need the processor. If a program keeps the processor,
 * for example to spin on memory, all yields take long. A thread that sleeps instead is scheduled
 * before this program. Lingering is then tried again after longer and longer times.
 *
 * Returns 0 if only one of many yields was long: lingering has gained more than was lost. The time
 * in which the thread was parked or asleep does not count.
 */
uint64_t tuning_no_linger(const struct tuning_lost *seen);

/*
 * True if a lingering thread should lock the shard for another look, after its yield. An
 * application that polls receives by itself. active: as in struct tuning_app.
 */
static inline bool tuning_looks_once_more(uint32_t active)
{
	return active < TUNING_POLLING_COUNT;
}

/*
 * True if the thread should check what woke it. unasked: wake-ups since the last check. received:
 * the passes after the last wake-up received something.
 */
static inline bool tuning_asks(uint32_t unasked, bool received)
{
	return unasked && (!received || unasked >= TUNING_UNASKED);
}

/* How the thread sleeps. */
enum tuning_sleep {
	/*
	 * In epoll_wait(). The kernel wakes the thread on the processor of the sender, as if the
	 * sender was about to sleep.
	 */
	TUNING_SLEEP_EPOLL,
	/*
	 * In ppoll() for the epoll set, which wakes the thread on its previous processor. While
	 * connections are made, both the sender and the local application go on. On the processor
	 * of either, the thread would delay both.
	 */
	TUNING_SLEEP_PPOLL,
};

/* since_cm_event: ns since an event of RDMA CM; negative if that clock reading is later. */
enum tuning_sleep tuning_sleep(int64_t since_cm_event);

#endif
