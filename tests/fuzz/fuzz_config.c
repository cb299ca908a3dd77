/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * A configuration file of any bytes is either accepted, with settings within their limits, or
 * refused with a reason.
 */
#include "config/config.h"
#include "fixture/input.h"

#define FILE_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config_builder b;
	struct config_error err = { "" };
	char *text;
	bool ok;

	if (size > FILE_MAX)
		return 0;
	text = malloc(size + 1);
	must(text);
	memcpy(text, data, size);
	text[size] = 'x'; /* the parser must stop before it */
	config_init(&b);
	ok = config_parse(&b, "file", text, size, &err) && config_finish(&b, &err);
	free(text);
	must(ok == !err.text[0]);
	must(strnlen(err.text, sizeof(err.text)) < sizeof(err.text) && !strchr(err.text, '\n'));
	if (!ok)
		return 0;
	must(b.config.carrier <= CONFIG_CARRIER_KERNEL);
	must(b.config.rtr <= CONFIG_RTR_ANY);
	must(b.config.encap_port >= CONFIG_ENCAP_SAME && b.config.encap_port <= 65535);
	must(b.config.request_limit >= 1 && b.config.request_limit <= 1000000);
	must(b.config.silent_limit >= 1000000000ull &&
	     b.config.silent_limit <= 86400ull * 1000000000ull);
	must(strnlen(b.config.capture, CONFIG_PATH_LEN) < CONFIG_PATH_LEN);
	must(strnlen(b.config.trace, CONFIG_PATH_LEN) < CONFIG_PATH_LEN);
	return 0;
}
