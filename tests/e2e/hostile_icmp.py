#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""ICMP and ICMPv6 errors of all kinds, forged, cut and true, and IP packets that no host sends."""
import itertools
import os
import random
import socket
import struct
import subprocess
import sys
import time

import harness
import sctp_packets as sctp
from hostile_peer import (FAMILIES, NOT_OURS, PPID_DDP, READ_REQUEST, SEND, Peer, Victim, check, parameter, read_request,
                          untagged)
from mtu import ip_checksum

SEED = 23
UDP = harness.LLP == "udp"
PROTOCOL = sctp.UDP if UDP else 132
HEADER = {4: 20, 6: 40}
LEAST = {4: 500, 6: 1280 - 4}  # minimum bytes of full IP packets, whatever MTU routers report
KINDS = {
    4: [(3, code) for code in range(16)] + [(4, 0), (5, 0), (5, 1), (11, 0), (11, 1), (12, 0), (12, 1), (12, 2)],
    6: [(1, code) for code in range(8)] + [(2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (4, 2), (4, 3), (100, 0),
                                           (127, 0)],
}
WORDS = 0, 1, 40, 68, 552, 576, 1279, 1280, 0xFFFFFFFF


def wrap(source, destination, packet):
    """The payload of the IP packet."""
    return struct.pack("!HHHH", source, destination, 8 + len(packet), 0) + packet if UDP else packet


class Wire:
    """Sends errors and IP packets on the loopback interface, and captures the victim's packets."""

    def __init__(self, link, victim):
        self.link, self.port = link, victim.port
        self.here = socket.inet_pton(FAMILIES[link.family], link.address)
        self.icmp = socket.socket(FAMILIES[link.family], socket.SOCK_RAW, {4: 1, 6: 58}[link.family])
        self.ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(sctp.ETH_P_ALL))
        self.ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.ear.bind(("lo", 0))
        self.ear.setblocking(False)

    def heard(self):
        """The IP packets that have left the victim's port since the last call: (length, SCTP packet)."""
        found = []
        while True:
            try:
                frame, (_, _, kind, *_) = self.ear.recvfrom(70000)
            except BlockingIOError:
                return found
            at = 14 + HEADER[self.link.family] + 8 * UDP
            if kind == socket.PACKET_OUTGOING and len(frame) >= at + 12 and \
                    frame[{4: 23, 6: 20}[self.link.family]] == PROTOCOL and \
                    struct.unpack_from("!H", frame, at)[0] == self.port:
                found.append((len(frame) - 14, frame[at:]))

    def quote(self, peer, tag, first=sctp.DATA, before=b"", protocol=PROTOCOL):
        """A packet of the victim to the peer, as a router quotes it. before: bytes between the IP header and the
        packet."""
        body = before + wrap(self.port, peer.port, struct.pack("!HHII", self.port, peer.port, tag, 0) +
                             sctp.chunk(first, 3, bytes(1000)))
        if self.link.family == 6:
            return struct.pack("!IHBB", 6 << 28, len(body), protocol, 64) + self.here * 2 + body
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 1, 0x4000, 64, protocol, 0) + self.here * 2
        return ip[:10] + struct.pack("!H", ip_checksum(ip)) + ip[12:] + body

    def error(self, kind, code, word, quoted):
        message = struct.pack("!BBHI", kind, code, 0, word) + quoted
        if self.link.family == 4:
            message += bytes(len(message) % 2)
            message = message[:2] + struct.pack("!H", ip_checksum(message)) + message[4:]
        with harness.contextlib.suppress(OSError):
            self.icmp.sendto(message, (self.link.address, 0))


def longest(wire, peer, session):
    """Reads 60,000 bytes, which must come. Returns the length of the longest packet."""
    session.reads = getattr(session, "reads", 0) + 1
    before = len(session.of(PPID_DDP))
    wire.heard()
    session.segment(untagged(READ_REQUEST, 1, session.reads, 0,
                             read_request(NOT_OURS, 0, 60000, session.rkey, session.address)))
    peer.expect("60,000 bytes", lambda: sum(len(b) - 14 for b in session.of(PPID_DDP)[before:]) >= 60000)
    return max(length for length, _ in wire.heard())


def errors(link):
    """Errors with wrong tags change nothing. With the right tag, packets become no shorter than IP's minimum."""
    # rows: 9260-10-01 6951-5.5-01
    victim = Victim(link)
    peer = Peer(link).call(victim.port)
    session = peer.session(1).accept()
    wire = Wire(link, victim)
    longest(wire, peer, session)
    peer.pump(0.5)  # the path MTU is known by then
    full = longest(wire, peer, session)
    for name, tag in ("wrong", 0x5555), ("zero", 0), ("of the other direction", peer.peer_tag), ("right", peer.tag):
        wire.heard()

        def attack():
            for _ in range(3):
                for kind, code in KINDS[link.family]:
                    for word in WORDS:
                        wire.error(kind, code, word, wire.quote(peer, tag)[:548])
                peer.pump()
            peer.pump(0.5)
        victim.must_cost(f"errors, tag {name}", 1, 4 << 20, attack)
        reactions = len(wire.heard())
        check(f"tag {name}: reactions", reactions <= (40 if tag == peer.tag else 4), f"{reactions}")
        now = longest(wire, peer, session)
        check(f"tag {name}: the length of packets", now >= (LEAST[link.family] if tag == peer.tag else full),
              f"{now}, and {full} before")
    victim.must_serve()


def quotes(link):
    """Quotes that are cut anywhere, with extension headers, of other protocols, or of an INIT."""
    victim = Victim(link)
    peer = Peer(link).call(victim.port)
    session = peer.session(1).accept()
    wire = Wire(link, victim)

    def attack():
        whole = wire.quote(peer, peer.tag)
        for kind, code in KINDS[link.family]:
            for cut in range(0, 72):
                wire.error(kind, code, 1300, whole[:cut])
        for before in b"\x11\0" + bytes(6), b"\x84\0" + bytes(6), b"\0\xff" + bytes(30), b"\x2c\0" + bytes(6):
            for protocol in 0, 43, 44, 50, 51, 59, 60:
                wire.error(2, 0, 1280, wire.quote(peer, peer.tag, before=before, protocol=protocol))
                wire.error(4, 1, 40, wire.quote(peer, peer.tag, before=before, protocol=protocol))
        for kind, code in (3, 2), (3, 3), (4, 1), (1, 4):
            wire.error(kind, code, 0, wire.quote(peer, 0, first=sctp.INIT))
        peer.pump(1.2)  # long enough for an association to be given up
    victim.must_cost("quotes", 1, 4 << 20, attack)
    check("packets stay long", longest(wire, peer, session) >= LEAST[link.family])
    victim.must_serve()


def ip4(source, destination, payload, options=b"", ident=0, fragment=0, protocol=PROTOCOL):
    return struct.pack("!BBHHHBBH4s4s", 0x40 | (20 + len(options)) // 4, 0, 20 + len(options) + len(payload), ident,
                       fragment, 64, protocol, 0, socket.inet_aton(source), socket.inet_aton(destination)) + \
        options + payload


def packets(link):
    """Packets with addresses and ports that no peer has, with options, in fragments, without a checksum."""
    # rows: 9260-8.4-01
    victim = Victim(link)
    peer = Peer(link).call(victim.port)
    session = peer.session(1).accept()
    wire = Wire(link, victim)
    here, strangers = link.address, itertools.count(4000)
    init = sctp.init(0x99, 65536, 5, 5, 1, sctp.ADAPTATION)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as mouth:
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)

        def shoot(name, most, source, destination, ports, tag, body, **how):
            """most: maximum answers of the victim to that port, with that tag or the INIT's."""
            wire.heard()
            packet = wrap(*ports, sctp.packet(*ports, tag, body))
            with harness.contextlib.suppress(OSError):  # the host does not send it
                mouth.sendto(ip4(source, destination, packet, **how), (destination, 0))
            time.sleep(0.02)
            to_it = [struct.pack("!HHL", *reversed(ports), vtag) for vtag in (tag, 0x99)]
            answers = [p for _, p in wire.heard() if p[:8] in to_it]
            answers = [p for p in answers if p != sctp.packet(*ports, tag, body)]
            check(name, len(answers) <= most, f"{len(answers)} answers, the first {answers[:1]}")

        own = victim.port, victim.port
        for tag, (kind, body) in enumerate((
                (sctp.SHUTDOWN_ACK, b""), (sctp.DATA, bytes(16)), (sctp.COOKIE_ECHO, bytes(160)),
                (sctp.INIT_ACK, bytes(100)), (sctp.ERROR, bytes(8)), (sctp.HEARTBEAT, bytes(8))), start=5):
            shoot(f"from itself, {kind}", 1, here, here, own, tag, sctp.chunk(kind, 0, body))
        shoot("an INIT from itself", 2, here, here, own, 0, init)
        for nobody in "127.255.255.255", "255.255.255.255", "224.0.0.1":
            shoot(f"to {nobody}", 0, here, nobody, (next(strangers), victim.port), 0, init)
        for port in 0, victim.port:
            shoot("from port 0", 0, here, here, (0, port), 0, init)
        for options in b"\1" * 40, b"\x07\x27\x04" + bytes(37), b"\xff" * 4:
            shoot("options", 1, here, here, (next(strangers), victim.port), 0, init, options=options)
        stranger = next(strangers)
        # Checksum 0 in SCTP, and in UDP, where 0 is allowed.
        bare = sctp.packet(stranger, victim.port, 0, init)
        wire.heard()
        mouth.sendto(ip4(here, here, wrap(stranger, victim.port, bare[:8] + bytes(4) + bare[12:])), (here, 0))
        # Fragments in any order, some twice.
        long = wrap(stranger, victim.port, sctp.packet(stranger, victim.port, 0, sctp.init(
            0x99, 65536, 5, 5, 1, sctp.ADAPTATION + parameter(0x8111, bytes(3000)))))
        rng = random.Random(SEED)
        for ident in range(1, 20):
            cuts = list(range(0, len(long), 64))
            rng.shuffle(cuts)
            for at in cuts[1:] + cuts[:3]:
                mouth.sendto(ip4(here, here, long[at:at + 64], ident=ident,
                                 fragment=at // 8 | (0x2000 if at + 64 < len(long) else 0)), (here, 0))
        time.sleep(0.1)
        answers = [p for _, p in wire.heard() if struct.unpack_from("!H", p, 2)[0] == stranger]
        check("a wrong checksum, or a part, gets no answer", len(answers) <= 19 * 1, f"{len(answers)}")
        # Options do not disturb an association.
        packet = sctp.packet(peer.port, victim.port, peer.peer_tag, session.message(
            PPID_DDP, untagged(SEND, 0, 1, 0, b"hello" * 4)))
        mouth.sendto(ip4(here, here, wrap(peer.port, victim.port, packet), options=b"\1" * 40), (here, 0))
        peer.expect("an echo", lambda: session.of(PPID_DDP))
    victim.must_serve()


CASES = [
    ("errors", errors),
    ("quotes", quotes),
    ("packets", packets),
]

if __name__ == "__main__":
    INSIDE = "SCTPIW_E2E_NETNS"
    if INSIDE not in os.environ:  # the errors change the host's routes
        os.environ[INSIDE] = "1"
        try:
            harness.unshare(*(harness.AS_USER if os.geteuid() else []), "--net")
        except harness.Skip as skip:
            print(f"SKIP: {skip}")
            sys.exit(harness.EXIT_SKIPPED)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    sys.exit(harness.main(CASES))
