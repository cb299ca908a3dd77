/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Conversions between sockaddr_in, sockaddr_in6 and the ip_addr of util/addr.h. Ports are in host
 * order. All but sockaddr_check() take only addresses that it accepts.
 */
#ifndef SCTPIW_UTIL_SOCKADDR_H
#define SCTPIW_UTIL_SOCKADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

/* Returns 0 for AF_INET and AF_INET6, else -EAFNOSUPPORT. */
int sockaddr_check(const struct sockaddr *addr);
/* The length that system calls want, bytes. */
socklen_t sockaddr_len(const struct sockaddr *addr);
uint16_t sockaddr_port(const struct sockaddr *addr);
void sockaddr_set_port(struct sockaddr *addr, uint16_t port);
/* Whether it is the wildcard address. */
bool sockaddr_is_any(const struct sockaddr *addr);
/* Copies an address and zeroes what is behind it. */
void sockaddr_copy(struct sockaddr_storage *to, const struct sockaddr *from);
/* The IP address; it has a scope only if it is link-local. */
struct ip_addr sockaddr_ip(const struct sockaddr *addr);
/*
 * Makes an address for a socket of this family and returns its length; an IPv4 address becomes a
 * mapped one for AF_INET6.
 */
socklen_t sockaddr_make(struct sockaddr_storage *to, int family, const struct ip_addr *ip,
			uint16_t port);
/* The same for the natural family: AF_INET for an IPv4 address. */
void sockaddr_make_natural(struct sockaddr_storage *to, const struct ip_addr *ip, uint16_t port);
/* Make the wildcard or the loopback address of a family. */
void sockaddr_any(struct sockaddr_storage *to, int family, uint16_t port);
void sockaddr_loopback(struct sockaddr_storage *to, int family, uint16_t port);

#define SOCKADDR_TEXT 64 /* bytes of a buffer for any address */
/* Write "10.0.0.1:4791" or "[::1]:4791" to buf of SOCKADDR_TEXT bytes, and return it. */
const char *sockaddr_text(const struct sockaddr *addr, char *buf);
const char *sockaddr_text_ip(const struct ip_addr *ip, uint16_t port, char *buf);

#endif
