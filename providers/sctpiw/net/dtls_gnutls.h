/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GnuTLS, loaded only in a process with a key or a certificate (decision 37), since loading takes
 * 10 ms and several MiB. Call a function as gnutls.NAME(). A variable is *gnutls.NAME.
 */
#ifndef SCTPIW_NET_DTLS_GNUTLS_H
#define SCTPIW_NET_DTLS_GNUTLS_H

#include <gnutls/crypto.h>
#include <gnutls/dtls.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdbool.h>

struct config_error;

/* clang-format off */
#define DTLS_GNUTLS_FUNCTIONS(X) \
	X(aead_cipher_decrypt) \
	X(aead_cipher_deinit) \
	X(aead_cipher_encrypt) \
	X(aead_cipher_init) \
	X(alert_get) \
	X(alert_get_name) \
	X(alert_send) \
	X(certificate_allocate_credentials) \
	X(certificate_free_credentials) \
	X(certificate_get_peers) \
	X(certificate_send_x509_rdn_sequence) \
	X(certificate_server_set_request) \
	X(certificate_set_verify_function) \
	X(certificate_set_x509_key_mem2) \
	X(certificate_set_x509_trust_mem) \
	X(certificate_verify_peers) \
	X(cipher_get) \
	X(cipher_get_name) \
	X(credentials_set) \
	X(deinit) \
	X(dh_params_deinit) \
	X(dh_params_import_raw2) \
	X(dh_params_init) \
	X(dh_set_prime_bits) \
	X(dtls_cookie_send) \
	X(dtls_cookie_verify) \
	X(dtls_get_timeout) \
	X(dtls_prestate_set) \
	X(dtls_set_mtu) \
	X(dtls_set_timeouts) \
	X(error_is_fatal) \
	X(ffdhe_2048_group_generator) \
	X(ffdhe_2048_group_prime) \
	X(ffdhe_2048_key_bits) \
	X(handshake) \
	X(handshake_set_max_packet_length) \
	X(init) \
	X(kx_get) \
	X(malloc) /* a variable */ \
	X(priority_deinit) \
	X(priority_init) \
	X(priority_set) \
	X(psk_allocate_client_credentials) \
	X(psk_allocate_server_credentials) \
	X(psk_free_client_credentials) \
	X(psk_free_server_credentials) \
	X(psk_set_client_credentials) \
	X(psk_set_server_credentials_function) \
	X(psk_set_server_dh_params) \
	X(record_get_discarded) \
	X(record_get_state) \
	X(record_recv) \
	X(rnd) \
	X(session_get_ptr) \
	X(session_get_random) \
	X(session_set_ptr) \
	X(strerror) \
	X(transport_set_errno) \
	X(transport_set_ptr) \
	X(transport_set_pull_function) \
	X(transport_set_pull_timeout_function) \
	X(transport_set_push_function) \
	X(x509_crt_check_key_purpose) \
	X(x509_crt_deinit) \
	X(x509_crt_get_activation_time) \
	X(x509_crt_get_dn) \
	X(x509_crt_get_expiration_time) \
	X(x509_crt_import) \
	X(x509_crt_init)
/* clang-format on */

struct dtls_gnutls {
#define DTLS_GNUTLS_MEMBER(name) __typeof__(&gnutls_##name) name;
	DTLS_GNUTLS_FUNCTIONS(DTLS_GNUTLS_MEMBER)
#undef DTLS_GNUTLS_MEMBER
};

extern struct dtls_gnutls gnutls;

/*
 * Loads GnuTLS. Call this before any other function of GnuTLS, in one thread at a time. Returns
 * false with the reason in *why if the library cannot be loaded. The library stays loaded.
 */
bool dtls_gnutls_load(struct config_error *why);

#endif
