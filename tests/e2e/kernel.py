#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is the kernel LLP's alone: strangers on a listener's port, a path that shrinks; and the tests of verbs."""
import socket
import struct
import sys

import harness
from harness import Failure, Skip, free_port, start

IPPROTO_SCTP = 132
SCTP_ADAPTATION_LAYER = 7


def stranger(link, adaptation):
    """A plain SCTP client; returns what it gets after being connected."""
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP) as s:
        s.settimeout(1)  # an association without sessions is closed later
        if adaptation is not None:
            s.setsockopt(IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, struct.pack("I", adaptation))
        try:
            s.connect((link.address, port))  # an ABORT may come before this returns
            got = s.recv(100)
        except OSError as error:
            got = error
    # Whoever comes next is served.
    start("rping-client", ["rping", "-c", "-V", "-C", 10, "-a", link.address, "-p", port], link).expect(10)
    return got


def adaptation(indication, welcome):
    def case(link):
        got = stranger(link, indication)
        if welcome != isinstance(got, TimeoutError):
            raise Failure(f"adaptation indication {indication}: {got!r}")
        if not welcome and not isinstance(got, ConnectionResetError):
            raise Failure(f"adaptation indication {indication} got {got!r}, not an ABORT")
    return case


def shrinking_mtu(link):
    """The path takes less than it did, in the middle of a transfer: nothing is lost, nothing is wrong."""
    if not hasattr(link, "set_mtu"):
        raise Skip("only between network namespaces")
    port = free_port()
    common = ["-V", "-p", port, "-S", 60000, "-C", 400]
    server = start("rping-server", ["rping", "-s", "-a", link.any, *common], link, "server")
    server.wait_listening(port)
    client = start("rping-client", ["rping", "-c", "-a", link.address, *common], link)
    for mtu in 4000, 1500, 9000:
        client.must_run_for(0.3)
        link.set_mtu(mtu)
    client.expect(60)
    server.expect(10)


def many_messages(link):
    """More messages than DDP-SSNs may be on their way (RFC 5043 5.2), in one stream, while others come and go."""
    harness.perftest(link, "ib_write_bw", ["-s", "1", "-n", "40000"], 60)


def verbs(program, *names):
    """The tests of libibverbs and librdmacm; without those that are a UDP socket to our own SCTP."""
    def case(link):
        start(program, [harness.BUILD / "bin" / program, *names], link).expect(100)
    return case


CM = ("ipv4", "ipv6", "private_data", "reject", "ird_ord", "nobody_listens", "wrong_states", "backlog",
      "destroy_listener", "destroy_while_connecting", "migrate", "migrate_listener", "destroy_waits_for_acks",
      "nonblocking", "many_unread_events", "close_channel_with_ids", "dup")
CM_PROCESS = ("exit", "killed", "killed_by_itself", "threads_to_process", "threads_to_self", "nothing_grows", "fork",
              "close_range", "closefrom", "close_each", "no_standard_streams", "few_descriptors")

CASES = [
    ("adaptation.none", adaptation(None, False)),
    ("adaptation.another", adaptation(2, False)),
    ("adaptation.ddp", adaptation(1, True)),
    ("many-messages", many_messages),
    ("shrinking-mtu", shrinking_mtu),
    ("verbs.transfer", verbs("verbs_transfer")),
    ("verbs.errors", verbs("verbs_errors")),
    ("verbs.cm", verbs("verbs_cm", *CM)),
    ("verbs.cm_sync", verbs("verbs_cm_sync")),
    ("verbs.cm_process", verbs("verbs_cm_process", *CM_PROCESS)),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
