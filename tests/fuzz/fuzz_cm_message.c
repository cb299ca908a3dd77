/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * The message of a peer's connection manager (conn/cm_message.h) in any private data. Exactly the
 * message is removed, and re-inserting it restores its contents.
 */
#include "conn/cm_message.h"

#include <string.h>

#include "fixture/input.h"
#include "iwarp/iw_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct iw_session_param p = { 0 };
	struct cm_message m, again;

	if (size > sizeof(p.private_data))
		return 0;
	memcpy(p.private_data, data, size);
	p.private_data_len = (uint16_t)size;
	if (!cm_message_take(&m, &p)) {
		must(p.private_data_len == size && !memcmp(p.private_data, data, size));
		return 0;
	}
	must(p.private_data_len == size - CM_MESSAGE_LEN);
	must(!memcmp(p.private_data, data + CM_MESSAGE_LEN, p.private_data_len));
	must(m.qp_num <= 0xffffff && cm_message_type_name(m.type));
	cm_message_add(&m, &p);
	must(p.private_data_len == size && !memcmp(p.private_data, data, 10));
	must(cm_message_take(&again, &p) && again.type == m.type && again.reason == m.reason &&
	     again.qp_num == m.qp_num);
	return 0;
}
