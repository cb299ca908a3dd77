/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* Settings: every value of each, files of any bytes, combinations, and which source wins. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/config_known.h"
#include "fixture/written.h"

static struct config_builder b;
static struct config_error err;

static int setup(void **state)
{
	config_init(&b);
	memset(&err, 0, sizeof(err));
	return 0;
}

static void takes(const char *name, const char *value)
{
	if (!config_set(&b, "X", name, value, &err))
		fail_msg("%s", err.text);
}

static void refuses(const char *name, const char *value)
{
	struct config before = b.config;
	char head[80];

	if (config_set(&b, "X", name, value, &err))
		fail_msg("%s = %s was taken", name, value);
	snprintf(head, sizeof(head), "X: %s = ", name);
	assert_memory_equal(err.text, head, strlen(head));
	assert_non_null(strstr(err.text, "; it is "));
	assert_null(strpbrk(err.text, "\n\033"));
	before.in_order = b.config.in_order;
	before.share = b.config.share;
	assert_memory_equal(&before, &b.config, sizeof(before));
}

static void defaults(void **state)
{
	assert_true(config_finish(&b, &err));
	assert_int_equal(b.config.carrier, CONFIG_CARRIER_UDP);
	assert_int_equal(b.config.encap_port, CONFIG_ENCAP_SAME);
	assert_false(b.config.in_order);
	assert_true(b.config.share);
	assert_int_equal(b.config.silent_limit, 30000000000);
	assert_int_equal(b.config.request_limit, 1024);
	assert_string_equal(b.config.capture, "");
	assert_string_equal(b.config.trace, "");
	assert_int_equal(b.config.rtr, 0);
	assert_int_equal(b.config.log, LOG_LEVEL_ERROR);
}

static void values_of_llp(void **state)
{
	takes("llp", "ip");
	assert_int_equal(b.config.carrier, CONFIG_CARRIER_IP);
	takes("llp", "kernel");
	assert_int_equal(b.config.carrier, CONFIG_CARRIER_KERNEL);
	takes("llp", "udp");
	assert_int_equal(b.config.carrier, CONFIG_CARRIER_UDP);
	refuses("llp", "");
	refuses("llp", "UDP");
	refuses("llp", "udp2");
	refuses("llp", "\033[2Judp\nsctpiw: all is well");
}

static void values_of_encap_port(void **state)
{
	takes("encap-port", "none");
	assert_int_equal(b.config.encap_port, CONFIG_ENCAP_NONE);
	takes("encap-port", "same");
	assert_int_equal(b.config.encap_port, CONFIG_ENCAP_SAME);
	takes("encap-port", "1");
	takes("encap-port", "65535");
	assert_int_equal(b.config.encap_port, 65535);
	refuses("encap-port", "0");
	refuses("encap-port", "65536");
	refuses("encap-port", "-1");
	refuses("encap-port", "+9899");
	refuses("encap-port", "0x26ab");
	refuses("encap-port", "9899 ");
	refuses("encap-port", "18446744073709561515"); /* 2^64 + 9899 */
}

static void values_of_booleans(void **state)
{
	takes("in-order", "yes");
	assert_true(b.config.in_order);
	takes("in-order", "0");
	assert_false(b.config.in_order);
	takes("in-order", "1");
	assert_true(b.config.in_order);
	refuses("in-order", "true");
	takes("share", "no");
	assert_false(b.config.share);
	takes("share", "1");
	assert_true(b.config.share);
	refuses("share", "2");
}

static void values_of_peer_to_peer(void **state)
{
	takes("peer-to-peer", "send");
	assert_int_equal(b.config.rtr, CONFIG_RTR_SEND);
	takes("peer-to-peer", "write");
	assert_int_equal(b.config.rtr, CONFIG_RTR_WRITE);
	takes("peer-to-peer", "read");
	assert_int_equal(b.config.rtr, CONFIG_RTR_READ);
	takes("peer-to-peer", "any");
	assert_int_equal(b.config.rtr, CONFIG_RTR_ANY);
	takes("peer-to-peer", "off");
	assert_int_equal(b.config.rtr, 0);
	refuses("peer-to-peer", "yes");
	refuses("peer-to-peer", "send,write");
}

static void values_of_node_type(void **state)
{
	takes("node-type", "ca");
	assert_true(b.config.node_ca);
	takes("node-type", "rnic");
	assert_false(b.config.node_ca);
	refuses("node-type", "RNIC");
	assert_false(b.config.summary);
	takes("summary", "yes");
	assert_true(b.config.summary);
	takes("summary", "0");
	assert_false(b.config.summary);
	refuses("summary", "on");
}

static void values_of_personality(void **state)
{
	assert_int_equal(b.config.personality, CONFIG_ROCE);
	assert_true(config_is_ca(&b.config));
	takes("personality", "roce");
	assert_int_equal(b.config.personality, CONFIG_ROCE);
	assert_true(config_is_ca(&b.config));
	takes("personality", "ib");
	assert_int_equal(b.config.personality, CONFIG_IB);
	assert_true(config_is_ca(&b.config));
	takes("personality", "iwarp");
	assert_int_equal(b.config.personality, CONFIG_IWARP);
	assert_false(config_is_ca(&b.config));
	refuses("personality", "RoCE");
	takes("node-type", "ca");
	assert_true(config_is_ca(&b.config));
}

static void personality_and_node_type(void **state)
{
	takes("personality", "roce");
	takes("node-type", "ca");
	assert_true(config_finish(&b, &err));
	takes("node-type", "rnic");
	assert_false(config_finish(&b, &err));
	assert_non_null(strstr(err.text, "node-type = rnic does not go with personality = roce"));
	takes("personality", "iwarp");
	assert_true(config_finish(&b, &err));
}

/* node-type = rnic or ca alone selects an iWARP device, as before personality existed. */
static void node_type_alone(void **state)
{
	takes("node-type", "rnic");
	assert_true(config_finish(&b, &err));
	assert_int_equal(b.config.personality, CONFIG_IWARP);
	assert_false(config_is_ca(&b.config));
	takes("node-type", "ca");
	assert_true(config_finish(&b, &err));
	assert_int_equal(b.config.personality, CONFIG_IWARP);
	assert_true(config_is_ca(&b.config));
}

static void values_of_silent_limit(void **state)
{
	takes("silent-limit", "86400");
	assert_int_equal(b.config.silent_limit, 86400000000000);
	takes("silent-limit", "1");
	assert_int_equal(b.config.silent_limit, 1000000000);
	refuses("silent-limit", "0");
	refuses("silent-limit", "86401");
	refuses("silent-limit", "1.5");
}

static void values_of_request_limit(void **state)
{
	takes("request-limit", "1000000");
	assert_int_equal(b.config.request_limit, 1000000);
	takes("request-limit", "1");
	assert_int_equal(b.config.request_limit, 1);
	refuses("request-limit", "0");
	refuses("request-limit", "1000001");
	refuses("request-limit", "none");
}

static void values_of_engines(void **state)
{
	assert_int_equal(b.config.engines, 1);
	takes("engines", "16");
	assert_int_equal(b.config.engines, 16);
	takes("engines", "auto");
	assert_int_equal(b.config.engines, 1);
	refuses("engines", "0");
	refuses("engines", "17");
	refuses("engines", "all");
}

/*
 * Settings that need one engine work with `engines = 1`. With two engines they fail, with a message
 * that names both settings.
 */
static void engines_and_the_rest(void **state)
{
	static const char *const of_one[][2] = {
		{ "llp", "ip" }, { "llp", "kernel" }, { "trace", "f" }, { "faults", "f" }
	};

	for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++) {
		char why[80];

		config_init(&b);
		takes(of_one[i][0], of_one[i][1]);
		takes("engines", "1");
		assert_true(config_finish(&b, &err));
		takes("engines", "2");
		assert_false(config_finish(&b, &err));
		snprintf(why, sizeof(why), "engines = 2 does not go with %s of X", of_one[i][0]);
		assert_non_null(strstr(err.text, why));
	}
	config_init(&b);
	takes("engines", "2");
	assert_true(config_finish(&b, &err));
}

static void values_of_log(void **state)
{
	takes("log", "info");
	assert_int_equal(b.config.log, LOG_LEVEL_INFO);
	takes("log", "debug");
	assert_int_equal(b.config.log, LOG_LEVEL_DEBUG);
	refuses("log", "verbose");
}

static void values_of_multipath(void **state)
{
	assert_false(b.config.spread);
	takes("multipath", "spread");
	assert_true(b.config.spread);
	takes("multipath", "failover");
	assert_false(b.config.spread);
	refuses("multipath", "both");
	refuses("multipath", "");
}

static void values_of_paths(void **state)
{
	char path[CONFIG_PATH_LEN + 1];

	takes("capture", "/tmp/x y;z.pcapng");
	assert_string_equal(b.config.capture, "/tmp/x y;z.pcapng");
	memset(path, 'a', sizeof(path));
	path[CONFIG_PATH_LEN] = '\0';
	refuses("capture", path);
	path[CONFIG_PATH_LEN - 1] = '\0';
	takes("capture", path);
	refuses("capture", "");
	takes("trace", "/tmp/a.sqlog");
	assert_string_equal(b.config.trace, "/tmp/a.sqlog");
	takes("trace", path);
	path[CONFIG_PATH_LEN - 1] = 'a';
	refuses("trace", path);
	refuses("trace", "");
}

static void values_of_captures(void **state)
{
	takes("capture-snaplen", "64");
	assert_int_equal(b.config.capture_snaplen, 64);
	takes("capture-snaplen", "65535");
	refuses("capture-snaplen", "63");
	refuses("capture-snaplen", "65536");
	takes("capture-size", "131072");
	assert_int_equal(b.config.capture_size, 131072);
	takes("capture-size", "128k");
	assert_int_equal(b.config.capture_size, 131072);
	takes("capture-size", "100M");
	assert_int_equal(b.config.capture_size, 104857600);
	takes("capture-size", "1024G");
	assert_int_equal(b.config.capture_size, 1ull << 40);
	takes("capture-size", "1099511627776");
	refuses("capture-size", "1099511627777");
	refuses("capture-size", "1025G");
	refuses("capture-size", "999999999999999G");
	refuses("capture-size", "131071");
	refuses("capture-size", "127k");
	refuses("capture-size", "");
	refuses("capture-size", "M");
	refuses("capture-size", "1m");
	refuses("capture-size", "1 M");
	refuses("capture-size", "1MM");
	refuses("capture-size", "1.5M");
	refuses("capture-size", "0000000000000000001M");
	assert_int_equal(b.config.capture_files, 10);
	takes("capture-files", "1");
	assert_int_equal(b.config.capture_files, 1);
	takes("capture-files", "1000");
	refuses("capture-files", "0");
	refuses("capture-files", "1001");
}

static bool allows(const char *address, const char *interface)
{
	struct ip_addr ip = { 0 };
	uint8_t v4[4];

	if (inet_pton(AF_INET, address, v4) == 1)
		ip = ip_addr_from_v4(v4);
	else
		assert_int_equal(inet_pton(AF_INET6, address, ip.b), 1);
	return config_paths_allow(&b.config.paths, &ip, interface);
}

static void values_of_links(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"eth0,",
		",eth0",
		"auto,eth0",
		"eth0,off",
		"eth0, eth1",
		"eth 0",
		"abcdefghijklmnop",
		"eth0/24",
		"192.0.2.0/33",
		"192.0.2.0/",
		"192.0.2.0/-1",
		"192.0.2.0/+8",
		"192.0.2.0/ 8",
		"192.0.2.0/8/8",
		"192.0.2.0/0x8",
		"2001:db8::/129",
		"2001:db8::/1000",
		/* mistyped addresses are not names */
		"192.0.2.256",
		"192.0.2",
		"2001:db8::g",
		"fe80::1%eth0",
	};
	char many[200] = "";
	int i;

	assert_true(allows("192.0.2.1", "eth0"));
	for (i = 0; i < (int)(sizeof(bad) / sizeof(bad[0])); i++)
		refuses("paths", bad[i]);
	takes("paths", "off");
	assert_false(allows("192.0.2.1", "eth0"));
	takes("paths", "auto");
	assert_true(allows("2001:db8::1", "eth0"));
	takes("paths", "eth0,abcdefghijklmno,eth1.5");
	assert_true(allows("192.0.2.1", "eth0"));
	assert_true(allows("192.0.2.1", "abcdefghijklmno"));
	assert_true(allows("192.0.2.1", "eth1.5"));
	assert_false(allows("192.0.2.1", "eth1"));
	takes("paths", "192.0.2.1,198.51.100.77/22,2001:db8::/33");
	assert_true(allows("192.0.2.1", "x"));
	assert_false(allows("192.0.2.2", "x"));
	assert_true(allows("198.51.103.255", "x"));
	assert_false(allows("198.51.104.0", "x"));
	assert_true(allows("2001:db8:7fff::1", "x"));
	assert_false(allows("2001:db8:8000::1", "x"));
	/* even a short prefix is of one family */
	takes("paths", "::/0");
	assert_true(allows("2001:db8::1", "x"));
	assert_false(allows("192.0.2.1", "x"));
	takes("paths", "0.0.0.0/0");
	assert_true(allows("192.0.2.1", "x"));
	assert_false(allows("2001:db8::1", "x"));
	for (i = 0; i < 16; i++)
		strcat(many, i ? ",eth0" : "eth0");
	takes("paths", many);
	strcat(many, ",eth0");
	refuses("paths", many);
}

static void unknown_name(void **state)
{
	assert_false(config_set(&b, "X", "lpp", "udp", &err));
	assert_string_equal(
		err.text,
		"X: there is no setting lpp; there are llp, encap-port, in-order, "
		"share, engines, paths, multipath, silent-limit, request-limit, capture, "
		"capture-snaplen, capture-size, capture-files, trace, key, cert, cert-key, ca, cert-names, key-optional, peer-to-peer, personality, node-type, "
		"faults, fault-seed, summary, log");
}

static void finish(const char *llp, const char *encap, const char *capture, const char *why)
{
	config_init(&b);
	takes("llp", llp);
	if (encap)
		takes("encap-port", encap);
	if (capture)
		takes("capture", capture);
	if (config_finish(&b, &err) != !why)
		fail_msg("%s %s: %s", llp, encap ? encap : "", err.text);
	if (why && !strstr(err.text, why))
		fail_msg("%s", err.text);
}

static void together(void **state)
{
	finish("udp", NULL, "f", NULL);
	assert_int_equal(b.config.encap_port, CONFIG_ENCAP_SAME);
	finish("udp", "9899", NULL, NULL);
	finish("udp", "none", NULL, "encap-port does not go with llp = udp");
	finish("ip", NULL, "f", NULL);
	assert_int_equal(b.config.encap_port, CONFIG_ENCAP_NONE);
	finish("ip", "none", NULL, NULL);
	finish("ip", "same", NULL, "encap-port does not go with llp = ip");
	finish("ip", "9899", NULL, "encap-port does not go with llp = ip of X");
	finish("kernel", NULL, NULL, NULL);
	assert_int_equal(b.config.encap_port, CONFIG_ENCAP_NONE);
	finish("kernel", "9899", NULL, NULL);
	finish("kernel", "same", NULL, NULL);
	finish("kernel", NULL, "f", "capture does not go with llp = kernel");
	finish("udp", NULL, "f", NULL);
	takes("trace", "g");
	assert_true(config_finish(&b, &err));
	takes("trace", "f");
	assert_false(config_finish(&b, &err));
	assert_string_equal(err.text,
			    "X: trace does not go with capture = f of X: one file cannot be both");
	finish("udp", NULL, "f", NULL);
	takes("capture-files", "3");
	assert_false(config_finish(&b, &err));
	assert_non_null(strstr(err.text, "X: capture-files needs capture-size"));
	takes("capture-size", "1M");
	assert_true(config_finish(&b, &err));
}

static bool parse(const char *text)
{
	config_init(&b);
	return config_parse(&b, "F", text, strlen(text), &err);
}

static void refuses_file(const char *text, const char *why)
{
	if (parse(text))
		fail_msg("taken: %s", text);
	if (strcmp(err.text, why))
		fail_msg("%s", err.text);
}

#define BLANKS50 "                                                  "

static void files(void **state)
{
	assert_true(parse(""));
	assert_true(
		parse("\xef\xbb\xbf# a comment\r\n\r\n ; another\r\nllp = ip\r\n  log=debug ; why\n"
		      "silent-limit :7"));
	assert_int_equal(b.config.carrier, CONFIG_CARRIER_IP);
	assert_int_equal(b.config.log, LOG_LEVEL_DEBUG);
	assert_int_equal(b.config.silent_limit, 7000000000);
	assert_string_equal(b.origin[0], "F:4");
	/* Long comments are ignored, and long blanks before a name are skipped. */
	assert_true(parse("# " BLANKS50 BLANKS50 BLANKS50 BLANKS50 "x\nllp=ip\n"));
	assert_true(parse(BLANKS50 BLANKS50 BLANKS50 BLANKS50 "llp = ip\n"));
	assert_int_equal(b.config.carrier, CONFIG_CARRIER_IP);

	refuses_file("log = info\n\nllp = tcp\nlpp = 1\n",
		     "F:3: llp = tcp is not understood; it is udp, ip or kernel");
	refuses_file("\n llp\n", "F:2: this line is not of the form NAME = VALUE");
	refuses_file("llp\nllp = tcp\n", "F:1: this line is not of the form NAME = VALUE");
	refuses_file("llp = tcp\nllp\n",
		     "F:1: llp = tcp is not understood; it is udp, ip or kernel");
	refuses_file("[a]\nllp = ip\n",
		     "F:2: there are no [sections] here: take the one above away");
	refuses_file("[a\n", "F:1: this line is not of the form NAME = VALUE");
	refuses_file("share = no\n\nshare = yes\nllp = tcp\n",
		     "F:3: share stands in line 1 already: take one of the two away");
	refuses_file("log = info\nlog = info\n",
		     "F:2: log stands in line 1 already: take one of the two away");
	refuses_file("log=info\nllp =" BLANKS50 BLANKS50 BLANKS50 BLANKS50 "ip\n",
		     "F:2: this line is too long: use the environment, or the command line");
	config_init(&b);
	assert_false(config_parse(&b, "F", "llp = ip\0p\n", 11, &err));
	assert_string_equal(err.text, "F:1: this is not text");
}

/* Any bytes: the parser succeeds, or fails with a line of text. */
static void garbage(void **state)
{
	static const char *const words[] = { "llp", "=",     "udp",	     "\n", "[",	   "]",
					     ";",   " ",     "capture",	     ":",  "\r\n", "\t",
					     "log", "debug", "\xef\xbb\xbf", "#",  "1" };
	uint64_t x = 1;

	for (int run = 0; run < 20000; run++) {
		char *text = malloc(256);
		size_t len = 0;

		for (int i = 0; i < 30; i++) {
			const char *word;

			x = x * 6364136223846793005u + 1442695040888963407u;
			word = words[(x >> 33) % (sizeof(words) / sizeof(words[0]))];
			if ((x >> 50) % 8 == 0) {
				text[len++] = (char)(x >> 40);
			} else {
				memcpy(text + len, word, strlen(word));
				len += strlen(word);
			}
		}
		/* The allocation has exactly this length, for sanitizers. */
		text = realloc(text, len);
		config_init(&b);
		memset(&err, 0, sizeof(err));
		if (!config_parse(&b, "F", text, len, &err))
			assert_memory_equal(err.text, "F:", 2);
		free(text);
	}
}

static void mistyped(void **state)
{
	static const struct {
		const char *entry, *name, *nearest; /* no name: known, or not a setting */
	} cases[] = {
		{ "SCTPIW_FOO=1", "SCTPIW_FOO", "SCTPIW_LOG" },
		{ "SCTPIW_LPP=ip", "SCTPIW_LPP", "SCTPIW_LLP" },
		{ "SCTPIW_LLPS", "SCTPIW_LLPS", "SCTPIW_LLP" },
		{ "SCTPIW_SILENTLIMIT=5", "SCTPIW_SILENTLIMIT", "SCTPIW_SILENT_LIMIT" },
		{ "SCTPIW_\033[2J=", "SCTPIW_?[2J", "SCTPIW_LLP" },
		{ "SCTPIW_=1", "SCTPIW_", "SCTPIW_CA" },
		{ "SCTPIW_LLP=nonsense" },
		{ "SCTPIW_CONFIG=" },
		{ "SCTPIW_SYSROOT=/" },
		{ "SCTPIW_E2E_ANYTHING=1" },
		{ "SCTPIWX=1" },
		{ "PATH=SCTPIW_FOO" },
	};
	static const char *const words[] = { "run", "env", "list" };
	char name[CONFIG_VARIABLE_LEN], *longest = malloc(300);
	const char *nearest;

	for (unsigned int i = 0; config_names(i); i++) {
		snprintf(name, sizeof(name), "%s=1", config_names(i)->env);
		assert_false(config_known_mistyped(name, name, &nearest));
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(config_known_mistyped(cases[i].entry, name, &nearest),
				 cases[i].name != NULL);
		if (!cases[i].name)
			continue;
		assert_string_equal(name, cases[i].name);
		assert_string_equal(nearest, cases[i].nearest);
	}
	memset(longest, 'X', 299);
	memcpy(longest, "SCTPIW_", 7);
	longest[299] = '\0';
	assert_true(config_known_mistyped(longest, name, &nearest));
	assert_int_equal(strlen(name), CONFIG_VARIABLE_LEN - 1);
	free(longest);
	assert_string_equal(config_known_nearest("rnu", words, 3, 2), "run");
	assert_string_equal(config_known_nearest("lst", words, 3, 1), "list");
	assert_null(config_known_nearest("nonsense", words, 3, 2));
	assert_null(config_known_nearest("rn", words, 3, 0));
}

/*
 * The environment overrides the settings file, which is the file of SCTPIW_CONFIG or the user's
 * file.
 */
static void sources(void **state)
{
	char dir[] = "/tmp/sctpiw-config-XXXXXX", path[128];
	bool options[CONFIG_SETTINGS];
	struct config c;

	assert_non_null(mkdtemp(dir));
	for (unsigned int i = 0; config_names(i); i++)
		unsetenv(config_names(i)->env);
	setenv("XDG_CONFIG_HOME", dir, 1);
	snprintf(path, sizeof(path), "%s/sctpiw.conf", dir);
	write_file(path, "log = debug\nsilent-limit = 5\n");
	assert_true(config_load(&c, NULL, &err));
	assert_int_equal(c.log, LOG_LEVEL_DEBUG);
	setenv("SCTPIW_LOG", "info", 1);
	setenv("SCTPIW_SILENT_LIMIT", "", 1);
	assert_true(config_load(&c, NULL, &err));
	assert_int_equal(c.log, LOG_LEVEL_INFO);
	assert_int_equal(c.silent_limit, 5000000000);

	write_file(path, "llp = ip\n");
	setenv("SCTPIW_ENCAP_PORT", "9899", 1);
	assert_false(config_load(&c, NULL, &err));
	assert_non_null(
		strstr(err.text, "SCTPIW_ENCAP_PORT: encap-port does not go with llp = ip of "));
	assert_non_null(strstr(err.text, "/sctpiw.conf:1: "));
	/* An error about an option names the option. */
	for (unsigned int i = 0; config_names(i); i++)
		options[i] = !strcmp(config_names(i)->name, "encap-port");
	assert_false(config_load(&c, options, &err));
	assert_memory_equal(err.text, "--encap-port: ", 14);
	unsetenv("SCTPIW_ENCAP_PORT");
	/* config_collect() returns the source of each setting, and its spelling there. */
	assert_true(config_collect(&b, NULL, &err));
	for (unsigned int i = 0; config_names(i); i++) {
		const char *name = config_names(i)->name;
		bool in_file = !strcmp(name, "llp"), in_env = !strcmp(name, "log");

		assert_string_equal(b.value[i], in_file ? "ip" : in_env ? "info" : "");
		if (in_file)
			assert_non_null(strstr(b.origin[i], "/sctpiw.conf:1"));
		else
			assert_string_equal(b.origin[i], in_env ? "SCTPIW_LOG" : "");
	}

	setenv("SCTPIW_CONFIG", "/dev/null", 1);
	assert_true(config_load(&c, NULL, &err));
	assert_int_equal(c.carrier, CONFIG_CARRIER_UDP);
	setenv("SCTPIW_CONFIG", dir, 1);
	assert_false(config_load(&c, NULL, &err));
	assert_non_null(strstr(err.text, ": Is a directory"));
	setenv("SCTPIW_CONFIG", "/dev/zero", 1);
	assert_false(config_load(&c, NULL, &err));
	assert_string_equal(err.text, "/dev/zero: longer than 64 KiB: that is no file of settings");
	/* A file named in the environment must exist; a default file need not. */
	setenv("SCTPIW_CONFIG", path, 1);
	unlink(path);
	assert_false(config_load(&c, NULL, &err));
	assert_non_null(strstr(err.text, "sctpiw.conf: No such file or directory"));
	setenv("SCTPIW_CONFIG", "", 1);
	unsetenv("XDG_CONFIG_HOME");
	snprintf(path, sizeof(path), "%s/.config", dir);
	mkdir(path, 0700);
	setenv("HOME", dir, 1);
	snprintf(path, sizeof(path), "%s/.config/sctpiw.conf", dir);
	write_file(path, "in-order = 1\n");
	assert_true(config_load(&c, NULL, &err));
	assert_true(c.in_order);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(defaults, setup),
		cmocka_unit_test_setup(values_of_llp, setup),
		cmocka_unit_test_setup(values_of_encap_port, setup),
		cmocka_unit_test_setup(values_of_booleans, setup),
		cmocka_unit_test_setup(values_of_peer_to_peer, setup),
		cmocka_unit_test_setup(values_of_node_type, setup),
		cmocka_unit_test_setup(values_of_personality, setup),
		cmocka_unit_test_setup(personality_and_node_type, setup),
		cmocka_unit_test_setup(node_type_alone, setup),
		cmocka_unit_test_setup(values_of_silent_limit, setup),
		cmocka_unit_test_setup(values_of_request_limit, setup),
		cmocka_unit_test_setup(values_of_engines, setup),
		cmocka_unit_test_setup(engines_and_the_rest, setup),
		cmocka_unit_test_setup(values_of_log, setup),
		cmocka_unit_test_setup(values_of_multipath, setup),
		cmocka_unit_test_setup(values_of_paths, setup),
		cmocka_unit_test_setup(values_of_links, setup),
		cmocka_unit_test_setup(values_of_captures, setup),
		cmocka_unit_test_setup(unknown_name, setup),
		cmocka_unit_test_setup(together, setup),
		cmocka_unit_test_setup(files, setup),
		cmocka_unit_test_setup(garbage, setup),
		cmocka_unit_test_setup(mistyped, setup),
		cmocka_unit_test_setup(sources, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
