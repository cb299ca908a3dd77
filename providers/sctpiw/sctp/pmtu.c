/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/pmtu.h"

#include <stddef.h>

/* Usual MTUs of links and tunnels, in ascending order. */
static const uint32_t usual[] = {
	1006, 1280, 1400, 1420, 1450, 1472, 1492, 1500, 2048, 4352, 8166, 9000, 9216, 16384, 32768,
};

/* Returns the next size to probe between `good` and `bad`, or 0 if these are close enough. */
static uint32_t next(const struct sctp_pmtu *p)
{
	size_t i;

	if (p->good >= p->told || (p->bad <= p->told && p->bad - p->good <= 16 + p->good / 64))
		return 0;
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (usual[i] > p->good && usual[i] < p->bad)
			return usual[i];
	return p->bad > p->told ? p->told : p->good + (p->bad - p->good) / 2;
}

static void ask(struct sctp_pmtu *p, uint32_t size)
{
	p->probe = size;
	p->failed = 0;
}

void sctp_pmtu_init(struct sctp_pmtu *p, uint32_t floor, uint32_t base, uint32_t told)
{
	*p = (struct sctp_pmtu){ .floor = floor, .base = base };
	sctp_pmtu_tell(p, told);
}

void sctp_pmtu_tell(struct sctp_pmtu *p, uint32_t told)
{
	uint32_t trusted;

	if (told < p->floor)
		told = p->floor;
	trusted = told < p->base ? told : p->base;
	if (p->good < trusted)
		p->good = trusted;
	if (p->good > told)
		p->good = told;
	p->told = told;
	p->bad = told + 1;
	/* Usually the whole path has the interface's MTU, and one probe is enough. */
	ask(p, p->good < told ? told : 0);
}

void sctp_pmtu_answered(struct sctp_pmtu *p)
{
	if (p->good < p->probe)
		p->good = p->probe;
	ask(p, next(p));
}

bool sctp_pmtu_lost(struct sctp_pmtu *p)
{
	bool fell = p->probe == p->good;

	if (++p->failed < SCTP_PMTU_PROBES)
		return false;
	p->bad = p->probe;
	if (fell)
		p->good = p->good > p->base ? p->base : p->floor;
	ask(p, next(p));
	return fell;
}

bool sctp_pmtu_doubt(struct sctp_pmtu *p)
{
	if (p->probe == p->good || p->good <= p->floor)
		return false;
	ask(p, p->good);
	return true;
}

bool sctp_pmtu_too_big(struct sctp_pmtu *p, uint32_t mtu)
{
	if (mtu < p->floor)
		mtu = p->floor;
	if (mtu + 1 >= p->bad)
		return false;
	p->bad = mtu + 1;
	if (p->good > mtu) {
		p->good = mtu;
		ask(p, 0);
	} else if (p->probe > mtu) {
		ask(p, mtu > p->good ? mtu : 0);
	}
	return true;
}

void sctp_pmtu_raise(struct sctp_pmtu *p)
{
	p->bad = p->told + 1;
	ask(p, next(p));
}
