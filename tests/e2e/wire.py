#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks every packet of both sides of a connection on an interface against RFC 9260 and RFC 6951.

    wire.py capture INTERFACE FILE     until SIGTERM; fails if packets were missed
"""
import collections
import pathlib
import signal
import socket
import struct
import sys

import harness
import sctp_packets as sctp
from harness import LLP, Failure, Skip, free_port, start

INIT, INIT_ACK, SACK, ABORT, COOKIE_ECHO, COOKIE_ACK, SHUTDOWN_COMPLETE = 1, 2, 3, 6, 10, 11, 14
ALONE = {INIT, INIT_ACK, SHUTDOWN_COMPLETE}
ADDRESS_PARAMETERS = {5, 6, 11}
ADAPTATION = 0xC006
SOL_PACKET, PACKET_STATISTICS, SO_RCVBUFFORCE = 263, 6, 33
MTU = 1500

Datagram = collections.namedtuple("Datagram", "family tos length source destination udp_length checksum payload")


def capture(interface, path):
    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(sctp.ETH_P_ALL)) as s, open(path, "wb") as f:
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        s.bind((interface, 0))
        print("capturing", flush=True)
        try:
            while True:
                frame = s.recv(65536)
                f.write(struct.pack("!I", len(frame)) + frame)
        except KeyboardInterrupt:
            pass
        _, missed = struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    print(f"{missed} packets were missed")
    return missed != 0


def datagrams(path, port):
    """The UDP datagrams from and to a port."""
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        length, = struct.unpack_from("!I", data, at)
        frame = data[at + 4:at + 4 + length]
        at += 4 + length
        family = sctp.ETHERTYPE.get(struct.unpack_from("!H", frame, 12)[0])
        payload = sctp.udp_payload(frame)
        if payload is None:
            continue
        if family == 4:
            tos, ip_length, start_of_udp = frame[15], struct.unpack_from("!H", frame, 16)[0], 14 + (frame[14] & 15) * 4
        else:
            tos = struct.unpack_from("!I", frame, 14)[0] >> 20 & 0xFF
            ip_length, start_of_udp = 40 + struct.unpack_from("!H", frame, 18)[0], 14 + 40
        source, destination, udp_length, checksum = struct.unpack_from("!HHHH", frame, start_of_udp)
        if port in (source, destination):
            yield Datagram(family, tos, ip_length, source, destination, udp_length, checksum, payload)


def chunks(packet):
    """The chunks of a packet: (type, flags, value without padding)."""
    at = 12
    while at < len(packet):
        kind, flags, length = struct.unpack_from("!BBH", packet, at)
        must(length >= 4 and at + length <= len(packet), "a chunk does not fit", packet)
        padding = packet[at + length:at + length + -length % 4]
        must(not any(padding), "padding is not zero", packet)
        yield kind, flags, packet[at + 4:at + length]
        at += length + -length % 4


def parameters(value):
    """The parameters of an INIT or INIT ACK."""
    at = 16
    while at + 4 <= len(value):
        kind, length = struct.unpack_from("!HH", value, at)
        yield kind, value[at + 4:at + length]
        at += length + -length % 4


def must(condition, problem, packet):
    if not condition:
        raise Failure(f"{problem}: {packet.hex()[:400]}")


def check_datagram(d):
    # rows: 6951-5.3-01 6951-5.3-02 6951-5.8-01 6951-5.6-01 9260-6.8-01 9260-3.1-01
    source, destination = struct.unpack_from("!HH", d.payload)
    must(d.udp_length == 8 + len(d.payload), "the UDP length is wrong", d.payload)
    must(len(d.payload) % 4 == 0, "SCTP is not all of the payload", d.payload)
    must(d.checksum != 0, "there is no UDP checksum", d.payload)
    must(d.tos & 3 == 0, "ECN is claimed", d.payload)
    must(d.length <= MTU, "it is larger than the path MTU", d.payload)
    must(sctp.right_crc(d.payload), "the CRC32c is wrong", d.payload)
    must(source and destination, "port 0", d.payload)


def check_init(value, packet):
    # rows: 6951-3.2-01 6951-5.7-01 9260-3.3.2-01 9260-3.3.2.1-03 5061-4.2.6-01
    tag, window, outbound, inbound, _ = struct.unpack_from("!IIHHI", value)
    found = [kind for kind, _ in parameters(value)]
    must(tag and window >= 1500 and outbound and inbound, "a field of INIT or INIT ACK is out of range", packet)
    must(len(set(found)) == len(found), "a parameter is there twice", packet)
    must(not ADDRESS_PARAMETERS & set(found), "an address is listed", packet)
    must(dict(parameters(value)).get(ADAPTATION) == struct.pack("!I", 1), "the adaptation code is not DDP's", packet)
    return tag


def check_data(flags, value, packet):
    # rows: 9260-3.3.1-01 9260-3.3.1-02 9260-3.3.1-05 9260-6.5-02
    _, stream, ssn, ppid = struct.unpack_from("!IHHI", value)
    must(flags & ~8 == 7, "DATA is fragmented or ordered", packet)
    must(len(value) > 12, "DATA is empty", packet)
    must(ppid in (16, 17), "the PPID is not DDP's", packet)
    must(ssn == 0, "an unordered message has moved the SSN", packet)
    return stream


def check_all(packets, least):
    """Checks all packets of one connection, with at least `least` DATA chunks. Returns the number of repeated DATA
    chunks."""
    # rows: 9260-3-01 9260-3.1-02 9260-3.2.2-03 9260-3.3.1-06 9260-3.3.12-01 9260-6.10-01 9260-3.3.7-01 9260-5.1.1-01
    tags = {}      # by the port of a side: the tag that the side announced
    first = {}     # its first TSN
    newest = {}    # the newest TSN that it sent
    streams = {}   # the outbound and inbound streams that it announced
    resent = 0
    for d in packets:
        check_datagram(d)
        source, destination, vtag = struct.unpack_from("!HHI", d.payload)
        found = list(chunks(d.payload))
        kinds = [kind for kind, _, _ in found]
        must(kinds, "there is no chunk", d.payload)
        must(len(kinds) == 1 or not ALONE & set(kinds), "a chunk is not alone", d.payload)
        must({COOKIE_ECHO, COOKIE_ACK}.isdisjoint(kinds[1:]), "a cookie's chunk is not the first", d.payload)
        must(kinds == sorted(kinds, key=lambda kind: kind == sctp.DATA), "control chunks are behind DATA", d.payload)
        must(ABORT not in kinds or sctp.DATA not in kinds and kinds[-1] == ABORT, "ABORT with DATA", d.payload)
        if kinds[0] in (INIT, INIT_ACK):
            value = found[0][2]
            tags[source] = check_init(value, d.payload)
            newest[source] = first[source] = (struct.unpack_from("!I", value, 12)[0] - 1) & 0xFFFFFFFF
            streams[source] = struct.unpack_from("!HH", value, 8)
        must(vtag == (0 if kinds[0] == INIT else tags[destination]), "the tag is not the receiver's", d.payload)
        before = None
        for kind, flags, value in found:
            if kind != sctp.DATA:
                continue
            stream = check_data(flags, value, d.payload)
            must(stream < min(streams[source][0], streams[destination][1]), "no such stream", d.payload)
            tsn, = struct.unpack_from("!I", value)
            must(before is None or 0 < (tsn - before) & 0xFFFFFFFF < 1 << 31, "TSNs are not ascending", d.payload)
            before = tsn
            if tsn == (newest[source] + 1) & 0xFFFFFFFF:
                newest[source] = tsn
            else:
                must((newest[source] - tsn) & 0xFFFFFFFF < (newest[source] - first[source]) & 0xFFFFFFFF,
                     "a TSN is left out", d.payload)
                resent += 1
    must(len(newest) == 2, "not both sides have spoken", b"")
    sent = {side: (newest[side] - first[side]) & 0xFFFFFFFF for side in newest}
    if min(sent.values()) < least:
        raise Failure(f"only so much DATA was seen: {sent}")
    return resent


def connection(link):
    """One connection with checks of all packets."""
    if LLP != "udp":
        raise Skip("looks into UDP datagrams alone")
    path, port = harness.log_file("frames"), free_port()
    sniffer = start("capture", [sys.executable, __file__, "capture", "veth0", path], link, "server", rdma=False)
    sniffer.wait_for_output("capturing")
    command = ["rping", "-V", "-C", 100, "-S", 5000, "-p", port]
    server = start("rping-server", [*command, "-s", "-a", link.any], link, "server")
    server.wait_listening(port)
    start("rping-client", [*command, "-c", "-a", link.address], link).expect(40)
    server.expect(10)
    sniffer.signal(signal.SIGTERM)
    sniffer.expect(5)
    resent = check_all(list(datagrams(path, port)), 200)
    if link.name.startswith("loss") and not resent:
        raise Failure("nothing was sent again on a lossy link")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "capture":
        sys.exit(capture(*sys.argv[2:]))
    sys.exit(harness.main([("connection", connection)]))
