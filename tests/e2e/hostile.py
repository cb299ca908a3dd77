#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Hostile strangers on the port, and applications that change their memory during transmission."""
import ipaddress
import random
import re
import socket
import struct
import sys

import harness
import oob
import sctp_packets as sctp
from harness import BUILD, Failure, free_port, start

PEER = str(BUILD / "bin/e2e-peer")
SEED = 20


def noise(rng, port):
    """Yields datagrams without end: noise, noise after a header, cut and damaged INITs, with right and wrong CRCs."""
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
        # wrong lengths of chunks
        lie = bytearray(init)
        struct.pack_into("!H", lie, 14, rng.choice((0, 1, 3, 4, 19, 65535, rng.getrandbits(16))))
        yield sctp.seal(bytes(lie))


def garbage(link):
    """Sends thousands of hostile datagrams to the listener and to the client, while both work."""
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
            continue  # an ICMP answer to an earlier datagram
        if number % 500 == 0:
            client.must_run_for(0.05)
    for s in sockets:
        s.close()
    client.must_run_for(1)
    if not server.running():
        raise Failure("the server ended")
    start("rping-second", ["rping", "-c", "-V", "-C", 50, "-a", link.address, "-p", port], link).expect(10)


def bound_ports(pid):
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
    """A thread changes the sender's memory all the time.

    Each received value was in the memory at some time, and no packet on the wire has a wrong CRC.
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


class Eavesdropper:
    """Sees all packets on the loopback interface, and can send any packet."""

    def __init__(self, link):
        self.family = {4: socket.AF_INET, 6: socket.AF_INET6}[link.family]
        self.address = link.address
        try:
            self.ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(sctp.ETH_P_ALL))
        except PermissionError:
            raise harness.Skip("listening on the loopback interface needs CAP_NET_RAW") from None
        self.ear.bind(("lo", 0))
        self.ear.settimeout(5 * harness.SLOW)
        self.mouth = socket.socket(self.family, socket.SOCK_DGRAM)

    def learn(self, port):
        """The peer's port, the tag of packets to the peer, and the tag of packets to this port."""
        tags = {}
        try:
            while len(tags) < 2:
                packet = sctp.udp_payload(self.ear.recv(65536))
                if packet is None or len(packet) < 16 or not sctp.right_crc(packet):
                    continue
                source, destination, tag = struct.unpack_from("!HHI", packet)
                if port in (source, destination) and tag and packet[12] != sctp.INIT_ACK:
                    tags[destination] = tag
        except socket.timeout:
            raise Failure(f"no packets both ways on port {port}") from None
        peer = next(p for p in tags if p != port)
        return peer, tags[peer], tags[port]

    def say(self, source, destination, tag, chunks):
        with harness.contextlib.suppress(OSError):  # an ICMP answer to an earlier packet
            self.mouth.sendto(sctp.packet(source, destination, tag, chunks), (self.address, destination))

    def close(self):
        self.ear.close()
        self.mouth.close()


# With the right tag, each of these would end or change an association.
FORGED = [sctp.chunk(kind, 0, body) for kind, body in (
    (sctp.ABORT, b""), (sctp.ABORT, struct.pack("!HH", 12, 4)), (sctp.SHUTDOWN, bytes(4)), (sctp.SHUTDOWN_ACK, b""),
    (sctp.SHUTDOWN_COMPLETE, b""), (sctp.ERROR, struct.pack("!HHI", 3, 8, 0)), (sctp.COOKIE_ACK, b""),
    (sctp.SACK, struct.pack("!IIHH", 0xFFFFFFFF, 0, 0, 0)), (sctp.DATA, struct.pack("!IHHIHH", 1, 0, 0, 17, 0, 4)))]


def forged(link):
    """Packets with a guessed tag change nothing. An ABORT with the right tag ends the connection.

    rdma_cm reports this on both sides, and all work requests complete.
    """
    # rows: 9260-8.5-01 9260-9.1-01 5042-5.1.1-01
    port = free_port()
    spy = Eavesdropper(link)
    server = start("peer-server", [PEER, "serve", link.any, port, "idle"], link, "server")
    server.wait_listening(port)
    client = start("peer-client", [PEER, "connect", link.address, port, "idle"], link)
    for program in server, client:
        program.wait_for_output("connected")
    peer, to_peer, to_server = spy.learn(port)
    rng = random.Random(SEED)
    for chunks in FORGED:
        for _ in range(100):
            wrong = rng.choice((0, rng.getrandbits(32), 1 << rng.randrange(32)))
            spy.say(peer, port, to_server ^ wrong if wrong else 0, chunks)
            spy.say(port, peer, to_peer ^ wrong if wrong else 0, chunks)
        # The reflected tag counts only with the T bit, and only for two types of chunks.
        spy.say(peer, port, to_peer, chunks)
        spy.say(port, peer, to_server, chunks)
    server.must_run_for(2)  # in that time, heartbeats go both ways
    client.must_run_for(0.1)
    spy.say(peer, port, to_server, sctp.chunk(sctp.ABORT, 0, b""))
    spy.close()
    for program in server, client:
        program.expect(10)
        if "flushed" not in program.output():
            raise Failure(f"{program.name}: the receives did not come back")


class Peer:
    """A minimal SCTP with a session of RFC 5043. It accepts DATA only in order, and sends no DATA twice."""

    def __init__(self, link, port=0):
        self.socket = socket.socket({4: socket.AF_INET, 6: socket.AF_INET6}[link.family], socket.SOCK_DGRAM)
        self.socket.bind((link.address, port))
        self.port = self.socket.getsockname()[1]
        self.tag, self.tsn, self.rwnd = 0x1234567, 1, 1 << 20
        self.headers = {4: 28, 6: 48}[link.family]  # of IP and UDP
        self.sent = self.received = 0  # bytes of IP packets

    def send(self, chunks, tag=None):
        packet = sctp.packet(self.port, self.peer_port, self.peer_tag if tag is None else tag, chunks)
        self.sent += self.headers + len(packet)
        self.socket.sendto(packet, self.to)

    def chunks(self, seconds):
        """The chunks of the next packet as (type, flags, value), or Failure."""
        self.socket.settimeout(seconds * harness.SLOW)
        try:
            packet, self.to = self.socket.recvfrom(65536)
        except socket.timeout:
            raise Failure("the program sent nothing") from None
        self.received += self.headers + len(packet)
        self.peer_port, at = struct.unpack_from("!H", packet)[0], 12
        while at + 4 <= len(packet):
            kind, flags, length = struct.unpack_from("!BBH", packet, at)
            yield kind, flags, packet[at + 4:at + length]
            at += (length + 3) & ~3

    def await_chunk(self, *kinds):
        while True:
            for kind, _, value in self.chunks(5):
                if kind in kinds:
                    return value

    def call(self, address, port, streams=64):
        self.to, self.peer_port = (address, port), port
        self.send(sctp.init(self.tag, self.rwnd, streams, streams, self.tsn, sctp.ADAPTATION), 0)
        answer = self.await_chunk(sctp.INIT_ACK)
        self.peer_tag, *_, tsn = struct.unpack_from("!IIHHI", answer)
        self.cum = (tsn - 1) & 0xFFFFFFFF
        at = 16
        while at + 4 <= len(answer):
            kind, length = struct.unpack_from("!HH", answer, at)
            if kind == sctp.PARAM_COOKIE:
                self.send(sctp.chunk(sctp.COOKIE_ECHO, 0, answer[at + 4:at + length]))
            at += (length + 3) & ~3
        self.await_chunk(sctp.COOKIE_ACK)

    def send_init_ack(self):
        self.send(sctp.chunk(sctp.INIT_ACK, 0, struct.pack(
            "!IIHHI", self.tag, self.rwnd, 64, 64, self.tsn) + sctp.ADAPTATION + struct.pack(
                "!HHI", sctp.PARAM_COOKIE, 8, 0)))

    def answer(self):
        """Waits for a session and accepts it. Returns with the first segment, without acknowledging it."""
        while True:
            for kind, _, value in self.chunks(10):
                if kind == sctp.INIT:
                    self.peer_tag, *_, tsn = struct.unpack_from("!IIHHI", value)
                    self.cum = (tsn - 1) & 0xFFFFFFFF
                    self.send_init_ack()
                elif kind == sctp.COOKIE_ECHO:
                    self.send(sctp.chunk(sctp.COOKIE_ACK, 0, b""))
                elif kind == sctp.DATA:
                    tsn, sid, _, ppid = struct.unpack_from("!IHHI", value)
                    if ppid == 16:
                        return
                    if tsn != (self.cum + 1) & 0xFFFFFFFF:
                        continue
                    self.cum = tsn
                    function = struct.unpack_from("!HH", value, 12)[1] + 1  # the (Enhanced) Accept
                    depths = struct.pack("!HH", 1, 1) if function == 6 else b""
                    self.sack()
                    self.send(sctp.chunk(sctp.DATA, 7, struct.pack("!IHHIHH", self.tsn, sid, 0, 17, 0, function) + depths))

    def sack(self):
        self.send(sctp.chunk(sctp.SACK, 0, struct.pack("!IIHH", self.cum, self.rwnd, 0, 0)))

    def live(self, until, seconds):
        """Answers heartbeats, and any other chunk with the same SACK, until until() is true."""
        deadline = harness.time.monotonic() + seconds * harness.SLOW
        while not until():
            if harness.time.monotonic() > deadline:
                raise Failure(f"it took longer than {seconds} s")
            try:
                for kind, _, value in self.chunks(0.1):
                    if kind == sctp.HEARTBEAT:
                        self.send(sctp.chunk(sctp.HEARTBEAT_ACK, 0, value))
                    elif kind == sctp.DATA:
                        self.sack()
            except Failure:
                continue


class Stale(Peer):
    """A peer that rejects every cookie as stale, at once."""

    def __init__(self, link):
        super().__init__(link)
        self.inits = 0

    def refuse(self, until, seconds):
        """Rejects cookies until until() is true."""
        deadline = harness.time.monotonic() + seconds * harness.SLOW
        while not until():
            if harness.time.monotonic() > deadline:
                raise Failure(f"it took longer than {seconds} s, and {self.inits} INITs")
            with harness.contextlib.suppress(Failure):
                for kind, _, value in self.chunks(0.1):
                    if kind == sctp.INIT:
                        self.inits += 1
                        self.peer_tag = struct.unpack_from("!I", value)[0]
                        self.send_init_ack()
                    elif kind == sctp.COOKIE_ECHO:
                        self.send(sctp.chunk(sctp.ERROR, 0, struct.pack("!HHI", 3, 8, 0)))


def stale(link):
    """Connecting to a peer that rejects every cookie as stale costs some packets, and ends within its limit."""
    # rows: 9260-5.2.6-01
    peer = Stale(link)
    client = start("peer-client", [PEER, "connect", link.address, peer.port, "leave"], link,
                   options=["--silent-limit", 3])
    peer.refuse(lambda: not client.running(), 10)
    client.expect(1, 1)
    if "Connection timed out" not in client.output() or not 3 <= peer.inits <= 9:
        raise Failure(f"{peer.inits} INITs")


def stale_out_of_band(link):
    """The same for a QP that is connected out of band: its Sends fail within their limit."""
    peer = Stale(link)
    with socket.create_server((oob.tcp_address(link), 0)) as listener:
        argv = ["ibv_rc_pingpong", "-d", harness.DEVICE, "-g", oob.gid_index(link, "client"),
                "-p", listener.getsockname()[1], oob.tcp_address(link)]
        client = start("pingpong", argv, link)
        listener.settimeout(10 * harness.SLOW)
        talk, _ = listener.accept()
    with talk:
        talk.recv(100)  # LID, QP number, PSN, GID of the client; the test answers with its own
        address = ipaddress.IPv6Address("::ffff:" + link.address if link.family == 4 else link.address)
        talk.sendall(b"0000:%06x:000000:%s\0" % (peer.port << 8, address.packed.hex().encode()))
        peer.refuse(lambda: not client.running(), 20)
    client.expect(1, 1)
    if "transport retry counter exceeded" not in client.output() or not 1 <= peer.inits <= 9:
        raise Failure(f"{peer.inits} INITs")


def zero_window(link):
    """The peer's window stays closed. The program disconnects, all its work requests complete, and it ends."""
    # rows: 9260-6.1-02
    peer = Peer(link)
    client = start("peer-client", [PEER, "connect", link.address, peer.port, "leave"], link)
    peer.answer()
    peer.rwnd = 0
    peer.sack()
    peer.live(lambda: not client.running(), 15)
    client.expect(1)
    if "flushed" not in client.output():
        raise Failure("the sends did not come back")


def associations(link):
    """Unused associations are closed soon, with few bytes. Until then, there is room for other associations."""
    # rows: 5042-6.4.2-01 5042-6.4.1-02
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    peers = []
    before = resident(server.pid)
    for _ in range(300):
        peers.append(Peer(link))
        peers[-1].call(link.address, port)
    start("rping-client", ["rping", "-c", "-V", "-C", 50, "-a", link.address, "-p", port], link).expect(10)
    grown = resident(server.pid) - before
    if grown > 8 << 20:
        raise Failure(f"the listener grew by {grown >> 10} KiB")
    for peer in peers:
        peer.await_chunk(sctp.SHUTDOWN, sctp.ABORT)
        if peer.received > 3 * peer.sent:
            raise Failure(f"a stranger has sent {peer.sent} bytes, and got {peer.received}")
        peer.socket.close()


class Asker(Peer):
    """A peer that requests a session on each of 65,535 streams."""

    STREAMS = 65535
    PACKET = 50  # Initiates in a packet

    def __init__(self, link, port, tells, undecided):
        """If `tells`, the peer acknowledges DATA, and `undecided` requests get no answer."""
        super().__init__(link)
        self.tells = tells
        self.aborted = False
        self.refused = 0
        self.acked = self.tsn - 1
        first = self.tsn
        self.call(link.address, port, self.STREAMS)
        for sid in range(0, self.STREAMS, self.PACKET):
            count = min(self.PACKET, self.STREAMS - sid)
            self.send(b"".join(sctp.chunk(sctp.DATA, 7, struct.pack("!IHHIHH", self.tsn + i, sid + i, 0, 17, 0, 1))
                               for i in range(count)))
            self.tsn += count
            asked = self.tsn - first
            self.listen(lambda: self.acked - first >= asked - 1000 and
                        (not tells or self.refused >= asked - undecided - 1000))
            if self.aborted:
                return
        if tells:
            self.listen(lambda: self.refused >= self.STREAMS - undecided)

    def listen(self, enough):
        """Receives until enough(), or until the association is aborted."""
        deadline = harness.time.monotonic() + 20 * harness.SLOW
        while not enough() and not self.aborted:
            if harness.time.monotonic() > deadline:
                raise Failure(f"{self.acked} requests have arrived, and {self.refused} were refused")
            data = False
            for kind, _, value in self.chunks(10):
                if kind == sctp.SACK:
                    self.acked = struct.unpack_from("!I", value)[0]
                elif kind == sctp.HEARTBEAT:
                    self.send(sctp.chunk(sctp.HEARTBEAT_ACK, 0, value))
                elif kind == sctp.ABORT:
                    self.aborted = True
                elif kind == sctp.DATA and struct.unpack_from("!I", value)[0] == (self.cum + 1) & 0xFFFFFFFF:
                    self.cum = (self.cum + 1) & 0xFFFFFFFF
                    self.refused += 1
                    data = True
            if data and self.tells:
                self.sack()


def requests(tells):
    def case(link):
        """The memory of a program that decides no requests is bounded, whether peers acknowledge or not."""
        # rows: 5043-6.4-03 5043-6.4-04
        port = free_port()
        # glibc returns freed memory to the kernel by chance, also depending on the threads that allocate. So all
        # threads use one heap. The limit has room for all memory that was in use at once: 2 MiB of waiting requests, 8
        # MiB of answers (docs/settings.md, request-limit), and the gaps between them.
        server = start("peer-server", [PEER, "serve", link.any, port, "decide-nothing"], link, "server",
                       env={"MALLOC_ARENA_MAX": "1"})
        server.wait_listening(port)
        before = resident(server.pid)
        for undecided in 1024, 0, 0:
            asker = Asker(link, port, tells, undecided)
            if asker.aborted == tells:
                raise Failure(f"{asker.refused} requests were refused, and the association " +
                              ("was aborted" if tells else "lives on"))
            grown = resident(server.pid) - before
            if grown > 12 << 20:
                raise Failure(f"the program grew by {grown >> 10} KiB")
    return case


CASES = [
    ("garbage", garbage),
    ("init-flood", init_flood),
    ("forged", forged),
    ("stale", stale),
    ("stale-out-of-band", stale_out_of_band),
    ("zero-window", zero_window),
    ("associations", associations),
    ("requests", requests(True)),
    ("requests.silent", requests(False)),
    ("mutate", mutate),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
