/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * usrsctp in DTLS 1.2 by OpenSSL (RFC 8261), with a key shared by both sides (PSK). The side that
 * connects is the client of the handshake. A thread reads the UDP socket and passes datagrams to
 * OpenSSL one by one. Packets of usrsctp leave from their sending thread.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "socket_api.h"
#include "usrsctp_lower.h"

#define STEP 50 /* ms: interval of the checks of DTLS's timers */
#define HANDSHAKE_MTU 1200
#define KEY_MAX 64
/* The cipher suites that RFC 8261 permits and sctpiw has for shared keys. */
#define CIPHERS "DHE-PSK-AES128-GCM-SHA256:DHE-PSK-AES256-GCM-SHA384:ECDHE-PSK-CHACHA20-POLY1305"

static struct {
	const struct stack_options *options;
	int fd;
	bool connected; /* the socket knows the peer's address */
	SSL *ssl;
	pthread_mutex_t lock;	 /* of ssl, which one thread may use at a time */
	const uint8_t *datagram; /* not yet taken by OpenSSL; or NULL */
	size_t datagram_len;
	uint8_t cookie[16];
	char identity[128];
	uint8_t key[KEY_MAX];
	unsigned int key_len;
	atomic_bool closed; /* the peer has sent a close_notify */
	struct sockaddr_conn conn;
} dtls = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ------------------------------------------------------------------ keys and cookies */

/* Reads the first line of a key file of sctpiw. */
static void read_key(const char *path)
{
	char hex[2 * KEY_MAX + 1];
	FILE *f = fopen(path, "r");
	size_t len;

	if (!f || fscanf(f, "%127s %128s", dtls.identity, hex) != 2)
		fail("%s has no key", path);
	fclose(f);
	len = strlen(hex) / 2;
	for (size_t i = 0; i < len; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &dtls.key[i]) != 1)
			fail("%s: this is no key", path);
	dtls.key_len = (unsigned int)len;
}

static unsigned int client_key(SSL *ssl, const char *hint, char *identity,
			       unsigned int identity_max, unsigned char *key, unsigned int key_max)
{
	(void)ssl, (void)hint;
	if (strlen(dtls.identity) + 1 > identity_max || dtls.key_len > key_max)
		return 0;
	strcpy(identity, dtls.identity);
	memcpy(key, dtls.key, dtls.key_len);
	return dtls.key_len;
}

static unsigned int server_key(SSL *ssl, const char *identity, unsigned char *key,
			       unsigned int key_max)
{
	(void)ssl;
	if (strcmp(identity, dtls.identity) != 0 || dtls.key_len > key_max)
		return 0;
	memcpy(key, dtls.key, dtls.key_len);
	return dtls.key_len;
}

static int make_cookie(SSL *ssl, unsigned char *cookie, unsigned int *len)
{
	(void)ssl;
	memcpy(cookie, dtls.cookie, sizeof(dtls.cookie));
	*len = sizeof(dtls.cookie);
	return 1;
}

static int check_cookie(SSL *ssl, const unsigned char *cookie, unsigned int len)
{
	(void)ssl;
	return len == sizeof(dtls.cookie) && !memcmp(cookie, dtls.cookie, len);
}

/* ------------------------------------------------------------------ datagrams of OpenSSL */

static int bio_read(BIO *bio, char *buf, int size)
{
	size_t len = dtls.datagram_len < (size_t)size ? dtls.datagram_len : (size_t)size;

	BIO_clear_retry_flags(bio);
	if (!dtls.datagram) {
		BIO_set_retry_read(bio);
		return -1;
	}
	memcpy(buf, dtls.datagram, len);
	dtls.datagram = NULL;
	return (int)len;
}

/* A datagram that cannot be sent is lost. */
static int bio_write(BIO *bio, const char *data, int len)
{
	(void)bio;
	if (send(dtls.fd, data, (size_t)len, 0) < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
		say("send: %s", strerror(errno));
	return len;
}

static long bio_ctrl(BIO *bio, int command, long number, void *arg)
{
	(void)bio, (void)number, (void)arg;
	return command == BIO_CTRL_FLUSH;
}

static BIO *make_bio(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");
	BIO *bio;

	if (!method || !BIO_meth_set_read(method, bio_read) ||
	    !BIO_meth_set_write(method, bio_write) || !BIO_meth_set_ctrl(method, bio_ctrl))
		return NULL;
	bio = BIO_new(method);
	if (bio)
		BIO_set_init(bio, 1);
	return bio;
}

/* ------------------------------------------------------------------ the session */

static _Noreturn void fail_dtls(const char *what)
{
	const char *reason = ERR_reason_error_string(ERR_get_error());

	fail("%s: %s", what, reason ? reason : "no reason is known");
}

static void make_session(bool listens)
{
	const struct stack_options *o = dtls.options;
	SSL_CTX *ctx = SSL_CTX_new(DTLS_method());
	BIO *bio = make_bio();

	if (!ctx || !bio || RAND_bytes(dtls.cookie, sizeof(dtls.cookie)) != 1 ||
	    !SSL_CTX_set_min_proto_version(ctx, DTLS1_2_VERSION) ||
	    !SSL_CTX_set_cipher_list(ctx, o->cipher ? o->cipher : CIPHERS) ||
	    !SSL_CTX_set_dh_auto(ctx, 1))
		fail_dtls("OpenSSL");
	SSL_CTX_set_psk_client_callback(ctx, client_key);
	SSL_CTX_set_psk_server_callback(ctx, server_key);
	SSL_CTX_set_cookie_generate_cb(ctx, make_cookie);
	SSL_CTX_set_cookie_verify_cb(ctx, check_cookie);
	SSL_CTX_set_options(ctx, SSL_OP_NO_QUERY_MTU | (o->cookie ? SSL_OP_COOKIE_EXCHANGE : 0));
	dtls.ssl = SSL_new(ctx);
	if (!dtls.ssl)
		fail_dtls("SSL_new");
	SSL_set_bio(dtls.ssl, bio, bio);
	SSL_set_mtu(dtls.ssl, HANDSHAKE_MTU);
	if (listens)
		SSL_set_accept_state(dtls.ssl);
	else
		SSL_set_connect_state(dtls.ssl);
}

/* Handles the error of an OpenSSL call. */
static void look_at(int ret)
{
	switch (SSL_get_error(dtls.ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		break;
	case SSL_ERROR_ZERO_RETURN:
		dtls.closed = true;
		break;
	default:
		fail_dtls("DTLS");
	}
}

/*
 * Continues the handshake, or reads a packet. Returns the packet's length, or 0 without a packet.
 * Clears the thread's queue of errors for the next call.
 */
static size_t go_on(uint8_t *packet, size_t size)
{
	int ret;

	ERR_clear_error();
	if (!SSL_is_init_finished(dtls.ssl)) {
		ret = SSL_do_handshake(dtls.ssl);
		if (ret <= 0) {
			look_at(ret);
			return 0;
		}
		say("a session by %s as %s", SSL_get_cipher_name(dtls.ssl),
		    SSL_is_server(dtls.ssl) ? "server" : "client");
	}
	if (dtls.closed)
		return 0;
	ret = SSL_read(dtls.ssl, packet, (int)size);
	if (ret > 0)
		return (size_t)ret;
	look_at(ret);
	return 0;
}

/* Waits for a datagram, and takes it, or lets DTLS repeat its flight when due. */
static void serve(void)
{
	static uint8_t datagram[65536], packet[65536];
	struct pollfd p = { .fd = dtls.fd, .events = POLLIN };
	struct sockaddr_storage from;
	socklen_t from_len = sizeof(from);
	ssize_t n = -1;
	size_t len;

	if (poll(&p, 1, STEP) > 0)
		n = recvfrom(dtls.fd, datagram, sizeof(datagram), 0, (struct sockaddr *)&from,
			     &from_len);
	if (n >= 0 && !dtls.connected) {
		if (connect(dtls.fd, (struct sockaddr *)&from, from_len))
			fail("connect to who has sent: %s", strerror(errno));
		dtls.connected = true;
	}
	if (!dtls.connected)
		return;
	pthread_mutex_lock(&dtls.lock);
	dtls.datagram = n >= 0 ? datagram : NULL;
	dtls.datagram_len = n >= 0 ? (size_t)n : 0;
	if (n < 0 && !SSL_is_init_finished(dtls.ssl) && DTLSv1_handle_timeout(dtls.ssl) < 0)
		fail_dtls("DTLS");
	while ((len = go_on(packet, sizeof(packet)))) {
		pthread_mutex_unlock(&dtls.lock);
		usrsctp_conninput(&dtls, packet, len, 0);
		pthread_mutex_lock(&dtls.lock);
	}
	pthread_mutex_unlock(&dtls.lock);
}

static void *serve_for_ever(void *arg)
{
	for (;;)
		serve();
	return arg;
}

/* Takes a packet of usrsctp. A packet that cannot be sent yet is lost, as in a network. */
static int output(void *arg, void *packet, size_t len, uint8_t tos, uint8_t df)
{
	(void)arg, (void)tos, (void)df;
	pthread_mutex_lock(&dtls.lock);
	ERR_clear_error();
	if (SSL_is_init_finished(dtls.ssl) && SSL_write(dtls.ssl, packet, (int)len) <= 0)
		fail_dtls("SSL_write");
	pthread_mutex_unlock(&dtls.lock);
	return 0;
}

/* ------------------------------------------------------------------ functions for usrsctp.c */

/*
 * Opens the UDP socket. Its own port is an option. The side that connects knows the peer's address.
 */
static void open_udp(bool listens)
{
	const struct stack_options *o = dtls.options;
	struct sockaddr_storage own = { .ss_family = o->address.ss_family }, peer = o->address;
	int room = 4 << 20;

	if (listens)
		own = o->address;
	if (own.ss_family == AF_INET6) {
		((struct sockaddr_in6 *)&own)->sin6_port = htons(o->udp_port);
		((struct sockaddr_in6 *)&peer)->sin6_port = htons(o->peer_udp_port);
	} else {
		((struct sockaddr_in *)&own)->sin_port = htons(o->udp_port);
		((struct sockaddr_in *)&peer)->sin_port = htons(o->peer_udp_port);
	}
	dtls.fd = socket(own.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (dtls.fd < 0 || bind(dtls.fd, (struct sockaddr *)&own, o->address_len))
		fail("UDP port %u: %s", o->udp_port, strerror(errno));
	setsockopt(dtls.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (listens)
		return;
	if (connect(dtls.fd, (struct sockaddr *)&peer, o->address_len))
		fail("connect: %s", strerror(errno));
	dtls.connected = true;
}

void lower_start(const struct stack_options *o, bool listens)
{
	double end = now() + PATIENCE;
	pthread_t thread;

	if (!o->key)
		fail("no --key");
	dtls.options = o;
	read_key(o->key);
	open_udp(listens);
	make_session(listens);
	usrsctp_init(0, output, NULL);
	usrsctp_register_address(&dtls);
	dtls.conn.sconn_family = AF_CONN;
	dtls.conn.sconn_addr = &dtls;
	dtls.conn.sconn_port = o->address.ss_family == AF_INET6 ?
				       ((const struct sockaddr_in6 *)&o->address)->sin6_port :
				       ((const struct sockaddr_in *)&o->address)->sin_port;
	while (!listens && !SSL_is_init_finished(dtls.ssl)) {
		if (now() > end)
			fail("no session within %d s", PATIENCE);
		serve();
	}
	if (pthread_create(&thread, NULL, serve_for_ever, NULL))
		fail("no thread");
}

const struct sockaddr *lower_address(socklen_t *len)
{
	*len = sizeof(dtls.conn);
	return (const struct sockaddr *)&dtls.conn;
}

void lower_configure(void)
{
}

void lower_end(void)
{
	double end = now() + PATIENCE;

	if (dtls.options->closes == STACK_CLOSES) {
		pthread_mutex_lock(&dtls.lock);
		SSL_shutdown(dtls.ssl);
		pthread_mutex_unlock(&dtls.lock);
		say("closed");
	}
	while (dtls.options->closes == STACK_IS_CLOSED && !dtls.closed) {
		if (now() > end)
			fail("the peer does not close the session");
		usleep(10000);
	}
}
