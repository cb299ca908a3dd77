#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""mckey: one sender, and two receivers that both get each message. One receiver is on the sender's host."""
import re
import sys

import harness
import oob
from harness import Failure, Skip, need, start

COUNT = 20
OPTIONS = ["--personality", harness.CHANNEL_ADAPTER]
PORT = 65535  # of all groups
GROUPS = {4: "239.195.5.17", 6: "ff15::5:17"}


def receiver(link, side, group, source):
    program = start("receiver", ["mckey", "-m", group, "-b", source, "-C", COUNT], link, side, options=OPTIONS)
    program.wait_listening(PORT)
    return program


def group(link):
    """A receiver ends after all messages. mckey waits three seconds before it sends."""
    need("mckey")
    group, far = GROUPS[link.family], link.address
    near = link.subnets[link.family].format(2) if isinstance(link, harness.Veth) else far
    receivers = [receiver(link, "client", group, near), receiver(link, "server", group, far)]
    start("sender", ["mckey", "-m", group, "-b", near, "-C", COUNT, "-s"], link, options=OPTIONS).expect(20, 0)
    for program in receivers:
        program.expect(20, 0)
        if "data transfers complete" not in program.output():
            raise Failure("a receiver has not got all messages")


def perftest(link, client, server_index, client_index, *more):
    """ib_send_bw -c UD -g with the GIDs of these indexes. The server gets all messages of its client to the group."""
    need("ib_send_bw")
    port = harness.free_port()
    argv = ["ib_send_bw", "-c", "UD", "-g", "-d", harness.DEVICE, "-F", "-s", 1000, "-n", 200, "-p", port]
    server = start("server", [*argv, "-x", server_index], link, "server", options=OPTIONS)
    server.wait_listening_tcp(port)
    ends = server, start("client", [*argv, "-x", client_index, *more], link, client, options=OPTIONS)
    for program in ends:
        program.expect(20, 0)
        if not re.search(r"^ *1000 +200 ", program.output(), re.MULTILINE):
            raise Failure(f"printed {program.output()!r}")


def perftest_group(link):
    """perftest's own group, from a host to another host and to itself. It is in ff01::/16, and needs an IPv6 GID."""
    if not isinstance(link, harness.Veth):
        raise Skip("on lo there is no route to a group of IPv6: see no-route")
    for client in "client", "server":
        perftest(link, client, oob.gid_index(link, "server", link_local=True),
                 oob.gid_index(link, client, link_local=True), oob.tcp_address(link))


def no_route(link):
    """lo has no route to IPv6 groups: the program gets an error at once, and a log line has the remedy."""
    if isinstance(link, harness.Veth):
        raise Skip("there is a route there")
    need("ib_send_bw")
    port = harness.free_port()
    argv = ["ib_send_bw", "-c", "UD", "-g", "-x", 1, "-d", harness.DEVICE, "-F", "-p", port]
    server = start("server", argv, link, "server", options=OPTIONS)
    server.wait_listening_tcp(port)
    client = start("client", [*argv, "127.0.0.1"], link, options=OPTIONS)
    client.wait_for_output("by lo (Network is unreachable): take a GID of another interface")
    client.kill()
    server.kill()


CASES = [("group", group), ("perftest", perftest_group), ("no-route", no_route)]

if __name__ == "__main__":
    # Packets to a group would leave the host by its first interface.
    sys.exit(harness.main(CASES, alone=True))
