/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/known.h"

#include <stdlib.h>
#include <string.h>

#include "util/time.h"

struct known_addr {
	struct ip_addr ip;
	uint64_t shown; /* time when the address last answered a HEARTBEAT, ns */
};

struct known_host {
	struct list_node node;
	unsigned int n;
	struct known_addr addr[SCTP_KNOWN_ADDRS]; /* in the order of the last proof, newest first */
};

void sctp_known_init(struct sctp_known *k)
{
	list_init(&k->hosts);
	k->count = 0;
}

static void drop(struct sctp_known *k, struct known_host *h)
{
	list_del(&h->node);
	k->count--;
	free(h);
}

void sctp_known_fini(struct sctp_known *k)
{
	list_for_each_safe(node, &k->hosts)
		drop(k, list_entry(node, struct known_host, node));
}

/* Returns the index of the address in h->addr[], or h->n if the host does not have the address. */
static unsigned int place_of(const struct known_host *h, const struct ip_addr *ip)
{
	unsigned int i = 0;

	while (i < h->n && !ip_addr_equal(&h->addr[i].ip, ip))
		i++;
	return i;
}

static struct known_host *find(const struct sctp_known *k, const struct ip_addr *ip)
{
	list_for_each(node, &k->hosts) {
		struct known_host *h = list_entry(node, struct known_host, node);

		if (place_of(h, ip) < h->n)
			return h;
	}
	return NULL;
}

static void remove_at(struct known_host *h, unsigned int i)
{
	h->n--;
	memmove(&h->addr[i], &h->addr[i + 1], (h->n - i) * sizeof(h->addr[0]));
}

static void insert_first(struct known_host *h, const struct ip_addr *ip, uint64_t now)
{
	unsigned int i = place_of(h, ip);

	if (i < h->n)
		remove_at(h, i);
	else if (h->n == SCTP_KNOWN_ADDRS)
		h->n--;
	memmove(&h->addr[1], &h->addr[0], h->n * sizeof(h->addr[0]));
	h->addr[0] = (struct known_addr){ *ip, now };
	h->n++;
}

void sctp_known_forget(struct sctp_known *k, const struct ip_addr *addr)
{
	struct known_host *h = find(k, addr);

	if (!h)
		return;
	remove_at(h, place_of(h, addr));
	if (h->n < 2) /* one address alone proves nothing */
		drop(k, h);
}

static struct known_host *new_host(struct sctp_known *k)
{
	struct known_host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	if (k->count == SCTP_KNOWN_HOSTS)
		drop(k, list_entry(k->hosts.prev, struct known_host, node));
	list_add(&k->hosts, &h->node);
	k->count++;
	return h;
}

void sctp_known_learn(struct sctp_known *k, const struct ip_addr *addr, unsigned int n,
		      uint64_t now)
{
	struct known_host *h = NULL;

	for (unsigned int i = 0; i < n && !h; i++)
		h = find(k, &addr[i]);
	if (!h)
		h = new_host(k);
	if (!h)
		return;
	for (unsigned int i = 0; i < n; i++) {
		/* the address may have belonged to another host */
		if (place_of(h, &addr[i]) == h->n)
			sctp_known_forget(k, &addr[i]);
		insert_first(h, &addr[i], now);
	}
	list_del(&h->node);
	list_add(&k->hosts, &h->node);
}

unsigned int sctp_known_others(const struct sctp_known *k, const struct ip_addr *addr, uint64_t now,
			       struct ip_addr *other)
{
	const struct known_host *h = find(k, addr);
	unsigned int i, n = 0;

	if (!h || now - h->addr[place_of(h, addr)].shown >= SCTP_KNOWN_TIME)
		return 0;
	for (i = 0; i < h->n && now - h->addr[i].shown < SCTP_KNOWN_TIME; i++)
		if (!ip_addr_equal(&h->addr[i].ip, addr))
			other[n++] = h->addr[i].ip;
	return n;
}
