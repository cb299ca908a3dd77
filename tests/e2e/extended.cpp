// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A C++ program through the extended interfaces: a QP of ibv_wr_*, an extended CQ, a thread domain.
//
// 	extended server|client ADDRESS PORT
//
// The client writes a pattern into the server's memory in batches, sends its sum, and reads the
// pattern back in pieces. Both sides compare, and print "data ok".
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

namespace
{

constexpr std::size_t size = 1 << 20, chunk = 16384;
constexpr unsigned batch = 8, pieces = 4;

struct Message {
	std::uint64_t address, sum;
	std::uint32_t rkey, round;
};

template <typename T> T *made(T *object, const char *what)
{
	if (!object)
		throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
	return object;
}

void done(int ret, const char *what)
{
	if (ret)
		throw std::runtime_error(std::string(what) + ": " +
					 std::strerror(ret < 0 ? errno : ret));
}

template <typename T, int (*destroy)(T *)> struct Destroy {
	void operator()(T *object) const
	{
		if (destroy(object))
			std::fprintf(stderr, "not destroyed: %s\n", std::strerror(errno));
	}
};
template <typename T, int (*destroy)(T *)> using Owned = std::unique_ptr<T, Destroy<T, destroy>>;

int destroy_cq(ibv_cq_ex *cq)
{
	return ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

std::uint64_t sum_of(const std::vector<std::uint8_t> &v)
{
	return std::accumulate(v.begin(), v.end(), UINT64_C(1),
			       [](std::uint64_t sum, std::uint8_t byte) {
				       return sum * 31 + byte;
			       });
}

class End
{
      public:
	explicit End(rdma_cm_id *id) : id(id)
	{
		ibv_td_init_attr td_attr = {};
		ibv_parent_domain_init_attr domain_attr = {};
		ibv_cq_init_attr_ex cq_attr = {};
		ibv_qp_init_attr_ex attr = {};

		pd.reset(made(ibv_alloc_pd(id->verbs), "PD"));
		td.reset(made(ibv_alloc_td(id->verbs, &td_attr), "thread domain"));
		domain_attr.pd = pd.get();
		domain_attr.td = td.get();
		domain.reset(
			made(ibv_alloc_parent_domain(id->verbs, &domain_attr), "parent domain"));
		cq_attr.cqe = 64;
		cq_attr.wc_flags = IBV_WC_STANDARD_FLAGS;
		cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
		cq_attr.parent_domain = domain.get();
		cq.reset(made(ibv_create_cq_ex(id->verbs, &cq_attr), "extended CQ"));
		attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq.get());
		attr.qp_type = IBV_QPT_RC;
		attr.cap.max_send_wr = attr.cap.max_recv_wr = 32;
		attr.cap.max_send_sge = attr.cap.max_recv_sge = pieces;
		attr.cap.max_inline_data = sizeof(Message);
		attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.pd = domain.get();
		attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
				      IBV_QP_EX_WITH_SEND;
		done(rdma_create_qp_ex(id, &attr), "QP");
		qp = made(ibv_qp_to_qp_ex(id->qp), "extended QP");
		memory.reset(made(ibv_reg_mr(domain.get(), data.data(), size,
					     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						     IBV_ACCESS_REMOTE_READ),
				  "MR"));
		inbox.reset(made(ibv_reg_mr(domain.get(), &received, sizeof(received),
					    IBV_ACCESS_LOCAL_WRITE),
				 "MR"));
		receive();
	}

	~End()
	{
		rdma_destroy_qp(id);
	}

	End(const End &) = delete;
	End &operator=(const End &) = delete;

	void receive()
	{
		ibv_sge sge = { reinterpret_cast<std::uintptr_t>(&received), sizeof(received),
				inbox->lkey };
		ibv_recv_wr wr = {}, *bad;

		wr.sg_list = &sge;
		wr.num_sge = 1;
		done(ibv_post_recv(id->qp, &wr, &bad), "receive");
	}

	// Waits for n completions of this kind, and counts others for later calls. Completions
	// after the n-th stay in the CQ. The peer disconnects once it has the last Send of this
	// side. The flushed receives may be in the CQ together with that Send's completion.
	void await(ibv_wc_opcode opcode, unsigned n)
	{
		while (seen[opcode & 0xff] < n) {
			ibv_poll_cq_attr attr = {};
			int ret = ibv_start_poll(cq.get(), &attr);

			if (ret == ENOENT)
				continue;
			done(ret, "poll");
			do {
				if (cq->status != IBV_WC_SUCCESS)
					throw std::runtime_error(ibv_wc_status_str(cq->status));
				seen[ibv_wc_read_opcode(cq.get()) & 0xff]++;
			} while (seen[opcode & 0xff] < n && !ibv_next_poll(cq.get()));
			ibv_end_poll(cq.get());
		}
		seen[opcode & 0xff] -= n;
	}

	void send(const Message &message)
	{
		Message copy = message;

		ibv_wr_start(qp);
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qp);
		ibv_wr_set_inline_data(qp, &copy, sizeof(copy));
		done(ibv_wr_complete(qp), "send");
		await(IBV_WC_SEND, 1);
	}

	Message next_message()
	{
		await(IBV_WC_RECV, 1);
		Message message = received;
		receive();
		return message;
	}

	// Transfers all of the memory in chunks, to or from the same offset at the peer.
	void transfer(const Message &remote, bool write)
	{
		for (std::size_t at = 0; at < size; at += chunk * batch) {
			ibv_wr_start(qp);
			for (unsigned i = 0; i < batch; i++)
				one(remote, at + i * chunk, write);
			done(ibv_wr_complete(qp), "batch");
			await(write ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ, batch);
		}
	}

	rdma_cm_id *id;
	Owned<ibv_pd, ibv_dealloc_pd> pd;
	Owned<ibv_td, ibv_dealloc_td> td;
	Owned<ibv_pd, ibv_dealloc_pd> domain;
	Owned<ibv_cq_ex, destroy_cq> cq;
	std::vector<std::uint8_t> data = std::vector<std::uint8_t>(size);
	Owned<ibv_mr, ibv_dereg_mr> memory, inbox;

      private:
	void one(const Message &remote, std::size_t at, bool write)
	{
		ibv_sge list[pieces];

		for (unsigned i = 0; i < pieces; i++)
			list[i] = { reinterpret_cast<std::uintptr_t>(
					    &data[at + i * chunk / pieces]),
				    chunk / pieces, memory->lkey };
		qp->wr_id = at;
		qp->wr_flags = IBV_SEND_SIGNALED;
		if (write)
			ibv_wr_rdma_write(qp, remote.rkey, remote.address + at);
		else
			ibv_wr_rdma_read(qp, remote.rkey, remote.address + at);
		ibv_wr_set_sge_list(qp, pieces, list);
	}

	ibv_qp_ex *qp = nullptr;
	Message received = {};
	unsigned seen[256] = {};
};

void check(bool good)
{
	if (!good)
		throw std::runtime_error("wrong data");
}

constexpr std::uint32_t rounds = 5;

void serve(End &end)
{
	for (std::uint32_t round = 0; round < rounds; round++) {
		check(end.next_message().round == round);
		end.send({ reinterpret_cast<std::uintptr_t>(end.data.data()), 0, end.memory->rkey,
			   round });
		Message told = end.next_message();
		check(told.sum == sum_of(end.data));
		for (auto &byte : end.data)
			byte ^= 0x5a;
		end.send({ 0, sum_of(end.data), 0, round });
	}
	end.next_message(); // the client has read
}

void ask(End &end)
{
	for (std::uint32_t round = 0; round < rounds; round++) {
		for (std::size_t i = 0; i < size; i++)
			end.data[i] = static_cast<std::uint8_t>(i * 131 + (i >> 8) * 7 + round);
		end.send({ 0, 0, 0, round });
		Message remote = end.next_message();
		end.transfer(remote, true);
		end.send({ 0, sum_of(end.data), 0, round });
		Message told = end.next_message();
		std::fill(end.data.begin(), end.data.end(), 0);
		end.transfer(remote, false);
		check(told.sum == sum_of(end.data));
	}
	end.send({ 0, 0, 0, rounds });
}

void run(bool server, const char *address, const char *port)
{
	rdma_addrinfo hints = {}, *found;
	rdma_cm_id *id, *listener;
	rdma_conn_param param = {};

	hints.ai_port_space = RDMA_PS_TCP;
	hints.ai_flags = server ? RAI_PASSIVE : 0;
	param.responder_resources = param.initiator_depth = 8;
	param.rnr_retry_count = 7;
	done(rdma_getaddrinfo(address, port, &hints, &found), "address");
	if (server) {
		done(rdma_create_id(nullptr, &listener, nullptr, RDMA_PS_TCP), "id");
		done(rdma_bind_addr(listener, found->ai_src_addr), "bind");
		done(rdma_listen(listener, 1), "listen");
		done(rdma_get_request(listener, &id), "request");
	} else {
		done(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "id");
		done(rdma_resolve_addr(id, nullptr, found->ai_dst_addr, 2000), "address");
		done(rdma_resolve_route(id, 2000), "route");
	}
	{
		End end(id);

		done(server ? rdma_accept(id, &param) : rdma_connect(id, &param), "connection");
		(server ? serve : ask)(end);
		if (server)
			rdma_disconnect(id);
	}
	done(rdma_destroy_id(id), "id");
	if (server)
		done(rdma_destroy_id(listener), "listener");
	rdma_freeaddrinfo(found);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	try {
		run(!std::strcmp(argv[1], "server"), argv[2], argv[3]);
		std::puts("data ok");
		return 0;
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s: %s\n", argv[1], e.what());
		return 1;
	}
}
