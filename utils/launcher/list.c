/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/list.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "launcher/json.h"
#include "launcher/launcher.h"
#include "launcher/parts.h"

#define INSIDE "sctpiw-list"
#define TREE "/sys/class/infiniband"
#define TEXT_LEN 128 /* bytes of a file's text or of a name, with the final zero */

struct printer {
	bool json;
	unsigned int devices;
	const char *personality;
};

int list_run(bool json)
{
	char *argv[] = { INSIDE, json ? "--json" : NULL, NULL }, self[PATH_MAX];

	if (!parts_self(self))
		return EXIT_BROKEN;
	execv(self, argv);
	complain("%s: %s", self, strerror(errno));
	return EXIT_BROKEN;
}

bool list_is_inside(const char *name)
{
	return name && !strcmp(name, INSIDE);
}

/* Reads the text of the file dir/name, without the newline. Returns false if there is no text. */
static bool read_text(const char *dir, const char *name, char text[TEXT_LEN])
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, TEXT_LEN - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* Reads a file whose text is, for example, "4: ACTIVE". Writes only the word after the number. */
static bool read_word(const char *dir, const char *name, char text[TEXT_LEN])
{
	char *word;

	if (!read_text(dir, name, text))
		return false;
	word = strstr(text, ": ");
	if (word)
		memmove(text, word + 2, strlen(word + 2) + 1);
	return true;
}

/* Prints a name and its value, as "name value" in the text form, or as "name":"value" in JSON. */
static void print_field(const struct printer *p, const char *name, const char *value)
{
	if (!p->json) {
		printf(" %s %s", name, value);
		return;
	}
	printf(",\"%s\":", name);
	json_string(value);
}

/* Prints GID number i of a port. Returns false after the last GID. */
static bool print_gid(const struct printer *p, const char *port_dir, const char *port,
		      unsigned int i, bool first)
{
	char name[TEXT_LEN], text[TEXT_LEN], ip[INET6_ADDRSTRLEN];
	struct in6_addr gid;

	snprintf(name, sizeof(name), "gids/%u", i);
	if (!read_text(port_dir, name, text))
		return false;
	if (inet_pton(AF_INET6, text, &gid) != 1 || IN6_IS_ADDR_UNSPECIFIED(&gid))
		return true;
	inet_ntop(AF_INET6, &gid, ip, sizeof(ip));
	if (p->json)
		printf("%s{\"index\":%u,\"gid\":\"%s\"", first ? "" : ",", i, ip);
	else
		printf("gid %s/%u %s", port, i, ip);
	snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", i);
	if (read_text(port_dir, name, text))
		print_field(p, "netdev", text);
	snprintf(name, sizeof(name), "gid_attrs/types/%u", i);
	if (read_text(port_dir, name, text))
		print_field(p, "type", text);
	fputs(p->json ? "}" : "\n", stdout);
	return true;
}

static void print_gids(const struct printer *p, const char *port_dir, const char *port)
{
	bool first = true;

	if (p->json)
		fputs(",\"gids\":[", stdout);
	for (unsigned int i = 0; print_gid(p, port_dir, port, i, first); i++)
		first = false;
	fputs(p->json ? "]" : "", stdout);
}

/* Prints port number n of a device. Returns false if the port or the device does not exist. */
static bool print_port(const struct printer *p, const char *device, unsigned int n)
{
	static const struct {
		const char *name, *file;
	} fields[] = {
		{ "physical_state", "phys_state" },
		{ "link_layer", "link_layer" },
		{ "rate", "rate" },
	};
	char dir[PATH_MAX], port[3 * TEXT_LEN], text[TEXT_LEN];

	snprintf(dir, sizeof(dir), TREE "/%s/ports/%u", device, n);
	if (!read_word(dir, "state", text))
		return false;
	snprintf(port, sizeof(port), "%s/%u", device, n);
	if (p->json)
		printf("%s{\"port\":%u", n > 1 ? "," : "", n);
	else
		printf("link %s", port);
	print_field(p, "state", text);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (read_word(dir, fields[i].file, text))
			print_field(p, fields[i].name, text);
	}
	fputs(p->json ? "" : "\n", stdout);
	print_gids(p, dir, port);
	fputs(p->json ? "}" : "", stdout);
	return true;
}

/*
 * Prints a device if the state of its port can be read. Otherwise the device has files, but could
 * not be opened, and its error was printed already.
 */
static void print_device(struct printer *p, const char *device)
{
	char dir[PATH_MAX], text[TEXT_LEN];

	snprintf(dir, sizeof(dir), TREE "/%s", device);
	if (!read_text(dir, "ports/1/state", text))
		return;
	if (p->json)
		printf("%s{\"device\":\"%s\"", p->devices ? "," : "", device);
	else
		printf("device %s", device);
	p->devices++;
	if (read_word(dir, "node_type", text)) {
		for (char *c = text; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		print_field(p, "node_type", text);
	}
	if (read_text(dir, "node_guid", text))
		print_field(p, "node_guid", text);
	if (read_text(dir, "fw_ver", text))
		print_field(p, "fw_ver", text);
	print_field(p, "personality", p->personality);
	fputs(p->json ? ",\"ports\":[" : "\n", stdout);
	for (unsigned int n = 1; print_port(p, device, n); n++)
		;
	fputs(p->json ? "]}" : "", stdout);
}

static int is_device(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strlen(entry->d_name) < TEXT_LEN;
}

int list_inside(int argc, char **argv)
{
	struct printer p = { .json = argc > 1 };
	struct config_error err;
	struct config config;
	struct dirent **entries;
	int n = scandir(TREE, &entries, is_device, alphasort);

	/* With wrong settings there is no device, and the error was printed. */
	if (!config_load(&config, NULL, &err))
		config.personality = CONFIG_ROCE;
	p.personality = config_personality_name(config.personality);
	if (n < 0)
		complain(TREE ": %s: the preload library was not loaded into this program",
			 strerror(errno));
	if (p.json)
		putchar('[');
	for (int i = 0; i < n; i++) {
		print_device(&p, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	fputs(p.json ? "]\n" : "", stdout);
	return p.devices ? EXIT_SUCCESS : EXIT_FAILURE;
}
