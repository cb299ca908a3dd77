/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests about local addresses. Their purpose: the peer knows all local addresses that may be
 * announced to it, and no others. An address that the peer does not know is added. A lost address
 * is deleted together with the next addition, or after GONE_TIME. Until then the address may come
 * back, for example after an interface was switched off and on. Only the address of the
 * association's setup is deleted at once, since the peer sends to this address. Another local
 * address replaces it, and becomes the primary one. The association then belongs to the new pair of
 * addresses (locals.h). Set Primary informs the peer, so that both sides have the same pair. When
 * the old address comes back, it becomes the address of the setup again.
 *
 * Departure from RFC 5061 5.1 B2: the association ends after a time of silence (path.c), not after
 * a number of retransmissions.
 */
#include "sctp/asconf.h"

#include <errno.h>
#include <stdlib.h>

#include "sctp/input.h"
#include "sctp/trace.h"
#include "util/serial.h"
#include "wire/sctp_init.h"

#define GONE_TIME (10 * NSEC_PER_SEC)

#define TOLD_MAX (SCTP_LOCALS_MAX + 1)
#define STATES (SCTP_STATES_SEND | SCTP_STATES_RECEIVE) /* states for ASCONF (5.1.1 C4) */

/* Collects the local addresses that the peer knows in t[]. Returns their number. */
static unsigned int told(const struct sctp_assoc *a, struct ip_addr t[TOLD_MAX])
{
	unsigned int i, n = 0;

	if (!ip_addr_is_zero(&a->setup.local))
		t[n++] = a->setup.local;
	for (i = 0; i < a->locals.n; i++)
		if (!ip_addr_is_in(&a->locals.addr[i], t, n))
			t[n++] = a->locals.addr[i];
	return n;
}

/* ---- the request ---- */

/*
 * Gets the present source address of packets to the peer from the user; the peer may not know this
 * address. Returns false if there is none.
 */
static bool find_way(const struct sctp_assoc *a, struct ip_addr *way)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	unsigned int i;

	for (i = 0; ops->source && i <= a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(a, i);

		*way = (struct ip_addr){ 0 };
		if (path->usable && path->confirmed &&
		    ops->source(a->ep->ctx, &path->addr.remote, way) && !ip_addr_is_zero(way) &&
		    ip_addr_is_v4(way) == ip_addr_is_v4(&path->addr.remote) &&
		    !ip_addr_is_link_local(way) && sctp_locals_is_ours(a, way))
			return true;
	}
	return false;
}

/*
 * Sorts the addresses t[] that the peer knows: addresses that this host still has come first.
 * Returns the number of those addresses.
 */
static unsigned int sort(const struct sctp_assoc *a, struct ip_addr t[TOLD_MAX], unsigned int n,
			 const struct ip_addr *way)
{
	struct ip_addr gone[TOLD_MAX];
	unsigned int i, live = 0, g = 0;

	for (i = 0; i < n; i++)
		if (sctp_locals_is_ours(a, &t[i]) || (way && ip_addr_equal(&t[i], way)))
			t[live++] = t[i];
		else
			gone[g++] = t[i];
	memcpy(&t[live], gone, g * sizeof(gone[0]));
	return live;
}

static void add(struct sctp_asconf_request *r, const struct ip_addr *addr,
		const struct ip_addr t[TOLD_MAX], unsigned int n, unsigned int most)
{
	if (r->adds < most && !ip_addr_is_in(addr, t, n) && !ip_addr_is_in(addr, r->add, r->adds))
		r->add[r->adds++] = *addr;
}

/*
 * Plans the additions: addresses that the peer may know, but does not know yet. `way` is the
 * present source address, or NULL. `way` is added if the peer knows no address that this host still
 * has.
 */
static void plan_adds(const struct sctp_assoc *a, struct sctp_asconf_request *r,
		      const struct ip_addr t[TOLD_MAX], unsigned int n, unsigned int live,
		      const struct ip_addr *way)
{
	struct path_addr to = { .remote = sctp_paths_primary(a)->addr.remote };
	unsigned int i, most = n < SCTP_LOCALS_MAX ? SCTP_LOCALS_MAX - n : 0;
	struct sctp_locals want;

	if (ip_addr_is_in(&a->setup.local, t, live))
		to.local = a->setup.local;
	sctp_locals_ask(a->ep, &to, &want);
	if (!live && !most) /* lost addresses are deleted first; peers have room for one more */
		most = 1;
	if (!live && way)
		add(r, way, t, n, most);
	for (i = 0; i < want.n; i++)
		add(r, &want.addr[i], t, n, most);
}

/*
 * True if lost addresses must be deleted now. soon: do not wait for GONE_TIME. If there is time
 * left, starts the timer.
 */
static bool is_time(struct sctp_assoc *a, unsigned int gone, bool soon, uint64_t now)
{
	struct sctp_asconf *s = &a->asconf;

	if (!gone) {
		s->gone_since = 0;
		return false;
	}
	if (!s->gone_since)
		s->gone_since = now;
	if (soon || now - s->gone_since >= GONE_TIME)
		return true;
	sctp_timer_set(a, SCTP_TIMER_ASCONF, s->gone_since + GONE_TIME);
	return false;
}

/* Fills in the next request. Returns false if no request is necessary. */
static bool plan(struct sctp_assoc *a, struct sctp_asconf_request *r, uint64_t now)
{
	struct ip_addr t[TOLD_MAX], way;
	unsigned int n = told(a, t), live;
	bool has_way = find_way(a, &way), first_gone;

	live = sort(a, t, n, has_way ? &way : NULL);
	first_gone = ip_addr_is_in(&a->setup.local, &t[live], n - live);
	plan_adds(a, r, t, n, live, has_way ? &way : NULL);
	if (!live && !r->adds)
		return false; /* no packet can leave */
	if (is_time(a, n - live, r->adds || first_gone, now)) {
		r->dels = n - live < SCTP_LOCALS_MAX ? n - live : SCTP_LOCALS_MAX;
		memcpy(r->del, &t[live], r->dels * sizeof(t[0]));
	}
	if (ip_addr_is_in(&a->setup.local, r->del, r->dels)) {
		r->heir = live ? t[0] : r->add[0];
		if (has_way &&
		    (ip_addr_is_in(&way, t, live) || ip_addr_is_in(&way, r->add, r->adds)))
			r->heir = way;
	} else if (ip_addr_is_in(&a->asconf.origin, r->add, r->adds)) {
		r->heir = a->asconf.origin;
	}
	r->set_primary = !ip_addr_is_zero(&r->heir) && !a->asconf.no_primary;
	if (n)
		r->known = t[0];
	r->left = a->path->addr.local;
	return r->adds || r->dels;
}

/* True if the peer is another host, and the addresses mean the same for both hosts. */
static bool concerns(const struct sctp_assoc *a)
{
	const struct ip_addr *remote = &sctp_paths_primary(a)->addr.remote;
	const struct sctp_user_ops *ops = &a->s->ops;

	return !ip_addr_is_loopback(remote) && !ip_addr_is_link_local(&a->setup.local) &&
	       !(ops->is_own && ops->is_own(a->ep->ctx, remote));
}

static void leave(struct sctp_assoc *a)
{
	a->pending |= SCTP_PEND_ASCONF;
	sctp_assoc_ready(a);
}

/* Sends a request if necessary, unless a request is outstanding or was refused. */
static void consider(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_asconf *s = &a->asconf;
	struct sctp_asconf_request r = { 0 };

	if (!a->auth.hmac || s->out || s->unknown || s->refused || !s->settled ||
	    !sctp_in_states(a, STATES) || !concerns(a) || !plan(a, &r, now))
		return;
	s->out = malloc(sizeof(*s->out));
	if (!s->out) { /* treat as a refusal */
		s->refused = true;
		return;
	}
	r.serial = s->next++;
	*s->out = r;
	leave(a);
}

void sctp_asconf_reset(struct sctp_assoc *a)
{
	sctp_asconf_fini(a);
	a->asconf = (struct sctp_asconf){
		.next = a->setup.init_tsn,
		.peer = a->setup.peer_init_tsn - 1,
	};
}

void sctp_asconf_start(struct sctp_assoc *a, uint64_t now)
{
	if (!a->auth.hmac)
		return;
	/* Exclude an address that no interface has: no event would report its loss. */
	a->asconf.settled = !ip_addr_is_zero(&a->setup.local) &&
			    sctp_locals_is_ours(a, &a->setup.local);
	a->asconf.origin = a->setup.local;
	consider(a, now);
}

/* ---- sending ---- */

/* True if the request may leave from this address: it is local, and is not to be deleted (F6). */
static bool may_leave(const struct sctp_assoc *a, const struct sctp_asconf_request *r,
		      const struct ip_addr *local)
{
	return sctp_locals_is_ours(a, local) && !ip_addr_is_in(local, r->del, r->dels);
}

/*
 * Chooses the source address of the request, preferably an address that the peer knows. The peer
 * may know the added addresses already, if only its answer was lost. Returns false if there is no
 * source address.
 */
static bool choose_source(const struct sctp_assoc *a, const struct sctp_asconf_request *r,
			  const struct sctp_path *path, struct ip_addr *source)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	struct ip_addr t[TOLD_MAX + SCTP_LOCALS_MAX];
	unsigned int i, n = told(a, t);
	bool has_way;

	memcpy(&t[n], r->add, r->adds * sizeof(t[0]));
	n += r->adds;
	*source = path->addr.local;
	if (may_leave(a, r, source))
		return true;
	has_way = ops->source && ops->source(a->ep->ctx, &path->addr.remote, source) &&
		  may_leave(a, r, source);
	if (has_way && ip_addr_is_in(source, t, n))
		return true;
	for (i = 0; i < n; i++)
		if (may_leave(a, r, &t[i])) {
			*source = t[i];
			return true;
		}
	return has_way;
}

/* Returns the next path in turn with a source address (B4), or NULL. Sets r->path and r->source. */
static struct sctp_path *choose_path(const struct sctp_assoc *a, struct sctp_asconf_request *r)
{
	unsigned int i, n = a->paths.others + 1;

	for (i = 0; i < n; i++) {
		struct sctp_path *path = sctp_path_at(a, (r->path + i) % n);

		if (path->usable && path->confirmed && choose_source(a, r, path, &r->source)) {
			r->path = (r->path + i) % n;
			return path;
		}
	}
	return NULL;
}

static size_t request_put(uint8_t *p, const struct sctp_asconf_request *r)
{
	size_t len = WIRE_SCTP_ASCONF_LEN;
	uint32_t id = 1;
	unsigned int i;

	put_be32(p + 4, r->serial);
	len += wire_sctp_addr_put(p + len, &r->known);
	for (i = 0; i < r->adds; i++)
		len += wire_sctp_asconf_put(p + len, WIRE_SCTP_ADD_IP, id++, &r->add[i]);
	for (i = 0; i < r->dels; i++)
		len += wire_sctp_asconf_put(p + len, WIRE_SCTP_DELETE_IP, id++, &r->del[i]);
	if (r->set_primary)
		len += wire_sctp_asconf_put(p + len, WIRE_SCTP_SET_PRIMARY, id, &r->heir);
	wire_sctp_chunk_put(p, WIRE_SCTP_ASCONF, 0, len);
	return len;
}

size_t sctp_asconf_put(struct sctp_assoc *a, uint8_t *p, uint64_t now, struct path_addr *to)
{
	struct sctp_asconf_request *r = a->asconf.out;
	const struct sctp_path *path;
	size_t len;

	if (!(a->pending & SCTP_PEND_ASCONF))
		return 0;
	a->pending &= ~SCTP_PEND_ASCONF;
	if (!r || !sctp_in_states(a, STATES))
		return 0;
	path = choose_path(a, r);
	r->sent = path != NULL;
	r->sent_at = now;
	if (!r->hastened)
		sctp_timer_set(a, SCTP_TIMER_ASCONF,
			       now + sctp_rtt_rto(&(path ? path : a->path)->rtt));
	if (!path)
		return 0;
	*to = path->addr;
	to->local = r->source;
	len = sctp_auth_put(&a->auth, p);
	len += request_put(p + len, r);
	sctp_auth_sign(&a->auth, p, len);
	return len;
}

void sctp_asconf_heard(struct sctp_assoc *a, const struct ip_addr *local, uint64_t now)
{
	struct sctp_asconf_request *r = a->asconf.out;
	const struct sctp_rtt *rtt;

	if (!r->sent || r->hastened || !ip_addr_is_in(local, r->add, r->adds))
		return;
	rtt = &sctp_path_at(a, r->path % (a->paths.others + 1))->rtt;
	if (now - r->sent_at <= sctp_rtt_answer_time(rtt, sctp_rtt_prompt_margin(0), rtt->base))
		return;
	r->hastened = true;
	leave(a);
}

void sctp_asconf_timeout(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_asconf_request *r = a->asconf.out;
	struct sctp_path *path;

	if (!r) {
		consider(a, now);
		return;
	}
	r->hastened = false;
	if (r->sent) { /* actions B1, B3, B4 */
		path = sctp_path_at(a, r->path % (a->paths.others + 1));
		path->health.errors++;
		sctp_rtt_backoff(&path->rtt);
		r->path++;
	}
	leave(a);
}

void sctp_asconf_readdress(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_asconf_request *r = a->asconf.out;

	a->asconf.refused = false;
	if (!r) {
		consider(a, now);
	} else if (!r->sent || !may_leave(a, r, &r->source)) {
		r->path = 0;
		r->hastened = false;
		leave(a);
	}
}

bool sctp_asconf_is_foreign(const struct sctp_assoc *a, const struct ip_addr *local)
{
	const struct sctp_asconf_request *r = a->asconf.out;

	if (!a->auth.hmac || ip_addr_is_zero(local) || ip_addr_is_zero(&a->setup.local))
		return false;
	return !sctp_locals_has(a, local) || (r && ip_addr_is_in(local, r->del, r->dels));
}

/* ---- the peer's answer ---- */

enum result { UNTOLD, YES, NO };

#define IDS_MAX (2 * SCTP_LOCALS_MAX + 1)

/*
 * Handles the refusal of request i, counted from 0. If the peer does not support such requests,
 * records this (F3a, F3b).
 */
static void refused(struct sctp_asconf *s, unsigned int i,
		    const struct wire_sctp_asconf_param *param)
{
	const uint8_t *p = param->raw + WIRE_SCTP_ASCONF_PARAM_LEN;
	struct wire_sctp_cause_tlv cause;

	while (wire_sctp_cause_next(&p, param->raw + param->len, &cause)) {
		if (cause.code != WIRE_SCTP_CAUSE_PARAMS)
			continue;
		if (i < s->out->adds + s->out->dels)
			s->unknown = true;
		else
			s->no_primary = true;
	}
}

/* Gets the results of all requests from the ASCONF-ACK (A6 to A8). */
static void read_results(struct sctp_asconf *s, const struct wire_sctp_asconf *ack,
			 enum result result[IDS_MAX])
{
	struct wire_sctp_asconf_param param;
	const uint8_t *p = ack->params;
	bool failed = false;

	while (wire_sctp_asconf_next(&p, ack->end, &param)) {
		unsigned int i = param.id - 1;

		if (i >= IDS_MAX)
			continue;
		if (param.type == WIRE_SCTP_ASCONF_ERROR) {
			result[i] = NO;
			refused(s, i, &param);
		} else if (param.type == WIRE_SCTP_ASCONF_SUCCESS) {
			result[i] = YES;
		}
	}
	for (unsigned int i = 0; i < IDS_MAX; i++) {
		failed |= result[i] == NO;
		if (result[i] == UNTOLD)
			result[i] = failed ? NO : YES;
	}
}

/* Updates the local addresses that the peer knows, after its answer. */
static void take_over(struct sctp_assoc *a, const struct sctp_asconf_request *r,
		      const enum result result[IDS_MAX])
{
	struct ip_addr t[TOLD_MAX];
	unsigned int i, j, n = told(a, t);
	struct sctp_locals *l = &a->locals;

	l->n = 0;
	for (i = 0; i < n && l->n < SCTP_LOCALS_MAX; i++) {
		for (j = 0; j < r->dels && !ip_addr_equal(&r->del[j], &t[i]); j++)
			;
		if (j == r->dels || result[r->adds + j] == NO)
			l->addr[l->n++] = t[i];
	}
	for (i = 0; i < r->adds && l->n < SCTP_LOCALS_MAX; i++)
		if (result[i] == YES)
			l->addr[l->n++] = r->add[i];
	if (ip_addr_is_in(&r->heir, l->addr, l->n) &&
	    (!ip_addr_is_in(&a->setup.local, l->addr, l->n) || result[r->adds + r->dels] == YES))
		a->setup.local = r->heir;
	else if (!ip_addr_is_in(&a->setup.local, l->addr, l->n))
		a->setup.local = l->addr[0];
}

/*
 * Chooses the source addresses of all paths again. moved: the source address of the path in use was
 * deleted, so packets on this path did not arrive any more.
 */
static void leave_anew(struct sctp_assoc *a, bool moved, uint64_t now)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		path->source = (struct ip_addr){ 0 };
		if (!sctp_locals_has(a, &path->addr.local) && !ip_addr_is_zero(&path->addr.local)) {
			path->addr.local = a->setup.local;
			sctp_cc_init(&path->cc, path->cc.pmdcs, path->cc.v4);
			if (path->joined)
				sctp_inflight_path_lost(a, path);
		}
	}
	sctp_paths_readdress(a, now);
	if (!moved)
		return;
	/* Start T3 again, with an RTO that is not doubled. */
	a->path->rtt.backoff = 0;
	sctp_recovery_timer_set(a, a->path, SCTP_TIMER_T3, TIME_NEVER);
	sctp_paths_uprooted(a, now);
}

/* Ends the request, and stops its timer. */
static void drop(struct sctp_assoc *a)
{
	free(a->asconf.out);
	a->asconf.out = NULL;
	a->pending &= ~SCTP_PEND_ASCONF;
	sctp_timer_stop(a, SCTP_TIMER_ASCONF);
}

void sctp_asconf_ack(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	struct sctp_asconf *s = &a->asconf;
	enum result result[IDS_MAX] = { UNTOLD };
	struct wire_sctp_asconf ack;
	struct sctp_path *path;
	bool moved, all = true;

	if (!wire_sctp_asconf_ack_get(c, &ack))
		return;
	if (!s->out || ack.serial != s->out->serial) {
		if (!s->out && !serial32_lt(ack.serial, s->next)) /* action F0 */
			sctp_close_fail(a, WIRE_SCTP_CAUSE_ILLEGAL_ASCONF_ACK, NULL, 0, -EPROTO);
		return;
	}
	read_results(s, &ack, result);
	for (unsigned int i = 0; i < s->out->adds + s->out->dels; i++)
		all &= result[i] == YES;
	path = sctp_path_at(a, s->out->path % (a->paths.others + 1));
	path->health.errors = 0; /* action A5 */
	take_over(a, s->out, result);
	moved = ip_addr_is_in(&s->out->left, s->out->del, s->out->dels) &&
		!sctp_locals_has(a, &s->out->left);
	drop(a);
	s->refused = !all;
	leave_anew(a, moved, in->now);
	consider(a, in->now);
}

void sctp_asconf_reported(struct sctp_assoc *a, const uint8_t *quoted, size_t len)
{
	if (!a->asconf.out || !len || quoted[0] != WIRE_SCTP_ASCONF)
		return;
	a->asconf.unknown = true;
	drop(a);
}

void sctp_asconf_fini(struct sctp_assoc *a)
{
	unsigned int i;

	free(a->asconf.out);
	a->asconf.out = NULL;
	for (i = 0; i < SCTP_ASCONF_ACKS; i++) {
		free(a->asconf.ack[i].p);
		a->asconf.ack[i].p = NULL;
	}
}
