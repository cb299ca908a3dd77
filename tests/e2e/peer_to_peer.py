#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The setting peer-to-peer: stock programs with it, and its first messages on the wire."""
import collections
import pathlib
import struct
import sys

import harness
import perftest_run
from harness import BUILD, LLP, Failure, Skip, free_port, run_pair, start

PACKET_BLOCK, FLAGS_OPTION, OUT = 6, 2, 2
UDP, DATA = 17, 0
SEGMENT, CONTROL = 16, 17
INITIATE, ACCEPT, TERMINATE = 5, 6, 4
READ_BODY = bytes(28)
# The RTR indications, after the DDP-SSN.
WRITE = bytes.fromhex("c140") + bytes(12)
READ = bytes.fromhex("4141 00000000 00000001 00000001 00000000") + READ_BODY
SEND = bytes.fromhex("4143 00000000 00000000 00000001 00000000")
A, B, C, D = 1 << 31, 1 << 30, 1 << 15, 1 << 14
# The flags of the Initiate and of the Accept, and the first segment.
KINDS = {
    "send": (A | B, A | B, SEND),
    "write": (A | C, A | C, WRITE),
    "read": (A | D, A | D, READ),
    "any": (A | B | C | D, A | C | D, WRITE),
    "off": (0, 0, None),
}

Message = collections.namedtuple("Message", "source port stream ppid data")


def packets_sent(path):
    """The packets of a capture that its process has sent, in order."""
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        block = data[at + 8:at + length - 4]
        at += length
        if kind != PACKET_BLOCK:
            continue
        captured, = struct.unpack_from("=I", block, 12)
        packet, options = block[20:20 + captured], block[20 + captured + -captured % 4:]
        code, size, flags = struct.unpack_from("=HHI", options)
        if (code, size) != (FLAGS_OPTION, 4):
            raise Failure(f"{path}: a packet without its direction")
        if flags & 3 == OUT:
            yield packet


def messages(path):
    """The user messages in the capture, each once."""
    seen = set()
    for packet in packets_sent(path):
        length, protocol = (40, packet[6]) if packet[0] >> 4 == 6 else (20, packet[9])
        sctp = packet[length + 8 * (protocol == UDP):]
        source, port = struct.unpack_from("!HH", sctp)
        at = 12
        while at < len(sctp):
            kind, _, size = struct.unpack_from("!BBH", sctp, at)
            if kind == DATA:
                tsn, stream, _, ppid = struct.unpack_from("!IHHI", sctp, at + 4)
                if (source, port, tsn) not in seen:
                    seen.add((source, port, tsn))
                    yield Message(source, port, stream, ppid, sctp[at + 16:at + size])
            at += size + -size % 4


def sessions(path):
    """The messages of each session, its Initiate first."""
    done, going = [], {}
    for m in messages(path):
        key = frozenset((m.source, m.port)), m.stream
        if m.ppid == CONTROL and struct.unpack_from("!H", m.data, 2)[0] == INITIATE:
            done.append(going.setdefault(key, []))
            going[key] = done[-1] = []
        going[key].append(m)
    return done


def wire(kind):
    """Both sides are in one process. The accepting side sends at once, but nothing leaves before the RTR indication."""
    def case(link):
        # rows: 6581-5-01 6581-5-02 6581-7-18 6581-9.2-01 6581-9.2-02 6581-9.2-03 6581-9.2-04 6581-9.2-05
        # rows: 6581-9.2-06 6581-9.2-08 6581-9.2-14 6581-9.2-18 6581-9.2-19
        if LLP == "kernel":
            raise Skip("the packets are the kernel's")
        capture = harness.log_file(f"{kind}.pcapng")
        start(kind, [BUILD / "bin/verbs_cm_peer", kind], link, env={"SCTPIW_CAPTURE": str(capture)}).expect(60)
        found = sessions(capture)
        if len(found) != 20:
            raise Failure(f"{len(found)} sessions instead of 20")
        asked, answered, rtr = KINDS[kind]
        for session in found:
            initiate, accept = session[:2]
            if struct.unpack("!HHI", initiate.data[:8])[1:] != (INITIATE, asked | depths(initiate)):
                raise Failure(f"the Initiate is {initiate.data.hex()}")
            if struct.unpack("!HHI", accept.data[:8])[1:] != (ACCEPT, answered | depths(accept)):
                raise Failure(f"the Accept is {accept.data.hex()}")
            first = next(m for m in session if m.ppid == SEGMENT)
            expected = accept.source if rtr is None else initiate.source
            if first.source != expected or (rtr and first.data[2:] != rtr):
                raise Failure(f"the first segment is {first}")
    return case


def depths(message):
    return struct.unpack_from("!I", message.data, 4)[0] & 0x3fff3fff


def rping(kind):
    def case(link):
        port = str(free_port())
        common = ["-p", port, "-V", "-C", "200", "-S", "2000"]
        run_pair(link, ["rping", "-s", "-a", link.any, *common], ["rping", "-c", "-a", link.address, *common],
                 int(port), env={"SCTPIW_PEER_TO_PEER": kind})
    return case


def perftest(tool, kind):
    def case(link):
        options = ["-n", 200, "-s", 4096, "-q", 2] if tool.endswith("bw") else ["-n", 200, "-s", 64]
        rows = perftest_run.run(link, tool, options, env={"SCTPIW_PEER_TO_PEER": kind})
        if len(rows) != 1:
            raise Failure(f"{len(rows)} rows")
    return case


if __name__ == "__main__":
    sys.exit(harness.main([
        *((f"wire.{kind}", wire(kind)) for kind in KINDS),
        *((f"rping.{kind}", rping(kind)) for kind in KINDS if kind != "off"),
        ("ib_send_lat.send", perftest("ib_send_lat", "send")),
        ("ib_write_bw.write", perftest("ib_write_bw", "write")),
        ("ib_read_bw.read", perftest("ib_read_bw", "read")),
    ]))
