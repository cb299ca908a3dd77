#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""tshark dissects the packets on the wire, with utils/wireshark/sctpiw.lua."""
import ipaddress
import itertools
import os
import struct
import subprocess
import sys
import tempfile

import harness
import sctp_packets
from harness import BUILD, ROOT, Failure, free_port, need, start
from keys import key_file

PLUGIN = ROOT / "utils/wireshark/sctpiw.lua"
LINKTYPE_SCTP = 248
RECEIPTS, HOLD, AWAY = 0xBF57, 0xBE, 0xBC  # docs/wire.md: the parameter, and chunks
HOLD_U, HOLD_A = 1, 2
RECEIPT, SEND_IMM, SEND_SE_IMM = 15, 12, 13  # RDMAP opcodes
RECEIPT_W, RECEIPT_F = 1, 2
DATAGRAM, UD, REQUEST, REPLY, ROOM_REQUEST, ROOM_REPLY = 0xBD, 1, 2, 3, 4, 5  # the chunk of datagrams, and its kinds
ROCE = ["--personality", "roce"]
UDADDY_PORT = 7174
_tsns = itertools.count(1)  # duplicates are not dissected
CHECKED = ["-o", "sctp.checksum:CRC-32c"]

# RDMAP opcodes (RFC 5040 4.2, RFC 7306 4.1) with the names of Wireshark's dissector.
OPCODES = ["Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE",
           "Send with SE and Invalidate", "Terminate", "Atomic Request", "Atomic Response"]
# Names of the plugin; the last ones are from docs/wire.md.
MESSAGES = ["Immediate Data", "Immediate Data with SE", "Send with Immediate Data", "Send with SE and Immediate Data"]
FUNCTIONS = {1: "Initiate", 2: "Accept", 3: "Reject", 4: "Terminate", 5: "Enhanced Initiate",
             6: "Enhanced Accept", 7: "Enhanced Reject"}


def tshark(capture, *options, secrets=None):
    """tshark's output for a capture, with these secrets of DTLS. Since 4.4, tshark ignores Lua scripts if it runs as
    root."""
    need("tshark", "setpriv")
    user = ["setpriv", f"--reuid={harness.NOBODY}", f"--regid={harness.NOBODY}", "--clear-groups", "--",
            "env", "HOME=/nonexistent"] if os.geteuid() == 0 else []
    # Open files, and a copy: that user may have no access to their directories.
    with open(PLUGIN) as plugin, open(capture) as packets, tempfile.NamedTemporaryFile() as keylog:
        os.fchmod(keylog.fileno(), 0o644)
        keylog.write(secrets.read_bytes() if secrets else b"")
        keylog.flush()
        known = ["-o", f"tls.keylog_file:{keylog.name}"] if secrets else []
        done = subprocess.run([*user, "tshark", "-X", f"lua_script:/proc/self/fd/{plugin.fileno()}", *CHECKED, *known, "-r", "-", *options],
                              stdin=packets, pass_fds=[plugin.fileno()], capture_output=True, text=True)
    if done.returncode or "Lua Error" in done.stderr:
        raise Failure(f"tshark: {done.stderr.strip()}")
    return done.stdout.splitlines()


def fields(capture, names, *options):
    """A tuple for each packet with the values of these fields of the plugin; several values in a packet have commas.

    Booleans are 1 or 0. tshark 4.4 prints them as words.
    """
    rows = tshark(capture, *options, "-T", "fields", *[a for n in names for a in ("-e", n)])
    return [tuple({"True": "1", "False": "0"}.get(value, value) for value in row.split("\t")) for row in rows]


def must_be_sound(capture, secrets=None):
    what = " || ".join(["_ws.malformed", "_ws.lua.error", "sctp.checksum.status == 0", "ddp_sctp.malformed"])
    bad = tshark(capture, "-Y", what, secrets=secrets)
    if bad:
        raise Failure(f"{what}: {bad[0].strip()}")


def must_show_receipts(side, capture, lines):
    """Both sides announce receipts. A Send waits for its receive, and then no longer. Then both end the session."""
    agreed = fields(capture, ["sctp.chunk_type", "ddp_sctp.receipts_version", "ddp_sctp.receipts_window"],
                    "-Y", "ddp_sctp.receipts_version")
    if agreed != [("1", "1", "1048576"), ("2", "1", "1048576")]:
        raise Failure(f"{side}: INIT and INIT ACK say {agreed}")
    names = ["final", "waiting", "ssn", "msn"]
    receipts = fields(capture, [f"ddp_sctp.receipt_{n}" for n in names], "-Y", "ddp_sctp.receipt_ssn")
    # Sends and messages with immediate data are messages of queue 0. The last of nine has no receive.
    shown = [(r[0], r[1], r[3] if r[1] == "1" else "") for r in receipts]
    final = ("1", "0", "")  # the server's receipt, and the client's if the server still receives it
    if shown[:3] != [("0", "1", "9"), ("0", "0", ""), final] or shown[3:] not in ([], [final]):
        raise Failure(f"{side}: the receipts are shown as {receipts}")
    # Each receipt has a HOLD chunk before it, with the receipt's TSN.
    packets = fields(capture, ["ddp_sctp.hold_tsn", "ddp_sctp.hold_unsent", "ddp_sctp.hold_ask", "sctp.data_tsn_raw"],
                     "-Y", "ddp_sctp.receipt_ssn")
    for tsn, unsent, asks, sent in packets:
        if (unsent, asks) != ("0", "0") or tsn not in sent.split(","):
            raise Failure(f"{side}: the HOLD chunk of the receipt in {sent} has TSN {tsn}, U {unsent} and A {asks}")
    for text in ["[Receipts 1, window 1048576]", "[Receipt, waiting from MSN 9]", "[Receipt]",
                 f"[Receipt, final before DDP-SSN {receipts[2][2]}]", f"[HOLD TSN={packets[0][0]}]"]:
        if not any(text in line for line in lines):
            raise Failure(f"{side}: no packet is a '{text}'")


def run_opcodes(link, **settings):
    """A run with one of each message. The programs capture their packets. Returns the captures by side."""
    captures = {side: harness.log_file(f"{side}.pcapng") for side in ("server", "client")}
    port = free_port()
    program = BUILD / "bin/e2e-opcodes"
    server = start("server", [program, "serve", link.any, port], link, "server",
                   env={"SCTPIW_CAPTURE": str(captures["server"]), **settings})
    server.wait_listening(port)
    client = start("client", [program, "connect", link.address, port], link,
                   env={"SCTPIW_CAPTURE": str(captures["client"]), **settings})
    client.expect(10)
    server.expect(10)
    return captures, client


def every_opcode(link):
    """tshark prints the name of each message."""
    captures, _ = run_opcodes(link)
    for side, capture in captures.items():
        must_be_sound(capture)
        lines = tshark(capture)
        for text in [f" {o} [last DDP segment]" for o in OPCODES] + [f"[{m}]" for m in MESSAGES] + [
                f"[DDP Session {f}]" for f in ("Enhanced Initiate", "Enhanced Accept", "Terminate")]:
            if not any(text in line for line in lines):
                raise Failure(f"{side}: no packet is a '{text}'")
        for field, want in [("immediate_data", ["00abcd0000000000", "00abcd0100000000"]),
                            ("imm_data", ["0x00abcd10", "0x00abcd11"])]:
            data = tshark(capture, "-T", "fields", "-e", f"ddp_sctp.{field}", "-Y", f"ddp_sctp.{field}")
            if data != want:
                raise Failure(f"{side}: {field} is shown as {data}, not {want}")
        must_show_receipts(side, capture, lines)
        left = [line for line in lines if "SCTP" not in line and "DDP" not in line]
        if left:
            raise Failure(f"{side}: is not dissected: {left[0]}")


def sealed(link):
    """With a key, a capture shows only the handshake. With the secrets of SSLKEYLOGFILE, it shows all contents."""
    secrets = harness.log_file("secrets")
    captures, client = run_opcodes(link, SCTPIW_KEY=str(key_file("key")), SSLKEYLOGFILE=str(secrets))
    if "SSLKEYLOGFILE" not in client.output():
        raise Failure("nobody is told that secrets are written")
    if secrets.stat().st_mode & 0o77:
        raise Failure("others can read the secrets")
    for side, capture in captures.items():
        blind = tshark(capture)
        must_have(side, blind, "Client Hello", "Application Data")
        if any("SCTP" in line or "DDP" in line for line in blind):
            raise Failure(f"{side}: a packet is shown without the secrets")
        must_be_sound(capture, secrets)
        lines = tshark(capture, secrets=secrets)
        must_have(side, lines, "Client Hello", "INIT_ACK", *[f" {o} [last DDP segment]" for o in OPCODES],
                  *[f"[{m}]" for m in MESSAGES])
        left = [line for line in lines if "Application Data" in line]
        if left:
            raise Failure(f"{side}: is not opened: {left[0]}")


def packet(*chunks):
    return sctp_packets.packet(5000, 6000, 7, b"".join(chunks))


def data_packet(tsn, ppid, payload):
    return packet(sctp_packets.chunk(sctp_packets.DATA, 7, struct.pack("!IHHI", tsn, 0, 0, ppid) + payload))


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
    names = ["ssn", "function", "ird", "ord", "peer_to_peer", "rtr_read", "private_data"]
    rows = fields(path, [f"ddp_sctp.{n}" for n in names])
    want = []
    for code in FUNCTIONS:
        for private in [""] if code == 4 else ["", "7072697661746521"]:
            want.append(("258", str(code), *(["4", "9", "1", "1"] if code >= 5 else [""] * 4), private))
    if rows != want:
        raise Failure(f"session control is dissected as\n{rows}, not\n{want}")
    lines = tshark(path)
    if not all(f"[DDP Session {FUNCTIONS[int(w[1])]}]" in n for w, n in zip(want, lines)):
        raise Failure(f"session control is called {lines}")

    bad = [b"", b"\0", b"\0\0\0", struct.pack("!HHH", 0, 5, 0), struct.pack("!HHB", 0, 4, 0),
           struct.pack("!HH", 0, 1) + bytes(513)]
    write_pcap(path, [data_packet(i, 17, payload) for i, payload in enumerate(bad)])
    must_all_be_marked(path, len(bad))


def must_all_be_marked(path, count):
    marked = tshark(path, "-Y", "ddp_sctp.malformed || _ws.malformed")
    if len(marked) != count:
        raise Failure(f"of {count} wrong packets these were marked: {marked}")


def sack(hold):
    return packet(sctp_packets.chunk(sctp_packets.SACK, 0, struct.pack("!IIHH", 4, 65536, 0, 0)), hold)


def away_chunk(address):
    raw = ipaddress.ip_address(address).packed
    return sctp_packets.chunk(AWAY, 0, struct.pack("!HH", 5 if len(raw) == 4 else 6, 4 + len(raw)) + raw)


def hold_chunk(flags, body):
    return sctp_packets.chunk(HOLD, flags, body)


def init_packet(value):
    parameter = struct.pack("!HH", RECEIPTS, 4 + len(value)) + value
    return packet(sctp_packets.init(7, 65536, 4, 4, 1, parameter + sctp_packets.ADAPTATION))


def datagram_packet(kind, body, flags=0, version=1, length=None):
    length = 8 + len(body) if length is None else length
    chunk = struct.pack("!BBHBBH", DATAGRAM, 0, length, version, kind, flags) + body
    return sctp_packets.packet(5000, 6000, 0, chunk + bytes(-len(chunk) % 4))


def ud_body(to=0x177001, source=0x138802, payload=b"", last=9):
    return struct.pack("!IIIIIB3x", to, source, 0x11223344, 0xabcd20, 0x06812345, last) + payload


def sidr_body(status=0, private=b"", qp=0, private_len=None, cookie=0, room=0):
    length = len(private) if private_len is None else private_len
    head = struct.pack("!QQIIBBH", 0x0102030405060708, cookie, qp, 0x01234567, status, length, 7471)
    return (head + private).ljust(room, b"\0")


def datagrams(link):
    """Chunks of datagrams, with each field of each kind. Chunks with a wrong length or too long a number are marked."""
    path = harness.log_file("datagrams.pcap")
    good = [(datagram_packet(UD, ud_body(), 1), "[UD 0x138802 to 0x177001, 0 bytes]"),
            (datagram_packet(UD, ud_body(0xffffff, payload=b"five!"), 2), "[UD 0x138802 to group, 5 bytes]"),
            (datagram_packet(REQUEST, sidr_body(private=b"private!", room=284)), "[SIDR Request]"),
            (datagram_packet(REPLY, sidr_body(255, cookie=0x99)), "[SIDR Reply, challenge]"),
            (datagram_packet(REPLY, sidr_body(0, b"yes\0", 0x177001)), "[SIDR Reply, accepted]"),
            (datagram_packet(REPLY, sidr_body(2)), "[SIDR Reply, rejected]"),
            (datagram_packet(REPLY, sidr_body(7)), "[SIDR Reply, status 7]"),
            (datagram_packet(ROOM_REQUEST, struct.pack("!QQ", 0x1122334455667788, 0)), "[Room Request]"),
            (datagram_packet(ROOM_REPLY, struct.pack("!QI", 0x1122334455667788, 65536)), "[Room Reply, 65536 bytes]")]
    write_pcap(path, [p for p, _ in good])
    must_be_sound(path)
    for line, (_, text) in zip(tshark(path), good):
        if text not in line:
            raise Failure(f"a packet is no '{text}': {line}")
    names = ["with_imm", "solicited", "dst_qp", "src_qp", "qkey", "imm_data", "traffic_class", "flow_label",
             "hop_limit", "payload"]
    rows = fields(path, ["ddp_sctp.datagram_kind", *[f"ddp_sctp.ud_{n}" for n in names]], "-Y", "ddp_sctp.ud_qkey")
    same = ("0x11223344", "0x00abcd20", "0x00000068", "0x00012345", "9")
    want = [("1", "0", "1", "0x00177001", "0x00138802", *same, ""),
            ("1", "1", "0", "0x00ffffff", "0x00138802", *same, b"five!".hex())]
    if rows != want:
        raise Failure(f"UD is dissected as\n{rows}, not\n{want}")
    names = ["datagram_version", "datagram_kind", "sidr_request_id", "sidr_cookie", "sidr_qp", "sidr_qkey",
             "sidr_status", "sidr_private_len", "sidr_port", "private_data"]
    rows = fields(path, [f"ddp_sctp.{n}" for n in names], "-Y", "ddp_sctp.sidr_qkey")
    want = [("1", kind, "0x0102030405060708", f"0x{cookie:016x}", f"0x{qp:08x}", "0x01234567", *rest)
            for kind, cookie, qp, *rest in [("2", 0, 0, "0", "8", "7471", b"private!".hex()),
                                            ("3", 0x99, 0, "255", "0", "7471", ""),
                                            ("3", 0, 0x177001, "0", "4", "7471", b"yes\0".hex()),
                                            ("3", 0, 0, "2", "0", "7471", ""), ("3", 0, 0, "7", "0", "7471", "")]]
    if rows != want:
        raise Failure(f"SIDR is dissected as\n{rows}, not\n{want}")
    rows = fields(path, ["ddp_sctp.datagram_kind", "ddp_sctp.room_nonce", "ddp_sctp.room"], "-Y", "ddp_sctp.room_nonce")
    want = [("4", "0x1122334455667788", ""), ("5", "0x1122334455667788", "65536")]
    if rows != want:
        raise Failure(f"room is dissected as\n{rows}, not\n{want}")

    bad = [datagram_packet(UD, b"", length=4), datagram_packet(UD, ud_body()[:-1]),
           datagram_packet(UD, ud_body(), length=64), datagram_packet(UD, ud_body(1 << 24)),
           datagram_packet(UD, ud_body(source=1 << 24)), datagram_packet(REQUEST, sidr_body(room=283)),
           datagram_packet(REQUEST, sidr_body(private_len=255, room=282)), datagram_packet(REPLY, sidr_body()[:-1]),
           datagram_packet(REPLY, sidr_body(private=b"abc", private_len=4)),
           datagram_packet(REPLY, sidr_body(qp=1 << 24)), datagram_packet(ROOM_REQUEST, bytes(15)),
           datagram_packet(ROOM_REPLY, bytes(11))]
    write_pcap(path, bad)
    must_all_be_marked(path, len(bad))
    strange = [datagram_packet(0, ud_body()), datagram_packet(6, ud_body()), datagram_packet(UD, ud_body(), version=2)]
    write_pcap(path, strange)
    marked = tshark(path, "-Y", "ddp_sctp.unknown")
    if len(marked) != len(strange):
        raise Failure(f"of {len(strange)} packets of unknown kinds these were marked: {marked}")


def numbers(link):
    """The fields of XRC and of QPs out of band: SRQ numbers, support for them, and private data."""
    path = harness.log_file("numbers.pcap")
    oob = b"sctpiwQP" + struct.pack("!BBBBIIQ", 1, 4, 6, 1, 0x138802, 0x177001, 0x99)
    cm = b"sctpiwCM" + struct.pack("!BHBI", 1, 0x100, 2, (0x80 | 5 << 3 | 6) << 24 | 0x138802)
    good = [(rdmap_packet(3, 0x01000007, b"payload" * 9), "[SRQ 7]"),
            (init_packet(struct.pack("!II", 1 << 24 | 1, 77)), "[Receipts 1, window 77]"),
            (init_packet(struct.pack("!II", 1 << 24 | 2, 77)), "[Receipts 1, window 77]"),
            (init_packet(struct.pack("!II", 1 << 24 | 4, 77)), "[Receipts 1, window 77]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 3) + cm), "[XRC id, QP 0x138802]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 3) + cm + b"own"), "[XRC id, QP 0x138802]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 3) + cm[:-1]), "[DDP Session Reject]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 1) + cm), "[XRC id, QP 0x138802]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 3) + oob), "[UC QP 0x138802 to 0x177001]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 3) + b"X" + oob[1:]), "[DDP Session Reject]"),
            (data_packet(next(_tsns), 17, struct.pack("!HH", 3, 3) + oob[:-1]), "[DDP Session Reject]")]
    write_pcap(path, [p for p, _ in good])
    must_be_sound(path)
    for line, (_, text) in zip(tshark(path), good):
        if text not in line:
            raise Failure(f"a packet is no '{text}': {line}")
    names = ["srq_num", "receipts_srq_numbers", "receipts_cm", "receipts_asks", "private_data",
             *[f"cm_{n}" for n in ("version", "port", "reason", "srq", "flow_control", "retry", "rnr_retry", "type", "qp")],
             *[f"oob_{n}" for n in ("version", "reason", "rnr_retry", "type", "src_qp", "dst_qp", "token")]]
    rows = fields(path, [f"ddp_sctp.{n}" for n in names])
    nothing = ("",) * len(names)
    said = ("1", "", "1", "1", "0", "5", "6", "2", "0x138802", *[""] * 7)
    asked = ("1", "256", "", "1", "0", "5", "6", "2", "0x138802", *[""] * 7)
    of_oob = ("1", "4", "6", "1", "0x00138802", "0x00177001", "0x0000000000000099")
    want = [("7", *nothing[1:]), ("", "1", "0", "0", *nothing[4:]), ("", "0", "1", "0", *nothing[4:]),
            ("", "0", "0", "1", *nothing[4:]), ("", "", "", "", "", *said), ("", "", "", "", b"own".hex(), *said),
            ("", "", "", "", cm[:-1].hex(), *nothing[5:]), ("", "", "", "", "", *asked),
            ("", "", "", "", oob.hex(), *[""] * 9, *of_oob),
            ("", "", "", "", (b"X" + oob[1:]).hex(), *nothing[5:]), ("", "", "", "", oob[:-1].hex(), *nothing[5:])]
    if rows != want:
        raise Failure(f"numbers are dissected as\n{rows}, not\n{want}")


def captured_pair(link, name, server_command, client_command, ready):
    """Runs two programs, which must succeed. Yields tshark's output for the capture of each side."""
    captures = {side: harness.log_file(f"{name}-{side}.pcapng") for side in ("server", "client")}
    env = {side: {"SCTPIW_CAPTURE": str(capture)} for side, capture in captures.items()}
    server = start("server", server_command, link, "server", env=env["server"], options=ROCE)
    ready(server)
    start("client", client_command, link, env=env["client"], options=ROCE).expect(20)
    server.expect(10)
    for side, capture in captures.items():
        must_be_sound(capture)
        yield side, tshark(capture)


def must_have(side, lines, *texts):
    for text in texts:
        if not any(text in line for line in lines):
            raise Failure(f"{side}: no packet is a '{text}'")


def live_datagrams(link):
    """udaddy requests a queue pair, with a challenge, and sends messages to it."""
    need("udaddy")
    pair = captured_pair(link, "ud", ["udaddy", "-b", link.any], ["udaddy", "-s", link.address],
                         lambda server: server.wait_listening(UDADDY_PORT))
    for side, lines in pair:
        must_have(side, lines, "[SIDR Request]", "[SIDR Reply, challenge]", "[SIDR Reply, accepted]", "100 bytes]")
        left = [line for line in lines if not any(kind in line for kind in ("[SIDR", "[UD 0x"))]
        if left:
            raise Failure(f"{side}: is not dissected: {left[0]}")


def live_numbers(link):
    """ibv_uc_pingpong's packets have its QP type, and those of ibv_xsrq_pingpong have its SRQs."""
    need("ibv_uc_pingpong", "ibv_xsrq_pingpong")
    for program, texts in ("ibv_uc_pingpong", ["[UC QP 0x"]), ("ibv_xsrq_pingpong", ["[RC QP 0x", "[SRQ "]):
        port = free_port()
        command = [program, "-p", port, "-g", 0, "-n", 50]
        pair = captured_pair(link, program, command, [*command, link.address],
                             lambda server: server.wait_listening_tcp(port))
        for side, lines in pair:
            must_have(side, lines, *texts)


def rdmap_packet(opcode, queue, body, ulp=0):
    header = struct.pack("!BBIIII", 0x41, 0x40 | opcode, ulp, queue, 1, 0)
    return data_packet(next(_tsns), 16, struct.pack("!H", 3) + header + body)


def extension(link):
    """Fields that every_opcode() lacks: all flags of docs/wire.md, and wrong lengths, which are marked."""
    path = harness.log_file("extension.pcap")
    good = [(sack(hold_chunk(HOLD_U, struct.pack("!I", 5))), "[HOLD unsent]"),
            (sack(hold_chunk(0, struct.pack("!I", 5))), "[HOLD TSN=5]"),
            (packet(hold_chunk(HOLD_A, bytes(4))), "[HOLD asks for a SACK]"),
            (sack(hold_chunk(HOLD_A | HOLD_U, bytes(4))), "[HOLD unsent, asks for a SACK]"),
            (init_packet(struct.pack("!II", 200 << 24, 77)), "[Receipts 200, window 77]"),
            (rdmap_packet(SEND_IMM, 0, b"payload", 0xabc), "[Send with Immediate Data]"),
            (rdmap_packet(SEND_SE_IMM, 0, b"", 0xabd), "[Send with SE and Immediate Data]"),
            (rdmap_packet(RECEIPT, 4, struct.pack("!BBHI", RECEIPT_W | RECEIPT_F, 0, 6, 7)),
             "[Receipt, final before DDP-SSN 6, waiting from MSN 7]"),
            (packet(away_chunk("10.0.0.3")), "[AWAY 10.0.0.3]"), (packet(away_chunk("fd00::3")), "[AWAY fd00::3]")]
    write_pcap(path, [p for p, _ in good])
    must_be_sound(path)
    for line, (_, text) in zip(tshark(path), good):
        if text not in line:
            raise Failure(f"a packet is no '{text}': {line}")
    names = ["hold_unsent", "hold_ask", "hold_tsn", "receipts_version", "receipts_window", "imm_data",
             "receipt_final", "receipt_waiting", "receipt_ssn", "receipt_msn", "away_ipv4", "away_ipv6"]
    blank = ("",) * 12
    want = [("1", "0", "5"), ("0", "0", "5"), ("0", "1", "0"), ("1", "1", "0"), blank[:3] + ("200", "77"),
            blank[:5] + ("0x00000abc",), blank[:5] + ("0x00000abd",), blank[:6] + ("1", "1", "6", "7"),
            blank[:10] + ("10.0.0.3",), blank[:11] + ("fd00::3",)]
    want = [(row + blank)[:12] for row in want]
    rows = fields(path, [f"ddp_sctp.{n}" for n in names])
    if rows != want:
        raise Failure(f"the extension is dissected as\n{rows}, not\n{want}")

    bad = [sack(hold_chunk(0, b"")), sack(hold_chunk(0, bytes(3))), sack(hold_chunk(0, bytes(8))),
           init_packet(b""), init_packet(bytes(4)), init_packet(bytes(12)),
           rdmap_packet(RECEIPT, 4, b""), rdmap_packet(RECEIPT, 4, bytes(7)), rdmap_packet(RECEIPT, 4, bytes(9)),
           packet(struct.pack("!BBH", HOLD, 0, 8)),
           packet(sctp_packets.chunk(AWAY, 0, b"")), packet(sctp_packets.chunk(AWAY, 0, struct.pack("!HHI", 9, 8, 0))),
           packet(sctp_packets.chunk(AWAY, 0, struct.pack("!HH", 6, 20) + bytes(8)))]
    write_pcap(path, bad)
    must_all_be_marked(path, len(bad))


if __name__ == "__main__":
    sys.exit(harness.main([
        ("every-opcode", every_opcode),
        ("sealed", sealed),
        ("session-control", session_control),
        ("extension", extension),
        ("datagrams", datagrams),
        ("numbers", numbers),
        ("live-datagrams", live_datagrams),
        ("live-numbers", live_numbers),
    ], alone=True))  # all udaddy programs use one port
