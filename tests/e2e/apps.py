#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The example programs of librdmacm and rsockets."""
import os
import pathlib
import re
import select
import sys
import time

import harness
from harness import Failure, Skip, free_port, need, run_pair, start, version

UDADDY_PORT = 7174

def rdma_client(link):
    port = str(free_port())
    server, client = run_pair(link, ["rdma_server", "-s", link.any, "-p", port],
                              ["rdma_client", "-s", link.address, "-p", port], int(port))
    for text in server, client:
        if "end 0" not in text:
            raise Failure("not the end that was expected: " + text.strip())


def rdma_xclient(*options):
    """The program sends 16 bytes inline, from a QP that it created without room for inline data."""
    def case(link):
        if link.family == 6:
            raise Skip("rdma_xserver listens on IPv4")
        port = str(free_port())
        server, client = run_pair(link, ["rdma_xserver", "-p", port, *options],
                                  ["rdma_xclient", "-s", link.address, "-p", port, *options], int(port))
        for text in server, client:
            if "end 0" not in text:
                raise Failure("not the end that was expected: " + text.strip())
    return case


def ucmatose(*options):
    def case(link):
        port = str(free_port())
        options_ = ["-p", port, *map(str, options)]
        server, client = run_pair(link, ["ucmatose", "-b", link.any, *options_],
                                  ["ucmatose", "-s", link.address, *options_], int(port))
        for text in server, client:
            if "return status 0" not in text:
                raise Failure("no success reported: " + text.strip().splitlines()[-1])
    return case


def stream(tool, *options, env=None):
    def case(link):
        if link.lossy and tool == "riostream" and not env:
            raise Skip("it takes the last byte of an RDMA Write for all of it: riostream.lossy has in-order for that")
        if link.lossy and 1000000 in options:
            raise Skip("too much for losses: rstream.verify does the same with less")
        port = str(free_port())
        options_ = ["-p", port, *map(str, options)]
        family = ["-f", {4: "ip", 6: "ipv6"}[link.family]]
        # The server disconnects when it is done. If this comes before the client's last poll, stock rstream takes
        # POLLHUP together with POLLIN as an error. By then the server has received everything, and has printed its
        # result.
        statuses = (0, select.POLLHUP) if "a" in options else (0,)
        server, client = run_pair(link, [tool, "-b", link.any, *family, *options_],
                                  [tool, "-s", link.address, *family, *options_], int(port), 30, statuses, env=env)
        if "custom" not in server:
            raise Failure("the server printed no result")
        # rsockets deregister memory while the peer's last Send may be under way, and the device logs this.
        said = "".join(line for line in (server + client).splitlines(True) if not line.startswith("sctpiw: QP"))
        for bad in "fail", "error", "mismatch", "data check":
            if bad in said:
                raise Failure(f"'{bad}' was printed")
    return case


def rcopy(link):
    """Sends a file through rsockets, and compares the copy."""
    need("rcopy")
    if link.family == 6:
        raise Skip("rcopy takes no IPv6 address")
    source, copy = harness.log_file("source"), harness.log_file("copy")  # both sides see these files there
    data = os.urandom(1000003) * 3
    source.write_bytes(data)
    port = free_port()
    server = start("rcopy-server", ["rcopy", "-p", port], link, "server")
    server.wait_listening(port)
    start("rcopy-client", ["rcopy", source, f"{link.address}:{copy}", "-p", port], link).expect(20)
    # A guest's write is complete for the guest before the data is in the host's file system.
    deadline = time.monotonic() + 10
    while (not copy.exists() or copy.read_bytes() != data) and time.monotonic() < deadline:
        time.sleep(0.1)
    if not copy.exists():
        raise Failure("the copy is not there")
    if copy.read_bytes() != data:
        raise Failure("the copy differs")


def cmtime(link):
    """Prints the duration of each step of many connections. Before rdma-core 56, the server does not end."""
    port = free_port()
    options = ["-p", port, "-c", 100]
    new = version("pkg-config", "--modversion", "libibverbs")[2] >= 56
    if new:
        # Without this option, cmtime also connects ids with invented QP numbers. An iWARP device needs the QP, and
        # returns EINVAL.
        options += ["-q", 0]
    server = start("cmtime-server", ["cmtime", "-b", link.any, *options], link, "server")
    server.wait_listening(port)
    client = start("cmtime-client", ["cmtime", "-s", link.address, *options], link)
    client.expect(30)
    for step in ("cm connect", "disconnect", "destroy id") if new else ("connect", "disconnect", "destroy"):
        row = rf"^{step}( +\d+){{6}}$" if new else rf"^{step} +:( +\d+\.\d+){{4}}$"
        if not re.search(row, client.output(), re.M):
            raise Failure(f"no time was printed for '{step}'")


def datagrams(*options):
    """udaddy, which has a fixed port."""
    def case(link):
        if link.lossy:
            raise Skip("the program waits for datagrams, which are not sent again when they are lost")
        options_ = [str(option) for option in options]
        server, client = run_pair(link, ["udaddy", "-b", link.any, *options_], ["udaddy", "-s", link.address, *options_],
                                  UDADDY_PORT, env={"SCTPIW_PERSONALITY": harness.CHANNEL_ADAPTER})
        for text in server, client:
            if "return status 0" not in text:
                raise Failure("no success reported: " + text.strip().splitlines()[-1])
    return case


def refused(*argv):
    """The program needs datagrams. rdma_cm has none for an iWARP device, and the program fails at once."""
    def case(link):
        if link.family == 6:
            raise Skip("one family will do")
        program = start(argv[0], [*argv[:-1], argv[-1].format(link.address)], link, "server",
                        options=["--personality", "iwarp"])
        program.expect(10, 255)
    return case


def many_qps(link):
    """Data over 2,048 QPs at once. Then all are destroyed. Three more such rounds do not increase the memory in use."""
    p = start("many-qps", [harness.BUILD / "bin/many-qps", link.address, 2048, 16, 128], link)
    p.expect(60)
    if p.output().count("2048 queue pairs: every byte right") != 4:
        raise Failure("not four times over all of them: " + p.output())
    left = re.findall(r"(-?[\d.]+) KiB of each and (-?\d+) descriptors are left", p.output())
    if len(left) != 2 or any(float(kib) > 0.8 or int(descriptors) > 2 for kib, descriptors in left):
        raise Failure("memory or descriptors are lost: " + p.output())
    idle = re.findall(r"([\d.]+) KiB a queue pair", p.output())
    if len(idle) != 2 or any(float(kib) > 16 for kib in idle):
        raise Failure("an idle queue pair takes too much: " + p.output())


def preloaded(order="{}:$LD_PRELOAD"):
    """Returns the words before a sockets program that make it use rsockets, by a second preload library."""
    found = [*pathlib.Path("/usr/lib64").glob("rsocket/librspreload.so"),
             *pathlib.Path("/usr/lib").glob("*/rsocket/librspreload.so")]
    if not found:
        raise Skip("librspreload.so is not installed")
    return ["sh", "-c", f'LD_PRELOAD={order.format(found[0])} exec "$@"', "sh"]


def sockets(order):
    """rstream itself as a program of sockets. Each of the two libraries comes first once."""
    def case(link):
        beside = preloaded(order)
        port = str(free_port())
        options = ["-T", "s", "-T", "v", "-S", "4096", "-I", "20", "-C", "10", "-p", port]
        run_pair(link, [*beside, "rstream", "-b", link.any, *options],
                 [*beside, "rstream", "-s", link.address, *options], int(port))
    return case


def iperf(link):
    """iperf 2. Stock rsockets lack socket options that iperf3 needs."""
    if link.family == 6:
        raise Skip("one family will do")
    need("iperf")
    port = free_port()
    server = start("iperf-server", [*preloaded(), "iperf", "-s", "-P", 1, "-B", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    client = start("iperf-client", [*preloaded(), "iperf", "-c", link.address, "-n", 10000000, "-p", port], link)
    client.expect(30)
    server.expect(10)
    if not re.search(r"\d+ .?bits/sec", server.output()):
        raise Failure("the server printed no result")


CASES = [
    ("rdma_client", rdma_client),
    ("rdma_xclient", rdma_xclient()),
    ("rdma_xclient.xrc", rdma_xclient("-c", "x")),
    ("ucmatose", ucmatose()),
    ("ucmatose.connections", ucmatose("-c", 10, "-C", 20, "-S", 1000)),
    ("ucmatose.hundred", ucmatose("-c", 100)),
    ("ucmatose.large", ucmatose("-c", 2, "-C", 10, "-S", 100000)),
    ("ucmatose.migrate", ucmatose("-m", "-c", 3)),
    ("riostream.verify", stream("riostream", "-T", "v", "-S", 4096, "-I", 20, "-C", 10)),
    ("riostream.large", stream("riostream", "-T", "v", "-S", 262144, "-I", 10, "-C", 5)),
    ("riostream.async", stream("riostream", "-T", "a", "-T", "v", "-S", 1000, "-I", 50, "-C", 10)),
    # The program polls memory for the last byte of an RDMA Write.
    ("riostream.lossy", stream("riostream", "-T", "v", "-S", 4096, "-I", 20, "-C", 10, env={"SCTPIW_IN_ORDER": "1"})),
    ("rstream.verify", stream("rstream", "-T", "v", "-S", 4096, "-I", 20, "-C", 10)),
    ("rstream.large", stream("rstream", "-T", "v", "-S", 1000000, "-I", 5, "-C", 5)),
    ("rstream.async", stream("rstream", "-T", "a", "-T", "v", "-S", 1000, "-I", 50, "-C", 10)),
    ("rstream.blocking", stream("rstream", "-T", "b", "-T", "v", "-S", 1000, "-I", 50, "-C", 10)),
    ("rstream.nonblocking", stream("rstream", "-T", "n", "-T", "v", "-S", 1000, "-I", 50, "-C", 10)),
    ("rstream.resolve", stream("rstream", "-T", "r", "-T", "v", "-S", 1000, "-I", 20, "-C", 10)),
    ("many-qps", many_qps),
    ("rcopy", rcopy),
    ("cmtime", cmtime),
    ("sockets", sockets("{}:$LD_PRELOAD")),
    ("sockets.rsockets-last", sockets("$LD_PRELOAD:{}")),
    ("iperf", iperf),
    ("udaddy", datagrams()),
    ("udaddy.several", datagrams("-c", 4, "-C", 20, "-S", 1000)),
    ("refused.udaddy", refused("udaddy", "-s", "{}")),
    ("refused.udaddy-server", refused("udaddy", "-b", "{}")),
    ("refused.mckey", refused("mckey", "-m", "239.1.2.3", "-b", "{}")),
    ("refused.udpong", refused("udpong", "-s", "{}")),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
