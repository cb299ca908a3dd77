/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The peer's addresses. One of them carries all DATA (RFC 9260 5.4, 6.4, 8.2), unless DATA is
 * spread over several (spread.h). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_PATHS_H
#define SCTPIW_SCTP_PATHS_H

#include "sctp/cookie.h"
#include "sctp/path.h"
#include "util/list.h"

#define SCTP_PATHS_MAX (1 + SCTP_COOKIE_ALTS) /* maximum of a peer's addresses */
#define SCTP_PATH_RETRANS 5u		      /* Path.Max.Retrans */

/*
 * A path keeps its place in memory when another one takes over: sctp_assoc.path and other[]
 * exchange pointers. In calls, index 0 is the path in use, and index i is other[i - 1].
 */
struct sctp_paths {
	struct list_node node;	  /* in sctp_endpoint.multihomed; linked once there are others */
	struct sctp_path first;	  /* usually the only one */
	struct sctp_path *listed; /* memory of SCTP_PATHS_MAX - 1 further paths, or NULL */
	struct sctp_path *other[SCTP_PATHS_MAX - 1]; /* the paths not in use */
	unsigned int others;			     /* number of entries of other[] */
	unsigned int joined;			     /* number of them with `joined` set */
	/* No new DATA leaves until nothing is in flight; then the primary path is used. */
	bool returning_to_primary;
	uint64_t asked;		 /* time of the first sctp_paths_ask() for the present probes */
	unsigned int echo_index; /* index of the path for INIT or COOKIE ECHO */
	/* Path that brought the DATA to acknowledge; NULL: the path in use. */
	struct sctp_path *sack_path;
};

/* Starts with one path, which is primary and confirmed. The struct must be zeroed. */
void sctp_paths_init(struct sctp_assoc *a, const struct path_addr *addr, uint32_t mtu);
/* Starts again after a restart of the peer: drops all paths, and sets up this new one. */
void sctp_paths_restart(struct sctp_assoc *a, const struct path_addr *addr);
/*
 * Replaces the other paths by n addresses that the peer listed, and the address that sent the list.
 * Skips the address of the path in use. If the list came from an address that got an INIT due to
 * sctp_paths_begin(), the association is set up there.
 */
void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n, uint64_t now);
/* A HEARTBEAT was answered on the path: stores in known.h which addresses belong together. */
void sctp_paths_learn(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Forgets the address of a path, which the peer reports as lost. */
void sctp_paths_forget(struct sctp_assoc *a, const struct sctp_path *path);
/* Marks the paths that earlier associations have proved to be the peer's. */
void sctp_paths_recall(struct sctp_assoc *a, uint64_t now);
/* The INIT of a new association may go to further known addresses of the peer (known.h). */
void sctp_paths_begin(struct sctp_assoc *a, uint64_t now);
/*
 * True if an INIT may go there: to the address that the user has named, or to a known one. An INIT
 * would restart an existing association, so it must not go to the address of one.
 */
bool sctp_paths_may_init(const struct sctp_assoc *a, const struct sctp_path *path);
/* True if the user, who opened the association, has named the path's address. */
bool sctp_paths_is_named(const struct sctp_assoc *a, const struct sctp_path *path);
/* Forgets all paths but the one in use. */
void sctp_paths_clear(struct sctp_assoc *a);
/*
 * Returns the type for Supported Address Types (RFC 9260 3.3.2.1): the family of the path in use.
 * Addresses of another family would not be used.
 */
uint16_t sctp_paths_type(const struct sctp_assoc *a);
/* Returns the path to that address, or NULL. */
struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote);
const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a);
/*
 * Adds an address that the peer claims (RFC 5061 5.3 F14): addr->remote, in UDP at addr->udp_port,
 * which is the source port of the claim. The path gets a HEARTBEAT at ask_at. Returns 0, also if
 * there is such a path. Returns -EADDRNOTAVAIL if this host cannot send there, and -ENOSPC if the
 * peer has too many addresses.
 */
int sctp_paths_add(struct sctp_assoc *a, const struct path_addr *addr, uint64_t ask_at);
/*
 * Removes a path whose address the peer reports as lost, and which is not the last (F13). If it was
 * in use, another path takes over, and outstanding DATA is lost. The successor is a working path,
 * else the path to the address heir, else any.
 */
void sctp_paths_remove(struct sctp_assoc *a, struct sctp_path *path, const struct ip_addr *heir,
		       uint64_t now);
/* Called when the association comes up: sends HEARTBEATs to the unconfirmed paths, one by one. */
void sctp_paths_start(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_PATHS has expired. */
void sctp_paths_timeout(struct sctp_assoc *a, uint64_t now);
/* A HEARTBEAT was answered on a path that is not in use. */
void sctp_paths_answered(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * The path in use has failed: another working path carries DATA from now on, and outstanding DATA
 * is lost. Returns false if there is none.
 */
bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now);
/*
 * DATA on the path was not answered, and a tail-loss probe follows: sends HEARTBEATs to the other
 * working paths. A peer that is merely busy answers on none of them.
 */
void sctp_paths_ask(struct sctp_assoc *a, const struct sctp_path *silent, uint64_t now);
/*
 * The probe was not answered either. If the path is in use, and another path has answered since,
 * that path takes over, as after a failure. A path that has not failed will answer, and is used
 * again. A joined path leaves its DATA to the path in use, if that has no errors. Returns true if
 * DATA has moved.
 */
bool sctp_paths_suspect(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* The path has failed, and its errors are counted: another working path, if any, takes over. */
void sctp_paths_failed(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* True if packets may go there: the peer is there, and this host has a route. */
bool sctp_paths_works(struct sctp_assoc *a, struct sctp_path *path);
/* Lets a working path carry DATA besides the path in use. */
void sctp_paths_join(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Ends new DATA on a joined path. Its DATA in flight stays there, and keeps its timers. */
void sctp_paths_part(struct sctp_assoc *a, struct sctp_path *path);
/*
 * Local addresses or routes have changed: chooses the source addresses again. A path in use without
 * a route has failed. Other failed paths get a HEARTBEAT.
 */
void sctp_paths_readdress(struct sctp_assoc *a, uint64_t now);
/*
 * The source address of the path in use has changed. Packets under way, or their answers, may be
 * lost, and are sent again.
 */
void sctp_paths_uprooted(struct sctp_assoc *a, uint64_t now);
/* Starts T3 of the path in use for lost chunks, if it does not run. */
void sctp_paths_await_lost(struct sctp_assoc *a, uint64_t now);
/* Makes the path the primary one, which is used once it works and nothing is in flight. */
void sctp_paths_prefer(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Returns to the primary path, if that is wanted and nothing is in flight. */
void sctp_paths_settle(struct sctp_assoc *a, uint64_t now);
/*
 * Writes a packet that does not go with the others on the path in use, without its checksum. It may
 * be an INIT, COOKIE ECHO, HEARTBEAT or SACK to another path; an ASCONF; or a HEARTBEAT to a path
 * in use that is in doubt. Returns the length in bytes, at most room, and sets *to. Returns 0 if
 * there is none.
 */
size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to);

#endif
