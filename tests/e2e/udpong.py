#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
udpong: rsockets for datagrams, whose UD queue pairs find each other by messages of a UDP socket at the same port.

They make address handles without a GID, which RoCE devices refuse: the device is one of InfiniBand.
"""
import json
import re
import sys

import apps
import harness
from harness import Failure, free_port, need, start

# What the server has no receive for is lost, and it has 384 of them. If something is lost udpong may wait for ever,
# because it takes a late answer for its next question.
COUNT = 300
IB = ["--personality", "ib"]


def serve(link, argv):
    need("udpong")
    port = free_port()
    server = start("udpong-server", [*argv, "-b", link.address, "-p", port], link, "server", options=IB)
    server.wait_listening(port)
    return server, port


def run(mode, size, echo=False, preload=False):
    """The client says how many messages the server has had; or how many went both ways, if it has them echoed."""
    def case(link):
        argv = [*(apps.preloaded() if preload else []), "udpong", "-T", mode]
        server, port = serve(link, argv)
        client = start("udpong-client", [*argv, *(["-T", "e"] if echo else []), "-s", link.address, "-p", port,
                                         "-C", COUNT, "-S", size], link, options=IB)
        client.expect(20)
        result = re.search(r"^custom +\S+ +(\S+)", client.output(), re.M)
        transfers = COUNT * (1 + echo)
        if not result or result[1] != str(transfers):
            raise Failure(f"not {transfers} transfers: " + client.output())
        if not server.running():
            raise Failure("the server has ended")
    return case


def by_device(link):
    """The messages have gone by the queue pairs, and not by the UDP socket, which only introduces them."""
    server, port = serve(link, ["udpong"])
    start("udpong-client", ["udpong", "-s", link.address, "-p", port, "-C", COUNT], link, options=IB).expect(20)
    stat = start("stat", [harness.BUILD / "bin/sctpiw", "stat", server.pid, "--json"], link, "server", rdma=False)
    stat.expect(10)
    if json.loads(stat.output())[0]["received_messages"] < COUNT:
        raise Failure("the queue pair has not had them: " + stat.output())


def refused(link):
    """On RoCE the program ends at once, as it does on other such devices."""
    client = start("udpong-client", ["udpong", "-s", link.address, "-p", free_port()], link,
                   options=["--personality", "roce"])
    client.expect(10, 255)
    if "rconnect:" not in client.output():
        raise Failure("it failed for another reason: " + client.output())


CASES = [
    ("nonblocking", run("n", 1000)),
    ("blocking", run("b", 64)),
    ("async", run("a", 1453)),
    ("echo", run("n", 2000, echo=True)),
    ("echo.blocking", run("b", 64, echo=True)),
    ("preloaded", run("s", 1000, preload=True)),
    ("by-device", by_device),
    ("refused", refused),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
