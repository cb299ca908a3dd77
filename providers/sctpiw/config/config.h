/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The settings of a process, from its environment and from a file. They are read once, when the
 * RNIC is made, and do not change after that. No lock. Nothing here needs an RNIC, since the
 * launcher checks its options with the same table.
 */
#ifndef SCTPIW_CONFIG_CONFIG_H
#define SCTPIW_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config_paths.h"
#include "log/log.h"

enum config_carrier { CONFIG_CARRIER_UDP, CONFIG_CARRIER_IP, CONFIG_CARRIER_KERNEL };

/* Which kind of device the RNIC looks like to programs. On the wire all are the same. */
enum config_personality {
	CONFIG_IWARP, /* an iWARP NIC: node type RNIC */
	CONFIG_ROCE,  /* a channel adapter on an Ethernet: RoCE v2 */
	CONFIG_IB,    /* a channel adapter on an InfiniBand network, whose ports have LIDs */
};

/* Values of config.encap_port that are no ports. */
#define CONFIG_ENCAP_SAME (-1)	/* the number of the SCTP port that is connected to */
#define CONFIG_ENCAP_NONE 0	/* no UDP, as in struct path_addr */
#define CONFIG_ENCAP_UNSET (-2) /* before config_finish(): the default, which depends on llp */

#define CONFIG_PATH_LEN 1024 /* bytes of a file's name and its final zero */

/*
 * RTR indications (RFC 6581), a bit each, as in struct iw_session_param (asserted in
 * conn/cm_connect.c).
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
	/*
	 * The UDP port of peers that this process connects to: 1 to 65535, or one of the values
	 * above.
	 */
	int encap_port;
	bool in_order; /* RDMA Writes are placed in order also after losses (struct iw_config) */
	bool share;    /* one association for all QPs between two processes */
	unsigned int engines;	   /* shards of the RNIC: 1 to CONFIG_ENGINES_MAX */
	struct config_paths paths; /* which further addresses of ours peers are told of */
	bool spread; /* the setting multipath is spread: data takes all disjoint paths at once */
	uint64_t silent_limit;		/* ns; a peer that is silent for longer is given up */
	unsigned int request_limit;	/* requests that may wait to be accepted or rejected */
	char capture[CONFIG_PATH_LEN];	/* the file that packets are written to; "": none */
	unsigned int capture_snaplen;	/* bytes of a packet that are captured; 0: all */
	uint64_t capture_size;		/* bytes of a capture file; 0: it grows without a limit */
	unsigned int capture_files;	/* how many of that size are kept */
	char trace[CONFIG_PATH_LEN];	/* the file that events are written to; "": none */
	char key[CONFIG_PATH_LEN];	/* the file of keys (config_keys.h); "": none */
	char cert[CONFIG_PATH_LEN];	/* the file of our certificate (config_certs.h); "": none */
	char cert_key[CONFIG_PATH_LEN]; /* that of its private key, if there is a certificate */
	char ca[CONFIG_PATH_LEN]; /* that of the authorities that peers' certificates are of */
	bool any_name;		  /* a peer's certificate need not be for the address that it has */
	bool key_optional; /* with peers that have neither, packets are in the clear all the same */
	uint8_t rtr;	   /* the RTR indications that rdma_connect() asks for; 0: none */
	enum config_personality personality;
	bool node_ca;		      /* the setting node-type is ca; see config_is_ca() */
	char faults[CONFIG_PATH_LEN]; /* rules, or a file of them (config_faults.h); "": none */
	uint64_t fault_seed;	      /* of their dice; 0: chosen at random */
	bool summary; /* at exit, a line says what was sent, lost, resent, and how fast */
	enum log_level log;
};

/* The name of an older file of a capture: a path, and how many are newer. */
#define CONFIG_OLDER_CAPTURE "%s.%u"

/* The carrier's name, as the value of the setting llp. */
const char *config_carrier_name(enum config_carrier carrier);

/* The value of the setting personality. */
const char *config_personality_name(enum config_personality personality);

/*
 * Whether the device says that it is a channel adapter (node type CA, transport InfiniBand) and not
 * an iWARP NIC. That is so with the personalities roce and ib, and with node-type = ca.
 */
bool config_is_ca(const struct config *config);

/* Whether packets are encrypted: there is a key or a certificate. */
bool config_is_sealed(const struct config *config);

/* Why a setting was not taken: one line, without a newline. */
struct config_error {
	char text[480];
};

/* Sets the text. Always false. */
bool config_refuse(struct config_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* How a setting is written, and what people are told of it. */
struct config_name {
	const char *name;    /* on the command line and in files, as "encap-port" */
	const char *env;     /* in the environment */
	const char *allowed; /* the values, in words */
	const char *dflt;    /* the default, in words */
	const char *help;    /* what it does */
	bool flag;	     /* the value is yes, no, 1 or 0; an option without a value means yes */
	bool path;	     /* the value is the name of a file that is written */
	bool file;	     /* the value is the name of a file that is read, and never written */
	bool rules; /* the value is text, or the name of a file that is read (config_faults.h) */
};

/* The i-th setting, for the launcher; NULL past the last. */
const struct config_name *config_names(unsigned int i);

/* The settings while they are put together, and where each comes from. */
enum { CONFIG_SETTINGS = 27 };

struct config_builder {
	struct config config;
	/* As the origin of config_set(); "": the setting has its default. */
	char origin[CONFIG_SETTINGS][CONFIG_PATH_LEN + 16];
	/* The value as it was written; "": the setting has its default. */
	char value[CONFIG_SETTINGS][CONFIG_PATH_LEN];
};

/* Where the setting of this name comes from, as the origin of config_set(); "": it has its default. */
const char *config_origin(const struct config_builder *b, const char *name);

/* Sets all to their defaults. */
void config_init(struct config_builder *b);
/*
 * Takes one setting. origin says where it was written, as "SCTPIW_LLP" or "/etc/sctpiw.conf:3".
 * false: it was not taken, and err says which setting it was, which value, and what is allowed.
 */
bool config_set(struct config_builder *b, const char *origin, const char *name, const char *value,
		struct config_error *err);
/*
 * Takes the text of a file, which may have any bytes: lines "name = value" (inih's format). source
 * is its name. false: err says what is wrong with the first line that was not understood, or that
 * repeats the name of an earlier one. (config_ini.c)
 */
bool config_parse(struct config_builder *b, const char *source, const char *text, size_t len,
		  struct config_error *err);
/*
 * To be called after the last setting: fills defaults that depend on others. false: err says which
 * settings do not go together. (config_finish.c)
 */
bool config_finish(struct config_builder *b, struct config_error *err);

/*
 * Does all of that with the process's own file and environment, which goes before the file.
 * options: a flag for each setting whose variable was set by an option of the command line, which
 * then is what an error names; NULL: there is none. false: err says why, and *config is as it was.
 * (config_load.c)
 */
bool config_load(struct config *config, const bool options[CONFIG_SETTINGS],
		 struct config_error *err);
/* The same for those who want to know where each setting comes from, too. *b is set up here. */
bool config_collect(struct config_builder *b, const bool options[CONFIG_SETTINGS],
		    struct config_error *err);

#endif
