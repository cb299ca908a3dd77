/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An MPI program: point-to-point, collectives and one-sided, with every byte checked, for two ranks
 * or more. Each rank counts the octets that it sends to others. It prints this number, and the
 * octets that the device's port has sent: if MPI uses the device, the port has sent no fewer.
 *
 * mpi [--until FILE] GROUP...	each of p2p, unexpected, collectives, one-sided;
 * 				with --until, repeatedly until rank 0 finds FILE
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
#define LARGEST ((size_t)3 << 20)
#define RANKS_MAX 16
#define COUNTER "/sys/class/infiniband/sctpiw0/ports/1/counters/port_xmit_data"

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			fail(__LINE__, #what);                                                     \
	} while (0)

static int rank, ranks;
static uint64_t payload; /* minimum octets sent to other ranks */
static uint8_t *out, *in;

static void fail(int line, const char *what)
{
	fprintf(stderr, "FAIL rank %d: mpi.c:%d: %s\n", rank, line, what);
	MPI_Abort(WORLD, 1);
	exit(1);
}

/* The octet at a place of a message depends on the sender and the number of the message. */
static uint8_t octet(int from, unsigned int number, size_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16) + (size_t)from * 101 + number * 13);
}

static void fill(uint8_t *buf, size_t len, unsigned int number)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = octet(rank, number, i);
}

static void check(const uint8_t *buf, size_t len, int from, unsigned int number)
{
	for (size_t i = 0; i < len; i++) {
		if (buf[i] == octet(from, number, i))
			continue;
		fprintf(stderr, "octet %zu of %zu, message %u of rank %d\n", i, len, number, from);
		fail(__LINE__, "data");
	}
}

/*
 * Sends around a ring, so that every rank sends and receives at once. The octet after the message
 * must not change.
 */
static void exchange(size_t len, unsigned int number)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, got;
	MPI_Status status;

	fill(out, len, number);
	memset(in, 0xa5, len + 1);
	MPI_Sendrecv(out, (int)len, MPI_BYTE, to, (int)number, in, (int)len + 1, MPI_BYTE, from,
		     (int)number, WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &got);
	CHECK(got == (int)len && status.MPI_SOURCE == from && in[len] == 0xa5);
	check(in, len, from, number);
	payload += len;
}

/* Sends to and fro. Each send completes only once the message has been received. */
static void synchronous(size_t len)
{
	for (int i = 0; i < 10; i++) {
		if (rank == i % 2) {
			fill(out, len, (unsigned int)i);
			MPI_Ssend(out, (int)len, MPI_BYTE, 1 - rank, i, WORLD);
			payload += len;
		} else if (rank < 2) {
			MPI_Recv(in, (int)len, MPI_BYTE, 1 - rank, i, WORLD, MPI_STATUS_IGNORE);
			check(in, len, 1 - rank, (unsigned int)i);
		}
	}
}

/* Sizes around every power of two, for all protocols of an implementation. */
static void test_p2p(void)
{
	unsigned int number = 0;

	exchange(0, number++);
	for (size_t size = 1; size <= LARGEST; size *= 2) {
		exchange(size - 1, number++);
		exchange(size, number++);
		exchange(size + 1, number++);
	}
	exchange(LARGEST, number++);
	synchronous(0);
	synchronous(5000);
	synchronous(500000);
}

/*
 * More messages are under way than fit into buffers. They are received by tag, in another order
 * than they were sent, and from any rank.
 */
static void test_unexpected(void)
{
	enum { EACH = 40, STEP = 1999 };
	MPI_Request requests[EACH];
	MPI_Status statuses[EACH], status;
	uint8_t *next = out;
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, got;

	for (int i = 0; i < EACH; i++) {
		fill(next, (size_t)i * STEP, (unsigned int)i);
		MPI_Isend(next, i * STEP, MPI_BYTE, to, i, WORLD, &requests[i]);
		next += i * STEP;
		payload += (uint64_t)i * STEP;
	}
	for (int i = EACH - 1; i > 0; i -= 2) {
		MPI_Probe(MPI_ANY_SOURCE, i, WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &got);
		CHECK(got == i * STEP && status.MPI_SOURCE == from);
		MPI_Recv(in, got, MPI_BYTE, from, i, WORLD, MPI_STATUS_IGNORE);
		check(in, (size_t)got, from, (unsigned int)i);
	}
	for (int i = 0; i < EACH; i += 2) {
		MPI_Recv(in, EACH * STEP, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &got);
		CHECK(status.MPI_TAG == i && got == i * STEP);
		check(in, (size_t)got, from, (unsigned int)i);
	}
	MPI_Waitall(EACH, requests, statuses);
}

/* Calls a collective operation, or its nonblocking form and MPI_Wait(). */
#define COLLECTIVE(later, name, nonblocking_name, ...)                                             \
	do {                                                                                       \
		MPI_Request request_;                                                              \
		if (later) {                                                                       \
			nonblocking_name(__VA_ARGS__, &request_);                                  \
			MPI_Wait(&request_, MPI_STATUS_IGNORE);                                    \
		} else {                                                                           \
			name(__VA_ARGS__);                                                         \
		}                                                                                  \
	} while (0)

/* The number of a rank at a place; sum_of() is the sum over all ranks less than `below`. */
static int64_t number_of(int of, int64_t place)
{
	return place * 1000003 + of;
}

static int64_t sum_of(int below, int64_t place)
{
	return place * 1000003 * below + (int64_t)below * (below - 1) / 2;
}

/*
 * Each rank has n numbers. All ranks, or each rank and the ranks before it, get the sum and the
 * maximum.
 */
static void reduce(int n, bool later)
{
	int64_t *a = (int64_t *)out, *b = (int64_t *)in;

	for (int i = 0; i < n; i++)
		a[i] = number_of(rank, i);
	COLLECTIVE(later, MPI_Allreduce, MPI_Iallreduce, a, b, n, MPI_INT64_T, MPI_SUM, WORLD);
	for (int i = 0; i < n; i++)
		CHECK(b[i] == sum_of(ranks, i));
	COLLECTIVE(later, MPI_Reduce, MPI_Ireduce, a, b, n, MPI_INT64_T, MPI_MAX, ranks - 1, WORLD);
	for (int i = 0; i < n && rank == ranks - 1; i++)
		CHECK(b[i] == number_of(ranks - 1, i));
	COLLECTIVE(later, MPI_Scan, MPI_Iscan, a, b, n, MPI_INT64_T, MPI_SUM, WORLD);
	for (int i = 0; i < n; i++)
		CHECK(b[i] == sum_of(rank + 1, i));
	COLLECTIVE(later, MPI_Exscan, MPI_Iexscan, a, b, n, MPI_INT64_T, MPI_SUM, WORLD);
	for (int i = 0; i < n && rank; i++)
		CHECK(b[i] == sum_of(rank, i));
}

/* The sums are scattered: equal parts to all ranks, or larger parts to later ranks. */
static void reduce_parts(int part, bool later)
{
	int64_t *a = (int64_t *)out, *b = (int64_t *)in, at = 0;
	int counts[RANKS_MAX];

	for (int i = 0; i < part * ranks * (ranks + 1) / 2; i++)
		a[i] = number_of(rank, i);
	COLLECTIVE(later, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, a, b, part,
		   MPI_INT64_T, MPI_SUM, WORLD);
	for (int i = 0; i < part; i++)
		CHECK(b[i] == sum_of(ranks, (int64_t)rank * part + i));
	for (int i = 0; i < ranks; i++) {
		counts[i] = part * (i + 1);
		at += i < rank ? counts[i] : 0;
	}
	COLLECTIVE(later, MPI_Reduce_scatter, MPI_Ireduce_scatter, a, b, counts, MPI_INT64_T,
		   MPI_SUM, WORLD);
	for (int i = 0; i < counts[rank]; i++)
		CHECK(b[i] == sum_of(ranks, at + i));
}

/* Each rank sends or receives len octets. */
static void spread(size_t len, bool later)
{
	size_t all = len * (size_t)ranks;
	int n = (int)len;

	for (int root = 0; root < ranks; root++) {
		if (rank == root)
			fill(in, len, 1);
		else
			memset(in, 0, len);
		COLLECTIVE(later, MPI_Bcast, MPI_Ibcast, in, n, MPI_BYTE, root, WORLD);
		check(in, len, root, 1);
	}
	fill(out, len, 2);
	memset(in, 0, all);
	COLLECTIVE(later, MPI_Allgather, MPI_Iallgather, out, n, MPI_BYTE, in, n, MPI_BYTE, WORLD);
	for (int i = 0; i < ranks; i++)
		check(in + (size_t)i * len, len, i, 2);
	COLLECTIVE(later, MPI_Scatter, MPI_Iscatter, in, n, MPI_BYTE, out, n, MPI_BYTE, 0, WORLD);
	check(out, len, rank, 2);
	memset(in, 0, all);
	COLLECTIVE(later, MPI_Gather, MPI_Igather, out, n, MPI_BYTE, in, n, MPI_BYTE, ranks - 1,
		   WORLD);
	for (int i = 0; i < ranks && rank == ranks - 1; i++)
		check(in + (size_t)i * len, len, i, 2);
	for (int i = 0; i < ranks; i++)
		fill(out + (size_t)i * len, len, (unsigned int)(10 + i));
	memset(in, 0, all);
	COLLECTIVE(later, MPI_Alltoall, MPI_Ialltoall, out, n, MPI_BYTE, in, n, MPI_BYTE, WORLD);
	for (int i = 0; i < ranks; i++)
		check(in + (size_t)i * len, len, i, (unsigned int)(10 + rank));
}

/* Blocks of several lengths, one for each rank. The GAP octets between blocks must not change. */
#define GAP 3
struct blocks {
	int count[RANKS_MAX], at[RANKS_MAX];
	size_t end;
};

/* The lengths in order around the ring, from rank `first`. Rank 1's length is 0. */
static struct blocks blocks(int len, int first)
{
	struct blocks b = { .end = 0 };

	for (int i = 0; i < ranks; i++) {
		int of = (first + i) % ranks;

		b.count[i] = of == 1 ? 0 : len / (of + 1) + of;
		b.at[i] = (int)b.end;
		b.end += (size_t)b.count[i] + GAP;
	}
	return b;
}

static void fill_blocks(const struct blocks *b, unsigned int number)
{
	for (int i = 0; i < ranks; i++)
		fill(out + b->at[i], (size_t)b->count[i], number + (unsigned int)i);
}

/* Checks that block i came from rank i, as the message of this number. */
static void check_blocks(const struct blocks *b, unsigned int number)
{
	for (int i = 0; i < ranks; i++) {
		check(in + b->at[i], (size_t)b->count[i], i, number);
		for (int k = 0; k < GAP; k++)
			CHECK(in[b->at[i] + b->count[i] + k] == 0xa5);
	}
}

/* Each rank sends or receives its own number of octets. */
static void spread_blocks(int len, bool later)
{
	struct blocks mine = blocks(len, 0), pairs = blocks(len, rank);
	MPI_Datatype types[RANKS_MAX];
	int n = mine.count[rank];

	fill(out, (size_t)n, 3);
	memset(in, 0xa5, mine.end);
	COLLECTIVE(later, MPI_Allgatherv, MPI_Iallgatherv, out, n, MPI_BYTE, in, mine.count,
		   mine.at, MPI_BYTE, WORLD);
	check_blocks(&mine, 3);
	memset(in, 0xa5, mine.end);
	COLLECTIVE(later, MPI_Gatherv, MPI_Igatherv, out, n, MPI_BYTE, in, mine.count, mine.at,
		   MPI_BYTE, 0, WORLD);
	if (!rank)
		check_blocks(&mine, 3);
	fill_blocks(&mine, 4);
	memset(in, 0xa5, (size_t)n + GAP);
	COLLECTIVE(later, MPI_Scatterv, MPI_Iscatterv, out, mine.count, mine.at, MPI_BYTE, in, n,
		   MPI_BYTE, ranks - 1, WORLD);
	check(in, (size_t)n, ranks - 1, 4 + (unsigned int)rank);
	CHECK(in[n] == 0xa5);

	/* Messages between two ranks have the same length both ways. */
	fill_blocks(&pairs, 30);
	memset(in, 0xa5, pairs.end);
	COLLECTIVE(later, MPI_Alltoallv, MPI_Ialltoallv, out, pairs.count, pairs.at, MPI_BYTE, in,
		   pairs.count, pairs.at, MPI_BYTE, WORLD);
	check_blocks(&pairs, 30 + (unsigned int)rank);
	for (int i = 0; i < ranks; i++)
		types[i] = (rank + i) % 2 ? MPI_UNSIGNED_CHAR : MPI_BYTE;
	fill_blocks(&pairs, 50);
	memset(in, 0xa5, pairs.end);
	COLLECTIVE(later, MPI_Alltoallw, MPI_Ialltoallw, out, pairs.count, pairs.at, types, in,
		   pairs.count, pairs.at, types, WORLD);
	check_blocks(&pairs, 50 + (unsigned int)rank);
}

/* Several operations are under way at once, and are awaited in another order than they began. */
static void at_once(size_t len)
{
	int64_t numbers[2] = { number_of(rank, 0), number_of(rank, 5) }, sums[2];
	uint8_t *from_all = in + len;
	MPI_Request requests[4];
	int n = (int)len;

	if (rank == 0)
		fill(in, len, 60);
	fill(out, len, 61);
	MPI_Ibcast(in, n, MPI_BYTE, 0, WORLD, &requests[3]);
	MPI_Iallgather(out, n, MPI_BYTE, from_all, n, MPI_BYTE, WORLD, &requests[2]);
	MPI_Iallreduce(numbers, sums, 2, MPI_INT64_T, MPI_SUM, WORLD, &requests[1]);
	MPI_Ibarrier(WORLD, &requests[0]);
	for (int i = 0; i < 4; i++)
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	check(in, len, 0, 60);
	for (int i = 0; i < ranks; i++)
		check(from_all + (size_t)i * len, len, i, 61);
	CHECK(sums[0] == sum_of(ranks, 0) && sums[1] == sum_of(ranks, 5));
}

static void test_collectives(void)
{
	static const int sizes[] = { 1, 13, 1000, 40001, 300000 };
	MPI_Comm half;
	int members;

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool later = i % 2;
		int size = sizes[i / 2];

		MPI_Barrier(WORLD);
		reduce(size / 4 + 1, later);
		reduce_parts(size / 8 / ranks + 1, later);
		spread((size_t)size, later);
		spread_blocks(size, later);
		at_once((size_t)size);
	}
	MPI_Comm_split(WORLD, rank % 2, -rank, &half);
	MPI_Comm_size(half, &members);
	CHECK(members == (ranks + 1 - rank % 2) / 2);
	MPI_Comm_free(&half);
}

/* A window has a block for each rank, then numbers that all ranks change. */
#define BLOCK 100003
#define NUMBERS 4

static void put_and_get(MPI_Win win, uint8_t *window)
{
	for (int to = 0; to < ranks; to++) {
		fill(out + (size_t)to * BLOCK, BLOCK, (unsigned int)to);
		MPI_Put(out + (size_t)to * BLOCK, BLOCK, MPI_BYTE, to, (MPI_Aint)rank * BLOCK,
			BLOCK, MPI_BYTE, win);
		payload += to != rank ? BLOCK : 0;
	}
	MPI_Win_fence(0, win);
	for (int from = 0; from < ranks; from++)
		check(window + (size_t)from * BLOCK, BLOCK, from, (unsigned int)rank);
	for (int from = 0; from < ranks; from++)
		MPI_Get(in + (size_t)from * BLOCK, BLOCK, MPI_BYTE, from, (MPI_Aint)rank * BLOCK,
			BLOCK, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	for (int from = 0; from < ranks; from++)
		check(in + (size_t)from * BLOCK, BLOCK, rank, (unsigned int)from);
}

/* All ranks change numbers of rank 0 under a lock, with each change applied once. */
static void change_numbers(MPI_Win win, MPI_Aint at)
{
	enum { ROUNDS = 20 };
	int64_t one = 1, old, mine = rank + 1, none = 0, last = -1, sums[2] = { rank, 10 };

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, at, MPI_SUM, win);
		MPI_Win_unlock(0, win);
		CHECK(old > last && old < (int64_t)ROUNDS * ranks);
		last = old;
	}
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Accumulate(sums, 2, MPI_INT64_T, 0, at + 8, 2, MPI_INT64_T, MPI_SUM, win);
	MPI_Win_flush(0, win);
	MPI_Compare_and_swap(&mine, &none, &old, MPI_INT64_T, 0, at + 24, win);
	MPI_Win_unlock(0, win);
	CHECK(old >= 0 && old <= ranks && old != mine);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(in, NUMBERS, MPI_INT64_T, 0, at, NUMBERS, MPI_INT64_T, win);
	MPI_Win_unlock(0, win);
	CHECK(((int64_t *)in)[0] == (int64_t)ROUNDS * ranks);
	CHECK(((int64_t *)in)[1] == (int64_t)ranks * (ranks - 1) / 2);
	CHECK(((int64_t *)in)[2] == (int64_t)ranks * 10);
	CHECK(((int64_t *)in)[3] >= 1 && ((int64_t *)in)[3] <= ranks); /* the first rank */
}

static void test_one_sided(void)
{
	MPI_Aint at = ((MPI_Aint)ranks * BLOCK + 7) & ~7;
	size_t size = (size_t)at + NUMBERS * 8;
	uint8_t *window = calloc(1, size);
	MPI_Win win;

	CHECK(window);
	MPI_Win_create(window, (MPI_Aint)size, 1, MPI_INFO_NULL, WORLD, &win);
	MPI_Win_fence(0, win);
	put_and_get(win, window);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	change_numbers(win, at);
	MPI_Win_free(&win);
	free(window);
}

/*
 * The octets that the device's port has sent for this process. The port's counter has words of four
 * octets.
 */
static uint64_t port_octets(void)
{
	unsigned long long words = 0;
	FILE *fp = fopen(COUNTER, "r");

	if (fp) {
		CHECK(fscanf(fp, "%llu", &words) == 1);
		fclose(fp);
	}
	return words * 4;
}

static void run_group(const char *name)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} groups[] = {
		{ "p2p", test_p2p },
		{ "unexpected", test_unexpected },
		{ "collectives", test_collectives },
		{ "one-sided", test_one_sided },
	};
	size_t k = 0;

	while (k < 4 && strcmp(name, groups[k].name))
		k++;
	CHECK(k < 4);
	groups[k].run();
	MPI_Barrier(WORLD);
	if (!rank) {
		printf("all ranks: %s is done\n", name);
		fflush(stdout);
	}
}

/* True if the file exists. Rank 0 checks, so that all ranks stop after the same round. */
static bool is_there(const char *file)
{
	int there = !rank && !access(file, F_OK);

	MPI_Bcast(&there, 1, MPI_INT, 0, WORLD);
	return there;
}

int main(int argc, char **argv)
{
	const char *until = NULL;
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "--until")) {
		until = argv[2];
		first = 3;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &ranks);
	CHECK(ranks > 1 && ranks <= RANKS_MAX);
	out = malloc((LARGEST + 1) * (size_t)ranks);
	in = malloc((LARGEST + 2) * (size_t)ranks);
	CHECK(out && in);
	do {
		for (int i = first; i < argc; i++)
			run_group(argv[i]);
	} while (until && !is_there(until));
	printf("rank %d of %d: sent %lu octets, the port %lu\n", rank, ranks, payload,
	       port_octets());
	fflush(stdout);
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
