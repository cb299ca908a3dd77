/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw doctor" looks at what makes the device absent, unreachable or slow. A check is a function in
 * the table of doctor.c; it looks at one thing, and says what it has found by one line or more
 * (doctor_report.h). What a check learns that those behind it need stands in struct doctor.
 *
 * To add a check: write a function of the type below into the doctor_*.c that has its subject, declare
 * it at the end of this file, and give it a row in the table.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_H
#define UTILS_LAUNCHER_DOCTOR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "launcher/options.h"
#include "launcher/parts.h"
#include "util/addr.h"

#define DOCTOR_PORT 7471 /* UDP, if the command line names none: that of librdmacm's examples */
#define DOCTOR_GIDS 128
#define DOCTOR_NETDEV 16 /* bytes of an interface's name and its final zero */

/* An entry of the device's GID table. */
struct doctor_gid {
	unsigned int index;
	struct ip_addr ip;
	char netdev[DOCTOR_NETDEV];
};

struct doctor {
	/* From the command line. */
	const char *provider; /* of --provider, or NULL */
	char **cmd;	      /* behind --, or NULL */
	const char *host;     /* the name or address of the other host, or NULL */
	uint16_t port;	      /* UDP: HOST's, or with --listen our own */
	bool listen;
	bool verbose; /* settings with their defaults get lines, too */

	/* From checks. */
	struct config_builder settings;
	bool has_settings;
	struct parts parts;
	bool has_parts;
	struct doctor_gid gids[DOCTOR_GIDS];
	unsigned int n_gids;
	struct sockaddr_storage peer; /* HOST's address, with port */
	bool has_peer;
	bool has_process; /* a program, or the owner of its port, has answered from HOST */
	uint32_t mtu;	  /* bytes that the interface towards HOST takes */
	struct doctor_probe *probe;  /* the listener on HOST, which answers; NULL: it does not */
	struct doctor_listener *own; /* our listener; NULL: there is none */
};

/* Takes what stands behind the options, and does all of it. Returns the exit status. */
int doctor_run(const struct options *options, int argc, char **argv);

/* ---- the checks ---- */

/* doctor_settings.c */
void doctor_settings(struct doctor *d);
void doctor_keys(struct doctor *d);
void doctor_variables(struct doctor *d);
/* doctor_install.c */
void doctor_parts(struct doctor *d);
void doctor_libibverbs(struct doctor *d);
void doctor_librdmacm(struct doctor *d);
void doctor_device(struct doctor *d);
/* doctor_program.c */
void doctor_program(struct doctor *d);
/* doctor_syscalls.c */
void doctor_syscalls(struct doctor *d);
/* doctor_limits.c */
void doctor_open_files(struct doctor *d);
void doctor_file_size(struct doctor *d);
void doctor_memlock(struct doctor *d);
void doctor_shm(struct doctor *d);
/* doctor_speed.c */
void doctor_cores(struct doctor *d);
void doctor_clock(struct doctor *d);
void doctor_receive_buffer(struct doctor *d);
void doctor_send_buffer(struct doctor *d);
void doctor_offload(struct doctor *d);
/* doctor_route.c */
void doctor_interfaces(struct doctor *d);
void doctor_name(struct doctor *d);
void doctor_route(struct doctor *d);
/* doctor_session.c */
void doctor_session(struct doctor *d);
/* doctor_server.c */
void doctor_server(struct doctor *d);
/* doctor_probe.c */
void doctor_probe(struct doctor *d);
void doctor_path_mtu(struct doctor *d);
void doctor_rate(struct doctor *d);
/* doctor_listen.c */
void doctor_listen(struct doctor *d);
void doctor_serve(struct doctor *d);

#endif
