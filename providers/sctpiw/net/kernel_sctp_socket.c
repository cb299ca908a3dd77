/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/kernel_sctp_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/sctp.h>
#include <string.h>

#include "sctp/inspect.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

#define ADAPTATION_DDP 1 /* RFC 5043 4.1 */
#define STREAMS 65535
/*
 * Milliseconds. RTO_MIN exceeds 200 ms, since the peer's kernel may delay an acknowledgement by
 * that time. RTO_MAX and HEARTBEAT are 1 second, so that the probe of kernel_sctp.c does not wait
 * longer.
 */
#define RTO_INITIAL 1000
#define RTO_MIN 300
#define RTO_MAX 1000
#define HEARTBEAT 1000
#define SACK_DELAY 10
/* The kernel must not end an association itself. kernel_sctp.c ends it earlier. */
#define ATTEMPTS_MAX 0xffff

/* Sets the options that a socket from accept() does not inherit. */
static void set_each(int fd, int family, bool v6only)
{
	struct linger abort_at_close = { .l_onoff = 1 };

	/* Closing the socket sends an ABORT, also if the process is killed. */
	sys_setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_at_close, sizeof(abort_at_close));
	/* Makes the kernel report ICMP errors. */
	if (family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
	if (family == AF_INET || !v6only)
		sys_setsockopt_int(fd, IPPROTO_IP, IP_RECVERR, 1);
}

static int subscribe(int fd)
{
	static const uint16_t types[] = {
		SCTP_ASSOC_CHANGE,
		SCTP_SHUTDOWN_EVENT,
		SCTP_ADAPTATION_INDICATION,
		SCTP_PARTIAL_DELIVERY_EVENT,
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types) && !ret; i++) {
		struct sctp_event ev = { .se_type = types[i], .se_on = 1 };

		ret = sys_setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev));
	}
	return ret;
}

static void set_timers(int fd)
{
	struct sctp_rtoinfo rto = {
		.srto_initial = RTO_INITIAL,
		.srto_min = RTO_MIN,
		.srto_max = RTO_MAX,
	};
	struct sctp_assocparams assoc = { .sasoc_asocmaxrxt = ATTEMPTS_MAX };
	struct sctp_sack_info sack = { .sack_delay = SACK_DELAY, .sack_freq = 2 };
	struct sctp_paddrparams path = {
		.spp_flags = SPP_HB_ENABLE,
		.spp_hbinterval = HEARTBEAT,
	};

	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_RTOINFO, &rto, sizeof(rto));
	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_ASSOCINFO, &assoc, sizeof(assoc));
	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_DELAYED_SACK, &sack, sizeof(sack));
	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path));
}

/* Sets the options without which the protocol would not work. */
static int set_required(int fd)
{
	struct sctp_initmsg init = {
		.sinit_num_ostreams = STREAMS,
		.sinit_max_instreams = STREAMS,
		.sinit_max_attempts = ATTEMPTS_MAX,
		.sinit_max_init_timeo = RTO_MAX,
	};
	struct sctp_setadaptation adaptation = { .ssb_adaptation_ind = ADAPTATION_DDP };
	int ret;

	ret = sys_setsockopt(fd, IPPROTO_SCTP, SCTP_INITMSG, &init, sizeof(init));
	if (!ret)
		ret = sys_setsockopt(fd, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, &adaptation,
				     sizeof(adaptation));
	if (!ret)
		ret = sys_setsockopt_int(fd, IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
	if (!ret)
		ret = sys_setsockopt_int(fd, IPPROTO_SCTP, SCTP_DISABLE_FRAGMENTS, 1);
	return ret ? ret : subscribe(fd);
}

int kernel_sctp_socket_probe(void)
{
	int fd = sys_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	int ret = fd < 0 ? fd : set_required(fd);

	sys_close(fd);
	return ret;
}

int kernel_sctp_socket_open(int family, bool v6only)
{
	int fd = sys_keep(sys_socket(family, SOCK_STREAM, IPPROTO_SCTP));
	int ret;

	if (fd < 0)
		return fd;
	ret = set_required(fd);
	if (ret) {
		sys_close(fd);
		return ret;
	}
	if (family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
	sys_setsockopt_int(fd, IPPROTO_SCTP, SCTP_NODELAY, 1);
	set_timers(fd);
	set_each(fd, family, v6only);
	sys_raise_buffer(fd, SO_RCVBUF);
	sys_raise_buffer(fd, SO_SNDBUF);
	return fd;
}

int kernel_sctp_socket_accept(int listener, int family, bool v6only, struct sockaddr_storage *from)
{
	int fd = sys_keep(sys_accept(listener, from));

	if (fd >= 0)
		set_each(fd, family, v6only);
	return fd;
}

/*
 * Sockets with SO_REUSEADDR may share a port if none of them listens. If one of them listens, both
 * this socket and the new socket need SO_REUSEPORT. The option is set only during bind(), since
 * otherwise another process could listen on the port, too.
 */
static void reuse_port(int fd, int listener, bool reuse)
{
	if (listener < 0)
		return;
	sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEPORT, reuse);
	sys_setsockopt_int(listener, SOL_SOCKET, SO_REUSEPORT, reuse);
}

int kernel_sctp_socket_bind_beside(int fd, const struct sockaddr *addr, int listener)
{
	int ret;

	sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	reuse_port(fd, listener, true);
	ret = sys_bind(fd, addr, sockaddr_len(addr));
	reuse_port(fd, listener, false);
	return ret;
}

int kernel_sctp_socket_bind_further(int fd, const struct sockaddr *addr, int listener)
{
	int ret;

	reuse_port(fd, listener, true);
	ret = sys_setsockopt(fd, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_ADD, addr, sockaddr_len(addr));
	reuse_port(fd, listener, false);
	return ret;
}

void kernel_sctp_socket_unbind(int fd, const struct sockaddr *addr)
{
	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_REM, addr, sockaddr_len(addr));
}

int kernel_sctp_socket_encap(int fd, uint16_t udp_port)
{
	/* No address in encaps: the port applies to all addresses of the future association. */
	struct sctp_udpencaps encaps = { .sue_port = htons(udp_port) };

	return sys_setsockopt(fd, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps,
			      sizeof(encaps));
}

int kernel_sctp_socket_status(int fd, struct kernel_sctp_status *status)
{
	struct sctp_status st;
	socklen_t len = sizeof(st);
	int saved = errno, ret;

	memset(&st, 0, sizeof(st));
	ret = sctp_opt_info(fd, 0, SCTP_STATUS, &st, &len) ? -errno : 0;
	errno = saved;
	if (ret)
		return ret;
	status->streams = st.sstat_instrms < st.sstat_outstrms ? st.sstat_instrms :
								 st.sstat_outstrms;
	status->max_msg = st.sstat_fragmentation_point;
	status->established = st.sstat_state == SCTP_ESTABLISHED;
	return 0;
}

static const char *state_name(int32_t state)
{
	static const char *const names[] = {
		[SCTP_EMPTY] = "CLOSED",
		[SCTP_CLOSED] = "CLOSED",
		[SCTP_COOKIE_WAIT] = "COOKIE-WAIT",
		[SCTP_COOKIE_ECHOED] = "COOKIE-ECHOED",
		[SCTP_ESTABLISHED] = "ESTABLISHED",
		[SCTP_SHUTDOWN_PENDING] = "SHUTDOWN-PENDING",
		[SCTP_SHUTDOWN_SENT] = "SHUTDOWN-SENT",
		[SCTP_SHUTDOWN_RECEIVED] = "SHUTDOWN-RECEIVED",
		[SCTP_SHUTDOWN_ACK_SENT] = "SHUTDOWN-ACK-SENT",
	};

	return state >= 0 && state <= SCTP_SHUTDOWN_ACK_SENT ? names[state] : names[SCTP_CLOSED];
}

static const char *path_state(int32_t state)
{
	switch (state) {
	case SCTP_ACTIVE:
		return "standby";
	case SCTP_UNCONFIRMED:
		return "unconfirmed";
	default:
		return "failed";
	}
}

union peer_addresses {
	struct sctp_getaddrs got;
	uint8_t room[4096]; /* room for at least 145 addresses */
};

/* Returns the number of the peer's addresses, or 0 if the kernel reports none. */
static unsigned int peer_addresses(int fd, union peer_addresses *a)
{
	socklen_t len = sizeof(*a);

	memset(&a->got, 0, sizeof(a->got));
	return sys_getsockopt(fd, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, a, &len) ? 0 : a->got.addr_num;
}

static struct ip_addr primary_address(int fd)
{
	struct sctp_prim primary;
	struct sockaddr_storage addr;
	socklen_t len = sizeof(primary);

	memset(&primary, 0, sizeof(primary));
	sys_getsockopt(fd, IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &primary, &len);
	memcpy(&addr, &primary.ssp_addr, sizeof(addr));
	return sockaddr_ip((struct sockaddr *)&addr);
}

/* Marks the path in use: the primary path if it works, or the only other path that works. */
static void mark_used(struct sctp_path_info *info, unsigned int n)
{
	struct sctp_path_info *used = NULL;
	unsigned int working = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(info[i].state, path_state(SCTP_ACTIVE)) != 0)
			continue;
		working++;
		if (!used || info[i].primary)
			used = &info[i];
	}
	if (used && (used->primary || working == 1))
		used->state = "in use";
}

unsigned int kernel_sctp_socket_inspect_paths(int fd, struct sctp_path_info *info)
{
	union peer_addresses addrs;
	const uint8_t *at = addrs.got.addrs;
	unsigned int n = peer_addresses(fd, &addrs), i;
	struct ip_addr first = primary_address(fd);

	for (i = 0; i < n && i < SCTP_PATHS_INFO_MAX; i++) {
		struct sctp_paddrinfo path;
		struct sockaddr_storage remote;
		socklen_t len = sizeof(path);

		sockaddr_copy(&remote, (const struct sockaddr *)(const void *)at);
		at += sockaddr_len((struct sockaddr *)&remote);
		memset(&path, 0, sizeof(path));
		memcpy(&path.spinfo_address, &remote, sizeof(remote));
		sys_getsockopt(fd, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &path, &len);
		info[i] = (struct sctp_path_info){
			.addr.remote = sockaddr_ip((struct sockaddr *)&remote),
			.state = path_state(path.spinfo_state),
			.srtt = path.spinfo_srtt * NSEC_PER_MSEC,
			.cwnd = path.spinfo_cwnd,
			.mtu = path.spinfo_mtu,
		};
		info[i].primary = ip_addr_equal(&info[i].addr.remote, &first);
	}
	mark_used(info, i);
	return i;
}

void kernel_sctp_socket_inspect(int fd, struct sctp_assoc_info *info)
{
	union peer_addresses addrs;
	struct sctp_assoc_stats stats;
	struct sctp_status st;
	socklen_t len = sizeof(st), stats_len = sizeof(stats);

	memset(&st, 0, sizeof(st));
	memset(&stats, 0, sizeof(stats));
	sys_getsockopt(fd, IPPROTO_SCTP, SCTP_STATUS, &st, &len);
	sys_getsockopt(fd, IPPROTO_SCTP, SCTP_GET_ASSOC_STATS, &stats, &stats_len);
	/* The kernel counts retransmissions, but not lost packets or timeouts. */
	*info = (struct sctp_assoc_info){
		.state = state_name(st.sstat_state),
		.paths = peer_addresses(fd, &addrs),
		.srtt = st.sstat_primary.spinfo_srtt * NSEC_PER_MSEC,
		.rto = st.sstat_primary.spinfo_rto * NSEC_PER_MSEC,
		.cwnd = st.sstat_primary.spinfo_cwnd,
		.mtu = st.sstat_primary.spinfo_mtu,
		.peer_rwnd = st.sstat_rwnd,
		.lost = stats.sas_rtxchunks,
		.resent = stats.sas_rtxchunks,
	};
}

int64_t kernel_sctp_socket_unacked(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);
	int ret = sys_getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len);

	return ret ? ret : (int64_t)info[SK_MEMINFO_WMEM_QUEUED];
}

int64_t kernel_sctp_socket_packets(int fd)
{
	struct sctp_assoc_stats stats;
	socklen_t len = sizeof(stats);
	int ret;

	memset(&stats, 0, sizeof(stats));
	ret = sys_getsockopt(fd, IPPROTO_SCTP, SCTP_GET_ASSOC_STATS, &stats, &len);
	return ret ? ret : (int64_t)(stats.sas_ipackets & INT64_MAX);
}

void kernel_sctp_socket_want_dry(int fd, bool want)
{
	struct sctp_event ev = { .se_type = SCTP_SENDER_DRY_EVENT, .se_on = want };

	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev));
}

void kernel_sctp_socket_probe_peer(int fd)
{
	struct sctp_status st;
	socklen_t len = sizeof(st);
	struct sctp_paddrparams path = { .spp_flags = SPP_HB_DEMAND };

	memset(&st, 0, sizeof(st));
	if (sys_getsockopt(fd, IPPROTO_SCTP, SCTP_STATUS, &st, &len))
		return;
	path.spp_address = st.sstat_primary.spinfo_address;
	sys_setsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path));
}

void kernel_sctp_socket_allow_fragments(int fd, bool allow)
{
	sys_setsockopt_int(fd, IPPROTO_SCTP, SCTP_DISABLE_FRAGMENTS, !allow);
}
