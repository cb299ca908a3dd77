/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The PEM files of the settings cert, cert-key and ca. This module makes only the checks that need
 * no cryptography. net/dtls_credentials.h uses the contents. The functions need no lock.
 */
#ifndef SCTPIW_CONFIG_CONFIG_CERTS_H
#define SCTPIW_CONFIG_CONFIG_CERTS_H

#include <stdbool.h>
#include <stddef.h>

struct config;
struct config_builder;
struct config_error;

/* Contents of the files, without a final zero. */
struct config_certs {
	char *cert, *key, *ca;
	size_t cert_len, key_len, ca_len;
	bool any_name; /* config.any_name */
};

/*
 * Reads the three files. cert must be set. After an error, returns false, sets err to the cause and
 * the remedy, and leaves *certs empty.
 */
bool config_certs_read(const struct config *config, struct config_certs *certs,
		       struct config_error *err);
/* True if the files are usable, or not set. Otherwise sets err to the reason. */
bool config_certs_check(const struct config_builder *b, struct config_error *err);
/* Overwrites the private key, and frees all texts. */
void config_certs_forget(struct config_certs *certs);

#endif
