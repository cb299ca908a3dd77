#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""
udpong: rsockets for datagrams, whose UD queue pairs find each other by messages of a UDP socket at the same port.

They make address handles without a GID, which RoCE devices refuse: the device is one of InfiniBand.
"""
import os
import re
import sys

import apps
import harness
from harness import Failure, free_port, need, start
from paths import stat_of
from waiting import wait_until

# The server has 384 receives. udpong asks for 512 KiB for its UDP socket, which has room for 184 messages of up to a packet
# then if net.core.rmem_max is the usual one. What comes beyond that is lost, and udpong may wait for ever, because it takes
# a late answer for its next question.
COUNT = 80
QUESTIONS = 3  # messages besides: it says who it is, and that it begins, and that it is done
IB = ["--personality", "ib"]


def serve(link, argv):
    """
    The server has one processor: rsockets take send buffers off a list in one thread, and put them back in another,
    with different locks. If both do so at once, the list is lost, and the server ends with SIGSEGV. On one processor a thread
    would have to be interrupted between two instructions for that.
    """
    need("udpong", "taskset")
    port = free_port()
    server = start("udpong-server", ["taskset", "-c", min(os.sched_getaffinity(0)), *argv, "-b", link.address, "-p", port],
                   link, "server", options=IB)
    server.wait_listening(port)
    return server, port


def run(mode, size, echo=False, preload=False):
    """
    The messages come to the server's queue pair, and do not stay in the UDP socket, which only introduces both.

    If they are echoed, the client ends once it has had each echo. If not, it says how many the server had had at its last
    question, which may be fewer. A client's messages go to the UDP socket until it has its address handle, and a thread
    of the server posts them to the server's own queue pair: what the client posts by itself meanwhile, that question too,
    overtakes them.
    """
    def case(link):
        argv = [*(apps.preloaded() if preload else []), "udpong", "-T", mode]
        server, port = serve(link, argv)
        client = start("udpong-client", [*argv, *(["-T", "e"] if echo else []), "-s", link.address, "-p", port,
                                         "-C", COUNT, "-S", size], link, options=IB)
        client.expect(20)
        result = re.search(r"^custom +\S+ +(\d+)\b", client.output(), re.M)
        if not result or (not echo and int(result[1]) > COUNT):
            raise Failure("not so many transfers: " + client.output())
        # Questions that were repeated count, too.
        wait_until("the queue pair has not had all messages",
                   lambda: stat_of(link, server)[0]["received_messages"] >= COUNT + QUESTIONS)
        if not server.running():
            raise Failure("the server has ended")
    return case


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
    ("refused", refused),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
