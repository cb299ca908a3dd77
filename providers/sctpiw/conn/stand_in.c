/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/stand_in.h"

#include "config/config.h"
#include "conn/conn.h"
#include "iwarp/iwarp.h"

bool stand_in_is_meant(const struct conn *c, uint32_t qp_num)
{
	const struct iw_qp *qp;

	if (!qp_num || c->config->personality == CONFIG_IWARP)
		return false;
	qp = conn_qp(c, qp_num);
	return !qp || qp->type == IW_QPT_UD;
}

static void release(struct stand_ins *all)
{
	if (all->n)
		return;
	if (all->cq)
		iw_cq_free(all->cq);
	if (all->pd)
		iw_pd_free(all->pd);
	*all = (struct stand_ins){ 0 };
}

static struct iw_qp *make(struct conn *c, struct stand_ins *all)
{
	struct iw_qp_attr attr = { .type = IW_QPT_RC };
	struct iw_qp *qp;

	if (!all->pd)
		all->pd = iw_pd_new(iw_shard_rnic(c->iw), NULL);
	if (!all->cq)
		all->cq = iw_cq_new(c->iw, 1, NULL);
	if (!all->pd || !all->cq || qp_num_get(c, &attr.num))
		return NULL;
	attr.pd = all->pd;
	attr.send_cq = attr.recv_cq = all->cq;
	if (!iw_qp_new(c->iw, &attr, &qp))
		return qp;
	qp_num_put(c, attr.num);
	return NULL;
}

struct iw_qp *stand_in_new(struct conn *c)
{
	struct iw_qp *qp = make(c, &c->stand_ins);

	if (!qp) {
		release(&c->stand_ins);
		return NULL;
	}
	c->stand_ins.n++;
	qp->stands_in = true;
	iw_qp_modify(qp, IW_QPS_INIT);
	return qp;
}

void stand_in_free(struct conn *c, struct iw_qp *qp)
{
	uint32_t num = qp->num;

	iw_qp_free(qp);
	qp_num_put(c, num);
	c->stand_ins.n--;
	release(&c->stand_ins);
}
