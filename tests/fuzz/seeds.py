#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes fuzz inputs from a capture.

usage: seeds.py CAPTURE.pcap[ng] DIRECTORY

What went over the wire becomes scripts for the targets (see how each reads its input), in
DIRECTORY/{sctp,ddp,session,wire}/. Needs tshark.
"""
import pathlib
import struct
import subprocess
import sys

UP_PASSIVE, STATE_NOTHING = 3, 0
DATA = 0


def packets(capture):
    """Yields every SCTP packet of the capture, on IP or in UDP."""
    out = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", "udp.payload", "-e", "ip.proto"],
                         capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        payload = bytes.fromhex(line.split("\t")[0])
        if len(payload) > 16:
            yield payload


def chunks(packet):
    at = 12
    while at + 4 <= len(packet):
        kind, flags, length = struct.unpack_from("!BBH", packet, at)
        if length < 4 or at + length > len(packet):
            return
        yield kind, packet[at + 4:at + length]
        at += (length + 3) & ~3


def sctp_step(packet):
    body = packet[12:]
    n = min((len(body) + 15) // 16, 255)
    return bytes([0x90, n]) + body[:16 * n].ljust(16 * n, b"\0")


def raw_message(shape, message):
    body = message[2:257]  # without the DDP-SSN
    return bytes([0x00, shape, len(body)]) + body


def one_of_each(messages):
    """Yields the first DDP segment of each RDMAP opcode, in the order in which they came."""
    seen = {}
    for message in messages:
        seen.setdefault(message[3] & 0xf, message)
    return list(seen.values())


def session_message(message):
    function, body = struct.unpack_from("!H", message, 2)[0], message[4:]
    n = min(len(body), 255)
    # how: the function as it stands (0x10), ppid 17; stream 0
    return bytes([0x00, 0x11, 0, n]) + body[:n] + struct.pack("!H", function)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[2])
    all_packets = list(packets(sys.argv[1]))
    sctp = [sctp_step(p) for p in all_packets]
    data = [body[12:] for p in all_packets for kind, body in chunks(p) if kind == DATA]
    ppids = [struct.unpack_from("!I", body, 8)[0] for p in all_packets for kind, body in chunks(p) if kind == DATA]
    segments = [m for m, ppid in zip(data, ppids) if ppid == 16]
    ddp = [raw_message(0xb9, m) for m in segments]
    each = [raw_message(0xb9, m) for m in one_of_each(segments)]
    control = [session_message(m) for m, ppid in zip(data, ppids) if ppid == 17]
    seeds = {
        "sctp": [bytes([UP_PASSIVE]) + b"".join(sctp[:12]), bytes([STATE_NOTHING]) + b"".join(sctp[:12])],
        "ddp": [b"\0" + b"".join(ddp[:12])] + [b"\0" + d for d in each],
        "session": [b"\0" + b"".join(control)] + [b"\0" + c for c in control],
        "wire": sorted({p[12:] for p in all_packets} | {m[2:] for m in data}, key=len)[:40],
    }
    for name, inputs in seeds.items():
        (target / name).mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(inputs):
            (target / name / f"capture-{i:02}").write_bytes(seed)


if __name__ == "__main__":
    main()
