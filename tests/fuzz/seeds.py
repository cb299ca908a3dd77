#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes fuzz inputs from a capture.

usage: seeds.py CAPTURE.pcap[ng] DIRECTORY

Converts the captured packets to scripts for the targets, in their formats of input, in
DIRECTORY/{sctp,cookie,ddp,session,wire}/. Needs tshark.
"""
import pathlib
import struct
import subprocess
import sys

UP_PASSIVE, STATE_NOTHING, STATES = 3, 0, 10
BOTH_KNOW_RECEIPTS = 4  # of the versions in fuzz_sctp.c
DATA, INIT, INIT_ACK, SACK = 0, 1, 2, 3
RECEIPTS, HOLD = 0xBF57, 0xBE  # docs/wire.md
RECEIPT = 15
STEP_USER, STEP_HOLD, STEP_RECEIPTS = 0xB0, 0xD0, 0xD8


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
        yield kind, flags, packet[at + 4:at + length]
        at += (length + 3) & ~3


def sctp_step(packet):
    body = packet[12:]
    n = min((len(body) + 15) // 16, 255)
    return bytes([0x90, n]) + body[:16 * n].ljust(16 * n, b"\0")


def parameters(init):
    at = 16
    while at + 4 <= len(init):
        kind, length = struct.unpack_from("!HH", init, at)
        yield kind, init[at + 4:at + length]
        at += max(4, (length + 3) & ~3)


def is_receipt(data):
    return struct.unpack_from("!I", data, 8)[0] == 16 and data[12 + 3] & 0xf == RECEIPT


def number(tsn, first):
    """Returns a TSN as in the steps of fuzz_sctp."""
    return (tsn - first) & 0xff


def peer_steps(found, sender_first, receiver_first):
    """Returns the steps for a packet of the instance's peer: a SACK, perhaps with a HOLD chunk, and DATA."""
    sack = next((b for k, _, b in found if k == SACK), None)
    hold = next(((f, b) for k, f, b in found if k == HOLD), None)
    data = [b for k, _, b in found if k == DATA]
    steps = []
    if sack or hold:
        how = (0 if sack else 1) | (2 if hold else 0) | (4 if data else 0)
        steps.append(bytes([STEP_HOLD, how, hold[0] if hold else 0,
                            number(struct.unpack_from("!I", sack)[0], receiver_first) if sack else 0,
                            number(struct.unpack_from("!I", hold[1])[0], sender_first) if hold else 0]))
        if data:
            steps[0] += bytes([number(struct.unpack_from("!I", data.pop(0))[0], sender_first)])
    for body in data:
        steps.append(bytes([STEP_HOLD, 5, 0, 0, 0, number(struct.unpack_from("!I", body)[0], sender_first)]))
    return steps


def user_steps(found):
    """Returns the steps for messages of the instance's user."""
    data = [b for k, _, b in found if k == DATA]
    receipts = sum(map(is_receipt, data))
    if receipts:
        return [bytes([STEP_RECEIPTS, receipts | (len(data) - receipts) << 5])]
    return [bytes([STEP_USER, 0, len(data)])] if data else []


def conversation(all_packets):
    """Returns a script for fuzz_sctp: the same association. The instance is the side that got the INIT."""
    steps, first, port = [], {}, None
    for packet in all_packets:
        found, source = list(chunks(packet)), packet[:2]
        for kind, _, body in found:
            if kind in (INIT, INIT_ACK):
                first[source] = struct.unpack_from("!I", body, 12)[0]
                port = source if kind == INIT_ACK else port
        if len(first) < 2:
            continue
        if source == port:
            steps += user_steps(found)
        else:
            steps += peer_steps(found, first[source], first[port])
    return bytes([STATES * BOTH_KNOW_RECEIPTS + UP_PASSIVE]) + b"".join(steps)


def cookies(all_packets):
    """Yields scripts for fuzz_cookie: both sides send the same parameters, and the cookie is unchanged."""
    for packet in all_packets:
        for kind, _, body in chunks(packet):
            if kind in (INIT, INIT_ACK):
                for parameter, value in parameters(body):
                    if parameter == RECEIPTS:
                        said = value[:1] + value[4:8]
                        yield from (said + said + b"\xff\0", b"\0" + said + b"\xff\0", said + b"\0\xff\0")


def raw_message(shape, message):
    body = message[2:257]  # without the DDP-SSN
    return bytes([0x00, shape, len(body)]) + body


def one_of_each(messages):
    """Yields the first DDP segment of each RDMAP opcode, in the order of arrival."""
    seen = {}
    for message in messages:
        seen.setdefault(message[3] & 0xf, message)
    return list(seen.values())


def session_message(message):
    function, body = struct.unpack_from("!H", message, 2)[0], message[4:]
    n = min(len(body), 255)
    # how: the given function (0x10), ppid 17; stream 0
    return bytes([0x00, 0x11, 0, n]) + body[:n] + struct.pack("!H", function)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[2])
    all_packets = list(packets(sys.argv[1]))
    sctp = [sctp_step(p) for p in all_packets]
    bodies = [body for p in all_packets for kind, _, body in chunks(p) if kind == DATA]
    data, ppids = [b[12:] for b in bodies], [struct.unpack_from("!I", b, 8)[0] for b in bodies]
    segments = [m for m, ppid in zip(data, ppids) if ppid == 16]
    ddp = [raw_message(0xb9, m) for m in segments]
    each = [raw_message(0xb9, m) for m in one_of_each(segments)]
    control = [session_message(m) for m, ppid in zip(data, ppids) if ppid == 17]
    seeds = {
        "sctp": [bytes([UP_PASSIVE]) + b"".join(sctp[:12]), bytes([STATE_NOTHING]) + b"".join(sctp[:12]),
                 conversation(all_packets)],
        "cookie": sorted(set(cookies(all_packets))),
        "ddp": [b"\0" + b"".join(ddp[:12])] + [b"\0" + d for d in each],
        "session": [b"\0" + b"".join(control)] + [b"\0" + c for c in control],
        "wire": sorted({p[12:] for p in all_packets} | {m[2:] for m in data} |
                       {b[12 + 20:] for b in bodies if is_receipt(b)}, key=len)[:60],
    }
    for name, inputs in seeds.items():
        (target / name).mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(inputs):
            (target / name / f"capture-{i:02}").write_bytes(seed)


if __name__ == "__main__":
    main()
