// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// One rank of a program on gloo's transport ibverbs: sums over all ranks in three ways, broadcasts
// and barriers. Each rank compares every number.
//
// 	gloo RANK RANKS DIRECTORY INDEX
//
// The ranks exchange their queue pairs by files in DIRECTORY. INDEX is the GID index. At its end, a
// rank prints the minimum number of bytes to send, and the bytes that the device's port has sent.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_one.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

namespace
{

using Number = std::int64_t;
using Context = std::shared_ptr<gloo::Context>;

constexpr int rounds = 3;

// gloo aborts if a buffer is destroyed before its sends complete, and its algorithms do not report
// completion. So buffers live, with their data, until the process ends.
template <typename T, typename... Arguments> T &kept(Arguments &&...arguments)
{
	return *new T(std::forward<Arguments>(arguments)...);
}

// The number of a rank at this place. Each place, rank and round has another number, so that
// misplaced numbers show.
Number given(int rank, int round, std::size_t i)
{
	return static_cast<Number>(i) * (2 * rank + 3) + 1000003 * (rank + 1) + 101 * round;
}

void fill(std::vector<Number> &data, int rank, int round)
{
	for (std::size_t i = 0; i < data.size(); i++)
		data[i] = given(rank, round, i);
}

void must_be(Number is, Number expected, const std::string &what, std::size_t i)
{
	if (is != expected)
		throw std::runtime_error(what + ": " + std::to_string(is) + " at " +
					 std::to_string(i) + ", not " + std::to_string(expected));
}

// Sums by one of gloo's algorithms, in rounds over the same buffers. Returns the minimum number of
// bytes that this rank sends: the rank that adds its numbers needs them once.
template <typename Algorithm>
std::uint64_t sums(const Context &context, std::size_t count, const char *name)
{
	auto &data = kept<std::vector<Number>>(count);
	auto &algorithm = kept<Algorithm>(context, std::vector<Number *>{ data.data() },
					  static_cast<int>(count));

	for (int round = 0; round < rounds; round++) {
		fill(data, context->rank, round);
		algorithm.run();
		for (std::size_t i = 0; i < count; i++) {
			Number sum = 0;

			for (int rank = 0; rank < context->size; rank++)
				sum += given(rank, round, i);
			must_be(data[i], sum, name, i);
		}
	}
	return rounds * count * sizeof(Number);
}

// Each rank is the root once, and sends to all other ranks.
std::uint64_t broadcasts(const Context &context, std::size_t count)
{
	for (int root = 0; root < context->size; root++) {
		auto &data = kept<std::vector<Number>>(count);
		auto &algorithm = kept<gloo::BroadcastOneToAll<Number>>(
			context, std::vector<Number *>{ data.data() }, count, root);

		fill(data, context->rank, root);
		algorithm.run();
		for (std::size_t i = 0; i < count; i++)
			must_be(data[i], given(root, root, i), "broadcast", i);
		kept<gloo::BarrierAllToOne>(context, root).run();
	}
	return count * sizeof(Number) * static_cast<std::size_t>(context->size - 1);
}

std::uint64_t port_octets()
{
	std::ifstream counter("/sys/class/infiniband/sctpiw0/ports/1/counters/port_xmit_data");
	std::uint64_t words = 0;

	counter >> words;
	return words * 4;
}

// Waits until all ranks have finished, and ends the process without destructors.
[[noreturn]] void leave(gloo::rendezvous::Store &store, int rank, int ranks)
{
	std::vector<std::string> all;

	for (int i = 0; i < ranks; i++)
		all.push_back("done-" + std::to_string(i));
	store.set(all[static_cast<std::size_t>(rank)], { 'x' });
	store.wait(all);
	std::_Exit(0);
}

[[noreturn]] void run(char **argv)
{
	const int rank = std::stoi(argv[1]), ranks = std::stoi(argv[2]);
	auto device = gloo::transport::ibverbs::CreateDevice({ "sctpiw0", 1, std::stoi(argv[4]) });
	gloo::rendezvous::FileStore store(argv[3]);
	auto &context = kept<std::shared_ptr<gloo::rendezvous::Context>>(
		new gloo::rendezvous::Context(rank, ranks));
	std::uint64_t sent = 0;

	context->connectFullMesh(store, device);
	for (std::size_t count : { std::size_t{ 1 }, std::size_t{ 1003 }, std::size_t{ 300007 } }) {
		sent += sums<gloo::AllreduceRing<Number>>(context, count, "ring");
		sent += sums<gloo::AllreduceRingChunked<Number>>(context, count, "ring in chunks");
		sent += sums<gloo::AllreduceHalvingDoubling<Number>>(context, count,
								     "halving and doubling");
		sent += broadcasts(context, count);
	}
	std::printf("rank %d of %d: sent %llu octets, the port %llu\n", rank, ranks,
		    static_cast<unsigned long long>(sent),
		    static_cast<unsigned long long>(port_octets()));
	std::fflush(stdout);
	leave(store, rank, ranks);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 5) {
		std::fprintf(stderr, "usage: gloo RANK RANKS DIRECTORY INDEX\n");
		return 2;
	}
	try {
		run(argv);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "FAIL rank %s: %s\n", argv[1], e.what());
		return 1;
	}
}
