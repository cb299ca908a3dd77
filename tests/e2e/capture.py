#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""`sctpiw run --capture FILE`: the packets that tshark finds in the file, and the behaviour on a full disk."""
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys

import harness
from harness import BUILD, DEVICE, LLP, Failure, Skip, free_port, need, start

SCTPIW = BUILD / "bin/sctpiw"
IN, OUT = 1, 2
PACKET_BLOCK, SECTION_BLOCK = 6, 0x0A0D0D0A
FIELDS = ["frame.packet_flags_direction", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "ip.len", "ipv6.plen",
          "ip.proto", "ipv6.nxt", "udp.srcport", "udp.dstport", "udp.length", "sctp.srcport", "sctp.dstport",
          "sctp.checksum.status", "udp.checksum.status", "ip.checksum.status", "_ws.malformed",
          "sctp.chunk_type", "frame.time_epoch", "frame.len"]
Packet = collections.namedtuple("Packet", [re.sub(r"\W", "_", f).strip("_") for f in FIELDS])
CHECKED = ["-o", "sctp.checksum:CRC-32c", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
GOOD = "1"
INIT, INIT_ACK, COOKIE_ECHO, COOKIE_ACK = "1", "2", "10", "11"


def tshark(path, port):
    need("tshark")
    argv = ["tshark", "-r", str(path), *CHECKED, "-d", f"udp.port=={port},sctp", "-T", "fields", "-E", "occurrence=a"]
    for field in FIELDS:
        argv += ["-e", field]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"tshark: {done.stderr.strip()}")
    packets = [Packet(*line.split("\t")) for line in done.stdout.splitlines()]
    return [p._replace(frame_packet_flags_direction=int(p.frame_packet_flags_direction or "0", 0)) for p in packets]


def must_be_sound(packets, link, port):
    """Checks lengths, checksums, addresses and ports."""
    if not packets:
        raise Failure("no packet was captured")
    for p in packets:
        problem = None
        src, dst = (p.ip_src, p.ip_dst) if link.family == 4 else (p.ipv6_src, p.ipv6_dst)
        if p.ws_malformed or p.sctp_checksum_status != GOOD:
            problem = "is malformed, or its SCTP checksum is wrong"
        elif link.family == 4 and (p.ip_checksum_status != GOOD or p.ip_len != p.frame_len):
            problem = "has a wrong IP header"
        elif link.family == 6 and int(p.ipv6_plen) + 40 != int(p.frame_len):
            problem = "has a wrong IPv6 header"
        elif LLP == "udp" and (p.udp_checksum_status != GOOD or str(port) not in (p.udp_srcport, p.udp_dstport)
                               or (p.udp_srcport, p.udp_dstport) != (p.sctp_srcport, p.sctp_dstport)):
            problem = "has a wrong UDP header"
        elif LLP == "ip" and (p.ip_proto or p.ipv6_nxt) != "132":
            problem = "is not of protocol 132"
        elif link.address not in (src, dst) or "0.0.0.0" in (src, dst) or "::" in (src, dst):
            problem = "has no real address"
        elif str(port) not in (p.sctp_srcport, p.sctp_dstport) or p.frame_packet_flags_direction not in (IN, OUT):
            problem = "has a wrong port, or no direction"
        if problem:
            raise Failure(f"a packet {problem}: {p}")


def blocks(path):
    """The types of the blocks of a pcapng file. Each block must be whole."""
    data, at, types = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        kind, length = (int.from_bytes(data[at + i:at + i + 4], sys.byteorder) for i in (0, 4))
        end = at + length
        if length < 12 or length % 4 or end > len(data) or data[end - 4:end] != data[at + 4:at + 8]:
            raise Failure(f"{path}: the block at {at} of {len(data)} is broken")
        types.append(kind)
        at = end
    return types


def in_shell(link, capture, script, seconds=30, name="both"):
    """Several processes under one `sctpiw run --capture`."""
    program = start(name, ["sh", "-c", script], link, "server", options=["--capture", capture])
    program.expect(seconds)
    return program.output()


def rping_both(link, port, count=20, size=3000):
    """A script that runs both ends of rping."""
    common = f"-p {port} -V -C {count} -S {size}"
    listening = f"for i in $(seq 100); do grep -qi ':{port:04X} ' /proc/net/udp /proc/net/udp6 && break; sleep 0.05; done"
    return (f"rping -s -a {link.any} {common} & {listening}; sleep 0.1; "
            f"rping -c -a {link.address} {common} && wait $!")


def two_processes(link):
    """The file has each packet of the pair twice, as sent and as received, in order of time."""
    port, path = free_port(), harness.log_file("both.pcapng")
    path.write_text("what is left from an earlier run")
    in_shell(link, path, rping_both(link, port))
    if blocks(path).count(SECTION_BLOCK) != 2:
        raise Failure("there are not two sections")
    packets = tshark(path, port)
    must_be_sound(packets, link, port)
    if blocks(path).count(PACKET_BLOCK) != len(packets):
        raise Failure("tshark does not see all packets")
    for source in {p.sctp_srcport for p in packets}:
        sent, got = ([p._replace(frame_packet_flags_direction="", frame_time_epoch="") for p in packets
                      if (p.sctp_srcport, p.frame_packet_flags_direction) == (source, way)] for way in (OUT, IN))
        # A process that ends does not read packets under way: the received packets are all but the last sent packets.
        first, got = collections.Counter(sent[:len(got)]), collections.Counter(got)
        if first != got:
            raise Failure(f"from port {source} {len(sent)} packets were sent and {sum(got.values())} received: "
                          f"{got - first} {first - got}")
    kinds = collections.Counter(kind for p in packets for kind in p.sctp_chunk_type.split(","))
    for kind in INIT, INIT_ACK, COOKIE_ECHO, COOKIE_ACK:
        if kinds[kind] != 2:
            raise Failure(f"chunks of type {kind}: {kinds[kind]}, not 2")
    # 20 round trips of 3,000 bytes, each written and read.
    if not 80 <= len(packets) <= 4000:
        raise Failure(f"{len(packets)} packets")
    times = [float(p.frame_time_epoch) for p in packets]
    if max(times) - min(times) > 30 or abs(max(times) - path.stat().st_mtime) > 5:
        raise Failure("timestamps are not of now")
    # Another run replaces the file.
    size = path.stat().st_size
    in_shell(link, path, "true", name="again")
    if path.stat().st_size != 0:
        raise Failure(f"{size} bytes of the run before are still there")


def batches(link):
    """The batch of one system call is split into packets."""
    port = free_port()
    paths = {side: harness.log_file(f"{side}.pcapng") for side in ("server", "client")}
    command = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-p", port, "-s", 65536, "-n", 100]
    server = start("server", command, link, "server", env={"SCTPIW_CAPTURE": str(paths["server"])})
    server.wait_listening(port)
    start("client", [*command, link.address], link, env={"SCTPIW_CAPTURE": str(paths["client"])}).expect(20)
    server.expect(10)
    for side, path in paths.items():
        packets = tshark(path, port)
        must_be_sound(packets, link, port)
        longest = max(int(p.frame_len) for p in packets)
        if not 1480 <= longest <= 1500:
            raise Failure(f"{side}: the longest packet has {longest} bytes on an MTU of 1500")
        data = sum(int(p.frame_len) > 1400 for p in packets)
        if data < 100 * 65536 // 1500:
            raise Failure(f"{side}: {data} full packets cannot have carried 100 times 64 KiB")


def many(link):
    """Many processes write at the same time, far more than a buffer holds."""
    path, ports = harness.log_file("many.pcapng"), [free_port() for _ in range(3)]
    in_shell(link, path, " & ".join(f"({rping_both(link, p, 100, 60000)})" for p in ports) + " & wait", 60)
    kinds = blocks(path)
    if kinds.count(SECTION_BLOCK) != 6:
        raise Failure(f"{kinds.count(SECTION_BLOCK)} sections of 6 processes")
    seen = 0
    for port in ports:
        packets = [p for p in tshark(path, port) if str(port) in (p.sctp_srcport, p.sctp_dstport)]
        must_be_sound(packets, link, port)
        seen += len(packets)
    if seen != kinds.count(PACKET_BLOCK):
        raise Failure(f"{kinds.count(PACKET_BLOCK)} packets, of which {seen} are of those ports")


def must_have_ended(path, output, why):
    lines = [line for line in output.splitlines() if line.startswith("sctpiw:")]
    if not 1 <= len(lines) <= 2 or any(f"the capture in {path} ends here: {why}" not in line for line in lines):
        raise Failure(f"printed {lines}")


def file_limit(link):
    """At RLIMIT_FSIZE the capture ends with a log line. The program and its data are not affected."""
    port, path = free_port(), harness.log_file("limit.pcapng")
    output = in_shell(link, path, f"ulimit -f 200; {rping_both(link, port, 50, 60000)}")
    must_have_ended(path, output, "File too large")
    if path.stat().st_size > 200 * 512 or PACKET_BLOCK not in blocks(path):
        raise Failure(f"{path.stat().st_size} bytes, {len(blocks(path))} blocks")


def fill_disk(link, size, options, last):
    """Captures on a disk of this size. last: suffix of the name of the file to check."""
    if os.geteuid():
        raise Skip("needs root to make a small disk")
    need("unshare", "mount")
    port, path = free_port(), harness.log_file("full.pcapng")
    disk = harness.log_file("disk")
    disk.mkdir()
    capture = disk / "full.pcapng"
    script = (f"mount -t tmpfs -o size={size} none {disk} && "
              f"{SCTPIW} run --capture {capture} {options} -- sh -c {shlex.quote(rping_both(link, port, 50, 60000))}; "
              f"status=$?; cp {capture}{last} {path}; exit $status")
    program = start("full", ["unshare", "--mount", "sh", "-c", script], link, "server", rdma=False)
    program.expect(30)
    must_have_ended(capture, program.output(), "No space left on device")
    if PACKET_BLOCK not in blocks(path):
        raise Failure("nothing was captured before the disk was full")


def disk_full(link):
    """On a full disk, the capture also ends with a log line, and the file has no partial block."""
    fill_disk(link, "300k", "", "")


def files_of(path):
    """The files of a capture in several files, the oldest first."""
    older = sorted(path.parent.glob(path.name + ".*"), key=lambda p: -int(p.suffix[1:]))
    return [*older, path]


def snaplen(link):
    """Long packets are cut to the length of the option, and marked as cut. The rest of each packet is valid."""
    need("tshark", "capinfos")
    port, path = free_port(), harness.log_file("short.pcapng")
    program = start("both", ["sh", "-c", rping_both(link, port, 20, 30000)], link, "server",
                    options=["--capture", path, "--capture-snaplen", 128])
    program.expect(30)
    info = subprocess.run(["capinfos", "-lTr", path], capture_output=True, text=True, check=True).stdout
    if info.split()[-2:] != ["128", "128"]:  # the lengths of the shortest and of the longest cut packet
        raise Failure(f"capinfos says {info!r}")
    done = subprocess.run(["tshark", "-r", path, "-d", f"udp.port=={port},sctp", "-T", "fields", "-e", "frame.cap_len",
                           "-e", "frame.len", "-e", "ip.len", "-e", "udp.srcport", "-e", "sctp.verification_tag"],
                          capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if done.returncode or not rows or done.stderr.strip().count("\n") > 1:
        raise Failure(f"tshark: {done.stderr.strip()}")
    for kept, length, ip_len, udp, tag in rows:
        if int(kept) != min(128, int(length)) or length != ip_len or not udp or not tag:
            raise Failure(f"a packet of {length} bytes: {kept}, {ip_len}, {udp}, {tag}")
    if not any(int(length) > 1000 for _, length, *_ in rows):
        raise Failure("no packet was long")


def must_be_ring(path, limit, files):
    """Checks the files of a capture. Returns the packets of all files, by tshark, in the order of their time."""
    found = files_of(path)
    if len(found) != files:
        raise Failure(f"{len(found)} files, not {files}: {found}")
    for file in found:
        kinds = blocks(file)
        if kinds[0] != SECTION_BLOCK or PACKET_BLOCK not in kinds:
            raise Failure(f"{file} has no header, or no packet: {kinds[:5]}")
        if file.stat().st_size > limit:
            raise Failure(f"{file} has {file.stat().st_size} bytes, {limit} are allowed")
    return found


def ring(link):
    """The last files are kept. Each can be read, and no packet is missing between neighbouring files."""
    need("tshark", "mergecap")
    port = free_port()
    path, whole = harness.log_file("ring.pcapng"), harness.log_file("merged.pcapng")
    command = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-p", port, "-s", 65536, "-n", 200]
    server = start("server", command, link, "server", env={"SCTPIW_CAPTURE": str(path), "SCTPIW_CAPTURE_SIZE": "256k",
                                                           "SCTPIW_CAPTURE_FILES": "3"})
    server.wait_listening(port)
    start("client", [*command, link.address], link).expect(20)
    server.expect(10)
    found = must_be_ring(path, 256 << 10, 3)
    last = 0
    for file in found:
        packets = tshark(file, port)
        must_be_sound(packets, link, port)
        times = [float(p.frame_time_epoch) for p in packets]
        if min(times) < last or sorted(times) != times:
            raise Failure(f"{file} begins at {min(times)}, the one before it ends at {last}")
        last = max(times)
    subprocess.run(["mergecap", "-w", whole, *found], check=True)
    tsns = subprocess.run(["tshark", "-r", whole, "-d", f"udp.port=={port},sctp", "-T", "fields", "-E", "occurrence=a",
                           "-e", "sctp.data_tsn", "-Y", f"sctp.chunk_type == 0 && sctp.dstport == {port}"],
                          capture_output=True, text=True)
    numbers = [int(n) for line in tsns.stdout.splitlines() for n in line.split(",")]
    missing = set(range(min(numbers), max(numbers) + 1)) - set(numbers)
    if missing or len(numbers) < 10:
        raise Failure(f"of {len(numbers)} chunks that came one after the other {len(missing)} are missing")


def ring_shared(link):
    """Several processes share the files. Each file has a header, and whole packets of all processes."""
    path, ports = harness.log_file("shared.pcapng"), [free_port() for _ in range(2)]
    script = " & ".join(f"({rping_both(link, p, 60, 60000)})" for p in ports) + " & wait"
    start("both", ["sh", "-c", script], link, "server",
          options=["--capture", path, "--capture-size", "1M", "--capture-files", 3]).expect(60)
    for file in must_be_ring(path, 1 << 20, 3):
        packets = tshark(file, "20000-32000")
        for port in ports:
            mine = [p for p in packets if str(port) in (p.sctp_srcport, p.sctp_dstport)]
            if mine:
                must_be_sound(mine, link, port)


def ring_disk_full(link):
    """The disk is full before the files reach their size. Each process logs one line, and the program goes on."""
    fill_disk(link, "500k", "--capture-size 200k", ".1")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("two-processes", two_processes),
        ("batches", batches),
        ("many", many),
        ("file-limit", file_limit),
        ("disk-full", disk_full),
        ("snaplen", snaplen),
        ("ring", ring),
        ("ring-shared", ring_shared),
        ("ring-disk-full", ring_disk_full),
    ]))
