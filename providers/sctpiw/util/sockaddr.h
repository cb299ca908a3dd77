/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Conversions between sockaddr_in, sockaddr_in6 and struct ip_addr (util/addr.h). Ports are in host
 * order. All functions except sockaddr_check() require an address that sockaddr_check() accepts.
 */
#ifndef SCTPIW_UTIL_SOCKADDR_H
#define SCTPIW_UTIL_SOCKADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

/* Returns 0 for AF_INET and AF_INET6, else -EAFNOSUPPORT. */
int sockaddr_check(const struct sockaddr *addr);
/* Returns the length of the address in bytes, as system calls need it. */
socklen_t sockaddr_len(const struct sockaddr *addr);
uint16_t sockaddr_port(const struct sockaddr *addr);
void sockaddr_set_port(struct sockaddr *addr, uint16_t port);
/* True for the wildcard address. */
bool sockaddr_is_any(const struct sockaddr *addr);
/* Copies an address, and zeroes the rest of *to. */
void sockaddr_copy(struct sockaddr_storage *to, const struct sockaddr *from);
/* Returns the IP address. Only a link-local address has a scope. */
struct ip_addr sockaddr_ip(const struct sockaddr *addr);
/*
 * Writes the address for a socket of this family. Returns its length. For AF_INET6, an IPv4 address
 * becomes an IPv4-mapped address.
 */
socklen_t sockaddr_make(struct sockaddr_storage *to, int family, const struct ip_addr *ip,
			uint16_t port);
/* As sockaddr_make(). The family is AF_INET for an IPv4 address, else AF_INET6. */
void sockaddr_make_natural(struct sockaddr_storage *to, const struct ip_addr *ip, uint16_t port);
/* These write the wildcard address or the loopback address of a family. */
void sockaddr_any(struct sockaddr_storage *to, int family, uint16_t port);
void sockaddr_loopback(struct sockaddr_storage *to, int family, uint16_t port);

#define SOCKADDR_TEXT 64 /* bytes of a buffer that can hold any address as text */
/*
 * These write the address and port as text, such as "10.0.0.1:4791" or "[::1]:4791", to buf. buf
 * must have SOCKADDR_TEXT bytes. They return buf.
 */
const char *sockaddr_text(const struct sockaddr *addr, char *buf);
const char *sockaddr_text_ip(const struct ip_addr *ip, uint16_t port, char *buf);

#endif
