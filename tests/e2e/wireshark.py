#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""tshark understands, with utils/wireshark/sctpiw.lua, what is on the wire."""
import struct
import subprocess
import sys

import harness
import sctp_packets
from harness import BUILD, ROOT, Failure, free_port, need, start

PLUGIN = ROOT / "utils/wireshark/sctpiw.lua"
LINKTYPE_SCTP = 248
CHECKED = ["-o", "sctp.checksum:CRC-32c"]

# RDMAP opcodes (RFC 5040 4.2, RFC 7306 4.1) as Wireshark's dissector calls them.
OPCODES = ["Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE",
           "Send with SE and Invalidate", "Terminate", "Atomic Request", "Atomic Response"]
IMMEDIATES = ["Immediate Data", "Immediate Data with SE"]  # by the plugin
FUNCTIONS = {1: "Initiate", 2: "Accept", 3: "Reject", 4: "Terminate", 5: "Enhanced Initiate",
             6: "Enhanced Accept", 7: "Enhanced Reject"}


def tshark(capture, *options):
    need("tshark")
    done = subprocess.run(["tshark", "-X", f"lua_script:{PLUGIN}", *CHECKED, "-r", str(capture), *options],
                          capture_output=True, text=True)
    if done.returncode or "Lua Error" in done.stderr:
        raise Failure(f"tshark: {done.stderr.strip()}")
    return done.stdout.splitlines()


def must_be_sound(capture):
    for what in "_ws.malformed", "_ws.lua.error", "sctp.checksum.status == 0", "ddp_sctp.malformed":
        bad = tshark(capture, "-Y", what)
        if bad:
            raise Failure(f"{what}: {bad[0].strip()}")


def every_opcode(link):
    """A run with one of each message, which the programs capture themselves."""
    captures = {side: harness.log_file(f"{side}.pcapng") for side in ("server", "client")}
    port = free_port()
    program = BUILD / "bin/e2e-opcodes"
    server = start("server", [program, "serve", link.any, port], link, "server",
                   env={"SCTPIW_CAPTURE": str(captures["server"])})
    server.wait_listening(port)
    start("client", [program, "connect", link.address, port], link,
          env={"SCTPIW_CAPTURE": str(captures["client"])}).expect(10)
    server.expect(10)
    for side, capture in captures.items():
        must_be_sound(capture)
        lines = tshark(capture)
        for text in [f" {o} [last DDP segment]" for o in OPCODES] + [f"[{i}]" for i in IMMEDIATES] + [
                f"[DDP Session {f}]" for f in ("Enhanced Initiate", "Enhanced Accept", "Terminate")]:
            if not any(text in line for line in lines):
                raise Failure(f"{side}: no packet is a '{text}'")
        data = tshark(capture, "-T", "fields", "-e", "ddp_sctp.immediate_data", "-Y", "ddp_sctp.immediate_data")
        if data != ["00abcd0000000000", "00abcd0100000000"]:
            raise Failure(f"{side}: the immediate data is shown as {data}")
        left = [line for line in lines if "SCTP" not in line and "DDP" not in line]
        if left:
            raise Failure(f"{side}: is not dissected: {left[0]}")


def data_packet(tsn, ppid, payload):
    chunk = struct.pack("!BBHIHHI", 0, 7, 16 + len(payload), tsn, 0, 0, ppid) + payload
    return sctp_packets.packet(5000, 6000, 7, chunk + bytes(-len(chunk) % 4))


def write_pcap(path, packets):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, LINKTYPE_SCTP))
        for i, packet in enumerate(packets):
            f.write(struct.pack("<IIII", i, 0, len(packet), len(packet)) + packet)


def session_control(link):
    """Every function code, with and without private data; wrong messages are marked as wrong."""
    good, path = [], harness.log_file("control.pcap")
    for code in FUNCTIONS:
        depths = struct.pack("!HH", 0x8000 | 4, 0x4000 | 9) if code >= 5 else b""
        for private in [b""] if code == 4 else [b"", b"private!"]:
            good.append(data_packet(len(good), 17, struct.pack("!HH", 258, code) + depths + private))
    write_pcap(path, good)
    must_be_sound(path)
    fields = ["ssn", "function", "ird", "ord", "peer_to_peer", "rtr_read", "private_data"]
    rows = tshark(path, "-T", "fields", *[a for f in fields for a in ("-e", f"ddp_sctp.{f}")])
    want = []
    for code in FUNCTIONS:
        for private in [""] if code == 4 else ["", "7072697661746521"]:
            want.append("\t".join(["258", str(code), *(["4", "9", "1", "1"] if code >= 5 else [""] * 4), private]))
    if rows != want:
        raise Failure(f"session control is dissected as\n{rows}, not\n{want}")
    names = tshark(path)
    if not all(f"[DDP Session {FUNCTIONS[int(w.split()[1])]}]" in n for w, n in zip(want, names)):
        raise Failure(f"session control is called {names}")

    bad = [b"", b"\0", b"\0\0\0", struct.pack("!HHH", 0, 5, 0), struct.pack("!HHB", 0, 4, 0),
           struct.pack("!HH", 0, 1) + bytes(513)]
    write_pcap(path, [data_packet(i, 17, payload) for i, payload in enumerate(bad)])
    marked = tshark(path, "-Y", "ddp_sctp.malformed || _ws.malformed")
    if len(marked) != len(bad):
        raise Failure(f"of {len(bad)} wrong messages these were marked: {marked}")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("every-opcode", every_opcode),
        ("session-control", session_control),
    ]))
