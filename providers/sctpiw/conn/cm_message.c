/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/cm_message.h"

#include <string.h>

#include "iwarp/iw_session.h"
#include "util/bytes.h"

#define VERSION 1
#define QP_NUM_MASK 0xffffff

static const char magic[8] = { 's', 'c', 't', 'p', 'i', 'w', 'C', 'M' };

void cm_message_add(const struct cm_message *m, struct iw_session_param *param)
{
	const struct cm_counts *c = &m->counts;
	uint8_t *p = param->private_data;

	memmove(p + CM_MESSAGE_LEN, p, param->private_data_len);
	param->private_data_len += CM_MESSAGE_LEN;
	memcpy(p, magic, sizeof(magic));
	p[8] = VERSION;
	put_be16(p + 9, (uint16_t)(m->reason << 8 | m->port));
	p[11] = m->type;
	put_be32(p + 12, m->qp_num & QP_NUM_MASK);
	p[12] = (uint8_t)(c->rnr_retry | c->retry << 3 | c->flow_control << 6 | c->srq << 7);
}

bool cm_message_take(struct cm_message *m, struct iw_session_param *param)
{
	uint8_t *p = param->private_data;

	if (param->private_data_len < CM_MESSAGE_LEN || memcmp(p, magic, sizeof(magic)) ||
	    p[8] != VERSION)
		return false;
	m->reason = p[9];
	m->port = get_be16(p + 9);
	m->type = p[11];
	m->counts = (struct cm_counts){
		.rnr_retry = p[12] & 7,
		.retry = p[12] >> 3 & 7,
		.flow_control = p[12] >> 6 & 1,
		.srq = p[12] >> 7,
	};
	m->qp_num = get_be32(p + 12) & QP_NUM_MASK;
	param->private_data_len -= CM_MESSAGE_LEN;
	memmove(p, p + CM_MESSAGE_LEN, param->private_data_len);
	return true;
}

const char *cm_message_type_name(uint8_t type)
{
	return type == CM_MESSAGE_RC ? "RC" : type == CM_MESSAGE_XRC ? "XRC" : "unknown";
}
