/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config_certs.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_file.h"
#include "config/config_private.h"

void config_certs_forget(struct config_certs *certs)
{
	free(certs->cert);
	free(certs->ca);
	config_private_free(certs->key);
	memset(certs, 0, sizeof(*certs));
}

/* Checks that the text contains a PEM header of this kind. */
static bool has(const char *setting, const char *path, const char *text, size_t len,
		const char *kind, struct config_error *err)
{
	if (memmem(text, len, kind, strlen(kind)))
		return true;
	return config_refuse(err, "%s = %.300s: no line there ends in \"%s\", as in PEM files",
			     setting, path, kind);
}

/* Checks that the private key is not encrypted, since no user can enter a password. */
static bool is_open(const struct config *config, const struct config_certs *certs,
		    struct config_error *err)
{
	static const char mark[] = "ENCRYPTED";

	if (!memmem(certs->key, certs->key_len, mark, strlen(mark)))
		return true;
	return config_refuse(
		err,
		"cert-key = %.200s: that key has a password: openssl pkey -in %.200s takes it away",
		config->cert_key, config->cert_key);
}

static bool read_files(const struct config *config, struct config_certs *certs,
		       struct config_error *err)
{
	certs->cert = config_file_read(config->cert, "certificates", &certs->cert_len, err);
	if (!certs->cert)
		return false;
	certs->key = config_private_read("cert-key", config->cert_key, &certs->key_len, err);
	if (!certs->key)
		return false;
	certs->ca = config_file_read(config->ca, "certificates", &certs->ca_len, err);
	return certs->ca;
}

bool config_certs_read(const struct config *config, struct config_certs *certs,
		       struct config_error *err)
{
	memset(certs, 0, sizeof(*certs));
	certs->any_name = config->any_name;
	if (read_files(config, certs, err) &&
	    has("cert", config->cert, certs->cert, certs->cert_len, "CERTIFICATE-----", err) &&
	    has("cert-key", config->cert_key, certs->key, certs->key_len, "PRIVATE KEY-----",
		err) &&
	    is_open(config, certs, err) &&
	    has("ca", config->ca, certs->ca, certs->ca_len, "CERTIFICATE-----", err))
		return true;
	config_certs_forget(certs);
	return false;
}

bool config_certs_check(const struct config_builder *b, struct config_error *err)
{
	struct config_certs certs;

	if (!*b->config.cert)
		return true;
	if (!config_certs_read(&b->config, &certs, err))
		return false;
	config_certs_forget(&certs);
	return true;
}
