#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""qperf's tests of reliable connections, by rdma_cm. Its own connections out of band need LIDs, and have no GIDs."""
import re
import sys

import harness
from harness import Failure, Skip, free_port, need, start

# The server tells the client its port before it listens there, so a quick client is refused by any device.
TOO_EARLY = "unexpected event from RDMA CM: Event rejected"


def qperf(test, *options):
    def case(link):
        need("qperf")
        if link.family == 6:
            raise Skip("its rdma_cm is for IPv4")
        port = free_port()
        server = start("qperf-server", ["qperf", "--listen_port", port], link, "server")
        server.wait_listening_tcp(port)
        for tries in range(5):
            client = start("qperf-client", ["qperf", link.address, "--listen_port", port, "--use_cm", 1, "--time", 1,
                                            *options, test], link)
            if client.wait(20) == 0 or TOO_EARLY not in client.output():
                break
        client.expect(0)
        result = re.search(r"^ +(?:latency|bw|msg_rate) += +([\d.]+) ", client.output(), re.M)
        if not result or float(result[1]) <= 0:
            raise Failure("no result was printed: " + client.output())
    return case


CASES = [(test, qperf(test)) for test in (
    "rc_lat", "rc_bw", "rc_bi_bw", "rc_rdma_read_lat", "rc_rdma_read_bw", "rc_rdma_write_lat", "rc_rdma_write_bw",
    "rc_rdma_write_poll_lat", "rc_fetch_add_mr", "rc_compare_swap_mr",
    "ver_rc_fetch_add", "ver_rc_compare_swap")]  # these two check the numbers, too

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
