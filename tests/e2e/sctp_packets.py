#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""SCTP packets in UDP: made for tests (RFC 9260), and checked on a network interface.

    sctp_packets.py check INTERFACE COUNT     capture COUNT packets with DATA, exit 1 if a CRC is wrong
"""
import socket
import struct
import sys

(DATA, INIT, INIT_ACK, SACK, HEARTBEAT, HEARTBEAT_ACK,
 ABORT, SHUTDOWN, SHUTDOWN_ACK, ERROR, COOKIE_ECHO, COOKIE_ACK) = range(12)
SHUTDOWN_COMPLETE = 14
PARAM_COOKIE = 7
ETH_P_ALL = 3
ETHERTYPE = {0x0800: 4, 0x86DD: 6}
UDP = 17

# The Adaptation Layer Indication (RFC 5061 4.2.6) with DDP's code point 1 (RFC 5043).
ADAPTATION = struct.pack("!HHI", 0xC006, 8, 1)


def _table():
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        yield n


_CRC = tuple(_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def seal(packet):
    """The packet with the right CRC (its low byte comes first, RFC 9260 appendix A)."""
    if len(packet) < 12:
        return packet
    bare = packet[:8] + bytes(4) + packet[12:]
    return bare[:8] + struct.pack("<I", crc32c(bare)) + bare[12:]


def right_crc(packet):
    return seal(packet) == packet


def packet(source, destination, vtag, chunks):
    return seal(struct.pack("!HHII", source, destination, vtag, 0) + chunks)


def chunk(kind, flags, body):
    length = 4 + len(body)
    return struct.pack("!BBH", kind, flags, length) + body + bytes(-length % 4)


def init(tag, rwnd, outbound, inbound, tsn, parameters=b""):
    return chunk(INIT, 0, struct.pack("!IIHHI", tag, rwnd, outbound, inbound, tsn) + parameters)


def udp_payload(frame):
    """The UDP payload of an Ethernet frame, or None."""
    version = ETHERTYPE.get(struct.unpack_from("!H", frame, 12)[0])
    if version == 4 and frame[23] == UDP:
        start = 14 + (frame[14] & 15) * 4
    elif version == 6 and frame[20] == UDP:
        start = 14 + 40
    else:
        return None
    return frame[start + 8:start + struct.unpack_from("!H", frame, start + 4)[0]]


def has_data(packet_):
    return len(packet_) > 500 and packet_[12] in (DATA, SACK)  # a SACK may come first


def check(interface, count):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        s.bind((interface, 0))
        print("capturing", flush=True)
        packets = []
        while len(packets) < count:
            payload = udp_payload(s.recv(65536))
            if payload is not None and has_data(payload):
                packets.append(payload)
    wrong = sum(not right_crc(p) for p in packets)
    print(f"{count} packets of {sum(map(len, packets)) // count} bytes, {wrong} of them with a wrong CRC")
    return wrong != 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "check":
        sys.exit(__doc__)
    sys.exit(check(sys.argv[2], int(sys.argv[3])))
