#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The client is behind a router that translates its addresses and ports, as for the network of a container."""
import re
import sys

import harness
import mtu
from harness import Failure, free_port, run_pair, start


class Translated(mtu.Narrow):
    """Packets towards the server have the router's address and a random port. No other packets come in."""

    def __init__(self, name, family):
        super().__init__(name, family, 1500)
        try:
            self._run([*self.enter("right"), "nft", "-f", "-"],
                      "table inet nat {\n chain leaving {\n type nat hook postrouting priority 100\n"
                      ' oifname "veth1" masquerade random\n }\n chain through {\n type filter hook forward priority 0\n'
                      ' iifname "veth1" ct state new drop\n }\n }\n')
        except BaseException:
            self.close()
            raise


harness.LINKS["translated"] = Translated


def rdma_cm(link):
    """To the server, the router's address is the client's. This works."""
    port = free_port()
    common = ["-p", port, "-C", 100, "-S", 4000, "-V"]
    server, client = run_pair(link, ["rping", "-s", "-v", "-a", link.any, *common],
                              ["rping", "-c", "-v", "-a", link.address, *common], port)
    if "rdma-ping-99" not in client or "rdma-ping-99" not in server or re.search("mismatch", server + client):
        raise Failure("data did not arrive")


def perftest(link):
    port = free_port()
    common = ["ib_write_bw", "-R", "-F", "-d", harness.DEVICE, "-p", port, "-n", 500]
    run_pair(link, common, [*common, link.address], port)


def out_of_band(link):
    """A GID is an address, and the server's packets to this address do not arrive."""
    port = free_port()
    common = ["ibv_rc_pingpong", "-g", 0, "-p", port, "-n", 10]
    options = ["--silent-limit", 2]
    start("server", common, link, "server", options=options).wait_listening_tcp(port)
    client = start("client", [*common, link.address], link, options=options)
    client.expect(60, 1)
    if "transport retry counter exceeded" not in client.output():
        raise Failure("the client does not say that its peer did not come")


CASES = [
    ("rdma_cm", rdma_cm),
    ("perftest", perftest),
    ("out-of-band", out_of_band),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
