#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Peers with a session, real or pretended: shared receives, sequence numbers, windows, docs/wire.md, and endings."""
import random
import resource
import struct
import sys
import time

import harness
import sctp_packets as sctp
from harness import start
from hostile_peer import (HOLD, HOLD_ASK, HOLD_UNKNOWN, NOT_OURS, PPID_DDP, PPID_SESSION, RDMAP_TERMINATE, READ_REQUEST,
                          READ_RESPONSE, RECEIPT, SEND, SHARED, TERMINATE, WRITE, Peer, Victim, check, hold,
                          read_request, receipt, receipts, tagged, untagged)

SEED = 22
BOTH = b"", receipts()  # INIT parameters of a peer without receipts, and with receipts
MIB = 1 << 20


def half_sends(link):
    """Incomplete Sends take receives of an SRQ. The server gets all receives back, however the sessions end.

    One QP leaves some receives to other QPs (RFC 5042 6.4.3 leaves the rest to the program).
    """
    victim = Victim(link)
    for extension in BOTH:
        for how in "abort", "terminate", "wrong":
            peer = Peer(link).call(victim.port, sctp.ADAPTATION + extension)
            sessions = [peer.session(i).accept() for i in range(2)]
            for msn in range(1, 41):  # more Sends than receives
                sessions[0].segment(untagged(SEND, 0, msn, 0, b"x" * 50, last=False))
            peer.pump(0.1)
            client = start("beside", [SHARED, "connect", link.address, victim.port, 20], link)
            peer.pump(2 * harness.SLOW, lambda: "all echoes" in client.output())
            check("one QP leaves receives to others", "all echoes" in client.output(), f"{how}")
            for session in sessions:
                if how == "terminate":
                    session.control(TERMINATE)
                elif how == "wrong":
                    session.segment(untagged(SEND, 0, 1, 5000, b"x"))
            if how != "abort":
                peer.expect("the session ends", lambda: all(s.ended() for s in sessions))
            peer.close()
            client.expect(10)
    victim.must_serve()


def sequence_numbers(link):
    """Random MSNs, offsets and DDP-SSNs, on QPs that share receives: no receive is lost."""
    rng = random.Random(SEED)
    victim = Victim(link)
    far = 0, 1, 2, 100, 30000, 32768, 1 << 31, 0xFFFFFFFF

    def attack():
        for number in range(24):
            peer = Peer(link).call(victim.port, sctp.ADAPTATION + BOTH[number % 2])
            sessions = [peer.session(i).accept() for i in range(8)]
            for _ in range(200):
                session = rng.choice(sessions)
                ahead = rng.choice(far) if number % 3 and rng.random() < 0.3 else session.msn + rng.choice((0, 0, 1))
                offset = rng.choice((0, 0, 0, 10, 4000, 4096, 5000, 0xFFFFFFF0)) if number % 4 else 0
                ssn = session.ssn + rng.choice((0, 1, 2, 1000, 32000, -1)) if rng.random() < 0.2 else None
                session.segment(untagged(SEND, 0, ahead, offset, bytes(rng.choice((0, 1, 10, 100, 1000))),
                                         last=rng.random() < 0.6), ssn=ssn)
                session.msn += ahead == session.msn
                peer.pump()
            if number % 5 == 0:
                for session in sessions:
                    session.control(TERMINATE)
            peer.close()
    victim.must_cost("sequence numbers", 3, 8 * MIB, attack)
    victim.must_serve()


def lines(link):
    """A peer with an error in every session causes some log lines, but not a line for each session."""
    victim = Victim(link)
    for _ in range(10):
        peer = Peer(link).call(victim.port, sctp.ADAPTATION)
        sessions = [peer.session(i).accept() for i in range(8)]
        for session in sessions:
            session.segment(untagged(SEND, 0, 1, 5000, b"x"))
        peer.expect("the sessions end", lambda sessions=sessions: all(s.ended() for s in sessions))
        peer.close()
    told = victim.program.output().count("local length error")
    check("lines of 80 errors", 10 < told < 40, f"{told} lines")
    check("more of them", "more like this" in victim.program.output(), "the output does not say that there are more")
    victim.must_serve()


def unexpected(link):
    """Sends without a receive cost no more than the window of each QP, with and without receipts."""
    victim = Victim(link)
    for extension in BOTH:
        peer = Peer(link).call(victim.port, sctp.ADAPTATION + extension)
        sessions = [peer.session(i).accept() for i in range(10)]
        for _ in range(31):
            sessions[0].say(b"K" * 20)  # the victim keeps these receives
        sessions[0].segment(untagged(SEND, 0, sessions[0].msn, 0, b"K", last=False))
        peer.pump(0.1)

        def attack():
            for _ in range(400):
                for session in sessions[1:]:
                    peer.send(b"".join(session.message(PPID_DDP, untagged(SEND, 0, session.msn + i, 0))
                                       for i in range(25)))
                    session.msn += 25
                    peer.pump()
            peer.expect("all of them end", lambda: all(s.ended() for s in sessions[1:]))
        victim.must_cost("unexpected Sends", 5, 9 * 2 * MIB, attack)
        peer.close()
        victim.must_serve()


def repeat(count, chunks):
    """An attack of count packets. chunks(peer, session) returns the contents of each packet."""
    def attack(peer, session):
        for _ in range(count):
            peer.send(chunks(peer, session))
            peer.pump()
    return attack


def second_tsns(peer, _):
    for i in range(4000):
        peer.send(peer.data_chunk(1, PPID_SESSION, struct.pack("!HH", 0, 9), tsn=peer.tsn + 2 * i + 2))
        peer.pump()


def unacknowledged(peer, session):
    """Data of the victim is outstanding, and SACKs of all kinds come."""
    rng = random.Random(SEED)
    peer.acknowledges = False
    session.segment(untagged(READ_REQUEST, 1, 1, 0, read_request(NOT_OURS, 0, 65536, session.rkey, session.address)))
    for _ in range(14):
        session.say()
    peer.pump(0.1)
    old = peer.cum - 10
    for n in range(1500):
        gaps = b"".join(struct.pack("!HH", i * 2 + 2, i * 2 + 2) for i in range(rng.choice((1, 10, 12000) if n % 100 == 0
                                                                                         else (1, 10))))
        peer.sack(gaps, cum=old - rng.choice((0, 0, 5, 1000)))
        peer.pump()


def silly_window(peer, session):
    peer.rwnd = 1
    peer.sack()
    session.segment(untagged(READ_REQUEST, 1, 1, 0, read_request(NOT_OURS, 0, 60000, session.rkey, session.address)))
    peer.pump(0.5)


def endless(peer, session):
    for i in range(600):
        peer.send(peer.data_chunk(session.sid, PPID_DDP, bytes(1000), flags=4 if i else 6))
        peer.pump()


def pieces(peer, session):
    for i in range(900):
        peer.send(peer.data_chunk(session.sid, PPID_DDP, bytes(1000), flags=6, tsn=peer.tsn + 2 * i + 2))
        peer.pump()


# Name, attack, and the maximum packets and bytes in return for each packet and byte sent.
CHUNKS = [
    ("SACKs in one", repeat(20, lambda p, s: sctp.chunk(sctp.SACK, 0, struct.pack("!IIHH", p.cum, MIB, 0, 0)) * 3000),
     0.2, 0.1),
    ("SACK that lies", repeat(200, lambda p, s: sctp.chunk(sctp.SACK, 0, struct.pack(
        "!IIHH", p.cum, 0, 65535, 65535) + bytes(40))), 0.1, 0.1),
    ("SACK of duplicates", repeat(20, lambda p, s: sctp.chunk(sctp.SACK, 0, struct.pack(
        "!IIHH", p.cum, MIB, 0, 8000) + bytes(32000))), 0.2, 0.1),
    # Data that a SACK reneges is retransmitted, and a Read Response is longer than its request.
    ("SACKs by chance", unacknowledged, 1.1, 1500),
    ("every second TSN", second_tsns, 1.1, 600),
    ("far TSNs", repeat(300, lambda p, s: p.data_chunk(1, 17, bytes(4), tsn=p.tsn + (1 << 20))), 1.1, 2),
    ("duplicates", repeat(20, lambda p, s: p.data_chunk(1, 17, bytes(4), tsn=p.tsn - 1) * 1500), 1.1, 1),
    ("no such stream", repeat(200, lambda p, s: b"".join(
        p.data_chunk(sid, 17, struct.pack("!HH", 0, 1)) for sid in (64, 65535) * 20)), 1.1, 2),
    ("one stream less", repeat(500, lambda p, s: p.data_chunk(65535, 17, struct.pack("!HH", 0, 1))), 1.1, 2),
    ("message without end", endless, 1.1, 1),
    ("messages without end", pieces, 1.1, 10),
    ("unknown chunks", repeat(50, lambda p, s: sctp.chunk(0xC7, 0, b"") * 300), 1.1, 4),
    ("unknown long chunk", repeat(10, lambda p, s: sctp.chunk(0xC7, 0, bytes(60000))), 1.1, 1.1),
    ("chunks without length", repeat(50, lambda p, s: bytes([0x87, 0, 0, 0]) * 300), 0.1, 0.1),
    ("HEARTBEATs", repeat(10, lambda p, s: sctp.chunk(sctp.HEARTBEAT, 0, bytes(20)) * 1000), 1.1, 1.1),
    ("ERRORs", repeat(20, lambda p, s: sctp.chunk(sctp.ERROR, 0, struct.pack("!HH", 6, 4) * 1000)), 0.2, 0.1),
    ("INITs", repeat(500, lambda p, s: p.init()), 0.1, 0.1),
    ("window of 1", silly_window, 3, 2000),
    ("HOLD asks", repeat(50, lambda p, s: hold(HOLD_ASK) * 100), 1.1, 0.5),
    ("HOLD by chance", repeat(1000, lambda p, s: hold(p.rng.getrandbits(2), p.rng.getrandbits(32))), 1.1, 3),
    ("short HOLD", repeat(100, lambda p, s: sctp.chunk(HOLD, 3, b"") * 50), 1.1, 0.5),
    ("FORWARD TSN", repeat(100, lambda p, s: sctp.chunk(0xC0, 0, struct.pack("!I", p.tsn + 1000))), 1.1, 3),
    ("RE-CONFIG", repeat(100, lambda p, s: sctp.chunk(0x82, 0, struct.pack("!HHI", 13, 16, 1) + bytes(8))), 0.1, 0.1),
    ("session control", repeat(150, lambda p, s: b"".join(p.data_chunk(
        p.rng.randrange(64), 17, struct.pack("!HH", p.rng.choice((0, 0, 1, 9)), p.rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 255))) +
        bytes(p.rng.choice((0, 0, 4, 512, 600)))) for _ in range(30))), 3, 2),
]


def chunks(link):
    """A peer with an association gets about as much as it sends, and costs little."""
    # rows: 9260-6.2-04 9260-6.5-01
    for name, attack, packets, volume in CHUNKS:
        victim = Victim(link)
        peer = Peer(link).call(victim.port, sctp.ADAPTATION + receipts())
        peer.rng = random.Random(SEED)
        session = peer.session(1).accept()
        peer.pump(0.1)
        before, sent = (peer.packets, peer.bytes), [0, 0]

        def count(body, *rest, plain=peer.send):
            packet = plain(body, *rest)
            sent[0] += 1
            sent[1] += len(packet)
            return packet
        peer.send = count
        victim.must_cost(name, 1, 8 * MIB, lambda: (attack(peer, session), peer.pump(0.2, quiet=0.05)))
        got = peer.packets - before[0], peer.bytes - before[1]
        # Some HEARTBEATs, and probes of the path MTU, do not count as answers.
        check(f"{name}: packets", got[0] <= sent[0] * packets + 30, f"{got[0]} for {sent[0]}")
        check(f"{name}: bytes", got[1] <= sent[1] * volume + MIB, f"{got[1]} for {sent[1]}")
        peer.close()
        victim.must_serve(1)
        victim.program.kill()


def extension(link):
    """Holds and receipts that are contradictory, early, late or unrequested end at most a session."""
    def say(session, flags, ssn=0, msn=0, number=1):
        session.segment(untagged(RECEIPT, 4, number, 0, receipt(flags, ssn, msn)))

    def echoes(peer, session):
        for _ in range(8):
            session.say()
            peer.pump(0.01)

    def held(how):
        def attack(peer, session):
            peer.behind_sack = hold(how, peer.tsn + (1 << 30))
            echoes(peer, session)
        return attack

    def withdrawn(peer, session):
        peer.acknowledges = False
        echoes(peer, session)
        say(session, 3, 1, 1)

    attacks = {
        "early": lambda p, s: [s.segment(untagged(RECEIPT, 4, i + 1, 0, receipt(1)), ssn=s.ssn + 2 + i)
                               for i in range(200)],
        "by chance": lambda p, s: [say(s, i & 1, 0, p.rng.choice((0, 1, 2, 100, 1 << 31, 0xFFFFFFFF)), i + 1)
                                   for i in range(500)],
        "last": lambda p, s: say(s, 2),
        "last, of the future": lambda p, s: say(s, 2, 30000),
        "last, three times": lambda p, s: [say(s, 2 + (i > 1), 0, 0, i + 1) for i in range(3)],
        "last, with messages under way": withdrawn,
        "waiting, of the future": lambda p, s: [say(s, 1, 0, 1 << 30), say(s, 1, 0, 1 << 31, 2)],
        "short": lambda p, s: s.segment(untagged(RECEIPT, 4, 1, 0, bytes(7))),
        "long": lambda p, s: s.segment(untagged(RECEIPT, 4, 1, 0, bytes(1400))),
        "in segments": lambda p, s: s.segment(untagged(RECEIPT, 4, 1, 0, bytes(4), last=False)),
        "on queue 0": lambda p, s: s.segment(untagged(RECEIPT, 0, 1, 0, bytes(8))),
        "a Send on queue 4": lambda p, s: s.segment(untagged(SEND, 4, 1, 0, bytes(8))),
        "no such session": lambda p, s: p.send(p.data_chunk(40, PPID_DDP, struct.pack("!H", 0) + untagged(
            RECEIPT, 4, 1, 0, receipt(2)))),
        "wrong MSN": lambda p, s: say(s, 1, number=77),
        "held for ever": held(HOLD_UNKNOWN),
        "held for the future": held(0),
    }
    for parameters in BOTH[1], BOTH[0], receipts(255, 0xFFFFFFFF), receipts(1, 0), receipts(0), receipts() + receipts(0):
        victim = Victim(link)
        for name, attack in attacks.items():
            peer = Peer(link).call(victim.port, sctp.ADAPTATION + parameters)
            peer.rng = random.Random(SEED)
            session = peer.session(1).accept()
            before = peer.packets
            victim.must_cost(name, 0.5, 4 * MIB, lambda: (attack(peer, session), peer.pump(0.1, quiet=0.03)))
            check(f"{name}: packets", peer.packets - before <= 600, f"{peer.packets - before}")
            peer.close()
        victim.must_serve()
        victim.program.kill()


def operations(link):
    """Segments of all opcodes, queues, STags and lengths end at most the session."""
    rng = random.Random(SEED)
    victim = Victim(link)
    peer = Peer(link).call(victim.port)

    def attack():
        for number in range(400):
            session = peer.session(number % 60).accept()
            stag = rng.choice((session.rkey, session.rkey ^ 1, 0, NOT_OURS, 0xFFFFFFFF))
            to = session.address + rng.choice((0, 65535, 65536, -1, 1 << 63))
            body = bytearray(rng.choice((
                tagged(WRITE, stag, to, bytes(rng.choice((0, 1, 100)))), tagged(READ_RESPONSE, stag, to, b"x"),
                untagged(READ_REQUEST, 1, 1, 0, read_request(1, 0, rng.choice((0, 1, 65536, 0xFFFFFFFF)), stag, to)),
                untagged(READ_REQUEST, 1, rng.choice((1, 2, 30000)), 0, bytes(rng.choice((0, 27, 28, 29)))),
                untagged(RDMAP_TERMINATE, 2, 1, 0, rng.randbytes(rng.choice((0, 3, 4, 24, 60)))),
                untagged(rng.randrange(16), rng.randrange(6), 1, 0, bytes(rng.choice((0, 8, 52))), control=rng.getrandbits(8)))))
            if number % 2:
                body[1] = rng.getrandbits(8)
            session.segment(bytes(body))
            peer.pump(0.01, session.ended)
            session.control(TERMINATE)
            peer.expect("the session ends", session.ended)
    victim.must_cost("operations", 2, 4 * MIB, attack)
    peer.close()
    victim.must_serve()


def strangers(link):
    """The total of unused associations, and of refused requests without acknowledgement, is limited."""
    # rows: 5042-6.4.1-02 5042-6.4.2-01
    victim = Victim(link)
    peers = []

    def many():
        for _ in range(1300):
            peer = Peer(link)
            peer.closes = False
            peers.append(peer.call(victim.port))
            peer.send(peer.data_chunk(1, PPID_DDP, bytes(1000), flags=6))
    victim.must_cost("associations", 8, 24 * MIB, many)
    for peer in peers:
        peer.pump()
    check("the oldest were aborted", all(p.aborted() for p in peers[:200]))
    check("the newest were not", not any(p.aborted() for p in peers[-500:]))
    victim.must_serve()
    for peer in peers:
        peer.close()

    def refused():
        for _ in range(8):
            peer = Peer(link)
            peer.acknowledges = False
            peer.call(victim.port, streams=65535)
            for sid in range(0, 6000, 4):
                peer.send(b"".join(peer.data_chunk(sid + i, PPID_SESSION, struct.pack("!HH", 0, 1) + bytes(256))
                                   for i in range(4)))
                peer.pump()
            peer.pump(0.1)
            peers.append(peer)
    victim.must_cost("refused requests", 6, 16 * MIB, refused)
    victim.must_serve()


def endings(link):
    """A peer that answers heartbeats, but never finishes a shutdown, does not keep its association alive."""
    # rows: 9260-9.2-02
    victim = Victim(link, options=["--silent-limit", 1])
    peers = {}

    def peer_of(name, parameters=b""):
        peer = peers[name] = Peer(link)
        peer.closes = False
        return peer.call(victim.port, sctp.ADAPTATION + parameters)

    peer_of("SHUTDOWN is not answered")
    peer = peer_of("SHUTDOWN ACK is not answered")
    peer.send(sctp.chunk(sctp.SHUTDOWN, 0, struct.pack("!I", peer.cum)))
    peer = peer_of("data are not acknowledged")
    session = peer.session(1).accept()
    peer.acknowledges = False
    session.say()
    session.control(TERMINATE)
    peer = peer_of("a window of 0")
    session = peer.session(1).accept()
    peer.rwnd = 0
    peer.sack()
    session.say()
    session.control(TERMINATE)
    peer = peer_of("held for ever", receipts())
    session = peer.session(1).accept()
    peer.behind_sack = hold(HOLD_UNKNOWN)
    session.say()
    session.control(TERMINATE)
    deadline = time.monotonic() + 12 * harness.SLOW
    while not all(p.aborted() for p in peers.values()) and time.monotonic() < deadline:
        for peer in peers.values():
            peer.pump(0.01)
    for name, peer in peers.items():
        check(name, peer.aborted(), f"it lives on: {peer.heard}")
        check(f"{name}: packets", peer.packets <= 300, f"{peer.packets}")
    victim.must_serve()


CASES = [
    ("half-sends", half_sends),
    ("sequence-numbers", sequence_numbers),
    ("lines", lines),
    ("unexpected", unexpected),
    ("chunks", chunks),
    ("extension", extension),
    ("operations", operations),
    ("strangers", strangers),
    ("endings", endings),
]

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    sys.exit(harness.main(CASES))
