/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/doctor.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/doctor_report.h"
#include "launcher/launcher.h"

/* The condition under which a check is performed. */
enum needs { ALWAYS, IF_PARTS, IF_CMD, IF_HOST, IF_PEER, IF_SEALED, IF_PROBE, IF_LISTEN };

static const struct {
	const char *name;
	enum needs needs;
	void (*look)(struct doctor *d);
} checks[] = {
	/* files and settings */
	{ "settings", ALWAYS, doctor_settings },
	{ "keys", ALWAYS, doctor_keys },
	{ "variables", ALWAYS, doctor_variables },
	{ "installation", ALWAYS, doctor_parts },
	{ "libibverbs", ALWAYS, doctor_libibverbs },
	{ "librdmacm", ALWAYS, doctor_librdmacm },
	{ "program", IF_CMD, doctor_program },
	/* permissions and limits of the process */
	{ "system calls", ALWAYS, doctor_syscalls },
	{ "open files", ALWAYS, doctor_open_files },
	{ "file size", ALWAYS, doctor_file_size },
	{ "locked memory", ALWAYS, doctor_memlock },
	{ "shared memory", ALWAYS, doctor_shm },
	/* speed */
	{ "processors", ALWAYS, doctor_cores },
	{ "clock", ALWAYS, doctor_clock },
	{ "receive buffer", ALWAYS, doctor_receive_buffer },
	{ "send buffer", ALWAYS, doctor_send_buffer },
	{ "offload", ALWAYS, doctor_offload },
	/* device and network */
	{ "interfaces", ALWAYS, doctor_interfaces },
	{ "device", IF_PARTS, doctor_device },
	{ "name", IF_HOST, doctor_name },
	{ "route", IF_PEER, doctor_route },
	{ "session", IF_SEALED, doctor_session },
	{ "server", IF_PEER, doctor_server },
	{ "probe", IF_PEER, doctor_probe },
	{ "path MTU", IF_PROBE, doctor_path_mtu },
	{ "rate", IF_PROBE, doctor_rate },
	{ "port", IF_LISTEN, doctor_listen },
	{ "listener", IF_LISTEN, doctor_serve },
};

static bool applies(enum needs needs, const struct doctor *d)
{
	switch (needs) {
	case ALWAYS:
		return true;
	case IF_PARTS:
		return d->has_parts;
	case IF_CMD:
		return d->cmd != NULL;
	case IF_HOST:
		return d->host != NULL;
	case IF_PEER:
		return d->has_peer;
	case IF_SEALED:
		return d->has_peer && d->has_settings && config_is_sealed(&d->settings.config);
	case IF_PROBE:
		return d->probe != NULL;
	case IF_LISTEN:
		return d->listen;
	}
	return false;
}

/* ---- the command line ---- */

static bool take_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > UINT16_MAX) {
		complain("%s is no port: it is a number from 1 to 65535", text);
		return false;
	}
	*port = (uint16_t)value;
	return true;
}

/*
 * Parses HOST, HOST:PORT, [HOST] or [HOST]:PORT. A word without brackets that has several colons is
 * an IPv6 address. Cuts the word off after the host.
 */
static bool take_host(struct doctor *d, char *word)
{
	char *colon = strrchr(word, ':'), *bracket = strchr(word, ']');

	if (*word == '[' && bracket && (!bracket[1] || bracket[1] == ':')) {
		colon = bracket[1] ? bracket + 1 : NULL;
		*bracket = '\0';
		word++;
	} else if (colon && strchr(word, ':') != colon) {
		colon = NULL;
	}
	if (colon && !take_port(colon + 1, &d->port))
		return false;
	if (colon)
		*colon = '\0';
	d->host = word;
	if (!*word)
		complain("HOST is missing: it is a name or an address, as in 192.0.2.1:7471");
	return *word;
}

/*
 * Parses the words [HOST[:PORT]] [-- CMD ARG...], or PORT with --listen. On error, calls complain()
 * and returns false.
 */
static bool take_words(struct doctor *d, int argc, char **argv)
{
	bool cmd = optind > 1 && !strcmp(argv[optind - 1], "--");

	if (!cmd && optind < argc) {
		char *word = argv[optind++];

		if (d->listen ? !take_port(word, &d->port) : !take_host(d, word))
			return false;
		cmd = optind < argc && !strcmp(argv[optind], "--");
		optind += cmd;
	}
	if (cmd && d->listen) {
		complain("--listen takes PORT alone, without -- and a command");
		return false;
	}
	if (cmd && optind >= argc) {
		complain("no command given after --");
		return false;
	}
	if (cmd) {
		d->cmd = argv + optind;
		return true;
	}
	if (optind < argc)
		complain("%s is one word too many: options come first, and a command after --",
			 argv[optind]);
	return optind >= argc;
}

int doctor_run(const struct options *options, int argc, char **argv)
{
	static struct doctor d; /* static because the struct is large */

	d.provider = options->provider;
	d.listen = options->listen;
	d.verbose = options->verbose;
	d.port = DOCTOR_PORT;
	if (!take_words(&d, argc, argv))
		return EXIT_USAGE;
	doctor_begin(options->json);
	complain_to(doctor_complaint);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		doctor_look_at(checks[i].name);
		if (applies(checks[i].needs, &d))
			checks[i].look(&d);
	}
	complain_to(NULL);
	if (!d.listen)
		doctor_conclude();
	return doctor_end() ? EXIT_FAILURE : EXIT_SUCCESS;
}
