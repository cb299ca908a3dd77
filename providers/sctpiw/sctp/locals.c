/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/locals.h"

#include "sctp/assoc.h"
#include "util/crc32c.h"

void sctp_locals_ask(const struct sctp_endpoint *ep, const struct path_addr *to,
		     struct sctp_locals *l)
{
	const struct sctp_user_ops *ops = &ep->s->ops;

	l->n = ops->addresses ? ops->addresses(ep->ctx, to, l->addr, SCTP_LOCALS_MAX - 1) : 0;
	/* Include to->local: if both sides send an INIT, the INIT ACK may leave from elsewhere. */
	if (l->n && !ip_addr_is_zero(&to->local))
		l->addr[l->n++] = to->local;
}

uint32_t sctp_locals_digest(const struct sctp_locals *l)
{
	uint32_t crc = UINT32_MAX;
	unsigned int i;

	for (i = 0; i < l->n; i++)
		crc = crc32c_add(crc, l->addr[i].b, sizeof(l->addr[i].b));
	return l->n ? crc : 0;
}

void sctp_locals_tell(const struct sctp_locals *l, struct wire_sctp_init *init)
{
	init->addrs = l->n;
	memcpy(init->addr, l->addr, l->n * sizeof(l->addr[0]));
}

bool sctp_locals_has(const struct sctp_assoc *a, const struct ip_addr *local)
{
	return ip_addr_is_in(local, a->locals.addr, a->locals.n) ||
	       ip_addr_equal(&a->setup.local, local);
}

/*
 * Gets the source address for the path from the user. Returns false if there is no route. *changed:
 * the address differs from the last result.
 */
static bool ask_source(struct sctp_assoc *a, struct sctp_path *path, bool *changed)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	struct ip_addr source = path->source;

	*changed = false;
	if (!a->locals.n || !ops->source)
		return true;
	if (!ops->source(a->ep->ctx, &path->addr.remote, &source))
		return false;
	*changed = !ip_addr_equal(&source, &path->source);
	path->source = source;
	return true;
}

bool sctp_locals_has_way(const struct sctp_assoc *a, const struct sctp_path *path)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	struct ip_addr local;

	return !a->locals.n || !ops->source || ops->source(a->ep->ctx, &path->addr.remote, &local);
}

bool sctp_locals_is_ours(const struct sctp_assoc *a, const struct ip_addr *local)
{
	const struct sctp_user_ops *ops = &a->s->ops;

	return !ops->is_own || ip_addr_is_zero(local) || ops->is_own(a->ep->ctx, local);
}

void sctp_locals_changed(struct sctp_assoc *a, const struct sctp_path *path)
{
	if (path == a->path && sctp_assoc_is_up(a))
		sctp_assoc_event(a, SCTP_EVENT_PATH);
}

bool sctp_locals_choose(struct sctp_assoc *a, struct sctp_path *path)
{
	const struct ip_addr before = path->addr.local;
	bool changed, way = ask_source(a, path, &changed);

	/*
	 * If the result has not changed, keep the address that packets of the peer go to. The peer
	 * knows better which local addresses it reaches.
	 */
	if (changed && sctp_locals_has(a, &path->source)) {
		path->addr.local = path->source;
	} else if (changed) {
		/* Forget the result. Once the peer knows the address, it counts as a change. */
		path->addr.local = a->setup.local;
		path->source = (struct ip_addr){ 0 };
	}
	if (!ip_addr_equal(&before, &path->addr.local)) {
		/* packets take another way through the network (7.2.5.2) */
		sctp_cc_init(&path->cc, path->cc.pmdcs, path->cc.v4);
		sctp_locals_changed(a, path);
	}
	return way && (!a->locals.n || sctp_locals_is_ours(a, &path->addr.local));
}

void sctp_locals_begin(struct sctp_assoc *a)
{
	bool changed;

	if (ip_addr_is_zero(&a->setup.local))
		a->setup.local = a->path->addr.local;
	ask_source(a, a->path, &changed);
}

const struct ip_addr *sctp_locals_of(const struct sctp_assoc *a, const struct sctp_path *path)
{
	return path->primary && !ip_addr_is_zero(&a->setup.local) ? &a->setup.local :
								    &path->addr.local;
}

bool sctp_locals_is_pair(const struct sctp_assoc *a, const struct path_addr *addr)
{
	const struct sctp_path *primary = sctp_paths_primary(a);
	const struct path_addr pair = { .local = *sctp_locals_of(a, primary) };

	/* The peer may have made an address of another host its primary address (RFC 5061 5.4). */
	return primary->confirmed && ip_addr_equal(&primary->addr.remote, &addr->remote) &&
	       path_addr_locality(&pair, addr);
}

/* True if the local INIT is also sent between these addresses, known to be the peer's. */
static bool is_asked(const struct sctp_assoc *a, const struct path_addr *from)
{
	unsigned int i;

	for (i = 0; i < a->paths.others; i++)
		if (ip_addr_equal(&a->paths.other[i]->addr.remote, &from->remote))
			return sctp_paths_may_init(a, a->paths.other[i]) &&
			       path_addr_locality(&a->paths.other[i]->addr, from);
	return false;
}

bool sctp_locals_is_another(const struct sctp_assoc *a, const struct path_addr *from,
			    const struct wire_sctp_receipts *receipts)
{
	return receipts->version && !sctp_locals_is_pair(a, from) && !is_asked(a, from);
}
