/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reports the settings in force, and environment variables with misspelt names. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/config_certs.h"
#include "config/config_keys.h"
#include "config/config_known.h"
#include "launcher/doctor.h"
#include "launcher/doctor_report.h"
#include "launcher/settings.h"

void doctor_settings(struct doctor *d)
{
	struct config_error why;
	unsigned int defaults = 0;

	if (!settings_collect(&d->settings, &why)) {
		doctor_failure("there is no device until this is mended", "%s", why.text);
		return;
	}
	d->has_settings = true;
	for (unsigned int i = 0; i < CONFIG_SETTINGS; i++) {
		const struct config_name *name = config_names(i);
		const char *origin = d->settings.origin[i];

		if (*origin)
			doctor_ok("%s = %s, of %s", name->name, d->settings.value[i], origin);
		else if (d->verbose)
			doctor_ok("%s = %s, the default", name->name, name->dflt);
		else
			defaults++;
	}
	if (defaults)
		doctor_ok("%u have their defaults: --verbose lists them", defaults);
}

/* Lists the identities in a key file, separated by blanks. Omits the keys. */
static void list_identities(const struct config_keys *keys, char *text, size_t size)
{
	size_t len = 0;

	for (unsigned int i = 0; i < keys->n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s", i ? " " : "",
					keys->key[i].identity);
}

/*
 * This function and the next one report a bad key or certificate as a failure, and then return
 * false: the device would not exist.
 */
static bool say_keys(const struct config *c)
{
	char names[CONFIG_KEYS_MAX * (CONFIG_IDENTITY_MAX + 1)];
	struct config_keys keys;
	struct config_error why;

	if (!config_keys_read(c->key, &keys, &why)) {
		doctor_failure("there is no device until this is mended", "%s", why.text);
		return false;
	}
	list_identities(&keys, names, sizeof(names));
	doctor_ok("connects with %s, and accepts %s, of %s, which its owner alone may read",
		  keys.key[0].identity, names, c->key);
	config_keys_forget(&keys);
	return true;
}

static bool say_certificates(const struct config *c)
{
	struct config_certs certs;
	struct config_error why;

	if (!config_certs_read(c, &certs, &why)) {
		doctor_failure("there is no device until this is mended", "%s", why.text);
		return false;
	}
	config_certs_forget(&certs);
	doctor_ok("shows the certificate of %s, and accepts those of the authorities in %s",
		  c->cert, c->ca);
	return true;
}

void doctor_keys(struct doctor *d)
{
	const struct config *c = &d->settings.config;

	if (!d->has_settings || (!*c->key && !*c->cert)) {
		doctor_ok("there is none: packets are in the clear");
		return;
	}
	if ((*c->key && !say_keys(c)) || (*c->cert && !say_certificates(c)))
		return;
	if (c->key_optional)
		doctor_warning("take key-optional away when all hosts have the key",
			       "key-optional = yes: whoever has no key is served in the clear");
	if (getenv("SSLKEYLOGFILE"))
		doctor_warning("take SSLKEYLOGFILE out of the environment",
			       "the secrets of sessions are written to %s",
			       getenv("SSLKEYLOGFILE"));
}

void doctor_variables(struct doctor *d)
{
	char name[CONFIG_VARIABLE_LEN];
	const char *nearest;
	unsigned int unknown = 0;

	for (char **entry = environ; *entry; entry++) {
		if (!config_known_mistyped(*entry, name, &nearest))
			continue;
		unknown++;
		doctor_warning("take it away, or give it the name that was meant",
			       "nothing reads the variable %s; the nearest is %s", name, nearest);
	}
	if (!unknown)
		doctor_ok("all that begin with SCTPIW_ are known");
}
