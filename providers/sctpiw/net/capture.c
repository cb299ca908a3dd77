/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/capture.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "log/log.h"
#include "net/append_file.h"
#include "net/ring_file.h"
#include "net/route.h"
#include "util/sockaddr.h"
#include "util/bytes.h"

#define FLUSH_AT (256u << 10)
/* Maximum bytes of a packet block: the packet with its headers, options and padding. */
#define RECORD_MAX (65536u + 128u)

#define IPV4_HEADER 20u
#define IPV6_HEADER 40u
#define UDP_HEADER 8u
#define HEADERS_MAX (IPV6_HEADER + UDP_HEADER)
#define HOP_LIMIT 64

/* Types of pcapng blocks, and codes of options, in host byte order. */
#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINKTYPE_RAW 101u
#define OPT_END 0u
#define OPT_APPLICATION 4u
#define OPT_INTERFACE_NAME 2u
#define OPT_TIME_RESOLUTION 9u
#define OPT_FLAGS 2u

struct capture {
	struct ring_file file;
	uint32_t snaplen; /* maximum bytes of a packet that are recorded; 0: no limit */
	/* The peer of the last route look-up, and the local address that the look-up returned. */
	struct ip_addr remote, local;
	/* buffer fill, in bytes, at which the buffer is written before the end of the pass */
	size_t flush_at;
	size_t header; /* bytes of the section header, which is always at the start of buf */
	size_t used;
	uint8_t buf[FLUSH_AT + RECORD_MAX];
};

static void make_header(struct capture *c);

struct capture *capture_open(const struct config *config, struct config_error *why)
{
	struct capture *c = malloc(sizeof(*c));
	const char *error = NULL;
	size_t limit = config->capture_size;

	if (!c) {
		snprintf(why->text, sizeof(why->text), "capture: %s", strerror(ENOMEM));
		return NULL;
	}
	memset(c, 0, offsetof(struct capture, buf));
	c->snaplen = config->capture_snaplen;
	/* One write must fit into one file. */
	c->flush_at = limit && limit < FLUSH_AT + RECORD_MAX ? limit - RECORD_MAX : FLUSH_AT;
	make_header(c);
	if (!ring_file_open(&c->file, config->capture, limit, config->capture_files, &error))
		return c;
	snprintf(why->text, sizeof(why->text), "cannot write the capture: %.300s: %s",
		 config->capture, error);
	free(c);
	return NULL;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	ring_file_close(&c->file);
	free(c);
}

/* ---- writing ---- */

static int write_out(struct capture *c)
{
	int ret = ring_file_prepare(&c->file, c->used);
	size_t from;

	if (ret)
		return ret;
	from = c->file.fresh ? 0 : c->header;
	c->file.fresh = false;
	ret = append_file_write(c->file.fd, c->buf + from, c->used - from);
	ring_file_done(&c->file);
	return ret;
}

void capture_flush(struct net *net)
{
	struct capture *c = net->capture;
	int ret;

	if (c->used == c->header)
		return;
	ret = write_out(c);
	c->used = c->header;
	if (!ret)
		return;
	log_error("the capture in %s ends here: %s", c->file.path, log_reason(-ret));
	capture_free(c);
	net->capture = NULL;
}

/* ---- blocks ---- */

static void put16(struct capture *c, unsigned int val)
{
	uint16_t v = (uint16_t)val;

	memcpy(c->buf + c->used, &v, sizeof(v));
	c->used += sizeof(v);
}

static void put32(struct capture *c, uint32_t val)
{
	memcpy(c->buf + c->used, &val, sizeof(val));
	c->used += sizeof(val);
}

static void put_padded(struct capture *c, const void *data, size_t len)
{
	static const uint8_t zero[4];
	size_t pad = -len & 3;

	memcpy(c->buf + c->used, data, len);
	memcpy(c->buf + c->used + len, zero, pad);
	c->used += len + pad;
}

static void put_option(struct capture *c, unsigned int code, const void *data, size_t len)
{
	put16(c, code);
	put16(c, (unsigned int)len);
	put_padded(c, data, len);
}

/* Starts a block and returns its offset. end_block() sets its length. */
static size_t begin_block(struct capture *c, uint32_t type)
{
	size_t start = c->used;

	put32(c, type);
	put32(c, 0);
	return start;
}

static void end_block(struct capture *c, size_t start)
{
	uint32_t len;

	put32(c, OPT_END); /* without a value */
	len = (uint32_t)(c->used - start + sizeof(len));
	put32(c, len);
	memcpy(c->buf + start + 4, &len, sizeof(len));
}

/* Writes a section header and interface description to the start of the buffer. */
static void make_header(struct capture *c)
{
	static const char application[] = "sctpiw", name[] = "sctpiw0";
	static const uint8_t nanoseconds = 9;
	size_t start = begin_block(c, BLOCK_SECTION);

	put32(c, BYTE_ORDER_MAGIC);
	put16(c, 1); /* version 1.0 */
	put16(c, 0);
	put32(c, UINT32_MAX); /* the section's length is unknown */
	put32(c, UINT32_MAX);
	put_option(c, OPT_APPLICATION, application, sizeof(application) - 1);
	end_block(c, start);

	start = begin_block(c, BLOCK_INTERFACE);
	put16(c, LINKTYPE_RAW);
	put16(c, 0);
	put32(c, c->snaplen);
	put_option(c, OPT_INTERFACE_NAME, name, sizeof(name) - 1);
	put_option(c, OPT_TIME_RESOLUTION, &nanoseconds, sizeof(nanoseconds));
	end_block(c, start);
	c->header = c->used;
}

/* ---- headers ---- */

/* Adds bytes to a checksum (RFC 1071). */
static uint32_t add_up(uint32_t sum, const uint8_t *p, size_t len)
{
	uint64_t wide = sum;

	for (; len > 1; p += 2, len -= 2)
		wide += get_be16(p);
	if (len)
		wide += (uint32_t)*p << 8;
	while (wide >> 16)
		wide = (wide & 0xffff) + (wide >> 16);
	return (uint32_t)wide;
}

struct ends {
	struct ip_addr src, dst;
	uint16_t udp_src, udp_dst; /* 0: no UDP */
};

static uint32_t pseudo_header(const uint8_t *addrs, size_t len, size_t payload)
{
	return add_up(IPPROTO_UDP + (uint32_t)payload, addrs, len);
}

/* Writes the IP header of a packet, and its UDP header if any, to h. Returns their length. */
static size_t make_headers(uint8_t *h, const struct ends *ends, const uint8_t *data, size_t len)
{
	bool v4 = ip_addr_is_v4(&ends->dst), udp = ends->udp_dst;
	size_t ip_len = v4 ? IPV4_HEADER : IPV6_HEADER;
	size_t payload = len + (udp ? UDP_HEADER : 0);
	uint8_t protocol = udp ? IPPROTO_UDP : IPPROTO_SCTP, *u = h + ip_len;
	uint32_t sum;

	memset(h, 0, HEADERS_MAX);
	if (v4) {
		h[0] = 0x45;
		put_be16(h + 2, (uint16_t)(IPV4_HEADER + payload));
		h[8] = HOP_LIMIT;
		h[9] = protocol;
		memcpy(h + 12, ends->src.b + 12, 4);
		memcpy(h + 16, ends->dst.b + 12, 4);
		put_be16(h + 10, (uint16_t)~add_up(0, h, IPV4_HEADER));
		sum = pseudo_header(h + 12, 8, payload);
	} else {
		h[0] = 0x60;
		put_be16(h + 4, (uint16_t)payload);
		h[6] = protocol;
		h[7] = HOP_LIMIT;
		memcpy(h + 8, ends->src.b, 16);
		memcpy(h + 24, ends->dst.b, 16);
		sum = pseudo_header(h + 8, 32, payload);
	}
	if (!udp)
		return ip_len;
	put_be16(u, ends->udp_src);
	put_be16(u + 2, ends->udp_dst);
	put_be16(u + 4, (uint16_t)payload);
	sum = add_up(add_up(sum, u, UDP_HEADER), data, len);
	/* A checksum of 0 would mean that the packet has none. */
	put_be16(u + 6, sum == 0xffff ? 0xffff : (uint16_t)~sum);
	return ip_len + UDP_HEADER;
}

/* Returns the local address of a packet, or if unknown, the one that routing chooses. */
static struct ip_addr local_address(struct endpoint *ep, const struct path_addr *path)
{
	struct capture *c = ep->conn->net->capture;
	struct sockaddr_storage dst, src;

	if (!ip_addr_is_zero(&path->local))
		return path->local;
	if (!ep->bound.wildcard)
		return sockaddr_ip((struct sockaddr *)&ep->bound.local);
	if (!ip_addr_equal(&c->remote, &path->remote)) {
		c->remote = path->remote;
		c->local = path->local;
		sockaddr_make_natural(&dst, &path->remote, 0);
		if (!route_lookup(NULL, (struct sockaddr *)&dst, &src, NULL))
			c->local = sockaddr_ip((struct sockaddr *)&src);
	}
	return c->local;
}

/* ---- packets ---- */

static void put_packet(struct capture *c, const struct ends *ends, uint64_t when,
		       enum capture_direction dir, const uint8_t *data, size_t len)
{
	size_t start = begin_block(c, BLOCK_PACKET), total, kept;
	uint8_t headers[HEADERS_MAX];
	uint32_t flags = dir;

	total = make_headers(headers, ends, data, len);
	kept = c->snaplen && total + len > c->snaplen ? c->snaplen - total : len;
	put32(c, 0); /* number of the interface */
	put32(c, (uint32_t)(when >> 32));
	put32(c, (uint32_t)when);
	put32(c, (uint32_t)(total + kept)); /* captured length */
	put32(c, (uint32_t)(total + len));  /* original length */
	memcpy(c->buf + c->used, headers, total);
	c->used += total; /* a multiple of 4 */
	put_padded(c, data, kept);
	put_option(c, OPT_FLAGS, &flags, sizeof(flags));
	end_block(c, start);
}

void capture_packets(struct endpoint *ep, const struct path_addr *path, enum capture_direction dir,
		     const uint8_t *data, size_t len, size_t segment)
{
	struct net *net = ep->conn->net;
	struct ip_addr local = local_address(ep, path);
	bool out = dir == CAPTURE_OUT;
	uint16_t ours = path->udp_port ? ep->bound.port : 0;
	struct ends ends = {
		.src = out ? local : path->remote,
		.dst = out ? path->remote : local,
		.udp_src = out ? ours : path->udp_port,
		.udp_dst = out ? path->udp_port : ours,
	};
	struct timespec ts;
	uint64_t when;

	clock_gettime(CLOCK_REALTIME, &ts);
	when = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	for (size_t off = 0; off < len && net->capture; off += segment) {
		size_t left = len - off;

		put_packet(net->capture, &ends, when, dir, data + off,
			   left < segment ? left : segment);
		if (net->capture->used >= net->capture->flush_at)
			capture_flush(net);
	}
}
