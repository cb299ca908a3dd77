/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The settings of a process, from its environment and a file. They are read once, when the RNIC is
 * created, and do not change later, so that no lock is needed. The modules in config/ do not need
 * an RNIC, since the launcher checks its options with the same table.
 */
#ifndef SCTPIW_CONFIG_CONFIG_H
#define SCTPIW_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config_paths.h"
#include "log/log.h"

enum config_carrier { CONFIG_CARRIER_UDP, CONFIG_CARRIER_IP, CONFIG_CARRIER_KERNEL };

/* The kind of device that programs see. It makes no difference on the wire. */
enum config_personality {
	CONFIG_IWARP, /* an iWARP NIC: node type RNIC */
	CONFIG_ROCE,  /* a channel adapter on an Ethernet: RoCE v2 */
	CONFIG_IB,    /* a channel adapter on an InfiniBand network, whose ports have LIDs */
};

/* Special values of config.encap_port. */
#define CONFIG_ENCAP_SAME (-1)	/* the same number as the peer's SCTP port */
#define CONFIG_ENCAP_NONE 0	/* no UDP; the same value as in struct path_addr */
#define CONFIG_ENCAP_UNSET (-2) /* not set; config_finish() replaces it by the default */

#define CONFIG_PATH_LEN 1024 /* bytes of a file name, including its final zero */

/*
 * RTR indications (RFC 6581). The bits are the same as in struct iw_session_param, which
 * conn/cm_connect.c asserts.
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
	/* UDP port of the peers to which this process connects: 1 to 65535, or a special value. */
	int encap_port;
	bool in_order; /* RDMA Writes are placed in order even after losses (struct iw_config) */
	bool share;    /* all QPs between two processes share an association */
	unsigned int engines;	    /* number of the RNIC's shards: 1 to CONFIG_ENGINES_MAX */
	struct config_paths paths;  /* additional local addresses that peers learn */
	bool spread;		    /* multipath = spread: data uses all disjoint paths at once */
	uint64_t silent_limit;	    /* ns after which a silent peer is given up */
	unsigned int request_limit; /* maximum number of undecided requests */
	char capture[CONFIG_PATH_LEN]; /* file to write packets to; "": none */
	unsigned int capture_snaplen;  /* bytes of each packet to capture; 0: all */
	uint64_t capture_size;	       /* maximum bytes of a capture file; 0: no limit */
	unsigned int capture_files;    /* number of capture files to keep */
	char trace[CONFIG_PATH_LEN];   /* file to write trace events to; "": none */
	char key[CONFIG_PATH_LEN];     /* file of keys (config_keys.h); "": none */
	char cert[CONFIG_PATH_LEN]; /* file of the local certificate (config_certs.h); "": none */
	char cert_key[CONFIG_PATH_LEN]; /* file of the private key of cert; set if cert is set */
	char ca[CONFIG_PATH_LEN];	/* file of the authorities that sign peers' certificates */
	bool any_name;			/* a peer's certificate need not contain its address */
	bool key_optional; /* peers without a key or certificate are served without encryption */
	uint8_t rtr;	   /* RTR indications that rdma_connect() requests; 0: none */
	enum config_personality personality;
	bool node_ca;		      /* the setting node-type is ca; see config_is_ca() */
	char faults[CONFIG_PATH_LEN]; /* rules, or a file with rules (config_faults.h); "": none */
	uint64_t fault_seed;	      /* seed of the rules' random numbers; 0: choose one */
	bool summary;		      /* at exit, log traffic, losses, retransmissions and rate */
	enum log_level log;
};

/*
 * Format of the name of an older capture file. Its arguments are `capture`, and the number of newer
 * files.
 */
#define CONFIG_OLDER_CAPTURE "%s.%u"

/* Returns the value of the setting llp for this carrier. */
const char *config_carrier_name(enum config_carrier carrier);

/* Returns the value of the setting personality for this personality. */
const char *config_personality_name(enum config_personality personality);

/*
 * True if the device is a channel adapter (node type CA, transport InfiniBand), and not an iWARP
 * NIC. The setting personality is roce or ib, or node-type is ca.
 */
bool config_is_ca(const struct config *config);

/* True if packets are encrypted, since a key or a certificate is set. */
bool config_is_sealed(const struct config *config);

/* The reason why a setting was refused. The text is one line, without a newline. */
struct config_error {
	char text[480];
};

/* Sets the text. Returns false. */
bool config_refuse(struct config_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The names and the documentation of a setting. */
struct config_name {
	const char *name;    /* name in options and files, such as "encap-port" */
	const char *env;     /* name of the environment variable */
	const char *allowed; /* the allowed values, in words */
	const char *dflt;    /* the default, in words */
	const char *help;    /* the effect of the setting */
	bool flag;	     /* the value is yes, no, 1 or 0; an option may omit "yes" */
	bool path;	     /* the value names a file to write */
	bool file;	     /* the value names a file to read */
	bool rules;	     /* the value is rules, or names a file of rules (config_faults.h) */
};

/* Returns the names of setting i, or NULL after the last setting. The launcher uses this. */
const struct config_name *config_names(unsigned int i);

/* The settings while they are collected, together with their sources. */
enum { CONFIG_SETTINGS = 27 };

struct config_builder {
	struct config config;
	/* The argument origin of config_set(); "": the setting has its default. */
	char origin[CONFIG_SETTINGS][CONFIG_PATH_LEN + 16];
	/* The value as written; "": the setting has its default. */
	char value[CONFIG_SETTINGS][CONFIG_PATH_LEN];
};

/* Returns the argument origin of config_set() for this setting, or "" if it has its default. */
const char *config_origin(const struct config_builder *b, const char *name);

void config_init(struct config_builder *b);
/*
 * Sets one setting. origin: source of the value, such as "SCTPIW_LLP" or "/etc/sctpiw.conf:3".
 * Returns false if the name or the value is invalid. err then contains the name and value, and the
 * allowed values.
 */
bool config_set(struct config_builder *b, const char *origin, const char *name, const char *value,
		struct config_error *err);
/*
 * Parses the text of a file with lines "name = value", in the format of the library inih. The text
 * may contain any bytes. source: name of the file. Returns false if a line is malformed, or sets a
 * setting that an earlier line sets. err then describes the first such line. (config_ini.c)
 */
bool config_parse(struct config_builder *b, const char *source, const char *text, size_t len,
		  struct config_error *err);
/*
 * Fills in the defaults that depend on other settings. Call this after the last config_set().
 * Returns false if settings contradict each other; err then names them. (config_whole.c)
 */
bool config_finish(struct config_builder *b, struct config_error *err);

/*
 * Reads the settings file and the environment of this process into *config. The environment
 * overrides the file. options: a flag for each setting, or NULL. The flag is true if the launcher
 * has set the variable from an option of its command line; error messages then name the option. If
 * there is an error, returns false, sets err, and leaves *config unchanged. (config_load.c)
 */
bool config_load(struct config *config, const bool options[CONFIG_SETTINGS],
		 struct config_error *err);
/* Initializes *b, and reads the settings into it as config_load() does. */
bool config_collect(struct config_builder *b, const bool options[CONFIG_SETTINGS],
		    struct config_error *err);

#endif
