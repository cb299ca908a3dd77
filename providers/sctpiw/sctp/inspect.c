/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/inspect.h"

#include "sctp/assoc.h"

static const char *state_name(enum sctp_state state)
{
	static const char *const names[] = {
		[SCTP_CLOSED] = "CLOSED",
		[SCTP_COOKIE_WAIT] = "COOKIE-WAIT",
		[SCTP_COOKIE_ECHOED] = "COOKIE-ECHOED",
		[SCTP_ESTABLISHED] = "ESTABLISHED",
		[SCTP_SHUTDOWN_PENDING] = "SHUTDOWN-PENDING",
		[SCTP_SHUTDOWN_SENT] = "SHUTDOWN-SENT",
		[SCTP_SHUTDOWN_RECEIVED] = "SHUTDOWN-RECEIVED",
		[SCTP_SHUTDOWN_ACK_SENT] = "SHUTDOWN-ACK-SENT",
	};

	return names[state];
}

void sctp_assoc_inspect(const struct sctp_assoc *a, struct sctp_assoc_info *info)
{
	const struct sctp_path *path = a->path;

	*info = (struct sctp_assoc_info){
		.state = state_name(a->state),
		.paths = 1 + a->paths.others,
		.srtt = path->rtt.srtt,
		.rttvar = path->rtt.rttvar,
		.rto = sctp_rtt_rto(&path->rtt),
		.cwnd = path->cc.cwnd,
		.flight = path->flight,
		.mtu = path->mtu.search.good,
		.peer_rwnd = a->window.peer_rwnd,
		.rwnd = sctp_assoc_rwnd(a),
		.lost = a->counts.lost,
		.resent = a->counts.resent,
		.timeouts = a->counts.timeouts,
	};
}
