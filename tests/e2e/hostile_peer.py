# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A hostile peer, written only from the RFCs, and measurements of its victim.

Peer is an SCTP (RFC 9260) with sessions (RFC 5043). By itself it does only the work of pump(), so that a test can omit,
forge and repeat anything. Segments are those of RFC 5041 and 5040.
"""
import pathlib
import select
import socket
import struct
import time

import harness
import sctp_packets as sctp
from harness import BUILD, Failure, free_port, start

SHARED = str(BUILD / "bin/e2e-shared")
PPID_DDP, PPID_SESSION = 16, 17
INITIATE, ACCEPT, REJECT, TERMINATE = 1, 2, 3, 4
(WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INVALIDATE, SEND_SE, SEND_SE_INVALIDATE, RDMAP_TERMINATE) = range(8)
RECEIPT = 15  # docs/wire.md
HOLD, HOLD_ASK, HOLD_UNKNOWN = 0xBE, 2, 1
PARAM_RECEIPTS = 0xBF57
RAW = (socket.SOCK_RAW, 132)
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
NOT_OURS = 0xA5A5A5A5  # an STag that nobody has registered


def check(name, true, why=""):
    if not true:
        raise Failure(f"{name}: {why}" if why else name)


def parameter(kind, body=b"", length=None):
    """A parameter of INIT, optionally with a wrong length."""
    return struct.pack("!HH", kind, 4 + len(body) if length is None else length) + body + bytes(-len(body) % 4)


def receipts(version=1, window=1 << 16):
    return parameter(PARAM_RECEIPTS, struct.pack("!BBHI", version, 0, 0, window))


def hold(flags, tsn=0):
    return sctp.chunk(HOLD, flags, struct.pack("!I", tsn & 0xFFFFFFFF))


def untagged(opcode, queue, msn, offset, payload=b"", last=True, invalidate=0, control=None):
    """A segment for a queue (RFC 5041 4.3, RFC 5040 4.1)."""
    first = (0x41 if last else 0x01) if control is None else control
    return struct.pack("!BBIIII", first, 0x40 | opcode, invalidate, queue, msn & 0xFFFFFFFF,
                       offset & 0xFFFFFFFF) + payload


def tagged(opcode, stag, to, payload=b"", last=True):
    """A segment for a tagged buffer (RFC 5041 4.2)."""
    return struct.pack("!BBIQ", 0xC1 if last else 0x81, 0x40 | opcode, stag, to & (1 << 64) - 1) + payload


def read_request(sink_stag, sink_to, length, source_stag, source_to):
    return struct.pack("!IQIIQ", sink_stag, sink_to, length, source_stag, source_to)


def receipt(flags, next_ssn=0, msn=0):
    return struct.pack("!BBHI", flags, 0, next_ssn & 0xFFFF, msn & 0xFFFFFFFF)


class Victim:
    """A server of e2e-shared, with measurements of its cost."""

    def __init__(self, link, options=(), side="server", any_address=True):
        self.link = link
        self.port = free_port()
        where = link.any if any_address else link.address
        self.program = start("victim", [SHARED, "serve", where, self.port], link, side, options=options)
        self.program.wait_listening(self.port)

    def resident(self):
        fields = pathlib.Path(f"/proc/{self.program.pid}/statm").read_text().split()
        return int(fields[1]) * harness.os.sysconf("SC_PAGE_SIZE")

    def processor(self):
        """Processor time of the victim, in seconds."""
        fields = pathlib.Path(f"/proc/{self.program.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / harness.os.sysconf("SC_CLK_TCK")

    def must_serve(self, count=20):
        """Honest clients get their echoes, and all receives are in use."""
        name = f"honest-{count}"
        client = start(name, [SHARED, "connect", self.link.address, self.port, count], self.link)
        client.expect(20)
        if not self.program.running():
            raise Failure("the victim ended")

    def must_cost(self, name, seconds, grown, attack):
        """Runs the attack, which may cost the victim this processor time, and this many bytes permanently."""
        processor, resident = self.processor(), self.resident()
        attack()
        used, more = self.processor() - processor, self.resident() - resident
        if not self.program.running():
            raise Failure(f"{name}: the victim ended")
        check(name, used <= seconds * harness.SLOW, f"it took {used:.2f} s of the processor, and not {seconds}")
        if not harness.PRELOAD:  # AddressSanitizer keeps freed memory
            check(name, more <= grown, f"the victim grew by {more >> 10} KiB, not {grown >> 10}")
        return used, more


class Ear:
    """Captures packets that leave a UDP port on the loopback interface, to any address."""

    def __init__(self, port):
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(sctp.ETH_P_ALL))
        except PermissionError:
            raise harness.Skip("listening on the loopback interface needs CAP_NET_RAW") from None
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        self.socket.bind(("lo", 0))
        self.socket.setblocking(False)
        self.port = port

    def packets(self):
        """The packets since the last call, as (destination's address, SCTP packet)."""
        while True:
            try:
                frame, (_, _, kind, *_) = self.socket.recvfrom(65536)
            except BlockingIOError:
                return
            packet = sctp.udp_payload(frame)
            if kind != socket.PACKET_OUTGOING or packet is None or len(packet) < 12:
                continue
            if struct.unpack_from("!H", packet)[0] == self.port:
                at, family = (30, socket.AF_INET) if frame[12] == 8 else (38, socket.AF_INET6)
                length = {socket.AF_INET: 4, socket.AF_INET6: 16}[family]
                yield socket.inet_ntop(family, frame[at:at + length]), packet

    def close(self):
        self.socket.close()


def chunks_of(packet):
    """The chunks of a packet as (type, flags, value)."""
    at = 12
    while at + 4 <= len(packet):
        kind, flags, length = struct.unpack_from("!BBH", packet, at)
        yield kind, flags, packet[at + 4:at + length]
        at += max((length + 3) & ~3, 4)


class Peer:
    """A peer that a test controls. Its attributes select the work of pump(): acknowledge, answer HEARTBEATs, close."""

    def __init__(self, link, address=None, port=0):
        self.link = link
        self.socket = socket.socket(FAMILIES[link.family], *RAW if harness.LLP == "ip" else (socket.SOCK_DGRAM,))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind((address or link.address, port))
        self.socket.setblocking(False)
        self.poll = select.poll()
        self.poll.register(self.socket, select.POLLIN)
        self.port = port or free_port() if harness.LLP == "ip" else self.socket.getsockname()[1]
        self.tag, self.first, self.rwnd = 0x1234567, 1, 1 << 20
        self.tsn, self.peer_tag, self.cum, self.acked = self.first, 0, None, 0
        self.acknowledges, self.answers, self.closes = True, True, True
        self.behind_sack = b""
        self.data = []  # received: (stream, PPID, DDP-SSN, rest), in order
        self.heard = {}  # number of received chunks of each type
        self.packets = self.bytes = 0  # received
        self.errors = []  # values of ERROR and ABORT
        self.values = {}  # the last value of each type of chunk
        self.early = set()

    # ---------------------------------------------------------------- packets

    def send(self, chunks, tag=None, to=None):
        packet = sctp.packet(self.port, self.to[1], self.peer_tag if tag is None else tag, chunks)
        with harness.contextlib.suppress(OSError):  # an ICMP answer to an earlier packet, or a full buffer
            self.socket.sendto(packet, ((to or self.to)[0], 0) if harness.LLP == "ip" else to or self.to)
        return packet

    def receive(self):
        """The next SCTP packet, or None. It may be for another socket."""
        with harness.contextlib.suppress(OSError):
            packet = self.socket.recv(65536)
            return packet[(packet[0] & 15) * 4:] if harness.LLP == "ip" and self.link.family == 4 else packet

    def sack(self, gaps=b"", duplicates=b"", cum=None):
        self.send(sctp.chunk(sctp.SACK, 0, struct.pack(
            "!IIHH", self.cum if cum is None else cum & 0xFFFFFFFF, self.rwnd, len(gaps) // 4,
            len(duplicates) // 4) + gaps + duplicates) + self.behind_sack)

    def pump(self, seconds=0.0, until=None, quiet=None):
        """Handles packets for that time, or until until(). Ends early if quiet seconds pass without a packet."""
        deadline = time.monotonic() + seconds
        silent = time.monotonic()
        while not (until and until()):
            now = time.monotonic()
            wait = max(0, deadline - now)
            if quiet is not None:
                wait = max(0, min(wait, silent + quiet - now))
            if not self.poll.poll(wait * 1000):
                return bool(until and until())
            packet = self.receive()
            if packet and struct.unpack_from("!H", packet, 2)[0] == self.port:
                silent = time.monotonic()
                self.take(packet)
        return True

    def expect(self, what, until, seconds=10):
        check(what, self.pump(seconds * harness.SLOW, until), f"not within {seconds} s")

    def take(self, packet):
        self.packets += 1
        self.bytes += len(packet)
        data = False
        for kind, flags, value in chunks_of(packet):
            self.heard[kind] = self.heard.get(kind, 0) + 1
            self.values[kind] = value
            if kind == sctp.DATA:
                data = True
                self.take_data(value)
            elif kind == sctp.SACK:
                self.acked = struct.unpack_from("!I", value)[0]
            elif kind == sctp.HEARTBEAT and self.answers:
                self.send(sctp.chunk(sctp.HEARTBEAT_ACK, 0, value))
            elif kind == sctp.SHUTDOWN and self.closes:
                self.send(sctp.chunk(sctp.SHUTDOWN_ACK, 0, b""))
            elif kind in (sctp.ABORT, sctp.ERROR):
                self.errors.append((kind, value))
        if data and self.acknowledges:
            self.sack()

    def take_data(self, value):
        tsn, sid, _, ppid = struct.unpack_from("!IHHI", value)
        ahead = (tsn - self.cum) & 0xFFFFFFFF
        if not 0 < ahead < 1 << 31 or tsn in self.early:
            return
        self.early.add(tsn)
        while (self.cum + 1) & 0xFFFFFFFF in self.early:
            self.cum = (self.cum + 1) & 0xFFFFFFFF
            self.early.discard(self.cum)
        self.data.append((sid, ppid, struct.unpack_from("!H", value, 12)[0], value[14:]))

    def aborted(self):
        return sctp.ABORT in self.heard

    # ---------------------------------------------------------------- associations

    def init(self, parameters=sctp.ADAPTATION, streams=64, inbound=None):
        return sctp.init(self.tag, self.rwnd, streams, inbound or streams, self.tsn, parameters)

    def call(self, port, parameters=sctp.ADAPTATION, streams=64, address=None):
        self.to = (address or self.link.address, port)
        for _ in range(10):  # answers to one address are limited
            self.send(self.init(parameters, streams), 0)
            if self.pump(1, lambda: sctp.INIT_ACK in self.values):
                break
        check("INIT ACK", sctp.INIT_ACK in self.values)
        self.learn(self.values[sctp.INIT_ACK])
        self.send(sctp.chunk(sctp.COOKIE_ECHO, 0, self.cookie))
        self.expect("COOKIE ACK", lambda: sctp.COOKIE_ACK in self.values)
        return self

    def learn(self, answer):
        self.peer_tag, self.peer_rwnd, _, _, tsn = struct.unpack_from("!IIHHI", answer)
        self.cum, at = (tsn - 1) & 0xFFFFFFFF, 16
        self.parameters = {}
        while at + 4 <= len(answer):
            kind, length = struct.unpack_from("!HH", answer, at)
            self.parameters[kind] = answer[at + 4:at + length]
            at += max((length + 3) & ~3, 4)
        self.cookie = self.parameters[sctp.PARAM_COOKIE]

    def data_chunk(self, sid, ppid, body, flags=7, tsn=None, ssn=0):
        if tsn is None:
            tsn, self.tsn = self.tsn, (self.tsn + 1) & 0xFFFFFFFF
        return sctp.chunk(sctp.DATA, flags, struct.pack("!IHHI", tsn, sid, ssn, ppid) + body)

    def session(self, sid, private=b""):
        return Session(self, sid, private)

    def close(self):
        """Ends the association, if it exists, without waiting."""
        if self.peer_tag:
            self.send(sctp.chunk(sctp.ABORT, 0, b""))
        self.socket.close()


class Session:
    """A session on one stream that a Peer has initiated."""

    def __init__(self, peer, sid, private=b""):
        self.peer, self.sid, self.ssn, self.msn = peer, sid, 0, 1
        self.accepted = False
        self.seen = len(peer.data)
        self.control(INITIATE, private)

    def control(self, function, private=b""):
        self.peer.send(self.message(PPID_SESSION, struct.pack("!H", function) + private))

    def message(self, ppid, body, ssn=None, flags=7, tsn=None):
        """A chunk with the next DDP-SSN."""
        if ssn is None:
            ssn, self.ssn = self.ssn, (self.ssn + 1) & 0xFFFF
        return self.peer.data_chunk(self.sid, ppid, struct.pack("!H", ssn & 0xFFFF) + body, flags, tsn)

    def segment(self, body, **how):
        self.peer.send(self.message(PPID_DDP, body, **how))

    def say(self, payload=b"hello" * 4):
        """Sends a valid Send."""
        self.segment(untagged(SEND, 0, self.msn, 0, payload))
        self.msn += 1

    def of(self, ppid):
        """The messages on this stream since the request for the session."""
        return [body for sid, kind, _, body in self.peer.data[self.seen:] if (sid, kind) == (self.sid, ppid)]

    def accept(self):
        """Waits for the Accept, and returns the session."""
        self.peer.expect(f"Accept on stream {self.sid}", lambda: self.of(PPID_SESSION))
        function, = struct.unpack_from("!H", self.of(PPID_SESSION)[0])
        check("Accept", function == ACCEPT, f"{function}")
        self.accepted = True
        self.address, self.rkey = struct.unpack_from("!QI", self.of(PPID_SESSION)[0], 2)
        return self

    def ended(self):
        return any(struct.unpack_from("!H", body)[0] == TERMINATE for body in self.of(PPID_SESSION))
