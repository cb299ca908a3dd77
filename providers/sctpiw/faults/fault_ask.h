/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interface by which injectors in all directories query the rules of faults. An injector in
 * net/ gets a struct fault_asker from faults_net_install(). runtime/faults.h has the only
 * implementation.
 */
#ifndef SCTPIW_FAULTS_FAULT_ASK_H
#define SCTPIW_FAULTS_FAULT_ASK_H

#include <stdbool.h>

#include "faults/fault_rule.h"

struct fault_asker {
	/* As faults_ask() of runtime/faults.h. Any thread may call this, with or without locks. */
	bool (*ask)(struct fault_asker *self, enum fault_site site, const struct fault_attrs *attrs,
		    struct fault_action *out);
};

static inline bool fault_ask(struct fault_asker *asker, enum fault_site site,
			     const struct fault_attrs *attrs, struct fault_action *out)
{
	return asker->ask(asker, site, attrs, out);
}

#endif
