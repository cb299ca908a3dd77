#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""udpong: rsockets for datagrams. Their UD queue pairs exchange addresses by a UDP socket at the same port.

They make address handles without a GID, which RoCE devices refuse. So the device is an InfiniBand device.
"""
import os
import re
import sys

import apps
import harness
from harness import Failure, free_port, need, start
from paths import stat_of
from waiting import wait_until

# The server has 384 receives. udpong requests 512 KiB for its UDP socket. With the usual net.core.rmem_max, this socket
# has room for 184 messages of at most a packet. Further messages are lost. udpong may then hang, because it mistakes a
# late answer for the answer to its next question.
COUNT = 80
QUESTIONS = 3  # further messages: identification, start and end
IB = ["--personality", "ib"]


def serve(link, argv):
    """Starts the server on one processor.

    rsockets take send buffers off a list in one thread, and return them in another thread, with different locks. If
    both happen at once, the list is lost, and the server ends with SIGSEGV. On one processor, this needs an interrupt
    between two instructions.
    """
    need("udpong", "taskset")
    port = free_port()
    server = start("udpong-server", ["taskset", "-c", min(os.sched_getaffinity(0)), *argv, "-b", link.address, "-p", port],
                   link, "server", options=IB)
    server.wait_listening(port)
    return server, port


def run(mode, size, echo=False, preload=False):
    """The messages arrive at the server's queue pair, not at the UDP socket, which only introduces both sides.

    With echoes, the client ends after the last echo. Without echoes, it prints the number of messages that the server
    had at the last question, which may be lower. Before the client has its address handle, its messages go to the UDP
    socket. A thread of the server posts them to the server's own queue pair. Messages that the client posts itself may
    overtake them, including that question.
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
        # Repeated questions count, too.
        wait_until("the queue pair has not had all messages",
                   lambda: stat_of(link, server)[0]["received_messages"] >= COUNT + QUESTIONS)
        if not server.running():
            raise Failure("the server has ended")
    return case


def refused(link):
    """On RoCE devices the program ends at once, as on other devices of this kind."""
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
