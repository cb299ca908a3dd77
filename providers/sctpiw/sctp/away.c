/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/away.h"

#include "sctp/control.h"
#include "sctp/input.h"
#include "sctp/trace.h"
#include "wire/sctp_away.h"

/* True if packets on the path can no longer be sent from their present source address. */
static bool has_lost_way(const struct sctp_assoc *a, const struct sctp_path *path)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	struct ip_addr now;

	if (!ops->source(a->ep->ctx, &path->addr.remote, &now))
		return true;
	return ip_addr_equal(&path->source, &path->addr.local) &&
	       !ip_addr_equal(&now, &path->source);
}

void sctp_away_readdress(struct sctp_assoc *a)
{
	uint8_t chunk[WIRE_SCTP_AWAY_MAX], *room;
	unsigned int i;
	size_t len;

	if (!a->receipts.agreed.version || !a->paths.others || !a->locals.n || !a->s->ops.source ||
	    !sctp_in_states(a, SCTP_STATES_UP))
		return;
	for (i = 0; i <= a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(a, i);

		if (!path->usable || !path->confirmed || ip_addr_is_zero(&path->addr.local) ||
		    !sctp_locals_has(a, &path->addr.local) || !has_lost_way(a, path))
			continue;
		len = wire_sctp_away_put(chunk, &path->addr.local);
		room = sctp_control_room(a, len);
		if (room)
			memcpy(room, chunk, len);
	}
}

void sctp_away_input(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	struct sctp_path *path;
	struct ip_addr addr;

	if (!wire_sctp_away_get(c, &addr))
		return;
	path = sctp_paths_find(a, &addr);
	/* Ignore a report that a packet from the address disproves, or about a failed path. */
	if (!path || path == in->path || !in->path || !in->path->confirmed || !path->confirmed ||
	    path->health.errors)
		return;
	path->health.errors++;
	TRACE(path_failed, in->now, .assoc = a->local_tag, .remote = &addr,
	      .errors = path->health.errors);
	sctp_paths_failed(a, path, in->now);
}
