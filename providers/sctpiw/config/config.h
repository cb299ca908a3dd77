/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The settings of a process, from its environment and a file. They are read once, when the RNIC is
 * created, and do not change later. No lock. Nothing here needs an RNIC, since the launcher checks
 * its options with the same table.
 */
#ifndef SCTPIW_CONFIG_CONFIG_H
#define SCTPIW_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config_paths.h"
#include "log/log.h"

enum config_carrier { CONFIG_CARRIER_UDP, CONFIG_CARRIER_IP, CONFIG_CARRIER_KERNEL };

/* The kind of device that programs see. On the wire, all are the same. */
enum config_personality {
	CONFIG_IWARP, /* an iWARP NIC: node type RNIC */
	CONFIG_ROCE,  /* a channel adapter on an Ethernet: RoCE v2 */
	CONFIG_IB,    /* a channel adapter on an InfiniBand network, whose ports have LIDs */
};

/* Special values of config.encap_port. */
#define CONFIG_ENCAP_SAME (-1)	/* the same number as the destination SCTP port */
#define CONFIG_ENCAP_NONE 0	/* no UDP, as in struct path_addr */
#define CONFIG_ENCAP_UNSET (-2) /* before config_finish(): the default, which depends on llp */

#define CONFIG_PATH_LEN 1024 /* bytes of a file name, with its final zero */

/*
 * RTR indications (RFC 6581): bits as in struct iw_session_param (asserted in conn/cm_connect.c).
 */
enum config_rtr {
	CONFIG_RTR_SEND = 1,
	CONFIG_RTR_WRITE = 2,
	CONFIG_RTR_READ = 4,
	CONFIG_RTR_ANY = 7,
};

#define CONFIG_ENGINES_MAX 16u

struct config {
	enum config_carrier carrier;
	/* UDP port of peers that this process connects to: 1 to 65535, or a special value. */
	int encap_port;
	bool in_order; /* RDMA Writes are placed in order even after losses (struct iw_config) */
	bool share;    /* one association for all QPs between two processes */
	unsigned int engines;	    /* shards of the RNIC: 1 to CONFIG_ENGINES_MAX */
	struct config_paths paths;  /* further local addresses that peers learn */
	bool spread;		    /* multipath = spread: data uses all disjoint paths at once */
	uint64_t silent_limit;	    /* ns; maximum silence of a peer */
	unsigned int request_limit; /* maximum requests without accept or reject */
	char capture[CONFIG_PATH_LEN]; /* file for packets; "": none */
	unsigned int capture_snaplen;  /* captured bytes of a packet; 0: all */
	uint64_t capture_size;	       /* bytes of a capture file; 0: no limit */
	unsigned int capture_files;    /* number of files with that size */
	char trace[CONFIG_PATH_LEN];   /* file for events; "": none */
	char key[CONFIG_PATH_LEN];     /* file of keys (config_keys.h); "": none */
	char cert[CONFIG_PATH_LEN]; /* file of the local certificate (config_certs.h); "": none */
	char cert_key[CONFIG_PATH_LEN]; /* file of its private key, with a certificate */
	char ca[CONFIG_PATH_LEN];	/* file of the authorities of peers' certificates */
	bool any_name;			/* a peer's certificate need not name its address */
	bool key_optional; /* packets are in the clear with peers without key or certificate */
	uint8_t rtr;	   /* RTR indications that rdma_connect() requests; 0: none */
	enum config_personality personality;
	bool node_ca;		      /* node-type is ca; see config_is_ca() */
	char faults[CONFIG_PATH_LEN]; /* rules, or a file with rules (config_faults.h); "": none */
	uint64_t fault_seed;	      /* seed of their dice; 0: random */
	bool summary;		      /* log traffic, losses, retransmissions and rate at exit */
	enum log_level log;
};

/* Name of an older capture file: a path, and the number of newer files. */
#define CONFIG_OLDER_CAPTURE "%s.%u"

/* Returns the carrier's name, as in the setting llp. */
const char *config_carrier_name(enum config_carrier carrier);

/* Returns the name of a personality, as in the setting personality. */
const char *config_personality_name(enum config_personality personality);

/*
 * True if the device is a channel adapter (node type CA, transport InfiniBand), not an iWARP NIC:
 * with the personalities roce and ib, and with node-type = ca.
 */
bool config_is_ca(const struct config *config);

/* True if packets are encrypted, with a key or a certificate. */
bool config_is_sealed(const struct config *config);

/* The reason why a setting was refused: one line, without a newline. */
struct config_error {
	char text[480];
};

/* Sets the text. Returns false. */
bool config_refuse(struct config_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The names and the documentation of a setting. */
struct config_name {
	const char *name;    /* on the command line and in files, such as "encap-port" */
	const char *env;     /* in the environment */
	const char *allowed; /* values, in words */
	const char *dflt;    /* default, in words */
	const char *help;    /* effect of the setting */
	bool flag;	     /* the value is yes, no, 1 or 0; an option without a value means yes */
	bool path;	     /* the value names a file to write */
	bool file;	     /* the value names a file to read */
	bool rules;	     /* the value is text, or names a file to read (config_faults.h) */
};

/* Returns the i-th setting, for the launcher, or NULL after the last. */
const struct config_name *config_names(unsigned int i);

/* The settings while they are collected, and their sources. */
enum { CONFIG_SETTINGS = 27 };

struct config_builder {
	struct config config;
	/* The origin of config_set(); "": the setting has its default. */
	char origin[CONFIG_SETTINGS][CONFIG_PATH_LEN + 16];
	/* The value as written; "": the setting has its default. */
	char value[CONFIG_SETTINGS][CONFIG_PATH_LEN];
};

/* Returns the origin of a setting, as in config_set(), or "" for the default. */
const char *config_origin(const struct config_builder *b, const char *name);

/* Sets all settings to their defaults. */
void config_init(struct config_builder *b);
/*
 * Sets one setting. origin: its source, such as "SCTPIW_LLP" or "/etc/sctpiw.conf:3". Returns false
 * if the setting is refused: err names setting, value, and allowed values.
 */
bool config_set(struct config_builder *b, const char *origin, const char *name, const char *value,
		struct config_error *err);
/*
 * Parses the text of a file, which may have any bytes: lines "name = value" (inih's format).
 * source: name of the file. Returns false if a line is malformed, or repeats the name of an earlier
 * one: err describes the first such line. (config_ini.c)
 */
bool config_parse(struct config_builder *b, const char *source, const char *text, size_t len,
		  struct config_error *err);
/*
 * Fills in defaults that depend on other settings. Call this after the last setting. Returns false
 * if settings exclude each other: err names them. (config_whole.c)
 */
bool config_finish(struct config_builder *b, struct config_error *err);

/*
 * Does all of this with the process's own file and environment, which overrides the file. options:
 * flags of settings whose variable comes from an option of the command line, which is then named in
 * errors; or NULL. Returns false, with err set and *config unchanged, after an error.
 * (config_load.c)
 */
bool config_load(struct config *config, const bool options[CONFIG_SETTINGS],
		 struct config_error *err);
/* As config_load(), but also returns the origin of each setting. Initializes *b. */
bool config_collect(struct config_builder *b, const bool options[CONFIG_SETTINGS],
		    struct config_error *err);

#endif
