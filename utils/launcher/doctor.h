/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw doctor" finds causes of an absent, unreachable or slow device. A check is a function in
 * the table of doctor.c. Each check examines one subject, and reports one or more lines
 * (doctor_report.h). struct doctor has the results that later checks need.
 *
 * To add a check, write a function of the type below into the doctor_*.c of its subject. Declare it
 * at the end of this file, and add a row to the table.
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

#define DOCTOR_PORT 7471 /* UDP, if the command line has none: port of librdmacm's examples */
#define DOCTOR_GIDS 128
#define DOCTOR_NETDEV 16 /* bytes of an interface's name with its final zero */

/* An entry of the device's GID table. */
struct doctor_gid {
	unsigned int index;
	struct ip_addr ip;
	char netdev[DOCTOR_NETDEV];
};

struct doctor {
	/* From the command line. */
	const char *provider; /* of --provider, or NULL */
	char **cmd;	      /* the words after --, or NULL */
	const char *host;     /* name or address of the other host, or NULL */
	uint16_t port;	      /* UDP port of HOST, or with --listen of this host */
	bool listen;
	bool verbose; /* settings with default values get lines, too */

	/* From checks. */
	struct config_builder settings;
	bool has_settings;
	struct parts parts;
	bool has_parts;
	struct doctor_gid gids[DOCTOR_GIDS];
	unsigned int n_gids;
	struct sockaddr_storage peer; /* HOST's address and port */
	bool has_peer;
	bool has_process;	     /* a program at HOST, or the owner of its port, has answered */
	uint32_t mtu;		     /* MTU of the interface towards HOST, bytes */
	struct doctor_probe *probe;  /* the listener on HOST, if it answers, or NULL */
	struct doctor_listener *own; /* this host's listener, or NULL */
};

/* Parses the words after the options, and runs the checks. Returns the exit status. */
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
