/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/doorbell.h"

#include "conn/conn.h"
#include "iwarp/iwarp.h"
#include "runtime/object.h"
#include "runtime/shard.h"

bool doorbell_ring(struct doorbell_list *list, struct iw_doorbell *doorbell)
{
	struct iw_doorbell *head;

	/*
	 * This exchange sets `pending`; the server's exchange in doorbell_serve() clears it. The
	 * later of the two sees all writes that were made before the earlier one. If this one is
	 * later, it reads false, and this thread may write `next`. If the server's is later, the
	 * server sees the new work requests.
	 */
	if (atomic_exchange_explicit(&doorbell->pending, true, memory_order_acq_rel))
		return false;
	head = atomic_load_explicit(&list->head, memory_order_relaxed);
	/*
	 * The release makes `next` visible to take_in_order(), whose exchange acquires. That
	 * exchange also acquires `next` of each doorbell that was pushed earlier, since all changes
	 * of head are exchanges.
	 */
	do {
		doorbell->next = head;
	} while (!atomic_compare_exchange_weak_explicit(
		&list->head, &head, doorbell, memory_order_release, memory_order_relaxed));
	return true;
}

/* Empties the list. Returns its doorbells linked by `next`, the oldest first. */
static struct iw_doorbell *take_in_order(struct doorbell_list *list)
{
	struct iw_doorbell *newest =
		atomic_exchange_explicit(&list->head, NULL, memory_order_acquire);
	struct iw_doorbell *oldest = NULL;

	while (newest) {
		struct iw_doorbell *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

void doorbell_ring_at(struct shard *s, struct iw_doorbell *doorbell)
{
	doorbell_ring(&s->doorbells, doorbell);
	progress_wake(s);
}

/*
 * The poster did not notice that its QP had moved, and rang at the old shard. Rings the doorbell at
 * the new shard. Needs the shard's lock, which prevents further moves.
 */
static void pass_on(struct iw_doorbell *doorbell)
{
	doorbell_ring_at(object_shard(list_entry(doorbell, struct iw_qp, doorbell)->ctx), doorbell);
}

bool doorbell_serve(struct doorbell_list *list, struct conn *c)
{
	struct iw_doorbell *fifo;

	if (!doorbell_is_rung(list))
		return false;
	fifo = take_in_order(list);
	while (fifo) {
		struct iw_doorbell *doorbell = fifo;

		/*
		 * Read `next` before clearing `pending`: afterwards, a poster may ring the doorbell
		 * again and overwrite `next`.
		 */
		fifo = doorbell->next;
		atomic_exchange_explicit(&doorbell->pending, false, memory_order_acq_rel);
		if (!conn_doorbell(c, doorbell))
			pass_on(doorbell);
	}
	return true;
}
