/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The peer's addresses, one of which carries all DATA (RFC 9260 5.4, 6.4, 8.2), unless it is spread over several
 * (spread.h). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_PATHS_H
#define SCTPIW_SCTP_PATHS_H

#include "sctp/cookie.h"
#include "sctp/path.h"
#include "util/list.h"

#define SCTP_PATHS_MAX (1 + SCTP_COOKIE_ALTS) /* addresses of a peer */
#define SCTP_PATH_RETRANS 5u		      /* Path.Max.Retrans */

/*
 * A path stays where it is in memory while another one takes over: sctp_assoc.path and other[]
 * exchange pointers. In calls, index 0 means the path in use and index i means other[i - 1].
 */
struct sctp_paths {
	struct list_node node; /* in sctp_endpoint.multihomed; linked if there are others, or were */
	struct sctp_path first;	  /* the only one, mostly */
	struct sctp_path *listed; /* memory of those besides it, SCTP_PATHS_MAX - 1, or NULL */
	struct sctp_path *other[SCTP_PATHS_MAX - 1]; /* the paths that are not in use */
	unsigned int others;			     /* how many */
	unsigned int joined;			     /* how many of them have `joined` set */
	/* no new DATA until nothing is in flight, then the primary path is used */
	bool returning_to_primary;
	uint64_t asked; /* when sctp_paths_ask() first asked about the tail-loss probes of now */
	unsigned int echo_index; /* path that the INIT or COOKIE ECHO goes to, as an index */
	/* brought the DATA to acknowledge; NULL: the path in use did */
	struct sctp_path *sack_path;
};

/* Begins with one path, which is primary and confirmed. The struct is zeroed memory before. */
void sctp_paths_init(struct sctp_assoc *a, const struct path_addr *addr, uint32_t mtu);
/* Begins again after the peer has restarted: all paths are forgotten, and this one is as new. */
void sctp_paths_restart(struct sctp_assoc *a, const struct path_addr *addr);
/*
 * Takes over, from n addresses that the peer listed and the one that it said so from, those that
 * are not that of the path in use. What was known of other paths is forgotten. If that one is an
 * address which INITs went to because of sctp_paths_begin(), the association is set up there.
 */
void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n, uint64_t now);
/* A HEARTBEAT was answered on the path: tells known.h which addresses belong together. */
void sctp_paths_learn(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* The peer says that it has lost the address. */
void sctp_paths_forget(struct sctp_assoc *a, const struct sctp_path *path);
/* Marks those paths that earlier associations have shown to be the peer's. */
void sctp_paths_recall(struct sctp_assoc *a, uint64_t now);
/* An association begins. Its INIT may go to other addresses as well that the peer is known to have (known.h). */
void sctp_paths_begin(struct sctp_assoc *a, uint64_t now);
/*
 * Whether an INIT may go there: to the address that the user has named, or to one of those. An association that is there
 * already would be restarted by it.
 */
bool sctp_paths_may_init(const struct sctp_assoc *a, const struct sctp_path *path);
/* Whether the user has named the address of the path, who opened the association, and not the peer alone. */
bool sctp_paths_is_named(const struct sctp_assoc *a, const struct sctp_path *path);
/* Forgets all paths but that in use. */
void sctp_paths_clear(struct sctp_assoc *a);
/*
 * The type to list in Supported Address Types (RFC 9260 3.3.2.1): an address of another family than
 * that of the path in use would not be used.
 */
uint16_t sctp_paths_type(const struct sctp_assoc *a);
/* The path of that address, or NULL. */
struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote);
const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a);
/*
 * The peer says that it has the address addr->remote, too, in UDP at addr->udp_port, where the packet that says so came
 * from (RFC 5061 5.3 F14). The path is asked at ask_at whether it works. Nothing changes if it is there already.
 * -EADDRNOTAVAIL: we are not able to send there; -ENOSPC: the peer has too many addresses.
 */
int sctp_paths_add(struct sctp_assoc *a, const struct path_addr *addr, uint64_t ask_at);
/*
 * The peer says that it has lost the address of a path, which is not the last one (F13). If it was in use, another one
 * takes over, and what was outstanding is lost: one that works, or else that of the address heir, or any.
 */
void sctp_paths_remove(struct sctp_assoc *a, struct sctp_path *path, const struct ip_addr *heir,
		       uint64_t now);
/* The association is up: asks the unconfirmed paths, one after the other. */
void sctp_paths_start(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_PATHS has expired. */
void sctp_paths_timeout(struct sctp_assoc *a, uint64_t now);
/* A HEARTBEAT was answered on a path that is not in use. */
void sctp_paths_answered(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * The path in use has failed: from now on another one that works carries DATA, and what was
 * outstanding is lost. Returns false when there is no other.
 */
bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now);
/*
 * DATA on the path has not been answered, and a tail-loss probe follows: asks the other paths that work. If the
 * peer is busy, it answers nowhere.
 */
void sctp_paths_ask(struct sctp_assoc *a, const struct sctp_path *silent, uint64_t now);
/*
 * The probe has not been answered either. If it was sent on the path in use, and another one has answered since, that
 * one is used from now on, as if this one had failed: if it has not, it will answer, and is used again. A path that
 * carries DATA beside the one in use leaves it to that one, if that has no errors. Returns whether so.
 */
bool sctp_paths_suspect(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * T3 of the path has expired, and its errors are counted: another one takes over what it carries, if there is one
 * that works.
 */
void sctp_paths_failed(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Whether packets may go there: the peer is there, and we have a way. */
bool sctp_paths_works(struct sctp_assoc *a, struct sctp_path *path);
/* A path that works carries DATA beside that in use from now on. */
void sctp_paths_join(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* It carries no new DATA any more. What is in flight on it stays there, and has its timers. */
void sctp_paths_part(struct sctp_assoc *a, struct sctp_path *path);
/*
 * Our addresses or routes have changed: chooses anew where packets leave from. A path in use that has no way any more
 * has failed; others are asked whether they work.
 */
void sctp_paths_readdress(struct sctp_assoc *a, uint64_t now);
/*
 * Packets on the path in use leave from another address of ours now. What is under way may be lost, and its answers
 * with it: it is sent again.
 */
void sctp_paths_uprooted(struct sctp_assoc *a, uint64_t now);
/* What is lost leaves on the path in use, or its T3 expires. */
void sctp_paths_await_lost(struct sctp_assoc *a, uint64_t now);
/* The path is the primary one from now on, which is used when it works, and nothing is in flight. */
void sctp_paths_prefer(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Goes back to the primary path if that is wanted and nothing is in flight. */
void sctp_paths_settle(struct sctp_assoc *a, uint64_t now);
/*
 * Writes a packet, without its checksum, that does not go the way of the others: to another path than that in use an
 * INIT, a COOKIE ECHO, a HEARTBEAT, or a SACK for what came from there; an ASCONF; a HEARTBEAT to a path in use that is in
 * doubt. Returns its length in bytes, at most room, and its destination; 0 when there is none.
 */
size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to);

#endif
