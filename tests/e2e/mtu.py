#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Links between the hosts with a smaller MTU, and strangers that forge errors about such links.

    mtu.py forge FAMILY SOURCE PORT DESTINATION PORT   sends ICMP errors about packets from SOURCE to SOURCE
    mtu.py largest INTERFACE COUNT                     prints the length of the longest of COUNT packets
"""
import re
import socket
import struct
import sys

import harness
import sctp_packets as sctp
from harness import Failure, Veth, free_port, need, start
from hostile import bound_ports

SIZE = 20000  # bytes of a message
PROTOCOL = {"udp": sctp.UDP, "ip": 132}[harness.LLP]
ICMP_UNREACHABLE, FRAGMENTATION_NEEDED, ICMP6_TOO_BIG = 3, 4, 2


class Narrow(Veth):
    """Two routers between the hosts. The link between the routers has a smaller MTU than the hosts' links."""

    prefixes = {4: "10.83.{}.", 6: "fd83:{}::"}

    def __init__(self, name, family, mtu, silent=False):
        harness.Link.__init__(self, name, family)
        need("ip", "unshare", "nsenter", "nft")
        self.holders = {}
        self.address = self.host(0, 1)
        try:
            for side in "server", "left", "right", "client":
                self.holders[side] = self._hold()
            for side in "left", "right":
                self._run([*self.enter(side), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; "
                           "[ ! -e /proc/sys/net/ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"])
                if silent:
                    self._run([*self.enter(side), "nft", "-f", "-"],
                              "table inet silent {\n chain leaving {\n type filter hook output priority 0\n"
                              " meta l4proto icmp drop\n icmpv6 type packet-too-big drop\n }\n }\n")
            self._cable(0, "server", "left", 1500)
            self._cable(1, "left", "right", mtu)
            self._cable(2, "client", "right", 1500)
            self._route("server", 0, 2)
            self._route("client", 2, 2)
            self._route("left", 1, 2, "2")
            self._route("right", 1, 1, "0")
        except BaseException:
            self.close()
            raise

    def host(self, net, number):
        return self.prefixes[self.family].format(net) + str(number)

    def _cable(self, net, one, other, mtu):
        ends = [["netns", str(self.holders[side].pid)] for side in (one, other)]
        self._run(["ip", "link", "add", f"veth{net}", "mtu", str(mtu), *ends[0], "type", "veth",
                   "peer", "name", f"veth{net}", "mtu", str(mtu), *ends[1]])
        for number, side in (1, one), (2, other):
            ip = [*self.enter(side), "ip"]
            length, *nodad = {4: ("/24",), 6: ("/64", "nodad")}[self.family]
            self._run([*ip, "address", "add", self.host(net, number) + length, "dev", f"veth{net}", *nodad])
            self._run([*ip, "link", "set", f"veth{net}", "up"])

    def _route(self, side, net, gateway, to=None):
        length = {4: "/24", 6: "/64"}[self.family]
        where = "default" if to is None else self.host(to, 0 if self.family == 4 else "") + length
        self._run([*self.enter(side), "ip", f"-{self.family}", "route", "add", where, "via", self.host(net, gateway)])


harness.LINKS.update({f"narrow{mtu}{'-silent' * silent}":
                      lambda name, family, mtu=mtu, silent=silent: Narrow(name, family, mtu, silent)
                      for mtu in (296, 552, 575, 576, 1280) for silent in (False, True)})


def serve(link, port):
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-S", SIZE, "-a", link.any, "-p", port], link, "server",
                   options=["--log", "debug"])
    server.wait_listening(port)
    return server


def client(link, port, count):
    return start("rping-client", ["rping", "-c", "-V", "-C", count, "-S", SIZE, "-a", link.address, "-p", port], link,
                 options=["--log", "debug"])


def must_be_well(*programs):
    """rping also has status 0 if data did not arrive, but prints the error."""
    for program in programs:
        if re.search("mismatch|cq completion failed", program.output()):
            raise Failure(f"{program.name}: {program.output().strip().splitlines()[-1]}")


def narrow(link):
    """Data goes both ways, at once, and again when the path MTU is known."""
    # rows: 6951-5.6-02
    port = free_port()
    server = serve(link, port)
    for _ in range(2):
        one = client(link, port, 50)
        one.expect(20)
        must_be_well(server, one)


def shrinks(link):
    """The MTU of the hosts' own interfaces shrinks during a transfer, finally below the minimum that a path is assumed
    to have."""
    port = free_port()
    server = serve(link, port)
    busy = client(link, port, 100000000)
    busy.must_run_for(0.5)
    for mtu in {4: (1400, 552), 6: (1400, 1280)}[link.family]:
        link.set_mtu(mtu)
        longest(link, "client", 1000)
        one = client(link, port, 20)
        one.expect(20)
        must_be_well(server, busy, one)


# ------------------------------------------------------------------ forged errors

def ip_checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def quote(family, source, source_port, destination, destination_port, tag):
    """The start of a packet from source: the headers of IP, UDP and SCTP, then DATA."""
    packet = struct.pack("!HHII", source_port, destination_port, tag, 0) + sctp.chunk(sctp.DATA, 3, bytes(1400))
    if PROTOCOL == sctp.UDP:
        packet = struct.pack("!HHHH", source_port, destination_port, 8 + len(packet), 0) + packet
    ends = [socket.inet_pton({4: socket.AF_INET, 6: socket.AF_INET6}[family], a) for a in (source, destination)]
    if family == 4:
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(packet), 1, 0x4000, 64, PROTOCOL, 0) + b"".join(ends)
        ip = ip[:10] + struct.pack("!H", ip_checksum(ip)) + ip[12:]
    else:
        ip = struct.pack("!IHBB", 6 << 28, len(packet), PROTOCOL, 64) + b"".join(ends)
    return (ip + packet)[:500]


def forge(family, source, source_port, destination, destination_port):
    """Sends "too long" errors with several MTUs and several wrong tags, also with a quote too short for a tag."""
    ports = int(source_port), int(destination_port)
    kinds = {4: (socket.AF_INET, socket.IPPROTO_ICMP), 6: (socket.AF_INET6, socket.IPPROTO_ICMPV6)}
    with socket.socket(kinds[family][0], socket.SOCK_RAW, kinds[family][1]) as s:
        for mtu in (68, 300, 552, 575, 576, 1000, 1280, 1400):
            for tag in (0, 1, 0x12345678, 0xFFFFFFFF):
                for whole in (True, False):
                    quoted = quote(family, source, ports[0], destination, ports[1], tag)
                    if not whole:
                        quoted = quoted[:{4: 20, 6: 40}[family] + (8 if PROTOCOL == sctp.UDP else 0) + 4]
                    if family == 4:
                        icmp = struct.pack("!BBHHH", ICMP_UNREACHABLE, FRAGMENTATION_NEEDED, 0, 0, mtu) + quoted
                        icmp += bytes(len(icmp) % 2)
                        icmp = icmp[:2] + struct.pack("!H", ip_checksum(icmp)) + icmp[4:]
                    else:
                        icmp = struct.pack("!BBHI", ICMP6_TOO_BIG, 0, 0, mtu) + quoted
                    s.sendto(icmp, (source, 0))


def largest(interface, count):
    lengths = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(sctp.ETH_P_ALL)) as s:
        s.bind((interface, 0))
        print("watching", flush=True)
        while len(lengths) < count:
            frame = s.recv(65536)
            family = sctp.ETHERTYPE.get(struct.unpack_from("!H", frame, 12)[0])
            if family and frame[{4: 23, 6: 20}[family]] == PROTOCOL:
                lengths.append(len(frame) - 14)
    print(f"largest {max(lengths)}")


def longest(link, side, count=400):
    """The length of the longest of the next packets on one side. The packets must come."""
    watch = start("largest", [sys.executable, __file__, "largest", "veth0", count], link, side, rdma=False)
    watch.expect(10)
    return int(re.search(r"largest (\d+)", watch.output())[1])


def forged(link):
    """A stranger that knows addresses and ports, but not the tag, changes neither current nor later traffic.

    The kernel accepts such errors, and would shorten or delay packets for ten minutes.
    """
    # rows: 9260-10-01 6951-5.5-01
    port = free_port()
    server = serve(link, port)
    busy = client(link, port, 100000000)
    busy.must_run_for(1)
    full = longest(link, "client")
    here, there = link.subnets[link.family].format(2), link.address
    for source, destination, known in (here, there, busy), (there, here, server):
        for own in bound_ports(known.pid):
            for other in {port, *bound_ports((server if known is busy else busy).pid)}:
                liar = start("forger", [sys.executable, __file__, "forge", link.family, source, own, destination, other],
                             link, "server" if known is busy else "client", rdma=False)
                liar.expect(10)
    for one in busy, client(link, port, 100000000):
        one.must_run_for(1)
        if longest(link, "client") != full:
            raise Failure(f"packets of {full} bytes before, and now of {longest(link, 'client')}")
        if one is busy:
            must_be_well(server)  # the server later reports its killed peer
        must_be_well(one)
        one.kill()
    for program in server, busy:
        if "no UDP_SEGMENT" in program.output():
            raise Failure(f"{program.name} sends packets one by one now")


CASES = [
    ("narrow", narrow),
    ("shrinks", shrinks),
    ("forged", forged),
]

if __name__ == "__main__":
    if sys.argv[1] == "forge":
        sys.exit(forge(int(sys.argv[2]), *sys.argv[3:]))
    if sys.argv[1] == "largest":
        sys.exit(largest(sys.argv[2], int(sys.argv[3])))
    sys.exit(harness.main(CASES))
