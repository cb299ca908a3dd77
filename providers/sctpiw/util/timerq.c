/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/timerq.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

int timerq_reserve(struct timerq *q, size_t n)
{
	size_t capacity = q->capacity ? q->capacity : 16;
	struct timerq_node **heap;

	if (n <= q->capacity)
		return 0;
	while (capacity < n)
		capacity *= 2;
	heap = alloc_lines_unset(capacity * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	if (q->count)
		memcpy(heap, q->heap, q->count * sizeof(*heap));
	free(q->heap);
	q->heap = heap;
	q->capacity = capacity;
	return 0;
}

void timerq_fini(struct timerq *q)
{
	free(q->heap);
	q->heap = NULL;
	q->count = 0;
	q->capacity = 0;
}

static void place(struct timerq *q, size_t i, struct timerq_node *n)
{
	q->heap[i] = n;
	n->index = i + 1;
}

static void sift_up(struct timerq *q, size_t i, struct timerq_node *n)
{
	while (i > 0 && q->heap[(i - 1) / 2]->when > n->when) {
		place(q, i, q->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(q, i, n);
}

static void sift_down(struct timerq *q, size_t i, struct timerq_node *n)
{
	size_t child;

	while ((child = 2 * i + 1) < q->count) {
		if (child + 1 < q->count && q->heap[child + 1]->when < q->heap[child]->when)
			child++;
		if (q->heap[child]->when >= n->when)
			break;
		place(q, i, q->heap[child]);
		i = child;
	}
	place(q, i, n);
}

void timerq_set(struct timerq *q, struct timerq_node *n, uint64_t when)
{
	uint64_t old = n->when;

	n->when = when;
	if (!n->index) {
		assert(q->count < q->capacity);
		sift_up(q, q->count++, n);
	} else if (when < old) {
		sift_up(q, n->index - 1, n);
	} else {
		sift_down(q, n->index - 1, n);
	}
}

void timerq_remove(struct timerq *q, struct timerq_node *n)
{
	size_t i = n->index;
	struct timerq_node *last;

	if (!i--)
		return;
	n->index = 0;
	last = q->heap[--q->count];
	if (last == n)
		return;
	sift_up(q, i, last);
	sift_down(q, last->index - 1, last);
}
