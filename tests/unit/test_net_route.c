/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* Source addresses from the kernel's routing (net/route.h). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/route.h"

#define DESTINATIONS 32

struct destinations {
	struct sockaddr_storage addr[DESTINATIONS];
	unsigned int n;
};

static void add(struct destinations *d, const char *text)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&d->addr[d->n];
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&d->addr[d->n];

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		v4->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		v6->sin6_family = AF_INET6;
	d->n++;
}

/*
 * Collects addresses of this host, each reachable from itself, and addresses that may have no
 * route.
 */
static void collect(struct destinations *d)
{
	struct ifaddrs *all, *ifa;

	add(d, "127.0.0.1");
	add(d, "255.255.255.255"); /* not permitted for anybody */
	add(d, "::1");
	add(d, "::ffff:127.0.0.1");
	add(d, "192.0.2.1");
	add(d, "2001:db8::1");
	assert_int_equal(getifaddrs(&all), 0);
	for (ifa = all; ifa && d->n < DESTINATIONS; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr)
			continue;
		if (ifa->ifa_addr->sa_family == AF_INET)
			memcpy(&d->addr[d->n++], ifa->ifa_addr, sizeof(struct sockaddr_in));
		else if (ifa->ifa_addr->sa_family == AF_INET6)
			memcpy(&d->addr[d->n++], ifa->ifa_addr, sizeof(struct sockaddr_in6));
	}
	freeifaddrs(all);
}

static unsigned int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A reused socket answers like a new one, whatever it was used for before. */
static void test_kept(void **state)
{
	struct destinations d = { .n = 0 };
	unsigned int before = open_descriptors();
	struct route_probe probe;

	collect(&d);
	route_probe_init(&probe);
	for (unsigned int i = 0; i < d.n * d.n; i++) {
		unsigned int order[] = { i / d.n, i % d.n };

		for (unsigned int j = 0; j < 2; j++) {
			const struct sockaddr *dst = (struct sockaddr *)&d.addr[order[j]];
			struct sockaddr_storage want = { 0 }, got = { 0 };
			int ret = route_lookup(NULL, dst, &want, NULL);

			assert_int_equal(route_source(&probe, dst, &got), ret);
			if (!ret)
				assert_memory_equal(&got, &want, sizeof(want));
		}
	}
	assert_in_range(open_descriptors(), before + 1, before + 2);
	route_probe_close(&probe);
	assert_int_equal(open_descriptors(), before);
}

/* An idle probe socket cannot receive packets. */
static void test_no_port(void **state)
{
	struct sockaddr_storage source, local = { 0 };
	struct sockaddr_in dst = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(local);
	struct route_probe probe;

	route_probe_init(&probe);
	assert_int_equal(route_source(&probe, (struct sockaddr *)&dst, &source), 0);
	assert_int_equal(getsockname(probe.v4, (struct sockaddr *)&local, &len), 0);
	assert_int_equal(((struct sockaddr_in *)&local)->sin_port, 0);
	assert_int_equal(((struct sockaddr_in *)&local)->sin_addr.s_addr, 0);
	route_probe_close(&probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_no_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
