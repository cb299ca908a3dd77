#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Strangers on the port, and applications that change their memory while it is sent."""
import random
import re
import socket
import struct
import sys

import harness
import sctp_packets as sctp
from harness import BUILD, Failure, free_port, start

PEER = str(BUILD / "bin/e2e-peer")
SEED = 20


def noise(rng, port):
    """Datagrams without end: noise, headers with noise behind, INITs, cut and bent ones, with right and wrong CRCs."""
    while True:
        vtag = rng.choice((0, 0xFFFFFFFF, rng.getrandbits(32)))
        ports = rng.choice(((port, port), (rng.getrandbits(16), port), (0, 0), (rng.getrandbits(16),) * 2))
        chunks = b"".join(sctp.chunk(rng.choice((rng.randrange(16), rng.getrandbits(8))), rng.getrandbits(8),
                                     rng.randbytes(rng.choice((0, 1, 4, 12, 16, 40, 200))))
                          for _ in range(rng.randrange(1, 8)))
        packet = sctp.packet(*ports, vtag, chunks)
        init = sctp.packet(rng.randrange(1, 65536), port, 0, sctp.init(
            rng.getrandbits(32), rng.choice((0, 1500, 0xFFFFFFFF)), rng.choice((0, 1, 65535)),
            rng.choice((0, 1, 65535)), rng.getrandbits(32), rng.choice((b"", sctp.ADAPTATION, rng.randbytes(24)))))
        yield rng.randbytes(rng.randrange(0, 1400))
        yield packet
        yield init
        bent = bytearray(rng.choice((packet, init)))
        for _ in range(rng.randrange(1, 5)):
            bent[rng.randrange(len(bent))] ^= 1 << rng.randrange(8)
        yield bytes(bent)
        yield sctp.seal(bytes(bent))
        yield sctp.seal(init[:rng.randrange(12, len(init))])
        # chunk lengths that lie
        lie = bytearray(init)
        struct.pack_into("!H", lie, 14, rng.choice((0, 1, 3, 4, 19, 65535, rng.getrandbits(16))))
        yield sctp.seal(bytes(lie))


def garbage(link):
    """Thousands of hostile datagrams at the listener and at the client, while both work."""
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    client = start("rping-client", ["rping", "-c", "-V", "-C", 100000000, "-a", link.address, "-p", port], link)
    client.must_run_for(0.5)
    rng = random.Random(SEED)
    family = {4: socket.AF_INET, 6: socket.AF_INET6}[link.family]
    targets = [port, *bound_ports(client.pid)]
    sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(8)]
    for number, packet in zip(range(8000), noise(rng, port)):
        try:
            rng.choice(sockets).sendto(packet, (link.address, rng.choice(targets)))
        except OSError:
            continue  # an ICMP answer to an earlier one
        if number % 500 == 0:
            client.must_run_for(0.05)
    for s in sockets:
        s.close()
    client.must_run_for(1)
    if not server.running():
        raise Failure("the server ended")
    start("rping-second", ["rping", "-c", "-V", "-C", 50, "-a", link.address, "-p", port], link).expect(10)


def bound_ports(pid):
    """The UDP ports that a process holds."""
    inodes = set()
    for fd in harness.pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with harness.contextlib.suppress(OSError):
            found = re.fullmatch(r"socket:\[(\d+)\]", harness.os.readlink(fd))
            if found:
                inodes.add(found[1])
    ports = set()
    for table in "udp", "udp6":
        with open(f"/proc/{pid}/net/{table}") as lines:
            for fields in map(str.split, list(lines)[1:]):
                if fields[9] in inodes:
                    ports.add(int(fields[1].rpartition(":")[2], 16))
    return sorted(ports)


def init_flood(link):
    """INITs and forged COOKIE ECHOes cost the listener no memory."""
    # rows: 9260-5.1-02
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    before = resident(server.pid)
    rng = random.Random(SEED)
    family = {4: socket.AF_INET, 6: socket.AF_INET6}[link.family]
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        for _ in range(10000):
            source = rng.randrange(1, 65536)
            s.sendto(sctp.packet(source, port, 0, sctp.init(rng.getrandbits(32) | 1, 65536, 16, 16,
                                                            rng.getrandbits(32), sctp.ADAPTATION)),
                     (link.address, port))
            s.sendto(sctp.packet(source, port, rng.getrandbits(32),
                                 sctp.chunk(sctp.COOKIE_ECHO, 0, rng.randbytes(rng.choice((8, 64, 200))))),
                     (link.address, port))
    grown = resident(server.pid) - before
    if grown > 4 << 20:
        raise Failure(f"the listener grew by {grown >> 10} KiB")
    start("rping-client", ["rping", "-c", "-V", "-C", 50, "-a", link.address, "-p", port], link).expect(10)


def resident(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * harness.os.sysconf("SC_PAGE_SIZE")


def mutate(link):
    """
    A sender whose memory another thread changes all the time. What arrives is made of values that were there at
    some time, and no packet on the wire has a wrong CRC.
    """
    took = {}
    capture = None
    for how in "still", "mutate":
        if how == "mutate" and hasattr(link, "nobody_there"):
            capture = start("capture", [sys.executable, sctp.__file__, "check", "veth0", 200], link, "server",
                            rdma=False)
            capture.wait_for_output("capturing")
        port = free_port()
        server = start(f"peer-server-{how}", [PEER, "serve", link.any, port, how], link, "server")
        server.wait_listening(port)
        client = start(f"peer-client-{how}", [PEER, "connect", link.address, port, how], link)
        client.expect(30)
        server.expect(10)
        took[how] = float(re.search(r"took ([\d.]+) s", client.output())[1])
    if took["mutate"] > 5 * took["still"] + 1:
        raise Failure(f"{took['mutate']:.2f} s when memory changes, {took['still']:.2f} s when it does not")
    if capture:
        capture.expect(20)


CASES = [
    ("garbage", garbage),
    ("init-flood", init_flood),
    ("mutate", mutate),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
