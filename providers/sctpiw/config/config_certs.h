/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The settings cert, cert-key and ca: PEM files, of which only that is looked at here which needs no cryptography. What is in
 * them is the business of net/dtls_credentials.h. No lock.
 */
#ifndef SCTPIW_CONFIG_CONFIG_CERTS_H
#define SCTPIW_CONFIG_CONFIG_CERTS_H

#include <stdbool.h>
#include <stddef.h>

struct config;
struct config_builder;
struct config_error;

/* The texts of the files, without a final zero. */
struct config_certs {
	char *cert, *key, *ca;
	size_t cert_len, key_len, ca_len;
	bool any_name; /* as in struct config */
};

/*
 * Reads the files of a configuration that has a certificate. false: err says why, and the remedy, and there is nothing to be
 * forgotten.
 */
bool config_certs_read(const struct config *config, struct config_certs *certs,
		       struct config_error *err);
/* Whether the files can be used, if there are any. false: err says why not. */
bool config_certs_check(const struct config_builder *b, struct config_error *err);
/* Overwrites and frees them. */
void config_certs_forget(struct config_certs *certs);

#endif
