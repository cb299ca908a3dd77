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

_Static_assert(SCTP_PATHS_MAX == SCTP_PATHS_INFO_MAX, "inspect.h tells of all paths");

static const char *path_state(const struct sctp_assoc *a, const struct sctp_path *path)
{
	if (path == a->path || path->joined)
		return "in use";
	if (!path->usable)
		return "unusable";
	if (!path->confirmed)
		return "unconfirmed";
	return path->health.errors ? "failed" : "standby";
}

unsigned int sctp_assoc_inspect_paths(const struct sctp_assoc *a,
				      struct sctp_path_info info[SCTP_PATHS_INFO_MAX])
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(a, i);

		info[i] = (struct sctp_path_info){
			.addr = path->addr,
			.state = path_state(a, path),
			.primary = path->primary,
			.srtt = path->rtt.srtt,
			.cwnd = path->cc.cwnd,
			.mtu = path->mtu.search.good,
			.counted = true,
			.flight = path->flight,
			.sent = path->counts.bytes,
			.packets = path->counts.packets,
			.lost = path->counts.lost,
			.received = path->counts.received,
			.errors = path->health.errors,
		};
	}
	return i;
}
