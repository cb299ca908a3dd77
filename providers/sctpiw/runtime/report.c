/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn/inspect.h"
#include "iwarp/iw_inspect.h"
#include "runtime/counters.h"
#include "runtime/line.h"
#include "runtime/rnic.h"
#include "runtime/shard.h"
#include "util/trace.h"

/* maximum number of lines in one piece of the answer */
#define AT_ONCE (REPORT_ROOM / CONTROL_LINE_MAX)

struct process {
	struct iw_counts objects;
	struct counters_sum sum;
	uint64_t sent, received; /* number of messages, including datagrams */
	bool has_sctp;		 /* the transport has these counters */
	uint64_t now;		 /* time of the copy, ns */
};

/* A copy of the object that one line describes. */
union subject {
	struct process process;
	struct iw_qp_info qp;
	struct conn_assoc_info assoc;
	struct {
		uint16_t port;
		char peer[SOCKADDR_TEXT];
		struct sctp_path_info info;
	} path;
	struct iw_cq_info cq;
	struct iw_mr_info mr;
	struct faults_info fault;
};

struct report_part {
	/*
	 * Copies the next object of this part, under the lock. Returns false after the last object.
	 * NULL in `next` ends the list of parts.
	 */
	bool (*next)(struct report *r, struct shard *s, union subject *o);
	void (*write)(const struct shard *s, const union subject *o, struct line *l);
	const char *kind;
};

/* ---- the process ---- */

static void copy_process(struct shard *s, struct process *p)
{
	iw_count(s->rnic->iw, &p->objects);
	counters_add(s->rnic, &p->sum);
	p->sent = iw_messages(p->sum.iw.out) + p->sum.ud.sent;
	p->received = iw_messages(p->sum.iw.in) + p->sum.ud.received;
	p->has_sctp = s->conn.transport->stats;
	p->now = s->conn.now;
}

static bool next_process(struct report *r, struct shard *s, union subject *o)
{
	if (r->step++)
		return false;
	copy_process(s, &o->process);
	return true;
}

static void write_process(const struct shard *s, const union subject *o, struct line *l)
{
	static const char *const carriers[] = { "udp", "ip", "kernel" };
	const struct process *p = &o->process;

	line_number(l, "pid", (uint64_t)getpid());
	line_text(l, "command", program_invocation_short_name);
	line_number(l, "time_ns", p->now);
	line_text(l, "llp", carriers[s->rnic->config.carrier]);
	line_number(l, "qps", p->objects.qps);
	line_number(l, "associations", p->sum.assocs);
	line_number(l, "cqs", p->objects.cqs);
	line_number(l, "srqs", p->objects.srqs);
	line_number(l, "pds", p->objects.pds);
	line_number(l, "mrs", p->objects.mrs);
	line_number(l, "mws", p->objects.mws);
	line_number(l, "sent_messages", p->sent);
	line_number(l, "sent_bytes", p->sum.iw.out_bytes);
	line_number(l, "received_messages", p->received);
	line_number(l, "received_bytes", p->sum.iw.in_bytes);
	line_number(l, "sent_packets", p->sum.traffic.packets_out);
	line_number(l, "received_packets", p->sum.traffic.packets_in);
	if (p->has_sctp) {
		line_number(l, "lost", p->sum.sctp.lost);
		line_number(l, "resent", p->sum.sctp.resent + p->sum.sctp.probes);
		line_number(l, "timeouts", p->sum.sctp.timeouts);
		line_number(l, "bad_packets", p->sum.sctp.bad_packets);
	}
	line_number(l, "errors", p->sum.iw.errors);
}

/* ---- objects ---- */

static bool next_qp(struct report *r, struct shard *s, union subject *o)
{
	for (; r->shard < s->rnic->n_shards; r->shard++)
		if (iw_next_qp(rnic_shard(s->rnic, r->shard)->conn.iw, &r->mark, &o->qp))
			return true;
	return false;
}

static void write_qp(const struct shard *s, const union subject *o, struct line *l)
{
	static const char *const states[] = {
		[IW_QPS_RESET] = "RESET", [IW_QPS_INIT] = "INIT", [IW_QPS_RTR] = "RTR",
		[IW_QPS_RTS] = "RTS",	  [IW_QPS_SQD] = "SQD",	  [IW_QPS_SQE] = "SQE",
		[IW_QPS_ERR] = "ERR",
	};
	static const char *const types[] = {
		[IW_QPT_RC] = "RC",
		[IW_QPT_UC] = "UC",
		[IW_QPT_UD] = "UD",
		[IW_QPT_XRC_SEND] = "XRC_SEND",
		[IW_QPT_XRC_RECV] = "XRC_RECV",
	};
	const struct iw_qp_info *qp = &o->qp;

	line_number(l, "num", qp->num);
	line_text(l, "type", qp->stands_in ? "STAND_IN" : types[qp->type]);
	line_text(l, "state", states[qp->state]);
	if (*qp->peer)
		line_text(l, "peer", qp->peer);
	if (qp->has_session)
		line_number(l, "stream", qp->stream);
	line_flag(l, "out_of_band", qp->oob);
	line_number(l, "sent_messages", qp->out.messages);
	line_number(l, "sent_bytes", qp->out.bytes);
	line_number(l, "received_messages", qp->in.messages);
	line_number(l, "received_bytes", qp->in.bytes);
	line_number(l, "send_wrs", qp->send_wrs);
	line_flag(l, "send_blocked", qp->send_blocked);
	if (!qp->has_srq)
		line_number(l, "receive_wrs", qp->recv_wrs);
	line_number(l, "unexpected", qp->unexpected);
	if (qp->type == IW_QPT_UC)
		line_number(l, "dropped", qp->dropped);
	if (qp->error)
		line_text(l, "error", qp->error);
}

static bool next_assoc(struct report *r, struct shard *s, union subject *o)
{
	for (; r->shard < s->rnic->n_shards; r->shard++)
		if (conn_next_assoc(&rnic_shard(s->rnic, r->shard)->conn, &r->mark, &o->assoc))
			return true;
	return false;
}

static void write_assoc(const struct shard *s, const union subject *o, struct line *l)
{
	const struct conn_assoc_info *a = &o->assoc;
	const struct sctp_assoc_info *i = &a->sctp;

	line_number(l, "port", a->local_port);
	line_text(l, "peer", a->peer);
	line_flag(l, "initiator", a->initiator);
	line_number(l, "streams", a->streams);
	line_number(l, "sessions", a->sessions);
	line_flag(l, "sealed", a->sealed);
	if (*a->key)
		line_text(l, "peer_key", a->key);
	if (!a->has_sctp)
		return;
	line_text(l, "state", i->state);
	line_number(l, "paths", i->paths);
	if (i->srtt) {
		line_number(l, "rtt_ns", i->srtt);
		line_number(l, "rttvar_ns", i->rttvar);
	}
	line_number(l, "rto_ns", i->rto);
	line_number(l, "cwnd", i->cwnd);
	line_number(l, "flight", i->flight);
	line_number(l, "peer_rwnd", i->peer_rwnd);
	line_number(l, "rwnd", i->rwnd);
	line_number(l, "mtu", i->mtu);
	line_number(l, "lost", i->lost);
	line_number(l, "resent", i->resent);
	line_number(l, "timeouts", i->timeouts);
}

static bool next_paths(struct report *r, struct rnic *rnic, struct conn_paths_info *paths)
{
	for (; r->shard < rnic->n_shards; r->shard++)
		if (conn_next_paths(&rnic_shard(rnic, r->shard)->conn, &r->mark, paths))
			return true;
	return false;
}

static bool next_path(struct report *r, struct shard *s, union subject *o)
{
	struct conn_paths_info *paths = &r->paths;

	while (r->path == paths->n) {
		r->path = 0;
		if (!next_paths(r, s->rnic, paths)) {
			paths->n = 0;
			return false;
		}
	}
	o->path.port = paths->local_port;
	memcpy(o->path.peer, paths->peer, sizeof(o->path.peer));
	o->path.info = paths->path[r->path++];
	return true;
}

static void write_path(const struct shard *s, const union subject *o, struct line *l)
{
	const struct sctp_path_info *i = &o->path.info;
	char text[TRACE_ADDR_TEXT];

	line_number(l, "port", o->path.port);
	line_text(l, "peer", o->path.peer);
	if (!ip_addr_is_zero(&i->addr.local))
		line_text(l, "local", trace_addr_text(&i->addr.local, text));
	line_text(l, "remote", trace_addr_text(&i->addr.remote, text));
	line_text(l, "state", i->state);
	line_flag(l, "primary", i->primary);
	if (i->srtt)
		line_number(l, "rtt_ns", i->srtt);
	line_number(l, "cwnd", i->cwnd);
	line_number(l, "mtu", i->mtu);
	if (!i->counted)
		return;
	line_number(l, "flight", i->flight);
	line_number(l, "sent_bytes", i->sent);
	line_number(l, "sent_packets", i->packets);
	line_number(l, "received_packets", i->received);
	line_number(l, "lost", i->lost);
	line_number(l, "errors", i->errors);
}

static bool next_cq(struct report *r, struct shard *s, union subject *o)
{
	return iw_next_cq(s->rnic->iw, &r->mark, &o->cq);
}

static void write_cq(const struct shard *s, const union subject *o, struct line *l)
{
	const struct iw_cq_info *cq = &o->cq;

	line_number(l, "entries", cq->entries);
	line_number(l, "waiting", cq->waiting);
	line_number(l, "queues", cq->queues);
	line_flag(l, "armed", cq->armed);
	line_flag(l, "overflown", cq->overflown);
}

static bool next_mr(struct report *r, struct shard *s, union subject *o)
{
	return iw_next_mr(s->rnic->iw, &r->mark, &o->mr);
}

/* Writes the access rights as letters, in the order of enum iw_access. */
static void access_text(uint32_t access, char text[8])
{
	static const struct {
		uint32_t right;
		char letter;
	} rights[] = {
		{ IW_ACCESS_LOCAL_WRITE, 'l' }, { IW_ACCESS_REMOTE_WRITE, 'w' },
		{ IW_ACCESS_REMOTE_READ, 'r' }, { IW_ACCESS_REMOTE_ATOMIC, 'a' },
		{ IW_ACCESS_MW_BIND, 'b' },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		text[n++] = access & rights[i].right ? rights[i].letter : '-';
	text[n] = '\0';
}

static void write_mr(const struct shard *s, const union subject *o, struct line *l)
{
	static const char *const types[] = {
		[IW_MR_TYPE_REGION] = "mr",
		[IW_MR_TYPE_NULL] = "null",
		[IW_MR_TYPE_MW1] = "mw1",
		[IW_MR_TYPE_MW2] = "mw2",
	};
	const struct iw_mr_info *mr = &o->mr;
	char text[24];

	snprintf(text, sizeof(text), "0x%08x", mr->stag);
	line_text(l, "key", text);
	line_text(l, "type", types[mr->type]);
	line_number(l, "length", mr->length);
	access_text(mr->access, text);
	line_text(l, "access", text);
	line_flag(l, "valid", !mr->invalid);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)mr->iova);
	line_text(l, "iova", text);
}

/* ---- faults ---- */

/* If text begins with this word and a blank, moves *text past them and returns true. */
static bool take_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) || (*text)[n] != ' ')
		return false;
	*text += n + 1;
	return true;
}

static bool next_fault(struct report *r, struct shard *s, union subject *o)
{
	if (!faults_next(&s->rnic->faults, r->fault, &o->fault))
		return false;
	r->fault = o->fault.number;
	return true;
}

static void write_fault(const struct shard *s, const union subject *o, struct line *l)
{
	const struct faults_info *f = &o->fault;

	line_number(l, "num", f->number);
	line_number(l, "line", f->line);
	line_number(l, "seen", f->seen);
	line_number(l, "fired", f->fired);
	line_number(l, "seed", faults_seed(&s->rnic->faults));
	line_text(l, "rule", f->text);
}

static const struct report_part faults_parts[] = {
	{ next_process, write_process, "process" },
	{ next_fault, write_fault, "fault" },
	{ NULL, NULL, "end" },
};

static const struct report_part removed_parts[] = {
	{ NULL, NULL, "removed" },
	{ NULL, NULL, "end" },
};

static const struct report_part refused_parts[] = {
	{ NULL, NULL, "refused" },
	{ NULL, NULL, "end" },
};

/* Performs the request "fault ...". Returns the parts of the answer, or NULL if it is unknown. */
static const struct report_part *change_faults(struct report *r, struct shard *s, const char *what)
{
	struct faults *f = &s->rnic->faults;
	unsigned long number = 0;
	char *end;

	r->fault = 0;
	if (!strcmp(what, "list"))
		return faults_parts;
	if (take_word(&what, "add")) {
		faults_add(f, what, &r->result);
		r->fault = r->result.first - 1;
		return r->result.ok ? faults_parts : refused_parts;
	}
	if (!take_word(&what, "remove"))
		return NULL;
	if (strcmp(what, "all")) {
		number = strtoul(what, &end, 10);
		if (end == what || *end || !number || number > UINT32_MAX)
			return NULL;
	}
	faults_remove(f, (uint32_t)number, &r->result);
	return r->result.ok ? removed_parts : refused_parts;
}

static const struct report_part stat_parts[] = {
	{ next_process, write_process, "process" },
	{ next_qp, write_qp, "qp" },
	{ next_assoc, write_assoc, "association" },
	{ next_path, write_path, "path" },
	{ next_cq, write_cq, "cq" },
	{ next_mr, write_mr, "mr" },
	{ next_fault, write_fault, "fault" },
	{ NULL, NULL, "end" },
};

/* ---- counters ---- */

/* The lines of all counters. They are all made at once, after the line about the process. */
struct counter_lines {
	bool json;
	char *buf;
	size_t len;
};

static void write_counter(void *ctx, const char *name, uint64_t value)
{
	struct counter_lines *c = ctx;
	struct line l;

	line_begin(&l, c->json, "counter");
	line_number(&l, name, value);
	line_end(&l);
	if (c->len + l.len > REPORT_ROOM)
		return;
	memcpy(c->buf + c->len, l.text, l.len);
	c->len += l.len;
}

static const struct report_part counters_parts[] = {
	{ next_process, write_process, "process" },
	{ NULL, NULL, "counter" },
	{ NULL, NULL, "end" },
};

/* ---- the answer ---- */

static const struct report_part error_parts[] = { { NULL, NULL, "error" } };

void report_init(struct report *r)
{
	memset(r, 0, sizeof(*r));
	list_init(&r->mark);
}

void report_begin(struct report *r, struct shard *s, const char *request)
{
	const char *version = "1";
	const struct report_part *faults;

	r->step = r->shard = 0;
	r->fault = 0;
	r->part = error_parts;
	r->json = true;
	if (!take_word(&request, version))
		return;
	r->json = !take_word(&request, "text");
	if (r->json && !take_word(&request, "json"))
		return;
	if (!strcmp(request, "stat"))
		r->part = stat_parts;
	else if (!strcmp(request, "counters"))
		r->part = counters_parts;
	if (!take_word(&request, "fault"))
		return;
	faults = change_faults(r, s, request);
	if (faults)
		r->part = faults;
}

static size_t put_line(struct line *l, char *buf)
{
	line_end(l);
	memcpy(buf, l->text, l->len);
	return l->len;
}

/* Writes the line with the result of the request. */
static size_t write_result(struct report *r, char *buf)
{
	struct line l;

	line_begin(&l, r->json, r->part->kind);
	if (r->part == removed_parts)
		line_number(&l, "faults", r->result.n);
	else
		line_text(&l, "text", r->result.err.text);
	r->part++;
	return put_line(&l, buf);
}

static size_t write_last(struct report *r, char *buf)
{
	struct line l;

	line_begin(&l, r->json, r->part->kind);
	if (r->part == error_parts)
		line_text(&l, "text", "no such request, or another version of the protocol");
	r->part = NULL;
	return put_line(&l, buf);
}

static size_t write_counters(struct report *r, struct shard *s, char *buf)
{
	struct counter_lines c = { .json = r->json, .buf = buf };
	struct faults_info fault;
	char name[24];

	counters_all(s, write_counter, &c);
	for (uint32_t last = 0; faults_next(&s->rnic->faults, last, &fault); last = fault.number) {
		snprintf(name, sizeof(name), "fault_%u", fault.number);
		write_counter(&c, name, fault.fired);
	}
	r->part++;
	return c.len;
}

/*
 * Copies up to AT_ONCE objects of the current part, and returns their number. The part is complete
 * if the number is smaller than AT_ONCE.
 */
static unsigned int copy_objects(struct report *r, struct shard *s, union subject *objects)
{
	unsigned int n = 0;

	rnic_enter(s->rnic);
	while (n < AT_ONCE && r->part->next(r, s, &objects[n]))
		n++;
	rnic_leave(s->rnic);
	return n;
}

size_t report_more(struct report *r, struct shard *s, char *buf)
{
	union subject objects[AT_ONCE];
	const struct report_part *part;
	size_t len = 0;
	struct line l;
	unsigned int n;

	while (!len && (part = r->part)) {
		if (part == removed_parts || part == refused_parts)
			return write_result(r, buf);
		if (part->next == NULL)
			return !strcmp(part->kind, "counter") ? write_counters(r, s, buf) :
								write_last(r, buf);
		n = copy_objects(r, s, objects);
		for (unsigned int i = 0; i < n; i++) {
			line_begin(&l, r->json, part->kind);
			part->write(s, &objects[i], &l);
			len += put_line(&l, buf + len);
		}
		if (n < AT_ONCE) {
			r->part++;
			r->step = r->shard = 0;
		}
	}
	return len;
}

void report_drop(struct report *r)
{
	list_del(&r->mark);
	r->part = NULL;
}

/* ---- the summary ---- */

/* Writes a number of bytes with a unit, for example "327.7 MB". */
static const char *amount(double bytes, char text[24])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	unsigned int unit = 0;

	while (bytes >= 1000 && unit < sizeof(units) / sizeof(units[0]) - 1) {
		bytes /= 1000;
		unit++;
	}
	snprintf(text, 24, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return text;
}

void report_summary(struct shard *s, char text[REPORT_SUMMARY_MAX])
{
	char out[24], in[24], out_rate[24], in_rate[24], lost[80] = "";
	struct process p;
	uint64_t end;
	double seconds;

	copy_process(s, &p);
	/* Once no session exists, the time of the rates ends with the end of the last session. */
	end = p.objects.sessions || !p.sum.iw.last_use ? p.now : p.sum.iw.last_use;
	seconds = p.sum.iw.first_use ? (double)(end - p.sum.iw.first_use) / NSEC_PER_SEC : 0;
	if (p.has_sctp)
		snprintf(lost, sizeof(lost), "; lost %llu, resent %llu chunks",
			 (unsigned long long)p.sum.sctp.lost,
			 (unsigned long long)p.sum.sctp.resent + p.sum.sctp.probes);
	snprintf(text, REPORT_SUMMARY_MAX,
		 "%.64s[%d]: sent %llu messages, %s; received %llu messages, %s; "
		 "connected for %.3f s: %s/s out, %s/s in%s; %llu errors",
		 program_invocation_short_name, (int)getpid(), (unsigned long long)p.sent,
		 amount((double)p.sum.iw.out_bytes, out), (unsigned long long)p.received,
		 amount((double)p.sum.iw.in_bytes, in), seconds,
		 amount(seconds > 0 ? (double)p.sum.iw.out_bytes / seconds : 0, out_rate),
		 amount(seconds > 0 ? (double)p.sum.iw.in_bytes / seconds : 0, in_rate), lost,
		 (unsigned long long)p.sum.iw.errors);
}
