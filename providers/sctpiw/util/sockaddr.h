/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Between sockaddr_in, sockaddr_in6 and the ip_addr of the layers below. Ports in host order. */
#ifndef SCTPIW_UTIL_SOCKADDR_H
#define SCTPIW_UTIL_SOCKADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

/* -EAFNOSUPPORT: neither AF_INET nor AF_INET6. */
int sockaddr_check(const struct sockaddr *addr);
socklen_t sockaddr_len(const struct sockaddr *addr);
uint16_t sockaddr_port(const struct sockaddr *addr);
void sockaddr_set_port(struct sockaddr *addr, uint16_t port);
bool sockaddr_is_any(const struct sockaddr *addr);
void sockaddr_copy(struct sockaddr_storage *to, const struct sockaddr *from);
struct ip_addr sockaddr_ip(const struct sockaddr *addr);
/* For a socket of this family; an IPv4 address becomes a mapped one for AF_INET6. */
socklen_t sockaddr_make(struct sockaddr_storage *to, int family, const struct ip_addr *ip,
			uint16_t port);
/* The natural family: AF_INET for an IPv4 address. */
void sockaddr_make_natural(struct sockaddr_storage *to, const struct ip_addr *ip, uint16_t port);
/* The wildcard, or the loopback, address of a family. */
void sockaddr_any(struct sockaddr_storage *to, int family, uint16_t port);
void sockaddr_loopback(struct sockaddr_storage *to, int family, uint16_t port);

#define SOCKADDR_TEXT 64
/* "10.0.0.1:4791" into buf of SOCKADDR_TEXT bytes; returns it. */
const char *sockaddr_text(const struct sockaddr *addr, char *buf);
const char *sockaddr_text_ip(const struct ip_addr *ip, uint16_t port, char *buf);

#endif
