/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Transport addresses without <netinet/in.h>. The layers below net/ only compare and store these
 * addresses. util/sockaddr.h converts them to and from sockaddrs.
 */
#ifndef SCTPIW_UTIL_ADDR_H
#define SCTPIW_UTIL_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* An IPv6 address in network byte order. An IPv4 address a.b.c.d is stored as ::ffff:a.b.c.d. */
struct ip_addr {
	uint8_t b[16];
	uint32_t scope_id; /* host order; 0 unless the address is link-local */
};

/* The two addresses of a path. If local is all zero, routing chooses the local address. */
struct path_addr {
	struct ip_addr local;
	struct ip_addr remote;
	uint16_t udp_port; /* the peer's encapsulation port (RFC 6951), host order; 0: plain IP */
};

static inline bool ip_addr_equal(const struct ip_addr *a, const struct ip_addr *b)
{
	return memcmp(a->b, b->b, 16) == 0 && a->scope_id == b->scope_id;
}

/* True if `a` is one of the n addresses of the list. */
static inline bool ip_addr_is_in(const struct ip_addr *a, const struct ip_addr *list,
				 unsigned int n)
{
	while (n--)
		if (ip_addr_equal(&list[n], a))
			return true;
	return false;
}

static inline bool ip_addr_is_v4(const struct ip_addr *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(a->b, mapped, 12) == 0;
}

/* Converts an IPv4 address: 4 bytes in network order. */
static inline struct ip_addr ip_addr_from_v4(const void *v4)
{
	struct ip_addr a = { .b = { [10] = 0xff, [11] = 0xff } };

	memcpy(a.b + 12, v4, 4);
	return a;
}

/* True for a multicast address: 224.0.0.0/4 or ff00::/8. */
static inline bool ip_addr_is_multicast(const struct ip_addr *a)
{
	return ip_addr_is_v4(a) ? (a->b[12] & 0xf0) == 0xe0 : a->b[0] == 0xff;
}

/*
 * True for an IPv6 multicast address of interface-local or link-local scope (RFC 4291 2.7, scopes 1
 * and 2). Each interface has its own group of this address.
 */
static inline bool ip_addr_is_scoped_group(const struct ip_addr *a)
{
	return a->b[0] == 0xff && ((a->b[1] & 0xf) == 1 || (a->b[1] & 0xf) == 2);
}

/*
 * Changes an IPv6 multicast address of interface-local scope (1) to link-local scope (2). A RoCE
 * device sends packets to an interface-local group through its port, but Linux does not.
 */
static inline void ip_addr_widen_group(struct ip_addr *a)
{
	if (a->b[0] == 0xff && (a->b[1] & 0xf) == 1)
		a->b[1] = (uint8_t)((a->b[1] & 0xf0) | 2);
}

/* True for fe80::/10. */
static inline bool ip_addr_is_link_local(const struct ip_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/* True for the wildcard address of IPv4 or IPv6. */
static inline bool ip_addr_is_zero(const struct ip_addr *a)
{
	static const uint8_t zero[16];

	return memcmp(a->b, zero, 16) == 0 || (ip_addr_is_v4(a) && memcmp(a->b + 12, zero, 4) == 0);
}

/*
 * Compares the local addresses of `a` and `b`. Returns 2 if they are equal, 1 if either is not
 * known yet, 0 if they differ.
 */
static inline int path_addr_locality(const struct path_addr *a, const struct path_addr *b)
{
	if (ip_addr_equal(&a->local, &b->local))
		return 2;
	return ip_addr_is_zero(&a->local) || ip_addr_is_zero(&b->local);
}

/* True for 127.0.0.0/8 and ::1. */
static inline bool ip_addr_is_loopback(const struct ip_addr *a)
{
	static const uint8_t v6[16] = { [15] = 1 };

	return ip_addr_is_v4(a) ? a->b[12] == 127 : memcmp(a->b, v6, sizeof(v6)) == 0;
}

#endif
