#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs with keys: the bytes on the wire, the peers that are served, and the messages for the others."""
import json
import os
import re
import socket
import struct
import subprocess
import threading
import time

import harness
from harness import BUILD, free_port, need, start
from sealed import check, counter, perftest, pingpong

ETH_P_ALL = 3
PATTERN = b"rdma-ping-"  # the first bytes of rping's payload
CAPTURE = 8 << 20  # maximum bytes of captured packets
DTLS = re.compile(rb"[\x14-\x17]\xfe[\xfd\xff]", re.DOTALL)


def key_file(name, text=None):
    """A key file of the test with this text, or with a new key."""
    path = harness.log_file(name)
    if text is None:
        done = subprocess.run([BUILD / "bin/sctpiw", "keygen", path], capture_output=True, text=True)
        check(done.returncode == 0, f"keygen: {done.stderr}")
        return path
    path.write_text(text)
    path.chmod(0o600)
    return path


def options(path, *more):
    return [*(("--key", path) if path else ()), "--log", "info", *more]


def begin(link, server_key, server, port, *more):
    s = start("server", server, link, "server", options=options(server_key, *more))
    s.wait_listening(port)
    return s


def shared(_link):
    """The options of both sides of a case: one new key."""
    both = options(key_file("key"))
    return both, both


def accepted(server, client):
    for program in server, client:
        check(re.search(r'has the key "key-[0-9a-f]{8}"', program.output()), f"{program.name} does not say which key it was")


def run(link, server, client, port, key=None, client_key=None, seconds=30):
    key = key or key_file("key")
    s = begin(link, key, server, port)
    c = start("client", client, link, "client", options=options(client_key or key))
    c.expect(seconds)
    s.expect(10)
    accepted(s, c)
    return s.output(), c.output()


# ------------------------------------------------------------------ programs

def rping(link):
    port = free_port()
    run(link, ["rping", "-s", "-V", "-C", "30", "-S", "50000", "-a", link.any, "-p", str(port)],
        ["rping", "-c", "-V", "-C", "30", "-S", "50000", "-a", link.address, "-p", str(port)], port, seconds=60)


# ------------------------------------------------------------------ the wire

class Wire(threading.Thread):
    """Captures packets from or to a port on the interfaces of one side. Other tests may use the same interfaces."""

    def __init__(self, link, side, port):
        super().__init__(daemon=True)
        self.link, self.side, self.port = link, side, port
        self.packets = []
        self.ready = threading.Event()
        self.done = threading.Event()
        self.error = None
        self.start()
        self.ready.wait()
        if self.error:
            raise harness.Skip(f"no packet socket: {self.error}")

    def run(self):
        try:
            if holder := getattr(self.link, "holders", {}).get(self.side):
                fd = os.open(f"/proc/{holder.pid}/ns/net", os.O_RDONLY)
                if harness.libc.setns(fd, harness.CLONE_NEWNET):
                    raise OSError("setns")
                os.close(fd)
            s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
            s.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)  # SO_RCVBUFFORCE
            # The place of the ports: after a header of IPv4, whose length goes to x, or of IPv6.
            begin, load, at = ([(0xB1, 0, 0, 0)], 0x48, 0) if self.link.family == 4 else ([], 0x28, 40)
            harness.attach_filter(s, *begin, (load, 0, 0, at), (0x15, 2, 0, self.port), (load, 0, 0, at + 2),
                                  (0x15, 0, 1, self.port), (0x06, 0, 0, 0xFFFFFFFF), (0x06, 0, 0, 0))
            s.settimeout(0.1)
        except OSError as e:
            self.error = e
            self.ready.set()
            return
        self.ready.set()
        size = 0
        while size < CAPTURE:
            try:
                packet = s.recv(1 << 17)
            except TimeoutError:
                if self.done.is_set():
                    break
                continue
            self.packets.append(packet)
            size += len(packet)
        s.close()

    def payloads(self):
        """The payloads of UDP datagrams."""
        self.done.set()
        self.join()
        for packet in self.packets:
            head = {4: 20, 6: 40}.get(packet[0] >> 4, 0) if packet else 0
            if not head or packet[9 if head == 20 else 6] != socket.IPPROTO_UDP:
                continue
            if self.port in struct.unpack_from("!HH", packet, head):
                yield packet[head + 8:]


def nothing_in_the_clear(link):
    """A capture shows neither the payload, nor any part of SCTP."""
    port = free_port()
    program = ["-v", "-V", "-C", "20", "-S", "4000", "-p", str(port)]
    wire = Wire(link, "server", port)
    # Without a key, the capture shows the payload.
    s = begin(link, None, ["rping", "-s", *program, "-a", link.any], port)
    start("client", ["rping", "-c", *program, "-a", link.address], link, "client").expect(30)
    s.expect(10)
    clear = list(wire.payloads())
    check(any(PATTERN in p for p in clear), "the payload was not found where it must be: without a key")
    port = free_port()
    program[-1] = str(port)
    wire = Wire(link, "server", port)
    run(link, ["rping", "-s", *program, "-a", link.any], ["rping", "-c", *program, "-a", link.address], port)
    sealed = list(wire.payloads())
    check(len(sealed) > 20, f"{len(sealed)} packets were seen")
    for payload in sealed:
        check(PATTERN not in payload, "the payload is on the wire")
        check(DTLS.match(payload), f"this is no record of DTLS: {payload[:20].hex()}")
        if payload[0] == 23:
            check(b"ping" not in payload[:64], "a header in the clear")


# ------------------------------------------------------------------ refused peers

def refused(server_key, client_key, server_says, client_says, limit=20, server_options=(), client_options=()):
    """The client must fail within its limit, and the client or the server must log the reason."""
    def case(link):
        port = free_port()
        keys = [key_file(f"{side}-key", text) if text else None
                for side, text in (("server", server_key), ("client", client_key))]
        s = begin(link, keys[0], ["rping", "-s", "-P", "-a", link.any, "-p", str(port)], port, *server_options)
        c = start("client", ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, "client",
                  options=options(keys[1], "--silent-limit", "8", *client_options))
        status = c.wait(limit)
        check(status, "a client that has to be refused was served")
        for program, text in (s, server_says), (c, client_says):
            check(text in program.output(), f"{program.name} does not say '{text}'")
        check(s.running(), "the server has ended")
        for text in server_key, client_key:
            check(not text or text.split()[1] not in s.output() + c.output(), "a key is in a log")
        if keys[0]:
            check(counter(s, "dtls_refused"), "the server has counted nothing that was refused")
        # A peer with the right key is still served.
        c = start("friend", ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, "client",
                  options=options(keys[0]))
        c.expect(20)
    return case


GROUPS = {4: "239.195.5.17", 6: "ff15::5:17"}
LAB = "lab " + "0f" * 32 + "\n"
OTHER = "lab " + "1e" * 32 + "\n"
FRESH = "fresh " + "2d" * 32 + "\n"


def changed_one_by_one(link):
    """The server has the new key and the old key, and each client has one of them."""
    port = free_port()
    server = ["rping", "-s", "-P", "-a", link.any, "-p", str(port)]
    s = begin(link, key_file("both", FRESH + LAB), server, port)
    for name, text in ("old", LAB), ("new", FRESH):
        c = start(name, ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, "client",
                  options=options(key_file(name, text)))
        c.expect(20)
        check(f'has the key "{text.split()[0]}" of our file' in s.output(), f"the server has not accepted the {name} key")


def files(link):
    """With an unusable file, there is one log line, and the program does not run."""
    good = key_file("good")
    check(good.stat().st_mode & 0o777 == 0o600, f"keygen made a file of mode {good.stat().st_mode:o}")
    texts = {"others": LAB, "empty": "# nothing\n", "wrong": "lab 00\n"}
    paths = {name: key_file(name, text) for name, text in texts.items()}
    paths["others"].chmod(0o640)
    for path, says in ((paths["others"], "chmod 600"), (paths["empty"], "there is no key"), (paths["wrong"], "wrong:1: a key has"),
                       (harness.log_file("nowhere"), "No such file")):
        c = start("bad-file", ["true"], link, "client", options=["--key", path])
        check(c.wait(10) == 2, f"{path.name}: status {c.wait(1)}")
        lines = c.output().strip().splitlines()
        check(len(lines) == 1 and says in lines[0], f"{path.name}: {lines}")
    for llp in "ip", "kernel":
        c = start(llp, ["true"], link, "client", options=["--key", good, "--llp", llp])
        check(c.wait(10) == 2 and "only SCTP in UDP can be encrypted" in c.output(), f"llp = {llp}: {c.output()}")
    # No program changes a key file. A key can be added.
    before = good.read_text()
    c = start("again", ["true"], link, "client", options=["--key", good])
    c.expect(10)
    check(good.read_text() == before, "a program has written to the key file")
    done = subprocess.run([BUILD / "bin/sctpiw", "keygen", good], capture_output=True, text=True)
    check(done.returncode == 1 and "keygen >>FILE" in done.stderr, f"keygen over a file: {done.stderr}")


def optional(link):
    """With key-optional, a peer without a key is served, and this is logged. A peer with a key is not in the clear."""
    port = free_port()
    key = key_file("key")
    s = begin(link, key, ["rping", "-s", "-P", "-a", link.any, "-p", str(port)], port, "--key-optional")
    check("warning: key-optional" in s.output(), "no warning at the start")
    client = ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)]
    start("keyless", client, link, "client", options=options(None)).expect(20)
    s.wait_for_output("has no key: it is served in the clear")
    start("keyed", client, link, "client", options=options(key)).expect(20)
    s.wait_for_output('has the key "')
    port = free_port()
    s = begin(link, None, ["rping", "-s", "-P", "-a", link.any, "-p", str(port)], port)
    c = start("asker", ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, "client",
              options=options(key, "--key-optional"))
    c.expect(20)
    check("has no key: packets to it are in the clear" in c.output(), "the client does not say that it is in the clear")


def killed(link):
    """A server is killed and restarted: a client that connects again is served at once."""
    port = free_port()
    key = key_file("key")
    server = ["rping", "-s", "-P", "-a", link.any, "-p", str(port)]
    client = ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)]
    for name in "first", "second", "third":
        s = begin(link, key, server, port)
        started = time.monotonic()
        start(name, client, link, "client", options=options(key)).expect(20)
        check(time.monotonic() - started < 10 * harness.SLOW, "that took long")
        s.kill()


def multicast(link):
    """Groups are refused, and a log line has the reason."""
    need("mckey")
    if not isinstance(link, harness.Veth):
        raise harness.Skip("no interface of this link has multicast")
    c = start("mckey", ["mckey", "-m", GROUPS[link.family], "-b", link.address, "-C", "20"], link, "server",
              options=["--personality", harness.CHANNEL_ADAPTER, "--key", key_file("key")])
    check(c.wait(20), "a group was joined with a key")
    check("no multicast group is joined" in c.output(), "no reason is given")


def doctor(link):
    """The report of sctpiw doctor on the process at a port. The process must serve its peers afterwards."""
    key, port = key_file("lab", LAB), free_port()

    def says(status, word, *words, key=key, done=0):
        d = start("doctor", [BUILD / "bin/sctpiw", "doctor", "--json", "--key", key, f"[{link.address}]:{port}"], link, rdma=False)
        d.expect(60, done)
        lines = {line["check"]: line for line in json.loads(d.output())}
        line = lines.get("session", {})
        check(line.get("status") == status and word in line["text"], f"not {status}: {word}, but {line}")
        for name, status in words:
            check(lines[name]["status"] == status, f"{name} is {lines[name]}")

    says("failure", "no process has its UDP port", done=1)
    s = begin(link, key, ["rping", "-s", "-C", "3", "-a", link.any, "-p", str(port)], port)
    says("ok", 'has the key "lab", and takes ours', ("probe", "ok"))
    says("failure", 'has another key of the name "lab"', ("probe", "ok"), key=key_file("other", OTHER), done=1)
    says("failure", 'does not have the key "fresh"', ("probe", "ok"), key=key_file("fresh", FRESH), done=1)
    c = start("client", ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, options=options(key))
    c.expect(30)
    s.expect(10)
    begin(link, None, ["rping", "-s", "-C", "3", "-a", link.any, "-p", str(port)], port)
    says("warning", "nobody at", done=1)


CASES = [
    ("rping", rping),
    ("ib_write_bw", perftest(shared, accepted, "ib_write_bw", "-s", "65536", "-n", "300")),
    ("ib_send_bw", perftest(shared, accepted, "ib_send_bw", "-s", "20000", "-n", "300")),
    ("ib_read_lat", perftest(shared, accepted, "ib_read_lat", "-n", "200")),
    ("ibv_rc_pingpong", pingpong(shared, "ibv_rc_pingpong")),
    ("ibv_ud_pingpong", pingpong(shared, "ibv_ud_pingpong")),
    ("wire", nothing_in_the_clear),
    ("other-key", refused(LAB, OTHER, 'connects with another key of the name "lab"', 'refuses: it has another key of the name "lab"')),
    ("other-name", refused(LAB, FRESH, 'connects with the key "fresh"', 'refuses: its key file does not have the key "fresh"')),
    ("client-without", refused(LAB, None, "sends in the clear, and gets no answer", "that program has a key")),
    ("server-without", refused(None, LAB, "connects with a key, and gets no answer", "has no key, while this one has one")),
    ("one-by-one", changed_one_by_one),
    ("files", files),
    ("optional", optional),
    ("killed", killed),
    ("multicast", multicast),
    ("doctor", doctor),
]

if __name__ == "__main__":
    raise SystemExit(harness.main(CASES))
