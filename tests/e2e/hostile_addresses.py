#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Peers that list false addresses, and strangers that request answers larger than their packets."""
import socket
import struct
import sys
import time

import harness
import sctp_packets as sctp
from hostile_peer import (HOLD_ASK, PPID_DDP, READ_REQUEST, SEND, Ear, Peer, Victim, check, chunks_of, hold, parameter,
                          read_request, receipts, untagged)

IPV4, IPV6, SUPPORTED, HOST_NAME, COOKIE_PRESERVATIVE, HEARTBEAT_INFO = 5, 6, 12, 11, 9, 1
RESTART_WITH_NEW_ADDRESSES = 11
PAD = 0x84
OTHER = "127.0.1.1"  # another host on the loopback interface


def v4(address):
    return parameter(IPV4, socket.inet_aton(address))


def v6(address):
    return parameter(IPV6, socket.inet_pton(socket.AF_INET6, address))


BAD = b"".join([v4(a) for a in ("0.0.0.0", "255.255.255.255", "224.0.0.1", "239.1.2.3", "240.0.0.1",
                                "127.255.255.255", "0.1.2.3")] +
               [v6(a) for a in ("::", "::1", "ff02::1", "ff0e::1", "::ffff:127.0.0.1", "::ffff:224.0.0.1",
                                "::ffff:0.0.0.0", "::127.0.0.1", "fe80::1", "64:ff9b::7f00:1")])
THOUSANDS = b"".join(v4(f"127.{n >> 8}.{n & 255}.77") for n in range(1, 8000))
# Address lists of an INIT, and the maximum number of other addresses that may get packets.
LISTS = {
    "bad": (BAD, 0),
    "own": (v4("127.0.0.1") * 3, 0),
    "duplicates": (v4("127.0.0.9") * 500, 1),
    "mixed": (b"".join(v4(f"127.0.1.{n}") + v6(f"fd00::{n}") for n in range(1, 200)), 16),
    "thousands": (THOUSANDS, 16),
    "thousands-6": (b"".join(v6(f"fd00::{n:x}") for n in range(1, 3200)), 16),
}
# Other contents of an INIT: name and parameters.
PARAMETERS = {
    "wrong-lengths": b"".join(parameter(kind, bytes(5)[:n]) for kind in (IPV4, IPV6) for n in range(6)),
    "cut": parameter(IPV4, b"\x7f\0\0\2", 4000),
    "host-names": parameter(HOST_NAME, b"localhost\0") * 500,
    "families": parameter(SUPPORTED, b"\0\5\0\6" * 3000),
    "preservative": parameter(COOKIE_PRESERVATIVE, b"\xff" * 4) * 100,
    "report-unknown": parameter(0x4242) + parameter(0xC242) * 1000,
    "report-all": parameter(0xC242) * 10000,
    "report-long": parameter(0xC242, bytes(40000)),
    "cookie": parameter(sctp.PARAM_COOKIE, bytes(2000)),
    "receipts": receipts() * 4000,
}


def init_lists(link):
    """Each INIT causes at most one answer, which is hardly longer than the usual answer."""
    # rows: 9260-5.1-01 9260-3.2.1-02
    victim = Victim(link)
    plain = Peer(link).call(victim.port)
    usual = len(plain.values[sctp.INIT_ACK]) + 16
    plain.close()
    check("the usual INIT ACK", usual <= 120, f"{usual} bytes for 40")
    everything = {**{name: addresses for name, (addresses, _) in LISTS.items()}, **PARAMETERS}

    def attack():
        for name, parameters in everything.items():
            for front in b"", sctp.ADAPTATION:
                peer = Peer(link)
                peer.to = (link.address, victim.port)
                peer.send(peer.init(front + parameters), 0)
                peer.pump(0.3, quiet=0.02)
                check(f"{name}: one answer", peer.packets <= 1, f"{peer.packets}")
                check(f"{name}: a short answer", peer.bytes <= usual + 200, f"{peer.bytes} bytes")
                peer.close()
    victim.must_cost("lists", 1, 4 << 20, attack)
    victim.must_serve()


def heard(ear):
    """Packets to addresses other than the peer's: {address: {chunk type: count}}."""
    others = {}
    for to, packet in ear.packets():
        if to != "127.0.0.1":
            for kind, _, _ in chunks_of(packet):
                kinds = others.setdefault(to, {})
                kinds[kind] = kinds.get(kind, 0) + 1
    return others


def third_parties(link):
    """Other hosts in a peer's list get some HEARTBEATs and nothing else, even if the peer is silent or answers for
    them."""
    # rows: 9260-5.4-01 9260-5.4-02
    for name, (addresses, most) in LISTS.items():
        victim = Victim(link)
        ear = Ear(victim.port)
        peer = Peer(link).call(victim.port, sctp.ADAPTATION + addresses)
        session = peer.session(1).accept()
        for _ in range(200):
            peer.send(sctp.chunk(sctp.COOKIE_ECHO, 0, peer.cookie))
            nonce = peer.values.get(sctp.HEARTBEAT, bytes(20))
            for wrong in nonce[:-1] + bytes([nonce[-1] ^ 1]), nonce[:8], nonce * 2, bytes(len(nonce)), b"":
                peer.send(sctp.chunk(sctp.HEARTBEAT_ACK, 0, wrong))
            peer.pump()
        peer.pump(0.2)
        peer.acknowledges = peer.answers = False
        session.say()
        peer.pump(1)
        others = heard(ear)
        check(f"{name}: few others", len(others) <= most, f"{others}")
        for kinds in others.values():
            check(f"{name}: only HEARTBEATs", set(kinds) <= {sctp.HEARTBEAT, PAD}, f"{others}")
            check(f"{name}: few of them", sum(kinds.values()) <= 8, f"{others}")
        victim.must_serve(1)
        peer.close()
        ear.close()
        victim.program.kill()


def spoofed(link):
    """Packets with the right tag, but from an unverified address: only a HEARTBEAT ACK goes there."""
    # rows: 9260-5.4-02
    victim = Victim(link)
    peer = Peer(link).call(victim.port, sctp.ADAPTATION + v4(OTHER))
    session = peer.session(1).accept()
    ear = Ear(victim.port)
    other = Peer(link, OTHER, peer.port)
    other.to, other.peer_tag, other.cum, other.answers = peer.to, peer.peer_tag, peer.cum, False
    for chunks in (
            session.message(PPID_DDP, untagged(SEND, 0, 1, 0, b"hello" * 4)),
            peer.data_chunk(1, 17, bytes(4), tsn=peer.tsn + 5),
            sctp.chunk(sctp.HEARTBEAT, 0, parameter(HEARTBEAT_INFO, bytes(1000))) * 10,
            session.message(PPID_DDP, untagged(READ_REQUEST, 1, 1, 0, read_request(1, 0, 60000, session.rkey,
                                                                                  session.address))),
            sctp.chunk(0xC7, 0, bytes(100)), hold(HOLD_ASK),
            sctp.chunk(sctp.COOKIE_ECHO, 0, peer.cookie),
            sctp.chunk(sctp.SHUTDOWN, 0, struct.pack("!I", peer.cum))):
        sent = len(other.send(chunks))
        time.sleep(0.05)
        for to, packet in ear.packets():
            if to == OTHER:
                kinds = {kind for kind, _, _ in chunks_of(packet)}
                check("only HEARTBEATs", kinds <= {sctp.HEARTBEAT, sctp.HEARTBEAT_ACK, PAD}, f"{kinds}")
                check("no longer than what came", len(packet) <= max(sent, 64), f"{len(packet)} bytes for {sent}")
        peer.pump()
    other.close()
    peer.close()
    victim.must_serve()


def restarts(link):
    """A restart from another list of addresses is refused. The ABORT lists the new addresses, and nothing changes
    (5.2.2)."""
    # rows: 9260-5.2.2-02
    victim = Victim(link)
    peer = Peer(link).call(victim.port)
    session = peer.session(1).accept()
    peer.expect("a probe of the path MTU, which is not short", lambda: PAD in peer.heard)
    other = Peer(link, "127.0.0.5", peer.port)
    other.to = peer.to
    for name, extra, who in (("one", v4("127.0.0.5"), peer), ("bad", BAD, peer), ("v6", v6("fd00::1"), peer),
                             ("thousands", THOUSANDS, peer), ("from it", v4("127.0.0.1"), other)):
        who.heard.clear()
        who.errors.clear()
        before = who.bytes
        who.send(sctp.init(0x777, 1 << 20, 10, 10, 99, sctp.ADAPTATION + extra), 0)
        who.expect(f"{name}: ABORT", who.aborted)
        check(f"{name}: its cause", struct.unpack_from("!H", who.errors[-1][1])[0] == RESTART_WITH_NEW_ADDRESSES)
        check(f"{name}: short", who.bytes - before <= 100, f"{who.bytes - before} bytes")
        check(f"{name}: no INIT ACK", sctp.INIT_ACK not in who.heard)
    # An INIT from the same addresses gets an answer, and changes nothing until its cookie arrives.
    peer.heard.clear()
    peer.send(sctp.init(0x777, 1 << 20, 10, 10, 99, sctp.ADAPTATION), 0)
    peer.expect("INIT ACK", lambda: sctp.INIT_ACK in peer.heard)
    other.send(session.message(PPID_DDP, untagged(SEND, 0, 7, 0, b"x"), ssn=9), tag=peer.peer_tag)
    peer.tsn -= 1
    session.say()
    peer.expect("an echo on the old association", lambda: session.of(PPID_DDP))
    other.socket.close()
    peer.close()
    victim.must_serve()


CASES = [
    ("init-lists", init_lists),
    ("third-parties", third_parties),
    ("spoofed", spoofed),
    ("restarts", restarts),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
