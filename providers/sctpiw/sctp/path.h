/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One destination address of the peer (RFC 9260 13.3): the properties of the path to that address,
 * and the evidence that the peer answers there. All times are ns. Guarded by the caller's lock.
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

/* Interval and number of the HEARTBEATs after an ICMP error: the peer may be gone. */
#define SCTP_PROBE_INTERVAL (200 * NSEC_PER_MSEC)
#define SCTP_PROBE_TICKS 5u
/* HEARTBEATs that must be unanswered before silent_limit can end the association */
#define SCTP_SILENT_PROBES 3u
#define SCTP_HEARTBEAT_LEN 24u /* bytes of a local HEARTBEAT */

/* The path MTU (mtu.c). Packet lengths are bytes with the common header, and multiples of 4. */
struct sctp_path_mtu {
	struct sctp_pmtu search;
	uint32_t max_packet;	    /* length of the longest packet that may be sent now */
	uint32_t told_packet;	    /* length of the longest packet for the interface's MTU */
	uint32_t overhead, longest; /* overhead and packet_max of struct sctp_config */
	bool wanted;		    /* a probe is due */
	uint64_t due;		    /* time of SCTP_TIMER_MTU for this path, or TIME_NEVER */
	uint64_t nonce[2];	    /* nonce of all probes of the present size */
	uint64_t sent;		    /* time of the last probe, or 0 */
	uint64_t answered;	    /* time of the last answer to any probe */
	/* no packet sent on the path was acknowledged yet, or none since the last probe */
	bool silent;
};

/* HEARTBEATs: the outstanding one, and the next one if the path is not in use (path.c, paths.c). */
struct sctp_path_hb {
	uint64_t nonce[2];
	uint64_t sent;	   /* 0: none is outstanding */
	uint64_t since;	   /* time of the first unanswered HEARTBEAT, if one is outstanding */
	uint64_t due;	   /* time of SCTP_TIMER_PATHS for this path, or TIME_NEVER */
	uint64_t answered; /* transmission time of the last answered HEARTBEAT, or 0 */
	uint64_t judged;   /* time when a HEARTBEAT was last counted as unanswered */
	bool wanted;	   /* a HEARTBEAT is due; never set on the path in use */
};

/* Evidence that the peer is alive and reachable on this path (path.c). */
struct sctp_path_health {
	uint64_t heard;	     /* time of the last valid packet from the path's address */
	uint64_t proof;	     /* time of the peer's last acknowledgement for a packet on this path */
	unsigned int errors; /* timeouts of DATA and HEARTBEATs since that acknowledgement */
	unsigned int unanswered; /* HEARTBEATs sent since the last packet from the address */
	/* SCTP_PROBE_INTERVALs left for an answer after a hint; 0: no hint */
	unsigned int ticks;
};

/*
 * Rest period of a failed path (paths.c). The primary path is not used again until the period is
 * over. Any other path does not carry DATA besides the path in use until then.
 */
struct sctp_path_rest {
	uint64_t hold;	   /* length of the last rest period, ns; 0: none yet */
	uint64_t until;	   /* end of that period */
	uint64_t returned; /* time when the path was last used again, or 0 */
};

/* Counters for sctp_assoc_inspect_paths(). */
struct sctp_path_counts {
	uint64_t bytes;	   /* bytes of DATA chunks sent, with retransmissions */
	uint64_t packets;  /* packets sent with DATA */
	uint64_t lost;	   /* DATA chunks considered lost */
	uint64_t received; /* packets received with DATA */
};

struct sctp_path {
	uint8_t id; /* never changes while the path exists (sctp_path_by_id()) */
	struct path_addr addr;
	struct ip_addr source; /* last result of ops.source; zero: none yet */
	uint64_t local_heard;  /* time of the last valid packet from addr.remote to addr.local */
	uint64_t local_data;   /* time of the last such packet with DATA */
	bool primary;	       /* DATA uses this path whenever it works */
	bool joined;	       /* carries DATA besides the path in use (spread.h) */
	bool usable;	       /* this host can send to the address */
	bool confirmed;	       /* the peer is known to have the address (RFC 9260 5.4) */
	bool known;	       /* an earlier association proved it to be the peer's (known.h) */
	uint64_t learnt;       /* time when the address was last stored as known (known.h) */
	uint32_t flight;       /* bytes of chunks sent, neither acknowledged nor lost */
	uint64_t last_data;    /* time when DATA was last sent on the path */
	struct sctp_rtt rtt;
	struct sctp_cc cc;
	struct sctp_path_recovery recovery;
	struct sctp_path_mtu mtu;
	struct sctp_path_hb hb;
	struct sctp_path_health health;
	struct sctp_path_rest rest;
	struct sctp_path_counts counts;
};

/* Initialises an unconfirmed path. mtu is the interface's MTU, in bytes of whole IP packets. */
void sctp_path_init(struct sctp_path *path, const struct sctp_config *config,
		    const struct path_addr *addr, uint32_t mtu);
/*
 * Handles a valid packet for in->a. If the packet came on a known path, the path takes the local
 * address and the peer's UDP port from the packet. A hint that the peer is gone does not count any
 * more.
 */
void sctp_path_heard(struct sctp_in *in);
/* Handles a packet with DATA: the path takes the local address from the packet. */
void sctp_path_data(struct sctp_in *in);
/*
 * Called when a packet that was sent on the path has arrived: DATA, a HEARTBEAT, or the COOKIE
 * ECHO. The acknowledgement may have come on any path.
 */
void sctp_path_works(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/*
 * Called when SCTP_TIMER_HEARTBEAT has expired. If the peer is silent, uses another path or ends
 * the association.
 */
void sctp_path_timeout(struct sctp_assoc *a, uint64_t now);
/* Starts the HEARTBEATs on the path in use, once this path carries the association. */
void sctp_path_start(struct sctp_assoc *a, uint64_t now);
/* Writes a HEARTBEAT with a new nonce for the path at p. Returns its length, SCTP_HEARTBEAT_LEN. */
size_t sctp_path_heartbeat_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p,
			       uint64_t now);
/* Writes a HEARTBEAT with the given nonce at p. Changes no state. */
void sctp_path_heartbeat_chunk(uint8_t *p, const uint64_t nonce[2]);
/*
 * Finds the association that sent the packet in an ICMP error (RFC 9260 10). `quoted` has the first
 * len bytes of the packet, from the common header on, in network order. `to` is the destination of
 * the packet. Returns NULL if no association has sent the packet, or if the quotation is too short.
 */
struct sctp_assoc *sctp_path_quoted(struct sctp_endpoint *ep, const struct path_addr *to,
				    const uint8_t *quoted, size_t len);
/* Handles a HEARTBEAT: sends a HEARTBEAT ACK (RFC 9260 8.3). */
void sctp_path_heartbeat(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles a HEARTBEAT ACK. If its nonce is valid, the path works, and gets a new RTT. */
void sctp_path_heartbeat_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* True if no confirmed path is left: only HEARTBEATs leave on the path in use (RFC 5061 5.3 F1). */
bool sctp_path_in_doubt(const struct sctp_assoc *a);
/* Confirms the path in use. Called when a HEARTBEAT was answered on it while it was in doubt. */
void sctp_path_confirm(struct sctp_assoc *a, uint64_t now);

#endif
