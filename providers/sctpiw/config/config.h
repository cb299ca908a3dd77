/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The settings of a process, from its environment and from a file. They are read once, when the
 * engine is made, and do not change after that. No lock; no part of the engine is needed, since
 * the launcher checks its options with the same table.
 */
#ifndef SCTPIW_CONFIG_CONFIG_H
#define SCTPIW_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/log.h"

enum config_carrier { CONFIG_CARRIER_UDP, CONFIG_CARRIER_IP, CONFIG_CARRIER_KERNEL };

/* Values of encap_port that are no port. */
#define CONFIG_ENCAP_SAME (-1) /* the port that is connected to */
#define CONFIG_ENCAP_NONE 0    /* plain IP, as in struct path_addr */

#define CONFIG_PATH_LEN 1024

/* Bits, in the numbers of struct iw_session_param (asserted in conn/cm_connect.c). */
enum config_rtr {
	CONFIG_RTR_SEND = 1,
	CONFIG_RTR_WRITE = 2,
	CONFIG_RTR_READ = 4,
	CONFIG_RTR_ANY = 7,
};

struct config {
	enum config_carrier carrier;
	/* The UDP port of peers that we connect to: as above, or 1 to 65535. */
	int encap_port;
	bool in_order; /* struct iw_config */
	bool share;    /* one association for all QPs between two processes */
	uint64_t silent_limit; /* struct sctp_config, ns */
	char capture[CONFIG_PATH_LEN]; /* "": none; else the file that packets are written to */
	char trace[CONFIG_PATH_LEN];   /* "": none; else the file that events are written to */
	uint8_t rtr; /* 0, or enum config_rtr: the RTR indications that rdma_connect() asks for */
	bool node_ca; /* the device says that it is a channel adapter, and not an iWARP NIC */
	enum log_level log;
};

/* Why a setting was not taken: one line, without its end. */
struct config_error {
	char text[480];
};

/* What a setting is called: "encap-port" on the command line and in files. */
struct config_name {
	const char *name;
	const char *env;     /* in the environment */
	const char *allowed; /* for people */
	const char *dflt;    /* for people */
	const char *help;
	bool flag; /* yes, no, 1 or 0: an option without a value means yes */
	bool path; /* of a file */
};

/* The table, for the launcher; NULL past its end. */
const struct config_name *config_names(unsigned int i);

/* The settings while they are put together, with where each comes from. */
enum { CONFIG_SETTINGS = 10 };

struct config_builder {
	struct config config;
	/* "": nobody has said so, the default */
	char origin[CONFIG_SETTINGS][CONFIG_PATH_LEN + 16];
};

void config_init(struct config_builder *b);
/*
 * One setting; origin is how its place is called, "SCTPIW_LLP" or "/etc/sctpiw.conf:3". false: err
 * says which setting, what it was and what is allowed.
 */
bool config_set(struct config_builder *b, const char *origin, const char *name, const char *value,
		struct config_error *err);
/* A file of lines "name = value" (inih's format), of any bytes; source is its name. */
bool config_parse(struct config_builder *b, const char *source, const char *text, size_t len,
		  struct config_error *err);
/* After the last one: defaults that depend on others, and what does not go together. */
bool config_finish(struct config_builder *b, struct config_error *err);

/* All of it: the environment over the file (config_load.c). */
bool config_load(struct config *config, struct config_error *err);

#endif
