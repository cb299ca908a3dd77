/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/send_window.h"

static struct iw_send_mark *mark_at(struct iw_send_window *w, uint32_t i)
{
	return &w->marks[i % IW_SEND_MARKS];
}

void iw_send_window_start(struct iw_send_window *w, bool on, uint32_t limit)
{
	*w = (struct iw_send_window){
		.on = on,
		.limit = limit < IW_SEND_WINDOW_MAX ? limit : IW_SEND_WINDOW_MAX,
	};
}

void iw_send_window_placed(struct iw_send_window *w, uint32_t placed)
{
	while (w->first_mark != w->next_mark) {
		const struct iw_send_mark *m = mark_at(w, w->first_mark);

		if ((int32_t)(placed - m->seq) < 0)
			return;
		w->placed = m->sent;
		w->first_mark++;
	}
	/* The last bytes were too few for a mark of their own. */
	if (w->sent != w->placed && (int32_t)(placed - w->last_seq) >= 0)
		w->placed = w->sent;
}

static uint32_t marked(struct iw_send_window *w)
{
	return w->first_mark == w->next_mark ? w->placed : mark_at(w, w->next_mark - 1)->sent;
}

static void mark(struct iw_send_window *w)
{
	*mark_at(w, w->next_mark++) = (struct iw_send_mark){ w->last_seq, w->sent };
}

void iw_send_window_take(struct iw_send_window *w, uint32_t payload, uint32_t seq)
{
	if (!w->on)
		return;
	w->sent += IW_UNEXPECTED_COST + payload;
	w->last_seq = seq + 1;
	if (w->sent - marked(w) >= w->limit / IW_SEND_MARKS &&
	    w->next_mark - w->first_mark < IW_SEND_MARKS)
		mark(w);
}

bool iw_send_window_awaits(struct iw_send_window *w, uint32_t *seq)
{
	if (w->first_mark == w->next_mark && w->sent != w->placed)
		mark(w); /* the last bytes were too few for a mark of their own */
	if (w->first_mark == w->next_mark)
		return false;
	*seq = mark_at(w, w->first_mark)->seq - 1;
	return true;
}
