/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The paths of an association, one for each address of the peer. One path carries all DATA (RFC
 * 9260 5.4, 6.4, 8.2), unless DATA is spread over several paths (spread.h). Guarded by the caller's
 * lock.
 */
#ifndef SCTPIW_SCTP_PATHS_H
#define SCTPIW_SCTP_PATHS_H

#include "sctp/cookie.h"
#include "sctp/path.h"
#include "util/list.h"

#define SCTP_PATHS_MAX (1 + SCTP_COOKIE_ALTS) /* maximum number of a peer's addresses */
#define SCTP_PATH_RETRANS 5u		      /* Path.Max.Retrans */

/*
 * All paths of an association. A path keeps its place in memory when another path comes into use:
 * only the pointers sctp_assoc.path and other[] are exchanged. Functions with an index mean the
 * path in use by 0, and other[i - 1] by i.
 */
struct sctp_paths {
	/* in sctp_endpoint.multihomed; linked once there are other paths */
	struct list_node node;
	struct sctp_path first;	  /* often the only path */
	struct sctp_path *listed; /* memory of SCTP_PATHS_MAX - 1 further paths, or NULL */
	struct sctp_path *other[SCTP_PATHS_MAX - 1]; /* the paths not in use */
	unsigned int others;			     /* length of other[] */
	/* number of paths in other[] with `joined` set */
	unsigned int joined;
	/* No new DATA leaves until no DATA is in flight. The primary path is used after that. */
	bool returning_to_primary;
	/* time of the first sctp_paths_ask() for the present tail-loss probes */
	uint64_t asked;
	unsigned int echo_index; /* index of the path for INIT or COOKIE ECHO */
	/* Path on which the DATA came that the next SACK acknowledges; NULL: the path in use. */
	struct sctp_path *sack_path;
};

/* Initialises the paths with one path, which is primary and confirmed. a->paths must be zeroed. */
void sctp_paths_init(struct sctp_assoc *a, const struct path_addr *addr, uint32_t mtu);
/* Called after a restart of the peer: drops all paths, and begins with one new path. */
void sctp_paths_restart(struct sctp_assoc *a, const struct path_addr *addr);
/*
 * Replaces all paths but the one in use. The new paths are the n addresses that the peer listed,
 * and `from`, the source of the list. The list may have come from an address that got an INIT due
 * to sctp_paths_begin(). The association is then set up with that address.
 */
void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n, uint64_t now);
/* Called when a HEARTBEAT was answered on the path: stores the peer's addresses (known.h). */
void sctp_paths_learn(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Removes the address of the path, which the peer has lost, from the known ones (known.h). */
void sctp_paths_forget(struct sctp_assoc *a, const struct sctp_path *path);
/* Marks the paths that earlier associations have proved to be the peer's. */
void sctp_paths_recall(struct sctp_assoc *a, uint64_t now);
/* Adds the other known addresses of the peer (known.h) as paths for the first INIT. */
void sctp_paths_begin(struct sctp_assoc *a, uint64_t now);
/*
 * True if an INIT may be sent to the path's address: the user has named it, or it is a known
 * address of the peer. An INIT to the address of an existing association would restart that
 * association, so such an address is excluded.
 */
bool sctp_paths_may_init(const struct sctp_assoc *a, const struct sctp_path *path);
/* True if the user, who opened the association, has named the path's address. */
bool sctp_paths_is_named(const struct sctp_assoc *a, const struct sctp_path *path);
/* Removes all paths but the one in use. */
void sctp_paths_clear(struct sctp_assoc *a);
/*
 * Returns the value for Supported Address Types (RFC 9260 3.3.2.1): the address family of the path
 * in use. Addresses of the other family would not be used.
 */
uint16_t sctp_paths_type(const struct sctp_assoc *a);
/* Returns the path to that address, or NULL. */
struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote);
const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a);
/*
 * Adds an address that the peer claims (RFC 5061 5.3 F14). addr->remote is the address;
 * addr->udp_port is the UDP source port of the packet with the claim. The path gets a HEARTBEAT at
 * ask_at. Returns 0, also if the path exists already. Returns -EADDRNOTAVAIL if this host cannot
 * send to the address, and -ENOSPC if the peer has too many addresses.
 */
int sctp_paths_add(struct sctp_assoc *a, const struct path_addr *addr, uint64_t ask_at);
/*
 * Removes a path whose address the peer reports as lost (F13). It must not be the last usable path.
 * If the path was in use, another path takes over, and outstanding DATA counts as lost. The
 * successor is a working path, else the path to the address heir, else any usable path.
 */
void sctp_paths_remove(struct sctp_assoc *a, struct sctp_path *path, const struct ip_addr *heir,
		       uint64_t now);
/* Called when the association comes up: sends HEARTBEATs to the unconfirmed paths, one by one. */
void sctp_paths_start(struct sctp_assoc *a, uint64_t now);
/* Called when SCTP_TIMER_PATHS has expired. */
void sctp_paths_timeout(struct sctp_assoc *a, uint64_t now);
/* Called when a HEARTBEAT was answered on a path that is not in use. */
void sctp_paths_answered(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * Called when the path in use has failed. Another working path carries DATA from now on, and
 * outstanding DATA counts as lost. Returns false if no other path works.
 */
bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now);
/*
 * Called when DATA on the path `silent` was not acknowledged in time, and a tail-loss probe
 * follows. Sends HEARTBEATs to the other working paths. A peer that is merely busy answers none of
 * them.
 */
void sctp_paths_ask(struct sctp_assoc *a, const struct sctp_path *silent, uint64_t now);
/*
 * Called when the tail-loss probe was not acknowledged either. If the path is in use, and another
 * path has answered in the meantime, the other path takes over, as after a failure. If the path has
 * not really failed, it answers later, and is used again. A joined path leaves its DATA to the path
 * in use, if that path has no errors. Returns true if DATA has moved to another path.
 */
bool sctp_paths_suspect(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * Called when the path has failed, after its errors were counted. Another working path, if there is
 * one, takes over.
 */
void sctp_paths_failed(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* True if packets may be sent on the path: its address is confirmed, and this host has a route. */
bool sctp_paths_works(struct sctp_assoc *a, struct sctp_path *path);
/* Lets a working path carry DATA besides the path in use. */
void sctp_paths_join(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Sends no new DATA on a joined path any more. Its DATA in flight stays, and keeps its timers. */
void sctp_paths_part(struct sctp_assoc *a, struct sctp_path *path);
/*
 * Called after a change of local addresses or routes: chooses the source addresses again. A path in
 * use without a route counts as failed. Other failed paths get a HEARTBEAT.
 */
void sctp_paths_readdress(struct sctp_assoc *a, uint64_t now);
/*
 * Called when the source address of the path in use has changed. Packets under way, or their
 * acknowledgements, may be lost, so they are sent again.
 */
void sctp_paths_uprooted(struct sctp_assoc *a, uint64_t now);
/* Starts T3 of the path in use, if chunks are lost and T3 does not run. */
void sctp_paths_await_lost(struct sctp_assoc *a, uint64_t now);
/* Makes the path the primary path. It is used once it works and no DATA is in flight. */
void sctp_paths_prefer(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Uses the primary path again, if this was decided earlier and no DATA is in flight. */
void sctp_paths_settle(struct sctp_assoc *a, uint64_t now);
/*
 * Writes a packet that cannot be combined with the packets of the path in use, without its
 * checksum. The packet may be an INIT, COOKIE ECHO, HEARTBEAT or SACK on another path, or an
 * ASCONF. It may also be a HEARTBEAT on a path in use that is in doubt. Returns the length in
 * bytes, at most room, and sets *to. Returns 0 if no such packet is due.
 */
size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to);

#endif
