/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Defaults of settings, and checks of their combinations. */
#include <string.h>

#include "config/config.h"
#include "util/time.h"

#define SILENT_LIMIT 30 /* seconds */
#define REQUEST_LIMIT 1024
#define CAPTURE_FILES 10

void config_init(struct config_builder *b)
{
	memset(b, 0, sizeof(*b));
	b->config = (struct config){
		.carrier = CONFIG_CARRIER_UDP,
		.encap_port = CONFIG_ENCAP_UNSET,
		.share = true,
		.engines = 1,
		.silent_limit = SILENT_LIMIT * NSEC_PER_SEC,
		.request_limit = REQUEST_LIMIT,
		.personality = CONFIG_ROCE,
		.capture_files = CAPTURE_FILES,
		.log = LOG_LEVEL_ERROR,
	};
}

static bool clash(const struct config_builder *b, const char *which, const char *why,
		  struct config_error *err)
{
	const char *llp = config_origin(b, "llp");

	return config_refuse(err, "%s: %s does not go with llp = %s%s%s: %s",
			     config_origin(b, which), which, config_carrier_name(b->config.carrier),
			     *llp ? " of " : "", llp, why);
}

/*
 * Checks that cert, cert-key and ca are all set, or none. A certificate needs its private key, and
 * a process that requires certificates of its peers must have its own certificate.
 */
static bool certificate_is_whole(const struct config_builder *b, struct config_error *err)
{
	static const char *const names[] = { "cert", "cert-key", "ca" };
	const struct config *c = &b->config;
	const char *const files[] = { c->cert, c->cert_key, c->ca };
	unsigned int there = 0, which = 0;

	for (unsigned int i = 0; i < 3; i++) {
		if (*files[i]) {
			there++;
			which = i;
		}
	}
	if (there && there < 3)
		return config_refuse(err, "%s: %s needs %s, too: cert, cert-key and ca go together",
				     config_origin(b, names[which]), names[which],
				     !*files[0] ? names[0] :
				     !*files[1] ? names[1] :
						  names[2]);
	if (*config_origin(b, "cert-names") && !there)
		return config_refuse(err,
				     "%s: cert-names needs a certificate: cert, cert-key and ca",
				     config_origin(b, "cert-names"));
	return true;
}

/* If engines > 1, refuses settings that support only one engine. */
static bool engines_go_with_the_rest(const struct config_builder *b, struct config_error *err)
{
	const struct config *c = &b->config;
	const char *which = c->carrier != CONFIG_CARRIER_UDP ? "llp" :
			    *c->trace			     ? "trace" :
			    *c->faults			     ? "faults" :
							       NULL;

	if (c->engines == 1 || !which)
		return true;
	return config_refuse(err, "%s: engines = %u does not go with %s of %.300s",
			     config_origin(b, "engines"), c->engines, which,
			     config_origin(b, which));
}

bool config_finish(struct config_builder *b, struct config_error *err)
{
	struct config *c = &b->config;

	if (c->encap_port == CONFIG_ENCAP_UNSET)
		c->encap_port = c->carrier == CONFIG_CARRIER_UDP ? CONFIG_ENCAP_SAME :
								   CONFIG_ENCAP_NONE;
	if (c->carrier == CONFIG_CARRIER_UDP && c->encap_port == CONFIG_ENCAP_NONE)
		return clash(b, "encap-port", "SCTP in UDP needs a port: same, or 1 to 65535", err);
	if (c->carrier == CONFIG_CARRIER_IP && c->encap_port != CONFIG_ENCAP_NONE)
		return clash(b, "encap-port", "there is no UDP: only none is possible", err);
	if (c->carrier == CONFIG_CARRIER_KERNEL && *c->capture)
		return clash(b, "capture",
			     "the packets are the kernel's; tcpdump -i any sctp or udp sees them",
			     err);
	if (!certificate_is_whole(b, err))
		return false;
	if (config_is_sealed(c) && c->carrier != CONFIG_CARRIER_UDP)
		return clash(b, *c->key ? "key" : "cert",
			     "only SCTP in UDP can be encrypted: take llp = udp", err);
	if (c->key_optional && !config_is_sealed(c))
		return config_refuse(err, "%s: key-optional needs a key or a certificate",
				     config_origin(b, "key-optional"));
	/*
	 * node-type without personality means an iWARP device, since node-type is the older
	 * setting.
	 */
	if (*config_origin(b, "node-type") && !*config_origin(b, "personality"))
		c->personality = CONFIG_IWARP;
	if (*config_origin(b, "node-type") && !c->node_ca && c->personality != CONFIG_IWARP)
		return config_refuse(
			err,
			"%s: node-type = rnic does not go with personality = %s of %.100s, which is a CA",
			config_origin(b, "node-type"), config_personality_name(c->personality),
			config_origin(b, "personality"));
	if (*config_origin(b, "capture-files") && !c->capture_size)
		return config_refuse(err,
				     "%s: capture-files needs capture-size, of which one file is",
				     config_origin(b, "capture-files"));
	if (!engines_go_with_the_rest(b, err))
		return false;
	if (*c->trace && !strcmp(c->trace, c->capture))
		return config_refuse(
			err,
			"%s: trace does not go with capture = %.300s of %.100s: one file cannot be both",
			config_origin(b, "trace"), c->capture, config_origin(b, "capture"));
	return true;
}
