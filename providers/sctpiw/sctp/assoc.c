/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Associations: creation and end, lookup, and queries by the user. */
#include "sctp/assoc.h"

#include <stdlib.h>

#include "sctp/control.h"
#include "util/alloc.h"
#include "util/trace.h"

/* The finalizer of splitmix64, as a hash function. The peer does not know the seed. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static struct list_node *bucket(struct sctp *s, const struct sctp_endpoint *ep,
				const struct ip_addr *remote, uint16_t port)
{
	uint64_t half[2];
	uint64_t h = s->table.seed;

	memcpy(half, remote->b, sizeof(half));
	h = mix(h ^ half[0]);
	h = mix(h ^ half[1]);
	h = mix(h ^ ((uint64_t)ep->port << 48 | (uint64_t)port << 32 | remote->scope_id));
	return &s->table.buckets[h & (s->table.bucket_count - 1)];
}

static bool is_tagged(const struct sctp_assoc *a, uint32_t tag)
{
	return tag && (a->local_tag == tag || a->peer_tag == tag);
}

/* How well an association matches a packet or a request, from the worst to the best match. */
enum fit {
	FIT_NONE,
	FIT_CLAIMED, /* the peer only claims to have the remote address */
	/* the remote address is confirmed, and the peer may use that local address */
	FIT_PERHAPS,
	FIT_ADDRESSES, /* both addresses are the addresses of the path */
	FIT_PAIR,      /* also, the association belongs to this pair of addresses (docs/wire.md) */
	FIT_TAG,
};

static enum fit fit_of(const struct sctp_assoc *a, const struct sctp_path *path,
		       const struct path_addr *addr, uint32_t tag)
{
	struct path_addr pair = { 0 };
	int locality;

	if (is_tagged(a, tag))
		return FIT_TAG;
	pair.local = *sctp_locals_of(a, path);
	locality = path_addr_locality(&pair, addr);
	/* Until the association is up, the peer may have chosen any announced local address. */
	if (!locality && sctp_in_states(a, SCTP_STATES_SETUP))
		locality = sctp_locals_has(a, &addr->local);
	if (!locality)
		return FIT_NONE;
	/* an unconfirmed address proves nothing, even in use (RFC 5061 5.3 F1) */
	if (!path->confirmed)
		return path == a->path ? FIT_NONE : FIT_CLAIMED;
	if (locality < 2)
		return FIT_PERHAPS;
	return path->primary ? FIT_PAIR : FIT_ADDRESSES;
}

struct sctp_assoc *sctp_assoc_find(struct sctp_endpoint *ep, const struct path_addr *addr,
				   uint16_t port, uint32_t tag)
{
	struct sctp_assoc *a = ep->recent, *found = NULL;
	enum fit best = FIT_NONE, fit;
	unsigned int i;

	if (a && a->local_tag == tag && a->remote_port == port &&
	    ip_addr_equal(&a->path->addr.remote, &addr->remote))
		return a;
	list_for_each(n, bucket(ep->s, ep, &addr->remote, port)) {
		a = list_entry(n, struct sctp_assoc, hash_node);
		if (a->ep != ep || a->remote_port != port ||
		    !ip_addr_equal(&a->path->addr.remote, &addr->remote))
			continue;
		fit = fit_of(a, a->path, addr, tag);
		if (fit == FIT_TAG) {
			ep->recent = a;
			return a;
		}
		if (fit > best) {
			best = fit;
			found = a;
		}
	}
	/* An address in use by one association may be in the list of another association. */
	list_for_each(n, &ep->multihomed[port % SCTP_MULTIHOMED]) {
		a = list_entry(n, struct sctp_assoc, paths.node);
		for (i = 0; a->remote_port == port && i < a->paths.others; i++) {
			if (!ip_addr_equal(&a->paths.other[i]->addr.remote, &addr->remote))
				continue;
			fit = fit_of(a, a->paths.other[i], addr, tag);
			if (fit == FIT_TAG)
				return a;
			if (fit > best) {
				best = fit;
				found = a;
			}
		}
	}
	return found;
}

struct sctp_assoc *sctp_assoc_find_listed(struct sctp_endpoint *ep, const struct ip_addr *local,
					  const struct ip_addr *remote, unsigned int n,
					  uint16_t port)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct path_addr addr = { .local = *local, .remote = remote[i] };
		struct sctp_assoc *a = sctp_assoc_find(ep, &addr, port, 0);

		/* The peer only claims to have an unconfirmed address (5.4). */
		if (a && sctp_paths_find(a, &remote[i])->confirmed)
			return a;
	}
	return NULL;
}

bool sctp_assoc_has_tag(const struct sctp_endpoint *ep, uint16_t port, uint32_t tag)
{
	list_for_each(n, &ep->multihomed[port % SCTP_MULTIHOMED]) {
		const struct sctp_assoc *a = list_entry(n, struct sctp_assoc, paths.node);

		if (a->remote_port == port && a->local_tag == tag)
			return true;
	}
	return false;
}

bool sctp_assoc_has_rival(const struct sctp_assoc *a, const struct ip_addr *remote)
{
	struct sctp_path *path;

	list_for_each(n, bucket(a->s, a->ep, remote, a->remote_port)) {
		const struct sctp_assoc *b = list_entry(n, struct sctp_assoc, hash_node);

		if (b != a && b->ep == a->ep && b->remote_port == a->remote_port &&
		    ip_addr_equal(&b->path->addr.remote, remote))
			return true;
	}
	list_for_each(n, &a->ep->multihomed[a->remote_port % SCTP_MULTIHOMED]) {
		struct sctp_assoc *b = list_entry(n, struct sctp_assoc, paths.node);

		path = b != a && b->remote_port == a->remote_port ? sctp_paths_find(b, remote) :
								    NULL;
		if (path && path->confirmed)
			return true;
	}
	return false;
}

void sctp_assoc_rehash(struct sctp_assoc *a)
{
	a->ep->recent = NULL;
	list_del(&a->hash_node);
	list_add(bucket(a->s, a->ep, &a->path->addr.remote, a->remote_port), &a->hash_node);
}

/* Doubles the number of buckets. When out of memory, their chains become longer instead. */
static void grow_buckets(struct sctp *s)
{
	size_t old_count = s->table.bucket_count;
	struct list_node *old = s->table.buckets;
	struct list_node *fresh = malloc(2 * old_count * sizeof(*fresh));
	struct list_node *n;
	size_t i;

	if (!fresh)
		return;
	s->table.buckets = fresh;
	s->table.bucket_count = 2 * old_count;
	for (i = 0; i < s->table.bucket_count; i++)
		list_init(&fresh[i]);
	for (i = 0; i < old_count; i++) {
		while ((n = list_pop(&old[i]))) {
			struct sctp_assoc *a = list_entry(n, struct sctp_assoc, hash_node);

			list_add(bucket(s, a->ep, &a->path->addr.remote, a->remote_port), n);
		}
	}
	free(old);
}

uint32_t sctp_assoc_new_tag(struct sctp *s)
{
	uint32_t tag;

	do
		tag = random_u32(s->random);
	while (!tag);
	return tag;
}

struct sctp_assoc *sctp_assoc_new(struct sctp_endpoint *ep, const struct path_addr *addr,
				  uint16_t remote_port, uint32_t mtu, uint64_t now)
{
	struct sctp *s = ep->s;
	struct sctp_assoc *a;

	if (s->table.assoc_count >= SCTP_ASSOCS_MAX ||
	    timerq_reserve(&s->timers, s->table.assoc_count + 1))
		return NULL;
	a = alloc_lines(sizeof(*a));
	if (!a)
		return NULL;
	a->s = s;
	a->ep = ep;
	a->remote_port = remote_port;
	a->setup.local_tie = sctp_assoc_new_tag(s);
	a->setup.peer_tie = sctp_assoc_new_tag(s);
	a->heard = now;
	sctp_recovery_init(a);
	sctp_timer_stop_all(a);
	list_init(&a->ready_node);
	list_init(&a->event_node);
	list_init(&a->asked_node);
	sctp_reasm_init(&a->rx.reasm);
	sctp_paths_init(a, addr, mtu);
	a->path->health.heard = now;
	if (s->table.assoc_count >= s->table.bucket_count)
		grow_buckets(s);
	ep->recent = NULL;
	list_add(bucket(s, ep, &addr->remote, remote_port), &a->hash_node);
	list_add_tail(&ep->assocs, &a->ep_node);
	s->table.assoc_count++;
	ep->assoc_count++;
	return a;
}

/* Frees the state of the modules. The association stays in ep->assocs and in the list of events. */
static void retire(struct sctp_assoc *a)
{
	a->state = SCTP_CLOSED;
	a->ep->recent = NULL;
	list_del(&a->hash_node);
	list_del(&a->ready_node);
	list_del(&a->asked_node);
	timerq_remove(&a->s->timers, &a->timers.node);
	a->ep->assoc_count--;
	a->pending = 0;
	a->want_pull = false;
	sctp_tx_reset(a);
	sctp_control_clear(a);
	sctp_rx_fini(a);
	sctp_paths_clear(a);
	sctp_handshake_drop_cookie(a);
	sctp_asconf_fini(a);
}

void sctp_assoc_free(struct sctp_assoc *a)
{
	if (list_linked(&a->hash_node))
		retire(a);
	if (a->s->gone == a)
		a->s->gone = NULL;
	list_del(&a->event_node);
	list_del(&a->ep_node);
	a->s->table.assoc_count--;
	free(a);
}

void sctp_assoc_event(struct sctp_assoc *a, enum sctp_event_type type)
{
	a->events |= 1u << type;
	if (!list_linked(&a->event_node))
		list_add_tail(&a->s->events, &a->event_node);
}

void sctp_assoc_event_cancel(struct sctp_assoc *a, enum sctp_event_type type)
{
	a->events &= ~(1u << type);
	if (!a->events)
		list_del(&a->event_node);
}

void sctp_assoc_end(struct sctp_assoc *a, int error)
{
	if (a->state == SCTP_CLOSED)
		return;
	retire(a);
	a->error = error;
	TRACE(assoc_ended, TRACE_NOW, .assoc = a->local_tag, .error = (uint64_t)-error);
	sctp_assoc_event(a, error ? SCTP_EVENT_LOST : SCTP_EVENT_CLOSED);
}

void sctp_assoc_ready(struct sctp_assoc *a)
{
	if (!list_linked(&a->ready_node) && a->state != SCTP_CLOSED)
		list_add_tail(&a->s->ready, &a->ready_node);
}

uint32_t sctp_assoc_rwnd(const struct sctp_assoc *a)
{
	/*
	 * The window protects the buffer of the socket, since DATA is copied to its final place as
	 * soon as it is read. A fifth of the buffer stays free for control chunks, retransmissions
	 * and probes, which no window limits. All associations share the rest equally, but each one
	 * may always send one packet.
	 */
	size_t share = a->ep->rcvbuf / 5 * 4 / (a->ep->assoc_count ? a->ep->assoc_count : 1);
	size_t floor = a->path->mtu.told_packet + SCTP_PACKET_OVERHEAD;

	if (share < floor)
		share = floor;
	if (share > UINT32_MAX / 2)
		share = UINT32_MAX / 2;
	return (uint32_t)(share > a->rx.reasm.bytes ? share - a->rx.reasm.bytes : 0);
}

void sctp_assoc_set_user(struct sctp_assoc *a, void *user)
{
	a->user = user;
}

void *sctp_assoc_user(const struct sctp_assoc *a)
{
	return a->user;
}

struct sctp_endpoint *sctp_assoc_endpoint(const struct sctp_assoc *a)
{
	return a->ep;
}

uint16_t sctp_assoc_remote_port(const struct sctp_assoc *a)
{
	return a->remote_port;
}

const struct ip_addr *sctp_assoc_told(const struct sctp_assoc *a, unsigned int *n)
{
	*n = a->locals.n;
	return a->locals.addr;
}

bool sctp_assoc_has_address(const struct sctp_assoc *a, const struct ip_addr *remote)
{
	unsigned int i;

	if (ip_addr_equal(remote,
			  /* even if the peer does not list this address at present */
			  &a->setup.named))
		return true;
	for (i = 0; i <= a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(a, i);

		if (!ip_addr_equal(&path->addr.remote, remote))
			continue;
		if (path->primary && path->confirmed)
			return true;
		return (path->confirmed || (path->known && a->state != SCTP_COOKIE_WAIT)) &&
		       path->health.errors <= SCTP_PATH_RETRANS;
	}
	return false;
}

bool sctp_assoc_is_between(const struct sctp_assoc *a, const struct path_addr *to)
{
	/* A peer with another stack treats an INIT from an announced address as a restart. */
	bool told = a->locals.n && sctp_assoc_is_up(a) && !a->receipts.agreed.version;
	const struct sctp_path *primary = sctp_paths_primary(a);

	return sctp_locals_is_pair(a, to) ||
	       (told && primary->confirmed && ip_addr_equal(&primary->addr.remote, &to->remote));
}

const struct path_addr *sctp_assoc_addr(const struct sctp_assoc *a)
{
	return &sctp_paths_primary(a)->addr;
}

bool sctp_assoc_is_initiator(const struct sctp_assoc *a)
{
	const struct sctp_handshake *h = &a->setup;

	/*
	 * If both sides sent an INIT, both sides must choose the same initiator, whichever packets
	 * were lost. So the larger tag decides: the tags differ, and both sides know both tags. The
	 * local side learns of the peer's INIT from the peer's COOKIE ECHO. An INIT ACK also shows
	 * the peer's INIT, by a parameter that only INITs need. Other stacks may omit this
	 * parameter. Their INIT must then have arrived here, with the peer's tag.
	 */
	if (h->role == SCTP_ROLE_CROSSED ||
	    (h->role == SCTP_ROLE_ACTIVE && h->collision_tag && h->collision_tag == a->peer_tag))
		return a->local_tag > a->peer_tag;
	return h->role == SCTP_ROLE_ACTIVE;
}

bool sctp_assoc_is_up(const struct sctp_assoc *a)
{
	return a->state >= SCTP_ESTABLISHED;
}

bool sctp_assoc_is_answered(const struct sctp_assoc *a)
{
	return a->state != SCTP_COOKIE_WAIT || a->setup.collision_tag || a->setup.doubt.error;
}

bool sctp_assoc_is_unreachable(const struct sctp_assoc *a)
{
	return a->setup.doubt.error && !a->setup.doubt.ask_at;
}

const char *sctp_assoc_reason(const struct sctp_assoc *a)
{
	return a->setup.reason;
}

unsigned int sctp_assoc_streams(const struct sctp_assoc *a)
{
	return a->in_streams < a->out_streams ? a->in_streams : a->out_streams;
}

bool sctp_assoc_is_drained(const struct sctp_assoc *a)
{
	return sctp_outq_count(&a->out) == 0;
}

uint32_t sctp_assoc_acked(const struct sctp_assoc *a)
{
	return a->out.cum + 1 - a->setup.init_tsn; /* each message is one chunk */
}

size_t sctp_assoc_max_msg(const struct sctp_assoc *a)
{
	return a->path->mtu.max_packet - WIRE_SCTP_COMMON_LEN - WIRE_SCTP_DATA_LEN;
}

void sctp_assoc_doorbell(struct sctp_assoc *a)
{
	a->want_pull = a->state != SCTP_CLOSED;
	sctp_assoc_ready(a);
}

void sctp_assoc_abort(struct sctp_assoc *a)
{
	if (a->state != SCTP_CLOSED)
		sctp_ootb_assoc(a, WIRE_SCTP_ABORT, WIRE_SCTP_CAUSE_USER_ABORT, NULL, 0);
	sctp_assoc_free(a);
}
