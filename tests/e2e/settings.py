#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Settings: a wrong setting causes one line and no device; a right setting has its effect."""
import contextlib
import os
import select
import socket
import sys
import threading

import harness
from harness import BUILD, DEVICE, Failure, free_port, run_pair, start

WRONG = [
    ({"SCTPIW_LLP": "tcp"}, "SCTPIW_LLP: llp = tcp is not understood; it is udp, ip or kernel"),
    ({"SCTPIW_ENCAP_PORT": "65536"}, "SCTPIW_ENCAP_PORT: encap-port = 65536 is not understood"),
    ({"SCTPIW_ENCAP_PORT": "none"}, "SCTPIW_ENCAP_PORT: encap-port does not go with llp = udp"),
    ({"SCTPIW_LLP": "ip", "SCTPIW_ENCAP_PORT": "9899"}, "encap-port does not go with llp = ip of SCTPIW_LLP"),
    ({"SCTPIW_IN_ORDER": "maybe"}, "SCTPIW_IN_ORDER: in-order = maybe is not understood; it is yes, no, 1 or 0"),
    ({"SCTPIW_SHARE": "2"}, "SCTPIW_SHARE: share = 2 is not understood"),
    ({"SCTPIW_SILENT_LIMIT": "0"}, "SCTPIW_SILENT_LIMIT: silent-limit = 0 is not understood; it is seconds"),
    ({"SCTPIW_PEER_TO_PEER": "1"}, "SCTPIW_PEER_TO_PEER: peer-to-peer = 1 is not understood; it is off, send, write, read"),
    ({"SCTPIW_LOG": "loud"}, "SCTPIW_LOG: log = loud is not understood; it is error, info or debug"),
    ({"SCTPIW_CAPTURE": "/nowhere/x"}, "cannot write the capture: /nowhere/x: No such file or directory"),
    ({"SCTPIW_CAPTURE": "/dev/null"}, "cannot write the capture: /dev/null: not a regular file"),
    ({"SCTPIW_LLP": "kernel", "SCTPIW_CAPTURE": "/tmp/x"}, "SCTPIW_CAPTURE: capture does not go with llp = kernel"),
    ({"SCTPIW_TRACE": "/nowhere/x"}, "cannot write the trace: /nowhere/x: No such file or directory"),
    ({"SCTPIW_TRACE": "/dev/null"}, "cannot write the trace: /dev/null: not a regular file"),
    ({"SCTPIW_CONFIG": "/nowhere/x"}, "/nowhere/x: No such file or directory"),
]
ROCE = ["--personality", "roce"]
# Files of the device, for a program without libibverbs that reads the device twice.
GUIDS = [f"/sys/class/infiniband/{DEVICE}/{name}" for name in ("node_guid", "sys_image_guid")]


def refused(link, env, text):
    """Programs find no device, and print the reason once."""
    for argv in ["ibv_devices"], ["rping", "-s", "-a", link.any], ["cat", *GUIDS]:
        program = start(argv[0], argv, link, env=env)
        if program.wait(10) == 0 and argv[0] == "rping":
            raise Failure(f"{env}: rping goes on")
        lines = [line for line in program.output().splitlines() if line.startswith("sctpiw:")]
        if len(lines) != 1 or not lines[0].startswith("sctpiw: no RDMA device: ") or text not in lines[0]:
            raise Failure(f"{env}: {argv[0]} printed {program.output()!r}")
        if DEVICE in program.output():
            raise Failure(f"{env}: there is a device")


def wrong(link):
    for env, text in WRONG:
        refused(link, env, text)


def write(name, text):
    path = harness.log_file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def wrong_file(link):
    conf = write("wrong.conf", "# a comment\nlog = info\nllpp = udp\n")
    refused(link, {"SCTPIW_CONFIG": conf}, f"{conf}:3: there is no setting llpp; there are llp, encap-port, ")
    home = harness.log_file("home")
    write("home/.config/sctpiw.conf", "silent-limit = never\n")
    env = {"SCTPIW_CONFIG": "", "HOME": str(home), "XDG_CONFIG_HOME": ""}
    refused(link, env, f"{home}/.config/sctpiw.conf:1: silent-limit = never is not understood")


def right_file(link):
    """A file is read; the environment takes precedence over it."""
    conf = write("right.conf", "log = debug\nsilent-limit = 7\n")
    program = start("ibv_devinfo", ["ibv_devinfo", "-d", DEVICE], link, env={"SCTPIW_CONFIG": conf})
    program.expect(10)
    port = free_port()
    common = ["-p", port, "-C", 5]
    server, client = run_pair(link, ["rping", "-s", "-a", link.any, *common], ["rping", "-c", "-a", link.address, *common],
                              port, env={"SCTPIW_CONFIG": conf})
    if "association up" not in client:
        raise Failure("log = debug of a file says nothing")
    server, client = run_pair(link, ["rping", "-s", "-a", link.any, *common], ["rping", "-c", "-a", link.address, *common],
                              port, env={"SCTPIW_CONFIG": conf, "SCTPIW_LOG": "error"})
    if "association up" in server + client:
        raise Failure("the environment does not stand above the file")


class Relay(threading.Thread):
    """A host with all SCTP ports behind one UDP port, as with a kernel's SCTP."""

    def __init__(self, family):
        super().__init__(daemon=True)
        self.outside = socket.socket(family, socket.SOCK_DGRAM)
        # On lo, datagrams go from and to the host's address that has a GID.
        self.outside.bind(("", 0))
        self.port = self.outside.getsockname()[1]
        self.inside = socket.socket(family, socket.SOCK_DGRAM)
        self.inside.bind(("", 0))
        self.client = None
        self.packets = 0
        self.stop, self.stopped = os.pipe()

    def run(self):
        while True:
            ready, _, _ = select.select([self.outside, self.inside, self.stop], [], [])
            if self.stop in ready:
                return
            if self.outside in ready:
                data, self.client = self.outside.recvfrom(65536)
                self.inside.sendto(data, (self.client[0], int.from_bytes(data[2:4], "big")))
                self.packets += 1
            if self.inside in ready and self.client:
                self.outside.sendto(self.inside.recv(65536), self.client)

    def close(self):
        os.write(self.stopped, b".")
        self.join()
        self.outside.close()
        self.inside.close()


@contextlib.contextmanager
def relayed(link):
    relay = Relay({4: socket.AF_INET, 6: socket.AF_INET6}[link.family])
    relay.start()
    try:
        yield relay
    finally:
        relay.close()


def encap_port(link):
    """Packets go to that UDP port, for any SCTP port."""
    port = free_port()
    common = ["-p", port, "-V", "-C", 20, "-S", 5000]
    server = start("rping-server", ["rping", "-s", "-a", link.any, *common], link, "server")
    server.wait_listening(port)
    with relayed(link) as relay:
        client = ["rping", "-c", "-a", link.address, *common]
        start("rping-client", client, link, env={"SCTPIW_ENCAP_PORT": str(relay.port)}).expect(10)
        server.expect(5)
    if relay.packets < 20:
        raise Failure(f"{relay.packets} packets went by way of UDP port {relay.port}")


def encap_port_of_datagrams(link):
    """Messages to UD queue pairs go there, too, although their QP numbers encode another port; and requests for QP
    numbers."""
    program, port = BUILD / "bin/e2e-ud", free_port()
    server = start("ud-server", [program, "serve", link.address, port], link, "server", options=ROCE)
    server.wait_for_output("ready", 10)
    with relayed(link) as relay:
        client = start("ud-client", [program, "connect", link.address, port, 100], link, options=ROCE,
                       env={"SCTPIW_ENCAP_PORT": str(relay.port)})
        client.expect(20)
    server.kill()
    if "100 echoes" not in client.output() or relay.packets < 102:
        raise Failure(f"{relay.packets} packets went by way of UDP port {relay.port}: {client.output()}")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("wrong", wrong),
        ("wrong-file", wrong_file),
        ("right-file", right_file),
        ("encap-port", encap_port),
        ("encap-port.datagrams", encap_port_of_datagrams),
    ]))
