/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The choice of the primary path by the peer (RFC 5061 5.4) or by the user. */
#include "sctp/assoc.h"
#include "sctp/paths.h"
#include "sctp/sctp.h"

void sctp_paths_prefer(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	for (unsigned int i = 0; i <= a->paths.others; i++)
		sctp_path_at(a, i)->primary = false;
	path->primary = true;
	path->rest = (struct sctp_path_rest){ 0 };
	a->paths.returning_to_primary = path != a->path && path->confirmed && !path->health.errors;
	sctp_paths_settle(a, now);
}

/* Returns the path between two addresses, or NULL. A local address of zero matches any. */
static struct sctp_path *find(struct sctp_assoc *a, const struct path_addr *to)
{
	struct sctp_path *path = sctp_paths_find(a, &to->remote);

	return path && (ip_addr_is_zero(&to->local) ||
			ip_addr_equal(&path->addr.local, &to->local)) ?
		       path :
		       NULL;
}

enum sctp_path_use sctp_assoc_path_use(struct sctp_assoc *a, const struct path_addr *to)
{
	struct sctp_path *path = find(a, to);

	if (!path)
		return SCTP_PATH_NONE;
	if (path == a->path)
		return SCTP_PATH_IN_USE;
	return !path->health.errors && sctp_paths_works(a, path) ? SCTP_PATH_STANDBY :
								   SCTP_PATH_NONE;
}

void sctp_assoc_prefer(struct sctp_assoc *a, const struct path_addr *to, uint64_t now)
{
	struct sctp_path *path = find(a, to);

	if (path && path->usable)
		sctp_paths_prefer(a, path, now);
}
