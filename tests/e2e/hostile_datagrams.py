#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Strangers that send datagrams (docs/wire.md) to UD queue pairs, and to a listener of rdma_cm for datagrams.

The victim is a server of e2e-ud. It fails if anything except a completed receive has changed its memory. An honest
client exchanges messages with it all the time.
"""
import contextlib
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

import harness
import sctp_packets as sctp
from harness import BUILD, Failure, Skip, free_port, start
from hostile_peer import FAMILIES, RAW, Ear, Victim, check

UD = str(BUILD / "bin/e2e-ud")
DATAGRAM, MESSAGE, REQUEST, REPLY, ROOM_REQUEST, ROOM_REPLY = 0xBD, 1, 2, 3, 4, 5
QKEY, ROOM = 0x01234567, 1024  # RDMA_UDP_QKEY; bytes of each receive of e2e-ud
CHALLENGE = 255
OPTIONS = ["--personality", "roce"]
OWN_PORT = 5000  # in the packets of strangers, from any socket
SOURCE = OWN_PORT << 8 | 1
GROUP_PORT, GROUP_QP = 65535, 0xFFFFFF
COUNTERS = ["ud_malformed", "ud_no_qp", "ud_bad_qkey", "ud_no_receive", "ud_too_long"]
HONEST = 100000000  # more messages than a test lasts


def chunk(kind, body, version=1, flags=0, length=None):
    length = 8 + len(body) if length is None else length
    return struct.pack("!BBHBBH", DATAGRAM, 0, length, version, kind, flags) + body + bytes(-len(body) % 4)


def packet(to, body, source=OWN_PORT, vtag=0):
    return sctp.packet(source, to, vtag, body)


def ud_body(qp, payload=b"stranger", source=SOURCE, qkey=QKEY):
    return struct.pack("!IIIIIB3x", qp, source, qkey, 0, 0, 64) + payload


def message(qp, payload=b"stranger", **how):
    """A message to the QP, valid except for the arguments in `how`."""
    return packet(qp >> 8, chunk(MESSAGE, ud_body(qp, payload, **how)))


def request(port, request_id, cookie=0, private=b"", length=292, private_len=None):
    body = struct.pack("!QQIIBBH", request_id, cookie, 0, 0, 0,
                       len(private) if private_len is None else private_len, 0) + private
    return packet(port, chunk(REQUEST, body.ljust(length - 8, b"\0")[:max(0, length - 8)]))


class Server(Victim):
    """A server of e2e-ud with readable counters."""

    def __init__(self, link, directory):
        self.link, self.port = link, free_port()
        self.environment = {"XDG_RUNTIME_DIR": directory}
        self.program = start("victim", [UD, "serve", link.address, self.port], link, "server", options=OPTIONS,
                             env=self.environment)
        self.program.wait_for_output("ready", 20)
        line = next(row for row in self.program.output().splitlines() if row.startswith("ready"))
        self.echo, self.empty, self.init = map(int, line.split()[1:])

    def counters(self):
        done = subprocess.run([BUILD / "bin/sctpiw", "counters", "--json", str(self.program.pid)], capture_output=True,
                              text=True, timeout=30 * harness.SLOW, env=dict(os.environ, **self.environment))
        if done.returncode:
            raise Failure(f"sctpiw counters: {done.stderr}")
        found = json.loads(done.stdout)[0]
        found = {**found.get("counters", {}), **found.get("hw_counters", {})}
        return {name: found[name] for name in COUNTERS}

    def await_counters(self, name, want):
        deadline = time.monotonic() + 10 * harness.SLOW
        while (found := self.counters()) != want and time.monotonic() < deadline:
            time.sleep(0.02)
        check(name, found == want, f"the counters are {found}, not {want}")

    def must_serve(self, count=200):
        start(f"honest-{count}", [UD, "connect", self.link.address, self.port, count], self.link,
              options=OPTIONS).expect(30)
        check("the victim", self.program.running(), "it has ended")


class Stranger:
    """A socket that is unknown to the victim."""

    def __init__(self, link, address=None):
        self.link = link
        self.socket = socket.socket(FAMILIES[link.family], *RAW if harness.LLP == "ip" else (socket.SOCK_DGRAM,))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        if harness.LLP == "ip":
            self.hear_own(link.family)
        self.socket.bind((address or link.address, 0))
        self.socket.setblocking(False)

    def hear_own(self, family):
        """A raw socket gets the packets of all ports: those of the honest client would fill its buffer."""
        at = [(0xB1, 0, 0, 0), (0x48, 0, 0, 2)] if family == 4 else [(0x28, 0, 0, 2)]  # header's length, port
        harness.attach_filter(self.socket, *at, (0x15, 0, 1, OWN_PORT), (0x06, 0, 0, 0xFFFFFFFF), (0x06, 0, 0, 0))
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(65536):  # packets from before the filter
                pass

    def send(self, data, port):
        with contextlib.suppress(OSError):  # an ICMP answer to an earlier datagram
            self.socket.sendto(data, (self.link.address, 0 if harness.LLP == "ip" else port))

    def answer(self, is_it):
        """The first answer for which is_it() is true, even from a slow server. Skips other answers, which are late."""
        end = time.monotonic() + 10 * harness.SLOW
        while time.monotonic() < end:
            for data in self.heard():
                if is_it(data):
                    return data
        raise Failure("there is no answer")

    def heard(self, seconds=0.3):
        """Packets to this socket, until none has come for that many seconds."""
        packets, end = [], time.monotonic() + seconds * harness.SLOW
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, ConnectionRefusedError):
                continue
            if harness.LLP == "ip" and self.link.family == 4:
                data = data[(data[0] & 15) * 4:]
            packets.append(data)
            end = time.monotonic() + seconds * harness.SLOW
        return packets


@contextlib.contextmanager
def busy_server(link):
    """A server with an honest client, which must make progress before and after the body."""
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as directory:
        server = Server(link, directory)
        server.must_serve()
        honest = start("honest", [UD, "connect", link.address, server.port, HONEST], link, options=OPTIONS)
        honest.must_run_for(0.3)
        yield server
        honest.must_run_for(0.3)
        honest.kill()
        server.must_serve()
        server.program.kill()


def wrong_messages(server):
    """Each wrong packet for the echoing QP, or for another QP, with the counter that it increments."""
    qp, port = server.echo, server.echo >> 8
    right = ud_body(qp)
    yield "ud_bad_qkey", message(qp, qkey=QKEY + 1)
    yield "ud_bad_qkey", message(qp, qkey=0)
    yield "ud_bad_qkey", message(qp, qkey=0x80000000 | QKEY)
    yield "ud_no_qp", message(server.init)
    yield "ud_no_qp", message(qp ^ 0x80)
    yield "ud_no_receive", message(server.empty)
    yield "ud_too_long", message(qp, bytes(ROOM + 1))
    yield "ud_too_long", message(qp, bytes(4096))
    for length in 4097, 9000:
        yield "ud_malformed", message(qp, bytes(length))
    bad_crc = bytearray(message(qp))
    bad_crc[-1] ^= 1
    yield "ud_malformed", bytes(bad_crc)
    for kind in 0, 6, 255:
        yield "ud_malformed", packet(port, chunk(kind, right))
    for version in 0, 2, 255:
        yield "ud_malformed", packet(port, chunk(MESSAGE, right, version))
    yield "ud_malformed", packet(port, chunk(MESSAGE, ud_body(qp | 1 << 24)))
    yield "ud_malformed", packet(port, chunk(MESSAGE, ud_body(qp, source=SOURCE | 1 << 31)))
    yield "ud_malformed", packet(port, chunk(MESSAGE, ud_body(qp, source=SOURCE + 256)))
    yield "ud_malformed", packet(port, chunk(MESSAGE, ud_body(qp + 256)))
    if harness.LLP != "ip":  # with ip, the packet belongs to another port
        yield "ud_malformed", packet(port ^ 1, chunk(MESSAGE, right))
    yield "ud_malformed", packet(port, chunk(MESSAGE, ud_body(GROUP_QP)))
    whole = chunk(MESSAGE, right)
    for length in (*range(32), len(whole) + 1, 0xFFFF):
        yield "ud_malformed", packet(port, chunk(MESSAGE, right, length=length))
    for cut in range(8, len(whole)):
        yield "ud_malformed", packet(port, whole[:cut])
    for kind, least in (REQUEST, 292), (REPLY, 36), (ROOM_REQUEST, 24), (ROOM_REPLY, 20):
        yield "ud_malformed", packet(port, chunk(kind, bytes(least - 9)))


def messages(link):
    """Wrong messages are dropped, and counted by reason. They get no answer."""
    with busy_server(link) as server:
        stranger, want = Stranger(link), server.counters()
        for number, (name, data) in enumerate(wrong_messages(server)):
            stranger.send(data, server.echo >> 8 if name != "ud_no_receive" else server.empty >> 8)
            want[name] += 1
            if number % 8 == 7:
                server.await_counters(f"wrong message {number}", want)
        server.await_counters("wrong messages", want)
        # A packet that is too short for a datagram is no SCTP packet either.
        for cut in range(20):
            stranger.send(message(server.echo)[:cut], server.echo >> 8)
        check("no answer to wrong messages", not stranger.heard())
        server.await_counters("short packets", want)
        # Valid messages are received, with the strangers' data. The program does not echo them.
        for length in 0, 1, ROOM - 1, ROOM:
            stranger.send(message(server.echo, bytes(length)), server.echo >> 8)
        check("no answer to a message", not stranger.heard())
        server.await_counters("messages that are right", want)


def noise(link):
    """Thousands of damaged messages and requests, from a fixed seed, to all ports of the server."""
    rng = random.Random(7)
    with busy_server(link) as server:
        stranger = Stranger(link)

        def attack():
            for number in range(6000):
                base = rng.choice([message(server.echo, rng.randbytes(rng.randrange(60))),
                                   request(server.port, number)])
                bent = bytearray(base)
                for _ in range(rng.randrange(1, 4)):
                    bent[rng.randrange(12, len(bent))] ^= 1 << rng.randrange(8)
                data = sctp.seal(bytes(bent[:rng.randrange(12, len(bent) + 1)] if rng.random() < 0.3 else bent))
                stranger.send(data, rng.choice([server.echo >> 8, server.port]))
                if number % 64 == 0:
                    time.sleep(0.001)
        server.must_cost("noise", 30, 4 << 20, attack)


def room(link):
    """A room request gets one answer, which is shorter. A flood of room requests gets few answers."""
    with busy_server(link) as server:
        stranger, port = Stranger(link), server.echo >> 8
        asked = packet(port, chunk(ROOM_REQUEST, struct.pack("!QQ", 0x1122334455667788, 0)))
        stranger.send(asked, port)
        answer = stranger.answer(lambda data: data[12 + 5] == ROOM_REPLY)
        kind, nonce, bytes_ = struct.unpack_from("!BxxQI", answer, 12 + 5)
        check("an answer", len(answer) < len(asked) and (kind, nonce) == (ROOM_REPLY, 0x1122334455667788) and
              0 < bytes_ < 1 << 28, answer)
        # Unrequested replies, as the server's own sender might get them, have no effect.
        for nonce in 0, 1, (1 << 64) - 1:
            stranger.send(packet(port, chunk(ROOM_REPLY, struct.pack("!QI", nonce, 0))), port)
        check("no answer to replies", not stranger.heard())
        sent = got = 0

        def attack():
            nonlocal sent, got
            for number in range(20000):
                stranger.send(asked, port)
                sent += 1
                if number % 500 == 499:
                    got += len(stranger.heard(0.02))
        server.must_cost("room requests", 10, 1 << 20, attack)
        check("answers", 0 < got < sent, f"{got} of {sent}")


def cookie_of(answer):
    """The cookie of a challenge, or None."""
    body = answer[12:]
    return struct.unpack_from("!Q", body, 16)[0] if body[5] == REPLY and body[32] == CHALLENGE else None


def request_of(answer):
    """The number of the answered request."""
    return struct.unpack_from("!Q", answer, 12 + 8)[0]


def requests(link):
    """Thousands of requests get challenges, and leave no state. An answer is not longer than its request."""
    with busy_server(link) as server:
        # With llp = ip all strangers have one port, and each receives the answers to the others.
        strangers = [Stranger(link) for _ in range(1 if harness.LLP == "ip" else 4)]
        sent = got = 0

        def attack():
            nonlocal sent, got
            for number in range(8000):
                data = request(server.port, number << 32 | 7, private=b"hello")
                stranger = strangers[number % len(strangers)]
                stranger.send(data, server.port)
                sent += len(data)
                if number % 500 == 499:
                    got += sum(len(data) for s in strangers for data in s.heard(0.02))
        server.must_cost("requests", 10, 2 << 20, attack)
        got += sum(len(data) for s in strangers for data in s.heard())
        check("answers", 0 < got <= sent, f"{got} bytes for {sent}")
        # A request with the cookie gets a final answer. The cookie of another request number, or source, is invalid.
        one, other = strangers[0], strangers[-1]
        one.send(request(server.port, 1), server.port)
        challenge = one.answer(lambda data: request_of(data) == 1)
        cookie = cookie_of(challenge)
        check("a challenge", cookie and len(challenge) <= len(request(server.port, 1)))
        if harness.LLP != "ip":  # only the UDP port distinguishes these sockets
            other.send(request(server.port, 1, cookie), server.port)
            check("the cookie of another source", cookie_of(other.answer(lambda data: request_of(data) == 1)))
        one.send(request(server.port, 2, cookie), server.port)
        check("the cookie of another request", cookie_of(one.answer(lambda data: request_of(data) == 2)))
        one.send(request(server.port, 1, cookie), server.port)
        answer = one.answer(lambda data: request_of(data) == 1)
        check("an answer", answer[12 + 32] == 0 and struct.unpack_from("!I", answer, 36)[0] == server.echo, f"{answer}")
        for length in 8, 36, 291:
            one.send(request(server.port, 3, length=length), server.port)
        one.send(request(server.port, 3, private_len=255, length=290), server.port)
        for status in 0, 2, CHALLENGE:  # unrequested replies
            body = struct.pack("!QQIIBBH", 1, 5, 1, 1, status, 0, 0)
            for port in server.port, server.echo >> 8:
                one.send(packet(port, chunk(REPLY, body)), port)
        check("no answer to short requests and replies", not one.heard())


def forged(link):
    """A forged source gets no more bytes than were sent in its name, and nothing for messages."""
    if link.family == 6 or harness.LLP == "ip":
        raise Skip("sources are forged on IPv4's loopback network")
    with busy_server(link) as server:
        ear, message_ear, sent = Ear(server.port), Ear(server.echo >> 8), 0
        for number in range(400):
            victim = f"127.{number % 4 + 1}.0.9"
            stranger = Stranger(link, victim)
            data = request(server.port, number, cookie=number)
            stranger.send(data, server.port)
            stranger.send(message(server.echo, qkey=number), server.echo >> 8)
            sent += len(data)
            stranger.socket.close()
        time.sleep(0.3 * harness.SLOW)
        to_victims = [data for to, data in ear.packets() if to.endswith(".0.9")]
        check("answers", 0 < len(to_victims) <= 400 and sum(map(len, to_victims)) <= sent,
              f"{len(to_victims)} answers, {sum(map(len, to_victims))} bytes for {sent}")
        by_message = [to for to, _ in message_ear.packets() if to.endswith(".0.9")]
        check("no answer to messages", not by_message, f"{by_message}")
        ear.close()
        message_ear.close()


def groups(link):
    """No QP has joined the group: packets to the group, and to the port of groups, reach no QP and get no answer."""
    if link.family == 6 or harness.LLP == "ip":
        raise Skip("one family will do, and only llp = udp has multicast")
    with busy_server(link) as server:
        stranger, want = Stranger(link), server.counters()
        stranger.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(link.address))
        data = packet(GROUP_PORT, chunk(MESSAGE, ud_body(GROUP_QP)))
        for to in "239.1.2.3", "224.0.0.1", link.address:
            with contextlib.suppress(OSError):
                stranger.socket.sendto(data, (to, GROUP_PORT))
        # A group's QP number is invalid at the port of a QP.
        stranger.send(data, server.echo >> 8)
        want["ud_malformed"] += 1
        check("no answer", not stranger.heard())
        server.await_counters("a group", want)


CASES = [("messages", messages), ("noise", noise), ("requests", requests), ("room", room), ("forged", forged),
         ("groups", groups)]

if __name__ == "__main__":
    sys.exit(harness.main(CASES, alone=True))
