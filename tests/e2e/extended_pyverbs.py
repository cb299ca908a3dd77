#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A program of pyverbs: extended objects, and a connection by rdma_cm with data both ways.

    extended_pyverbs.py objects
    extended_pyverbs.py server|client ADDRESS PORT

Prints "data ok" on success; any failure is an exception.
"""
import errno
import struct
import sys

import pyverbs.cm_enums as ce
import pyverbs.enums as e
from pyverbs.cmid import CMID, AddrInfo, ConnParam
from pyverbs.cq import CQEX, CqInitAttrEx, PollCqAttr
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD, ParentDomain, ParentDomainInitAttr
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttr, QPCap, QPEx, QPInitAttr, QPInitAttrEx

SIZE = 100000
ROUNDS = 5


def check(what, got, expected):
    if got != expected:
        raise RuntimeError(f"{what}: {got!r}, not {expected!r}")


def pattern(seed):
    return bytes((i * 131 + (i >> 8) * 7 + seed) & 0xff for i in range(SIZE))


def qp_ex(context, pd, cq, ops):
    attr = QPInitAttrEx(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=4, max_recv_wr=4, max_inline_data=64),
                        comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, pd=pd, send_ops_flags=ops)
    return QPEx(context, attr)


def objects():
    """Tests without a peer: queries, domains, and a batch that is flushed."""
    context = Context(name="sctpiw0")
    ex = context.query_device_ex()
    check("max_sge_rd", ex.orig_attr.max_sge_rd, ex.orig_attr.max_sge)
    check("tso", ex.tso_caps.max_tso, 0)
    pd = PD(context)
    parent = ParentDomain(context, attr=ParentDomainInitAttr(pd=pd))
    mr = MR(parent, 4096, e.IBV_ACCESS_LOCAL_WRITE)
    cq = CQEX(context, CqInitAttrEx(cqe=16, wc_flags=e.IBV_WC_STANDARD_FLAGS))
    try:
        qp_ex(context, pd, cq, e.IBV_QP_EX_WITH_TSO)
    except PyverbsRDMAError as refused:
        check("segmentation", refused.error_code, errno.EOPNOTSUPP)
    else:
        raise RuntimeError("segmentation offload was offered")

    qp = qp_ex(context, parent, cq, e.IBV_QP_EX_WITH_SEND | e.IBV_QP_EX_WITH_RDMA_WRITE)
    qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    qp.wr_start()
    qp.wr_flags = e.IBV_SEND_SIGNALED
    qp.wr_id = 11
    qp.wr_send()
    qp.wr_set_inline_data(mr.buf, 64)
    qp.wr_abort()
    qp.wr_start()
    for wr_id in 21, 22:
        qp.wr_id = wr_id
        qp.wr_rdma_write(1, 1)
        qp.wr_set_inline_data(mr.buf, 64)
    qp.wr_complete()
    attr = PollCqAttr()
    check("start_poll", cq.start_poll(attr), 0)
    check("first", (cq.wr_id, cq.status), (21, e.IBV_WC_WR_FLUSH_ERR))
    check("next_poll", cq.poll_next(), 0)
    check("second", (cq.wr_id, cq.status), (22, e.IBV_WC_WR_FLUSH_ERR))
    check("next_poll", cq.poll_next(), errno.ENOENT)
    cq.end_poll()
    for thing in qp, cq, mr, parent, pd, context:
        thing.close()


class End:
    def __init__(self, cmid):
        self.cmid = cmid
        self.inbox, self.outbox = cmid.reg_msgs(64), cmid.reg_msgs(64)
        self.local, self.shared = cmid.reg_msgs(SIZE), cmid.reg_write(SIZE)
        self.source = cmid.reg_read(SIZE)
        cmid.post_recv(self.inbox)

    def tell(self, *numbers):
        self.outbox.write(struct.pack("!8Q", *numbers, *[0] * (8 - len(numbers))), 64)
        self.cmid.post_send(self.outbox)
        self.sent()

    def sent(self):
        check("send status", self.cmid.get_send_comp().status, e.IBV_WC_SUCCESS)

    def hear(self):
        wc = self.cmid.get_recv_comp()
        check("receive", (wc.status, wc.byte_len), (e.IBV_WC_SUCCESS, 64))
        numbers = struct.unpack("!8Q", self.inbox.read(64, 0))
        self.cmid.post_recv(self.inbox)
        return numbers


def talk(end, server):
    for turn in range(ROUNDS):
        end.source.write(pattern(turn + 100), SIZE)
        if server:
            check("round", end.hear()[0], turn)
            end.tell(turn, end.shared.buf, end.shared.rkey, end.source.buf, end.source.rkey)
            check("round", end.hear()[0], turn)
            check("written", end.shared.read(SIZE, 0) == pattern(turn), True)
            continue
        end.tell(turn)
        _, to, to_key, source, source_key, *_ = end.hear()
        end.local.write(pattern(turn), SIZE)
        end.cmid.post_write(end.local, SIZE, to, to_key, e.IBV_SEND_SIGNALED)
        end.sent()
        end.cmid.post_read(end.local, SIZE, source, source_key, e.IBV_SEND_SIGNALED)
        end.sent()
        check("read", end.local.read(SIZE, 0) == pattern(turn + 100), True)
        end.tell(turn)


def connection(role, address, port):
    attr = QPInitAttr(cap=QPCap(max_send_wr=8, max_recv_wr=8))
    param = ConnParam(resources=4, depth=4, rnr_retry=7)
    if role == "server":
        info = AddrInfo(src=address, src_service=port, port_space=ce.RDMA_PS_TCP, flags=ce.RAI_PASSIVE)
        listener = CMID(creator=info, qp_init_attr=attr)
        listener.listen()
        cmid = listener.get_request()
        end = End(cmid)
        cmid.accept(param)
    else:
        cmid = CMID(creator=AddrInfo(dst=address, dst_service=port, port_space=ce.RDMA_PS_TCP), qp_init_attr=attr)
        end = End(cmid)
        cmid.connect(param)
    talk(end, role == "server")
    cmid.disconnect()


if sys.argv[1] == "objects":
    objects()
else:
    connection(*sys.argv[1:])
print("data ok")
