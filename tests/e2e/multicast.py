#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""mckey: one sender, and two receivers that both get each message. One of them is on the sender's host."""
import sys

import harness
from harness import Failure, need, start

COUNT = 20
OPTIONS = ["--personality", "roce"]
PORT = 65535  # of all groups
GROUPS = {4: "239.195.5.17", 6: "ff15::5:17"}


def receiver(link, side, group, source):
    program = start("receiver", ["mckey", "-m", group, "-b", source, "-C", COUNT], link, side, options=OPTIONS)
    program.wait_listening(PORT)
    return program


def group(link):
    """A receiver ends when it has all messages. The sender waits three seconds before it sends, as mckey does."""
    need("mckey")
    group, far = GROUPS[link.family], link.address
    near = link.subnets[link.family].format(2) if isinstance(link, harness.Veth) else far
    receivers = [receiver(link, "client", group, near), receiver(link, "server", group, far)]
    start("sender", ["mckey", "-m", group, "-b", near, "-C", COUNT, "-s"], link, options=OPTIONS).expect(20, 0)
    for program in receivers:
        program.expect(20, 0)
        if "data transfers complete" not in program.output():
            raise Failure("a receiver has not got all messages")


CASES = [("group", group)]

if __name__ == "__main__":
    # What goes to a group would leave the host by its first interface.
    sys.exit(harness.main(CASES, alone=True))
