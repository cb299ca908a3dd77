/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw doctor" finds the causes if the device is absent, unreachable or slow. A check is a
 * function in the table of doctor.c. Each check examines one subject, and reports one or more lines
 * (doctor_report.h). struct doctor contains the results that later checks need.
 *
 * To add a check, write a function of the type below into the doctor_*.c of its subject. Declare
 * the function at the end of this file, and add a row to the table.
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

#define DOCTOR_PORT 7471 /* default UDP port: that of librdmacm's examples */
#define DOCTOR_GIDS 128
#define DOCTOR_NETDEV 16 /* bytes for the name of an interface with its final zero */

/* An entry of the device's GID table. */
struct doctor_gid {
	unsigned int index;
	struct ip_addr ip;
	char netdev[DOCTOR_NETDEV];
};

struct doctor {
	/* The following fields are arguments of the command line. */
	const char *provider; /* argument of --provider, or NULL */
	char **cmd;	      /* the words after --, or NULL */
	const char *host;     /* name or address of the other host (HOST), or NULL */
	uint16_t port;	      /* UDP port of HOST; with --listen, UDP port of this host */
	bool listen;
	bool verbose; /* also print lines about settings that have their default values */

	/* The following fields are results of checks. */
	struct config_builder settings;
	bool has_settings;
	struct parts parts;
	bool has_parts;
	struct doctor_gid gids[DOCTOR_GIDS];
	unsigned int n_gids;
	struct sockaddr_storage peer; /* address and port of HOST */
	bool has_peer;
	/* a program at HOST has answered, or the process that owns its port */
	bool has_process;
	uint32_t mtu; /* MTU in bytes of the interface by which HOST is reached */
	/* the connection to the listener on HOST, or NULL if there is none */
	struct doctor_probe *probe;
	struct doctor_listener *own; /* the listener of this process, or NULL */
};

/* Parses the words after the options, and performs the checks. Returns the exit status. */
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
