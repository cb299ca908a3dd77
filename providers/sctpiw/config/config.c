/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/time.h"

#define SILENT_LIMIT_MAX 86400 /* seconds */
#define REQUEST_LIMIT_MAX 1000000
#define SNAPLEN_MIN 64 /* room for the headers, and for the fields that identify a DATA chunk */
#define SNAPLEN_MAX 65535
#define CAPTURE_SIZE_MIN (128ul << 10) /* room for two packets of maximum length */
#define CAPTURE_SIZE_MAX (1ul << 40)
#define FAULT_SEED_MAX 999999999999999
#define CAPTURE_FILES_MAX 1000

/*
 * Names of the values of enum log_level, enum config_carrier and enum config_personality, in their
 * order.
 */
static const char *const log_names[] = { "error", "info", "debug" };
static const char *const llp_names[] = { "udp", "ip", "kernel" };
static const char *const personality_names[] = { "iwarp", "roce", "ib" };
static const char *const rtr_names[] = { "off", "send", "write", "read", "any" };

const char *config_carrier_name(enum config_carrier carrier)
{
	return llp_names[carrier];
}

const char *config_personality_name(enum config_personality personality)
{
	return personality_names[personality];
}

bool config_is_ca(const struct config *config)
{
	return config->node_ca || config->personality != CONFIG_IWARP;
}

bool config_is_sealed(const struct config *config)
{
	return *config->key || *config->cert;
}

#define N_ITEMS(array) (sizeof(array) / sizeof((array)[0]))

/* ---- values ---- */

/* Returns the index of value in names, or -1. */
static int one_of(const char *const names[], size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(names[i], value))
			return (int)i;
	}
	return -1;
}

/* Accepts only decimal digits. strtoul() alone would also accept blanks, signs and 0x. */
static bool number(const char *value, unsigned long min, unsigned long max, unsigned long *out)
{
	size_t len = strlen(value);

	if (!len || len > 15 || strspn(value, "0123456789") != len)
		return false;
	*out = strtoul(value, NULL, 10);
	return *out >= min && *out <= max;
}

static bool set_llp(struct config *c, const char *value)
{
	int i = one_of(llp_names, N_ITEMS(llp_names), value);

	if (i < 0)
		return false;
	c->carrier = (enum config_carrier)i;
	return true;
}

static bool set_encap_port(struct config *c, const char *value)
{
	unsigned long port;

	if (!strcmp(value, "same"))
		c->encap_port = CONFIG_ENCAP_SAME;
	else if (!strcmp(value, "none"))
		c->encap_port = CONFIG_ENCAP_NONE;
	else if (number(value, 1, 65535, &port))
		c->encap_port = (int)port;
	else
		return false;
	return true;
}

static bool set_flag(bool *flag, const char *value)
{
	static const char *const names[] = { "no", "0", "yes", "1" };
	int i = one_of(names, N_ITEMS(names), value);

	*flag = i >= 2;
	return i >= 0;
}

static bool set_in_order(struct config *c, const char *value)
{
	return set_flag(&c->in_order, value);
}

static bool set_share(struct config *c, const char *value)
{
	return set_flag(&c->share, value);
}

static bool set_paths(struct config *c, const char *value)
{
	return config_paths_parse(&c->paths, value);
}

static bool set_multipath(struct config *c, const char *value)
{
	int i = one_of((const char *const[]){ "failover", "spread" }, 2, value);

	c->spread = i == 1;
	return i >= 0;
}

static bool set_silent_limit(struct config *c, const char *value)
{
	unsigned long seconds;

	if (!number(value, 1, SILENT_LIMIT_MAX, &seconds))
		return false;
	c->silent_limit = seconds * NSEC_PER_SEC;
	return true;
}

static bool set_engines(struct config *c, const char *value)
{
	unsigned long engines = 1;

	if (strcmp(value, "auto") && !number(value, 1, CONFIG_ENGINES_MAX, &engines))
		return false;
	c->engines = (unsigned int)engines;
	return true;
}

static bool set_request_limit(struct config *c, const char *value)
{
	unsigned long requests;

	if (!number(value, 1, REQUEST_LIMIT_MAX, &requests))
		return false;
	c->request_limit = (unsigned int)requests;
	return true;
}

static bool set_path(char path[CONFIG_PATH_LEN], const char *value)
{
	size_t len = strlen(value);

	if (!len || len >= CONFIG_PATH_LEN)
		return false;
	memcpy(path, value, len + 1);
	return true;
}

static bool set_capture_snaplen(struct config *c, const char *value)
{
	unsigned long bytes;

	if (!number(value, SNAPLEN_MIN, SNAPLEN_MAX, &bytes))
		return false;
	c->capture_snaplen = (unsigned int)bytes;
	return true;
}

/* Accepts a number of bytes. The suffixes k, M and G multiply it by 2^10, 2^20 and 2^30. */
static bool set_capture_size(struct config *c, const char *value)
{
	static const char units[] = "kMG";
	size_t len = strlen(value);
	const char *unit = len ? strchr(units, value[len - 1]) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	char digits[16];
	unsigned long n;

	if (snprintf(digits, sizeof(digits), "%.*s", (int)(len - !!unit), value) >=
		    (int)sizeof(digits) ||
	    !number(digits, 1, CAPTURE_SIZE_MAX >> shift, &n) || n << shift < CAPTURE_SIZE_MIN)
		return false;
	c->capture_size = n << shift;
	return true;
}

static bool set_capture_files(struct config *c, const char *value)
{
	unsigned long files;

	if (!number(value, 1, CAPTURE_FILES_MAX, &files))
		return false;
	c->capture_files = (unsigned int)files;
	return true;
}

static bool set_cert_names(struct config *c, const char *value)
{
	int i = one_of((const char *const[]){ "address", "any" }, 2, value);

	c->any_name = i == 1;
	return i >= 0;
}

static bool set_key_optional(struct config *c, const char *value)
{
	return set_flag(&c->key_optional, value);
}

static bool set_peer_to_peer(struct config *c, const char *value)
{
	static const uint8_t masks[] = { 0, CONFIG_RTR_SEND, CONFIG_RTR_WRITE, CONFIG_RTR_READ,
					 CONFIG_RTR_ANY };
	int i = one_of(rtr_names, N_ITEMS(rtr_names), value);

	if (i < 0)
		return false;
	c->rtr = masks[i];
	return true;
}

static bool set_personality(struct config *c, const char *value)
{
	int i = one_of(personality_names, N_ITEMS(personality_names), value);

	if (i < 0)
		return false;
	c->personality = (enum config_personality)i;
	return true;
}

static bool set_node_type(struct config *c, const char *value)
{
	int i = one_of((const char *const[]){ "rnic", "ca" }, 2, value);

	c->node_ca = i == 1;
	return i >= 0;
}

static bool set_fault_seed(struct config *c, const char *value)
{
	unsigned long seed;

	if (!number(value, 1, FAULT_SEED_MAX, &seed))
		return false;
	c->fault_seed = seed;
	return true;
}

static bool set_summary(struct config *c, const char *value)
{
	return set_flag(&c->summary, value);
}

static bool set_log(struct config *c, const char *value)
{
	int i = one_of(log_names, N_ITEMS(log_names), value);

	if (i < 0)
		return false;
	c->log = (enum log_level)i;
	return true;
}

/* ---- the table ---- */

enum {
	LLP,
	ENCAP_PORT,
	IN_ORDER,
	SHARE,
	ENGINES,
	PATHS,
	MULTIPATH,
	SILENT,
	REQUESTS,
	CAPTURE,
	CAPTURE_SNAPLEN,
	CAPTURE_SIZE,
	CAPTURE_FILES_KEPT,
	TRACE_FILE,
	KEY,
	CERT,
	CERT_KEY,
	CA,
	CERT_NAMES,
	KEY_OPTIONAL,
	PEER_TO_PEER,
	PERSONALITY,
	NODE_TYPE,
	FAULTS,
	FAULT_SEED,
	SUMMARY,
	LOG
};

static const struct setting {
	struct config_name n;
	bool (*set)(struct config *c, const char *value); /* NULL: the value is a path */
	size_t path;					  /* offset of the path in struct config */
} settings[] = {
	[LLP] = {
		.set = set_llp,
		.n = {
			.name = "llp",
			.env = "SCTPIW_LLP",
			.allowed = "udp, ip or kernel",
			.dflt = "udp",
			.help = "the carrier of SCTP",
		},
	},
	[ENCAP_PORT] = {
		.set = set_encap_port,
		.n = {
			.name = "encap-port",
			.env = "SCTPIW_ENCAP_PORT",
			.allowed = "same, none, or a port from 1 to 65535",
			.dflt = "same for udp, none for ip and kernel",
			.help = "the UDP port of the peers that programs connect to",
		},
	},
	[IN_ORDER] = {
		.set = set_in_order,
		.n = {
			.name = "in-order",
			.env = "SCTPIW_IN_ORDER",
			.allowed = "yes, no, 1 or 0",
			.dflt = "no",
			.help = "place RDMA Writes in order even after losses",
			.flag = true,
		},
	},
	[SHARE] = {
		.set = set_share,
		.n = {
			.name = "share",
			.env = "SCTPIW_SHARE",
			.allowed = "yes, no, 1 or 0",
			.dflt = "yes",
			.help = "queue pairs between two processes share an association",
			.flag = true,
		},
	},
	[ENGINES] = {
		.set = set_engines,
		.n = {
			.name = "engines",
			.env = "SCTPIW_ENGINES",
			.allowed = "auto, or 1 to 16",
			.dflt = "auto, which is 1",
			.help = "the number of the program's threads served at once",
		},
	},
	[PATHS] = {
		.set = set_paths,
		.n = {
			.name = "paths",
			.env = "SCTPIW_PATHS",
			.allowed = "auto, off, or up to 16 addresses, prefixes and interfaces with commas between them",
			.dflt = "auto",
			.help = "further addresses of this host to announce to peers",
		},
	},
	[MULTIPATH] = {
		.set = set_multipath,
		.n = {
			.name = "multipath",
			.env = "SCTPIW_MULTIPATH",
			.allowed = "failover or spread",
			.dflt = "failover",
			.help = "data takes one path at a time, or all disjoint ones at once",
		},
	},
	[SILENT] = {
		.set = set_silent_limit,
		.n = {
			.name = "silent-limit",
			.env = "SCTPIW_SILENT_LIMIT",
			.allowed = "seconds from 1 to 86400",
			.dflt = "30",
			.help = "the maximum silence of a peer",
		},
	},
	[REQUESTS] = {
		.set = set_request_limit,
		.n = {
			.name = "request-limit",
			.env = "SCTPIW_REQUEST_LIMIT",
			.allowed = "requests from 1 to 1000000",
			.dflt = "1024",
			.help = "the maximum number of requests that wait for the program",
		},
	},
	[CAPTURE] = {
		.path = offsetof(struct config, capture),
		.n = {
			.name = "capture",
			.env = "SCTPIW_CAPTURE",
			.allowed = "a file of up to 1023 bytes of name",
			.dflt = "none",
			.help = "write all packets to this file, as pcapng",
			.path = true,
		},
	},
	[CAPTURE_SNAPLEN] = {
		.set = set_capture_snaplen,
		.n = {
			.name = "capture-snaplen",
			.env = "SCTPIW_CAPTURE_SNAPLEN",
			.allowed = "bytes from 64 to 65535",
			.dflt = "all",
			.help = "the captured length of each packet",
		},
	},
	[CAPTURE_SIZE] = {
		.set = set_capture_size,
		.n = {
			.name = "capture-size",
			.env = "SCTPIW_CAPTURE_SIZE",
			.allowed = "bytes from 128k to 1024G, with k, M, G or none of them",
			.dflt = "no limit",
			.help = "the size at which a capture file becomes FILE.1",
		},
	},
	[CAPTURE_FILES_KEPT] = {
		.set = set_capture_files,
		.n = {
			.name = "capture-files",
			.env = "SCTPIW_CAPTURE_FILES",
			.allowed = "files from 1 to 1000",
			.dflt = "10",
			.help = "the number of capture files to keep",
		},
	},
	[TRACE_FILE] = {
		.path = offsetof(struct config, trace),
		.n = {
			.name = "trace",
			.env = "SCTPIW_TRACE",
			.allowed = "a file of up to 1023 bytes of name",
			.dflt = "none",
			.help = "write a trace of the device to this file, as qlog",
			.path = true,
		},
	},
	[KEY] = {
		.path = offsetof(struct config, key),
		.n = {
			.name = "key",
			.env = "SCTPIW_KEY",
			.allowed = "a file of up to 1023 bytes of name",
			.dflt = "none",
			.help = "encrypt all packets, with the keys of this file",
			.file = true,
		},
	},
	[CERT] = {
		.path = offsetof(struct config, cert),
		.n = {
			.name = "cert",
			.env = "SCTPIW_CERT",
			.allowed = "a file of up to 1023 bytes of name",
			.dflt = "none",
			.help = "encrypt all packets, with this certificate (PEM)",
			.file = true,
		},
	},
	[CERT_KEY] = {
		.path = offsetof(struct config, cert_key),
		.n = {
			.name = "cert-key",
			.env = "SCTPIW_CERT_KEY",
			.allowed = "a file of up to 1023 bytes of name",
			.dflt = "none",
			.help = "the private key of cert",
			.file = true,
		},
	},
	[CA] = {
		.path = offsetof(struct config, ca),
		.n = {
			.name = "ca",
			.env = "SCTPIW_CA",
			.allowed = "a file of up to 1023 bytes of name",
			.dflt = "none",
			.help = "the authorities for the certificates of peers",
			.file = true,
		},
	},
	[CERT_NAMES] = {
		.set = set_cert_names,
		.n = {
			.name = "cert-names",
			.env = "SCTPIW_CERT_NAMES",
			.allowed = "address or any",
			.dflt = "address",
			.help = "whether a peer's certificate must name its address",
		},
	},
	[KEY_OPTIONAL] = {
		.set = set_key_optional,
		.n = {
			.name = "key-optional",
			.env = "SCTPIW_KEY_OPTIONAL",
			.allowed = "yes, no, 1 or 0",
			.dflt = "no",
			.help = "serve peers without a key in the clear",
			.flag = true,
		},
	},
	[PEER_TO_PEER] = {
		.set = set_peer_to_peer,
		.n = {
			.name = "peer-to-peer",
			.env = "SCTPIW_PEER_TO_PEER",
			.allowed = "off, send, write, read or any",
			.dflt = "off",
			.help = "request peer-to-peer connections, with this RTR indication",
		},
	},
	[PERSONALITY] = {
		.set = set_personality,
		.n = {
			.name = "personality",
			.env = "SCTPIW_PERSONALITY",
			.allowed = "iwarp, roce or ib",
			.dflt = "roce",
			.help = "the kind of RDMA device that programs see",
		},
	},
	[NODE_TYPE] = {
		.set = set_node_type,
		.n = {
			.name = "node-type",
			.env = "SCTPIW_NODE_TYPE",
			.allowed = "rnic or ca",
			.dflt = "that of personality",
			.help = "the node type alone; use personality instead",
		},
	},
	[FAULTS] = {
		.path = offsetof(struct config, faults),
		.n = {
			.name = "faults",
			.env = "SCTPIW_FAULTS",
			.allowed = "rules of up to 1023 bytes, or a file",
			.dflt = "none",
			.help = "fault rules, or a file of fault rules",
			.rules = true,
		},
	},
	[FAULT_SEED] = {
		.set = set_fault_seed,
		.n = {
			.name = "fault-seed",
			.env = "SCTPIW_FAULT_SEED",
			.allowed = "a number from 1 to 999999999999999",
			.dflt = "chosen at random",
			.help = "repeat the faults of the run with this seed",
		},
	},
	[SUMMARY] = {
		.set = set_summary,
		.n = {
			.name = "summary",
			.env = "SCTPIW_SUMMARY",
			.allowed = "yes, no, 1 or 0",
			.dflt = "no",
			.help = "print a line of statistics at exit",
			.flag = true,
		},
	},
	[LOG] = {
		.set = set_log,
		.n = {
			.name = "log",
			.env = "SCTPIW_LOG",
			.allowed = "error, info or debug",
			.dflt = "error",
			.help = "the messages on standard error",
		},
	},
};

_Static_assert(N_ITEMS(settings) == CONFIG_SETTINGS, "config.h counts them");

const struct config_name *config_names(unsigned int i)
{
	return i < N_ITEMS(settings) ? &settings[i].n : NULL;
}

const char *config_origin(const struct config_builder *b, const char *name)
{
	size_t i = 0;

	while (strcmp(settings[i].n.name, name))
		i++;
	return b->origin[i];
}

/* ---- one setting ---- */

bool config_refuse(struct config_error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return false;
}

/* Copies text for an error message: shortens it, and replaces characters that are not printable. */
static const char *shown(const char *text, char buf[64])
{
	size_t n = 0;

	while (text[n] && n < 60) {
		buf[n] = text[n] >= ' ' && text[n] < 127 ? text[n] : '?';
		n++;
	}
	strcpy(buf + n, text[n] ? "..." : "");
	return buf;
}

static bool unknown(const char *origin, const char *name, struct config_error *err)
{
	char buf[64];
	size_t used;

	config_refuse(err, "%s: there is no setting %s; there are", origin, shown(name, buf));
	for (size_t i = 0; i < N_ITEMS(settings); i++) {
		used = strlen(err->text);
		snprintf(err->text + used, sizeof(err->text) - used, "%s %s", i ? "," : "",
			 settings[i].n.name);
	}
	return false;
}

bool config_set(struct config_builder *b, const char *origin, const char *name, const char *value,
		struct config_error *err)
{
	char buf[64];

	for (size_t i = 0; i < N_ITEMS(settings); i++) {
		const struct setting *s = &settings[i];

		if (strcmp(s->n.name, name))
			continue;
		if (s->set ? !s->set(&b->config, value) :
			     !set_path((char *)&b->config + s->path, value))
			return config_refuse(err, "%s: %s = %s is not understood; it is %s", origin,
					     name, shown(value, buf), s->n.allowed);
		snprintf(b->origin[i], sizeof(b->origin[i]), "%s", origin);
		snprintf(b->value[i], sizeof(b->value[i]), "%s", value);
		return true;
	}
	return unknown(origin, name, err);
}
