/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lookup of paths by address, and the exchange of confirmed addresses with known.c. */
#include "sctp/assoc.h"
#include "sctp/paths.h"

/* Minimum time until the address of a path is stored as known again. */
#define LEARN_INTERVAL (60 * NSEC_PER_SEC)

struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		if (ip_addr_equal(&sctp_path_at(a, i)->addr.remote, remote))
			return sctp_path_at(a, i);
	return NULL;
}

const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a)
{
	unsigned int i;

	for (i = 0; !a->path->primary && i < a->paths.others; i++)
		if (a->paths.other[i]->primary)
			return a->paths.other[i];
	return a->path;
}

/* True if the peer has answered a HEARTBEAT on the path, and the path has not failed since. */
static bool is_shown(const struct sctp_path *path)
{
	return path->confirmed && !path->health.errors && (path->hb.answered || path->mtu.answered);
}

void sctp_paths_learn(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	struct ip_addr shown[SCTP_KNOWN_ADDRS];
	unsigned int i, n = 0;

	if (path->learnt && now - path->learnt < LEARN_INTERVAL)
		return;
	for (i = 0; i <= a->paths.others; i++)
		if (is_shown(sctp_path_at(a, i)))
			shown[n++] = sctp_path_at(a, i)->addr.remote;
	if (n < 2)
		return;
	path->learnt = now;
	sctp_known_learn(&a->s->known, shown, n, now);
}

void sctp_paths_forget(struct sctp_assoc *a, const struct sctp_path *path)
{
	if (path->confirmed)
		sctp_known_forget(&a->s->known, &path->addr.remote);
	if (sctp_paths_is_named(a, path))
		a->setup.named = (struct ip_addr){ 0 };
}

void sctp_paths_recall(struct sctp_assoc *a, uint64_t now)
{
	struct ip_addr other[SCTP_KNOWN_ADDRS];
	unsigned int n = sctp_known_others(&a->s->known, &a->path->addr.remote, now, other);

	while (n--) {
		struct sctp_path *path = sctp_paths_find(a, &other[n]);

		if (path)
			path->known = true;
	}
}

void sctp_paths_begin(struct sctp_assoc *a, uint64_t now)
{
	struct ip_addr other[SCTP_KNOWN_ADDRS];
	unsigned int n = sctp_known_others(&a->s->known, &a->path->addr.remote, now, other);

	if (n)
		sctp_paths_set(a, &a->path->addr, other, n, now);
}

bool sctp_paths_is_named(const struct sctp_assoc *a, const struct sctp_path *path)
{
	return ip_addr_equal(&path->addr.remote, &a->setup.named);
}

bool sctp_paths_may_init(const struct sctp_assoc *a, const struct sctp_path *path)
{
	return path == a->path || (a->state == SCTP_COOKIE_WAIT && path->known &&
				   !sctp_assoc_has_rival(a, &path->addr.remote));
}
