/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One destination address of the peer (RFC 9260 13.3): what is known of the way there, and whether
 * anybody is at its end. All times are ns. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_PATH_H
#define SCTPIW_SCTP_PATH_H

#include "sctp/cc.h"
#include "sctp/pmtu.h"
#include "sctp/recovery.h"
#include "sctp/rtt.h"
#include "sctp/sctp.h"
#include "wire/sctp_packet.h"

struct sctp_in;

/*
 * After a hint that the peer is gone, HEARTBEATs follow each other at this distance, so many of
 * them.
 */
#define SCTP_PROBE_INTERVAL (200 * NSEC_PER_MSEC)
#define SCTP_PROBE_TICKS 5u
#define SCTP_SILENT_PROBES 3u  /* HEARTBEATs that must be unanswered before silent_limit counts */
#define SCTP_HEARTBEAT_LEN 24u /* bytes of a HEARTBEAT of ours */

/* The path MTU (mtu.c). Packet lengths are bytes from the common header on, multiples of 4. */
struct sctp_path_mtu {
	struct sctp_pmtu search;
	uint32_t max_packet;	    /* the longest packet to send now */
	uint32_t told_packet;	    /* the longest packet that the interface takes */
	uint32_t overhead, longest; /* overhead and packet_max of struct sctp_config */
	bool wanted;		    /* a probe is to be sent */
	uint64_t due;		    /* when SCTP_TIMER_MTU is for this path, or TIME_NEVER */
	uint64_t nonce[2];	    /* of the probes of the present size */
	uint64_t sent;		    /* when the last probe left, or 0 */
	uint64_t answered;	    /* when the last probe, of any size, was answered */
	bool silent; /* no packet has arrived on the path yet, or since the last probe */
};

/* The HEARTBEAT in the air, and on a path that is not in use the next one (path.c, paths.c). */
struct sctp_path_hb {
	uint64_t nonce[2];
	uint64_t sent;	   /* 0: none is in the air */
	uint64_t since;	   /* when the first of those was sent that were not answered, if one is */
	uint64_t due;	   /* when SCTP_TIMER_PATHS is for this path, or TIME_NEVER */
	uint64_t answered; /* when that was sent which was last answered, or 0 */
	uint64_t judged;   /* when one was last counted as unanswered */
	bool wanted;	   /* one is to be sent; never set on the path in use */
};

/* Whether anybody is there (path.c). */
struct sctp_path_health {
	uint64_t heard;	     /* when the last valid packet came from there */
	uint64_t proof;	     /* when the peer last said that something had arrived on this path */
	unsigned int errors; /* timeouts of DATA and HEARTBEATs since something came back */
	unsigned int unanswered; /* HEARTBEATs since anything was heard */
	unsigned int ticks;	 /* SCTP_PROBE_INTERVALs left after a hint; 0: there was no hint */
};

/*
 * How long a path is left alone that has failed (paths.c): of the primary path, before it is used again; of others,
 * before they carry DATA beside it.
 */
struct sctp_path_rest {
	uint64_t hold;	   /* how long it was left alone last, ns; 0: it never was */
	uint64_t until;	   /* when that is over */
	uint64_t returned; /* when it was used again last, or 0 */
};

/* For sctp_assoc_inspect_paths(). */
struct sctp_path_counts {
	uint64_t bytes;	   /* of DATA chunks sent, also more than once */
	uint64_t packets;  /* with DATA sent */
	uint64_t lost;	   /* DATA chunks taken for lost */
	uint64_t received; /* packets with DATA that came */
};

struct sctp_path {
	uint8_t id; /* where it is in memory (sctp_path_by_id()) */
	struct path_addr addr;
	struct ip_addr source; /* ours that ops.source named last; zero: it was not asked */
	uint64_t local_heard;  /* when a valid packet came from there to addr.local */
	uint64_t local_data;   /* when such a packet had DATA */
	bool primary;	       /* carries DATA whenever it works */
	bool joined;	       /* carries DATA beside the path in use (spread.h) */
	bool usable;	       /* we are able to send there */
	bool confirmed;	       /* the peer is known to be there (RFC 9260 5.4) */
	bool known;	       /* an earlier association has shown that the peer has it (known.h) */
	uint64_t learnt;       /* when known.h was last told of it */
	uint32_t flight;       /* bytes of chunks sent, not acknowledged in any way, not lost */
	uint64_t last_data;    /* when DATA was sent last */
	struct sctp_rtt rtt;
	struct sctp_cc cc;
	struct sctp_path_recovery recovery;
	struct sctp_path_mtu mtu;
	struct sctp_path_hb hb;
	struct sctp_path_health health;
	struct sctp_path_rest rest;
	struct sctp_path_counts counts;
};

/*
 * A path to that address, not yet confirmed. mtu: what the interface takes, bytes of whole IP
 * packets.
 */
void sctp_path_init(struct sctp_path *path, const struct sctp_config *config,
		    const struct path_addr *addr, uint32_t mtu);
/*
 * A valid packet came for in->a: learns our address and the peer's UDP port from it, when it came
 * on a known path, and ends any doubt whether the peer is there.
 */
void sctp_path_heard(struct sctp_in *in);
/* The packet had DATA: learns our address from it. */
void sctp_path_data(struct sctp_in *in);
/*
 * A packet sent on the path has arrived, by whatever path the answer came: DATA, a HEARTBEAT, or
 * the COOKIE ECHO to a peer that the user has named.
 */
void sctp_path_works(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* SCTP_TIMER_HEARTBEAT has expired. Fails over, or ends the association, when nobody answers. */
void sctp_path_timeout(struct sctp_assoc *a, uint64_t now);
/* The path in use begins to carry the association: watches it from now on. */
void sctp_path_start(struct sctp_assoc *a, uint64_t now);
/*
 * Writes a HEARTBEAT of SCTP_HEARTBEAT_LEN bytes with a new nonce for the path, and returns that
 * length.
 */
size_t sctp_path_heartbeat_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p,
			       uint64_t now);
/* Writes a HEARTBEAT with the given nonce and changes nothing else. */
void sctp_path_heartbeat_chunk(uint8_t *p, const uint64_t nonce[2]);
/*
 * The association one of whose packets to that address an ICMP error quotes (RFC 9260 10): len
 * bytes from the common header on, in network order. NULL: the quotation is of no packet of ours, or
 * too short to tell.
 */
struct sctp_assoc *sctp_path_quoted(struct sctp_endpoint *ep, const struct path_addr *to,
				    const uint8_t *quoted, size_t len);
/* A HEARTBEAT came: has it answered (RFC 9260 8.3). */
void sctp_path_heartbeat(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* A HEARTBEAT ACK came: if it answers one of ours, the path works, and its round trip is known. */
void sctp_path_heartbeat_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * Whether nobody has confirmed the path in use, since those that were are gone. Nothing but HEARTBEATs goes there then
 * (F1).
 */
bool sctp_path_in_doubt(const struct sctp_assoc *a);
/* A HEARTBEAT was answered on the path in use, which was in doubt. */
void sctp_path_confirm(struct sctp_assoc *a, uint64_t now);

#endif
