/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The settings in force, and variables that nothing reads. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "config/config_known.h"
#include "launcher/doctor.h"
#include "launcher/doctor_report.h"
#include "launcher/settings.h"

void doctor_settings(struct doctor *d)
{
	struct config_error why;

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
		else
			doctor_ok("%s = %s, the default", name->name, name->dflt);
	}
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
