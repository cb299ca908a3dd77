#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests only for the kernel's SCTP: strangers on a listener's port, a path that shrinks; and the tests of verbs."""
import itertools
import os
import pathlib
import resource
import socket
import struct
import sys

import harness
import perftest_run
from harness import BUILD, Failure, Skip, free_port, start

IPPROTO_SCTP = 132
SCTP_RTOINFO = 0
SCTP_ADAPTATION_LAYER = 7
DDP = 1  # the adaptation indication
ABORTED = ConnectionResetError, ConnectionRefusedError  # the latter if connect() has not returned yet
FOR_EVER = {"SCTPIW_LOG": "debug", "SCTPIW_SILENT_LIMIT": "86400"}


def plain(adaptation=DDP):
    """A socket of a plain SCTP client."""
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP)
    if adaptation is not None:
        s.setsockopt(IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, struct.pack("I", adaptation))
    return s


def start_server(link, **env):
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-a", link.any, "-p", port], link, "server", env=env)
    server.wait_listening(port)
    return server, port


def must_be_served(link, port):
    start("rping-client", ["rping", "-c", "-V", "-C", 10, "-a", link.address, "-p", port], link).expect(10)


def stranger(link, adaptation):
    """Connects a plain SCTP client, and returns the data or error that it gets."""
    _, port = start_server(link)
    with plain(adaptation) as s:
        s.settimeout(1)  # an association without sessions is closed later
        try:
            s.connect((link.address, port))  # an ABORT may come before this returns
            got = s.recv(100)
        except OSError as error:
            got = error
    must_be_served(link, port)
    return got


def adaptation(indication, welcome):
    def case(link):
        got = stranger(link, indication)
        if welcome != isinstance(got, TimeoutError):
            raise Failure(f"adaptation indication {indication}: {got!r}")
        if not welcome and not isinstance(got, ABORTED):
            raise Failure(f"adaptation indication {indication} got {got!r}, not an ABORT")
    return case


def shrinking_mtu(link):
    """The path's MTU shrinks during a transfer: all data arrives."""
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
    """One stream carries more messages than DDP-SSNs may be under way (RFC 5043 5.2), as earlier ones complete."""
    perftest_run.run(link, "ib_write_bw", ["-s", "1", "-n", "40000"], 60)


def verbs(program, *names):
    """Runs tests of libibverbs and librdmacm, except tests that send to sctpiw's own SCTP by a UDP socket."""
    def case(link):
        start(program, [harness.BUILD / "bin" / program, *names], link).expect(100)
    return case


def out_of_descriptors(link):
    """A connection that cannot be accepted for lack of descriptors waits, without load on the processor."""
    server, port = start_server(link, **FOR_EVER)
    limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    used = set(map(int, os.listdir(f"/proc/{server.pid}/fd")))
    free = next(n for n in itertools.count() if n not in used)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (free, limits[1]))
    with plain() as s:
        s.connect((link.address, port))
        server.must_sleep()
        if "association up" in server.output():
            raise Failure("there was a descriptor left")
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
        server.wait_for_output("association up")
    must_be_served(link, port)


def in_client(link, *argv):
    """Runs this script in the client's network namespace."""
    return start("plain-client", [sys.executable, "-S", __file__, *argv], link, rdma=False)


def both_shut_down(link):
    """Both sides shut an association down at the same time: it ends nevertheless."""
    if not hasattr(link, "lose"):
        raise Skip("only between network namespaces")
    server, port = start_server(link, LD_PRELOAD=str(BUILD / "lib/libe2e-late-shutdown.so"), **FOR_EVER)
    client = in_client(link, "connect", link.address, port)
    server.wait_for_output("idle, shutting down")
    link.lose("server", 100)  # so that the association does not end at once
    try:
        client.kill()  # the client's kernel shuts the association down
        server.wait_for_output("both have shut down")
        server.must_sleep()
    finally:
        link.mend()
    server.wait_for_output("association closed", 20)
    must_be_served(link, port)


def local_ports(program):
    """The local ports of the associations in the program's network namespace."""
    lines = pathlib.Path(f"/proc/{program.pid}/net/sctp/assocs").read_text().splitlines()
    return [int(line.split()[11]) for line in lines[1:]]


def restart(link):
    """A peer that has gone silently starts again: for the application, the old connection ends."""
    if not hasattr(link, "cut"):
        raise Skip("only between network namespaces")
    port = free_port()
    side = BUILD / "bin/rnic-side"
    server = start("rnic-side", [side, "--connections", 2, "listen", link.any, port], link, "server", env=FOR_EVER)
    server.wait_for_output("listening")
    first = start("rnic-side", [side, "connect", link.address, port], link)
    first.wait_for_output("ESTABLISHED")
    own, = local_ports(first)
    link.cut()
    try:
        first.kill()
        again = in_client(link, "connect", link.address, port, own)
        while own not in local_ports(again):
            again.must_run_for(0.02)
    finally:
        link.mend()
    server.wait_for_output("all 8 work requests completed", 20)
    if ": aborted" not in server.output():
        raise Failure("it did not end by a restart")
    again.expect(5)  # with an ABORT
    second = start("rnic-side", [side, "connect", link.address, port], link)
    second.wait_for_output("ESTABLISHED")


def no_datagrams(link):
    """The kernel's SCTP has no datagrams: there are no UD queue pairs, and an id for datagrams has no address."""
    roce = ["--personality", "roce"]
    program = start("ibv_ud_pingpong", ["ibv_ud_pingpong", "-g", 0], link, "server", options=roce)
    program.expect(10, 1)
    if "llp = kernel has no UD queue pairs: take llp = udp or ip" not in program.output():
        raise Failure(f"ibv_ud_pingpong printed {program.output()!r}")
    program = start("udaddy", ["udaddy", "-b", link.address], link, "server", options=roce)
    program.expect(10, 255)
    if "No such device" not in program.output():
        raise Failure(f"udaddy printed {program.output()!r}")


def connect(address, port, own=0):
    """A plain client, which runs until it gets an ABORT."""
    with plain() as s:
        s.setsockopt(IPPROTO_SCTP, SCTP_RTOINFO, struct.pack("IIII", 0, 200, 1000, 200))
        s.bind(("", int(own)))
        try:
            s.connect((address, int(port)))
            s.recv(100)
        except ABORTED:
            return 0
    return 1


CM = ("ipv4", "ipv6", "private_data", "reject", "ird_ord", "nobody_listens", "wrong_states", "backlog",
      "destroy_listener", "destroy_while_connecting")
CM_PROCESS = ("threads_to_process", "threads_to_self", "nothing_grows", "fork", "close_range", "closefrom",
              "close_each", "no_standard_streams", "few_descriptors")

CM_PEER = "send", "write", "read", "any", "off", "many"

# The kernel does not report the peer's placement: Writes and Sends complete once the kernel has them. Errors that the
# peer finds are not in their status. These tests check no such status.
ERRORS = "local_protection", "dereg_under_traffic", "flush", "disconnect", "destroy_connected_qp"

CASES = [
    ("adaptation.none", adaptation(None, False)),
    ("adaptation.another", adaptation(2, False)),
    ("adaptation.ddp", adaptation(1, True)),
    ("many-messages", many_messages),
    ("out-of-descriptors", out_of_descriptors),
    ("both-shut-down", both_shut_down),
    ("restart", restart),
    ("shrinking-mtu", shrinking_mtu),
    ("no-datagrams", no_datagrams),
    ("verbs.transfer", verbs("verbs_transfer")),
    ("verbs.atomics", verbs("verbs_atomics")),
    ("verbs.errors", verbs("verbs_errors", *ERRORS)),
    ("verbs.cm", verbs("verbs_cm", *CM)),
    ("verbs.cm_channels", verbs("verbs_cm_channels")),
    ("verbs.cm_sync", verbs("verbs_cm_sync")),
    ("verbs.cm_peer", verbs("verbs_cm_peer", *CM_PEER)),
    ("verbs.cm_gone", verbs("verbs_cm_gone")),
    ("verbs.cm_process", verbs("verbs_cm_process", *CM_PROCESS)),
    ("verbs.oob", verbs("verbs_oob")),
    ("verbs.oob_self", verbs("verbs_oob_self")),
    ("verbs.oob_paths", verbs("verbs_oob_paths")),
    ("verbs.processes", verbs("verbs_processes")),
]

if __name__ == "__main__":
    sys.exit(connect(*sys.argv[2:]) if sys.argv[1] == "connect" else harness.main(CASES))
