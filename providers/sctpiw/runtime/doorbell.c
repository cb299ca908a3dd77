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
	 * If the doorbell is on the list already, this exchange pairs with the exchange in
	 * doorbell_serve(): the later of the two acquires the writes before the earlier one. So
	 * either the server sees the work requests, or this thread reads false, and may write next.
	 */
	if (atomic_exchange_explicit(&doorbell->pending, true, memory_order_acq_rel))
		return false;
	head = atomic_load_explicit(&list->head, memory_order_relaxed);
	/*
	 * Release: pairs with the exchange in take_in_order(), which acquires next. It also
	 * acquires the next of each doorbell pushed before, since all changes of head are
	 * exchanges.
	 */
	do {
		doorbell->next = head;
	} while (!atomic_compare_exchange_weak_explicit(
		&list->head, &head, doorbell, memory_order_release, memory_order_relaxed));
	return true;
}

/* Empties the list. Returns the oldest first. */
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
 * Rings at the new shard of a QP that has moved, unknown to the poster. Needs the shard's lock,
 * which stops further moves.
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
		 * Reads next before clearing pending: after that, the doorbell may be rung again.
		 */
		fifo = doorbell->next;
		atomic_exchange_explicit(&doorbell->pending, false, memory_order_acq_rel);
		if (!conn_doorbell(c, doorbell))
			pass_on(doorbell);
	}
	return true;
}
