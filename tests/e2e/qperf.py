#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""qperf's tests of reliable connections by rdma_cm, and of all types out of band, which use only LIDs.

SCTPIW_E2E_ROUNDS is the number of runs of a test in the cases busy.*.
"""
import contextlib
import os
import re
import sys

import harness
from harness import Failure, Skip, free_port, need, start

ROUNDS = int(os.environ.get("SCTPIW_E2E_ROUNDS", "5"))


def serve(link, env=None):
    need("qperf")
    if link.family == 6:
        raise Skip("its rdma_cm is for IPv4")
    port = free_port()
    server = start("qperf-server", ["qperf", "--listen_port", port], link, "server", env=env)
    server.wait_listening_tcp(port)
    return port


def measure(link, port, test, options=("--use_cm", 1), env=None):
    client = start("qperf-client", ["qperf", link.address, "--listen_port", port, *options, "--time", 1, test], link, env=env)
    client.expect(20)
    result = re.search(r"^ +(?:latency|(?:recv_)?bw|msg_rate) += +([\d.]+) ", client.output(), re.M)
    if not result or float(result[1]) <= 0:
        raise Failure("no result was printed: " + client.output())


def qperf(test):
    return lambda link: measure(link, serve(link), test)


def by_lid(test):
    env = {"SCTPIW_PERSONALITY": "ib"}
    return lambda link: measure(link, serve(link, env), test, (), env)


@contextlib.contextmanager
def busy_loops():
    loops = [start("busy-loop", ["sh", "-c", "while :; do :; done"], rdma=False) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()


def busy(test):
    """Busy processors make a receiver slow.

    It posts its receives after the Sends arrive. It listens after the connection request, as it sends its port before.
    """
    def case(link):
        port = serve(link)
        with busy_loops():
            for _ in range(ROUNDS):
                measure(link, port, test)
    return case


TESTS = (
    "rc_lat", "rc_bw", "rc_bi_bw", "rc_rdma_read_lat", "rc_rdma_read_bw", "rc_rdma_write_lat", "rc_rdma_write_bw",
    "rc_rdma_write_poll_lat", "rc_fetch_add_mr", "rc_compare_swap_mr",
    "ver_rc_fetch_add", "ver_rc_compare_swap")  # these two also check the numbers
BY_LID = ("uc_lat", "uc_bw", "uc_bi_bw", "uc_rdma_write_lat", "uc_rdma_write_bw", "uc_rdma_write_poll_lat",
          "rc_lat", "ud_lat", "ud_bw", "ud_bi_bw")
CASES = [(test, qperf(test)) for test in TESTS] + [("busy." + test, busy(test)) for test in TESTS] + [
    ("lid." + test, by_lid(test)) for test in BY_LID]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
