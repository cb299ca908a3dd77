#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""sctpiw with other SCTP stacks: usrsctp on this host, and the Linux kernel's SCTP in a guest.

The peer is tests/peers/foreign.c, with its own iWARP on either stack. tests/peers/rnic_side.c, or rping, runs on
sctpiw. On the links "guest...", the peer is in User-Mode Linux. On "guest-kernel", sctpiw is in the guest, over that
kernel's SCTP, and the peer is usrsctp.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

import harness
from harness import BUILD, Failure, Skip, Veth, free_port, need, start

USRSCTP = BUILD / "bin/foreign-usrsctp"
LKSCTP = BUILD / "bin/foreign-lksctp"
RNIC = str(BUILD / "bin/rnic-side")
HERE = pathlib.Path(__file__).resolve().parent
UML_RUN = HERE.parent / "uml/uml-run"
SMALL_MTU = "600"  # the minimum for a segment of 516 bytes (RFC 5043 9)
PATIENCE = 40  # seconds for any scenario; the programs give up after 30 without progress


# ------------------------------------------------------------------ links

class Routed(Veth):
    """A router between the two hosts, with a small MTU after it: sctpiw must find this MTU."""

    def __init__(self, name, family, silent=False):
        harness.Link.__init__(self, name, family)
        need("ip", "unshare", "nsenter", *(["nft"] if silent else []))
        self.holders = {}
        self.address = "10.83.0.1"
        self.peer = "10.83.1.1"
        try:
            for side in "server", "client", "router":
                self.holders[side] = self._hold()
            self._run([*self.enter("router"), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"])
            self._cable("server", 0, "1500")
            self._cable("client", 1, SMALL_MTU)
            if silent:
                self._run([*self.enter("router"), "nft", "-f", "-"],
                          "table inet silent {\n chain leaving {\n type filter hook output priority 0\n"
                          " meta l4proto icmp drop\n }\n }\n")
        except BaseException:
            self.close()
            raise

    def _cable(self, side, number, mtu):
        there, router = (["netns", str(self.holders[end].pid)] for end in (side, "router"))
        port = f"veth{number}"
        self._run(["ip", "link", "add", "veth0", "mtu", mtu, *there, "type", "veth",
                   "peer", "name", port, "mtu", mtu, *router])
        for end, device, host in (side, "veth0", 1), ("router", port, 254):
            ip = [*self.enter(end), "ip"]
            self._run([*ip, "address", "add", f"10.83.{number}.{host}/24", "dev", device])
            self._run([*ip, "link", "set", device, "up"])
        self._run([*self.enter(side), "ip", "route", "add", "default", "via", f"10.83.{number}.254"])


class Guest(Veth):
    """One side is in a network namespace, the other side in a guest behind a tap device."""

    subnets = {4: "10.99.0.{}", 6: "fd99::{}"}
    patience = 3  # if the host is busy, a guest needs more than a second to start a program

    def __init__(self, name, family, loss=0, raw=False, inside="client"):
        self.raw = raw  # IP protocol 132 instead of UDP
        self.inside = inside
        self.udp = free_port()  # the port of the kernel's SCTP below sctpiw, if sctpiw is in the guest
        harness.Link.__init__(self, name, family)
        if pathlib.Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
            raise Skip("needs root, for User-Mode Linux on a tap device")
        if raw and pathlib.Path("/proc/net/sctp").exists():
            raise Skip("the SCTP of this kernel is active, beside which there is no llp = ip")
        need("linux.uml", "modprobe", "ip", *(["nft"] if loss else []))
        self.holders = {}
        addresses = [self.subnets[family].format(host) for host in (1, 2)]
        self.address, self.peer = addresses if inside == "client" else addresses[::-1]
        self.guest = f"foreign{os.getpid()}"
        self.uml = subprocess.Popen(
            [UML_RUN, "--net", "tap", "--ns", self.guest, "--timeout", "200", "--",
             sys.executable, "-S", HERE / "foreign_guest.py", "serve"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=self._end_with_parent)
        try:
            self._boot()
            if loss:
                self._lose_both_ways(loss)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _end_with_parent():
        """Ends the guest by a signal, so that it cleans up."""
        harness.libc.prctl(harness.PR_SET_PDEATHSIG, signal.SIGTERM)

    def _boot(self):
        boot = [*self.outside(), sys.executable, "-S", HERE / "foreign_guest.py", "boot"]
        deadline = time.monotonic() + 60
        while subprocess.run(boot, capture_output=True).returncode:
            if self.uml.poll() is not None or time.monotonic() > deadline:
                raise Failure("the guest does not come up: " + self.uml.stdout.read().decode(errors="replace"))
            time.sleep(0.1)

    def _lose_both_ways(self, percent):
        rule = f"meta l4proto {{udp, sctp}} numgen random mod 100 < {percent} drop"
        self._run([*self.outside(), "nft", "-f", "-"],
                  "table inet loss {\n chain arriving {\n type filter hook input priority 0\n"
                  f" {rule}\n }}\n chain leaving {{\n type filter hook output priority 0\n {rule}\n }}\n}}\n")

    def outside(self):
        return ["ip", "netns", "exec", self.guest]

    def enter(self, side):
        if side != self.inside:
            return self.outside()
        ports = ["--udp", str(self.udp), "0"] if side == "server" else []
        return [*self.outside(), sys.executable, "-S", HERE / "foreign_guest.py", "run", *ports]

    def close(self):
        self.uml.terminate()  # the namespace ends with the guest
        self.uml.wait()
        self.uml.stdout.close()


def small_veth(name, family):
    """IPv4 only, as IPv6 needs an MTU of 1280."""
    link = Veth(name, family, 1500)
    for side in "server", "client":
        link._run([*link.enter(side), "ip", "link", "set", "veth0", "mtu", SMALL_MTU])
    return link


def small_guest(name, family):
    link = Guest(name, family)
    link._run([*link.enter("server"), "ip", "link", "set", "tap0", "mtu", SMALL_MTU])
    # As in uml-run: the guest's kernel loses UDP-encapsulated packets that it would have to segment.
    link._run([*link.enter("client"), "ip", "link", "set", "vec0", "mtu", SMALL_MTU, "gso_max_size", SMALL_MTU])
    return link


harness.LINKS.update({
    "small": small_veth,
    "loss": lambda name, family: Veth(name, family, 1500, loss=5, single=True, filtered=True),
    "routed": lambda name, family: Routed(name, family),
    "routed-silent": lambda name, family: Routed(name, family, silent=True),
    "guest": lambda name, family: Guest(name, family),
    "guest-loss": lambda name, family: Guest(name, family, loss=5),
    "guest-small": small_guest,
    "guest-kernel": lambda name, family: Guest(name, family, inside="server"),
    "guest-ip": lambda name, family: Guest(name, family, raw=True),
    "guest-ip-loss": lambda name, family: Guest(name, family, loss=5, raw=True),
})


# ------------------------------------------------------------------ programs

class Peer:
    """A foreign peer, which starts at once. udp: its UDP port, if not the default port."""

    def __init__(self, link, role, port, scenario, *options, udp=None, binary=USRSCTP):
        guest = isinstance(link, Guest) and link.inside == "client"
        binary = LKSCTP if guest else binary
        own = udp or (port if role == "listen" else free_port())
        address = link.address if role == "connect" else link.any
        command = [str(binary), *map(str, options), role, address, str(port), scenario]
        if guest:
            theirs = port if role == "connect" else 0
            ports = (0, 0) if link.raw else (own, theirs)
            command = ["--udp", *map(str, ports), *command]
        else:
            theirs = link.udp if isinstance(link, Guest) else port
            command[1:1] = ["--udp", str(own), *(["--peer-udp", str(theirs)] if role == "connect" else [])]
        self.program = start(binary.name, command, link, "client", rdma=False)
        if role == "listen":
            self.program.wait_for_output("listening")

    def expect(self):
        self.program.expect(PATIENCE)


def peer_address(link):
    if isinstance(link, (Routed, Guest)):
        return link.peer
    return link.subnets[link.family].format(2) if isinstance(link, Veth) else link.address


def settings(link):
    if not isinstance(link, Guest):
        return {}
    if link.inside == "server":
        return {"SCTPIW_LLP": "kernel", "SCTPIW_ENCAP_PORT": "same"}
    return {"SCTPIW_LLP": "ip"} if link.raw else {}


def start_rnic(link, role, port, *options, env=None):
    address = link.any if role == "listen" else peer_address(link)
    program = start("rnic-side", [RNIC, *map(str, options), role, address, str(port)], link, "server",
                    env={**settings(link), **(env or {})})
    if role == "listen":
        program.wait_for_output("listening")
    return program


def end_rnic(program):
    program.wait_for_output("all served", PATIENCE)
    program.signal(signal.SIGTERM)
    program.expect(5)
    return program.output()


def pair(link, role, scenario, *options, rnic=(), connections=1, env=None):
    """Runs the foreign peer in this role, and rnic-side in the opposite role. Returns both outputs."""
    port = free_port()
    rnic = ["--connections", connections, *rnic]
    if role == "connect":
        other = start_rnic(link, "listen", port, *rnic, env=env)
        peer = Peer(link, "connect", port, scenario, *options)
    else:
        peer = Peer(link, "listen", port, scenario, *options)
        other = start_rnic(link, "connect", port, *rnic, env=env)
    peer.expect()
    return peer.program.output(), end_rnic(other)


def want(output, text, count=1):
    if output.count(text) != count:
        raise Failure(f"'{text}' was printed {output.count(text)} times, not {count}")


# ------------------------------------------------------------------ cases

def of(role, scenario, *options, sessions=1, connections=None, rnic=(), check=None, env=None):
    """A case with `sessions` sessions at the same time, of `connections` connections in total."""
    connections = connections or sessions

    def case(link):
        at_once = ["--at-once", sessions] if role == "listen" else []
        outputs = pair(link, role, scenario, "--sessions", sessions, *options, rnic=[*at_once, *rnic],
                       connections=connections, env=env)
        if check:
            check(link, *outputs)
        else:
            want(outputs[1], "work requests completed", connections)
    return case


def on_streams(*expected):
    """Checks the streams of the sessions. The peer has checked that the DDP-SSN began at 0 each time."""
    def check(link, peer, rnic):
        streams = [line.split()[1] for line in peer.splitlines() if line.startswith("stream ")]
        if streams != [str(stream) for stream in expected]:
            raise Failure(f"the sessions were on the streams {' '.join(streams)}")
    return check


def request_only(link, peer, rnic):
    want(rnic, "RDMA_CM_EVENT_CONNECT_REQUEST")


def rejected_event(link, peer, rnic):
    status = -111 if harness.PERSONALITY == "iwarp" else 28
    want(rnic, f"RDMA_CM_EVENT_REJECTED, status {status}, private data 'a foreign stack'")


def no_matching_rtr(link, peer, rnic):
    want(rnic, "RDMA_CM_EVENT_CONNECT_ERROR, status -71")  # EPROTO


def peer_to_peer(role, kind, asked=None):
    """The initiator sends this kind of RTR indication, which sctpiw requests due to a setting."""
    return of(role, "transfer", "--peer-to-peer", kind, "--largest", 5001, sessions=3,
              env={"SCTPIW_PEER_TO_PEER": asked or kind} if role == "listen" else None)


def refused(role, adaptation):
    """Without the right adaptation indication there is no association, and the listener serves other peers."""
    def listening(link):
        port = free_port()
        peer = Peer(link, "listen", port, "refused", "--adaptation", adaptation)
        rnic = start_rnic(link, "connect", port)
        want(end_rnic(rnic), "RDMA_CM_EVENT_CONNECT_ERROR, status -71")  # EPROTO
        if peer.program.process.poll():  # on the kernel's SCTP, sctpiw refuses only an existing association
            raise Failure("the peer has failed")

    def connecting(link):
        port = free_port()
        rnic = start_rnic(link, "listen", port)
        Peer(link, "connect", port, "refused", "--adaptation", adaptation).expect()
        Peer(link, "connect", port, "transfer", "--largest", 5001).expect()  # the listener still serves others
        want(end_rnic(rnic), "RDMA_CM_EVENT_CONNECT_REQUEST")

    return listening if role == "listen" else connecting


def rping(role, *options):
    count = 20

    def listening(link):
        port = free_port()
        peer = Peer(link, "listen", port, "rping", "--rounds", count)
        command = ["rping", "-c", "-a", peer_address(link), "-p", port, "-C", count, "-V", "-S", "5000"]
        client = start("rping-client", command, link, "server", env=settings(link))
        client.expect(PATIENCE)
        peer.expect()

    def connecting(link):
        port = free_port()
        command = ["rping", "-s", "-a", link.any, "-p", port, "-S", "5000"]
        server = start("rping-server", command, link, "server", env=settings(link))
        server.wait_listening(port)
        Peer(link, "connect", port, "rping", "--rounds", count, *options).expect()
        server.expect(PATIENCE)

    return listening if role == "listen" else connecting


def own_udp_port(link):
    """A setting selects the peer's UDP port, instead of the SCTP port's number."""
    port, udp = free_port(), free_port()
    peer = Peer(link, "listen", port, "transfer", "--largest", 5001, udp=udp)
    rnic = start_rnic(link, "connect", port, env={"SCTPIW_ENCAP_PORT": str(udp)})
    peer.expect()
    want(end_rnic(rnic), "work requests completed")


def often(case):
    """Runs the case eight times, since it depends on the moment of an event within a transfer."""
    def case_often(link):
        for _ in range(8):
            case(link)
    return case_often


CASES = [
    ("transfer.connect", of("connect", "transfer")),
    ("transfer.listen", of("listen", "transfer")),
    ("plain", of("connect", "transfer", "--plain", "--largest", 65536)),
    ("udp-port", own_udp_port),
    ("old", of("listen", "old")),
    ("sessions.connect", of("connect", "transfer", "--largest", 300001, sessions=8)),
    ("sessions.listen", of("listen", "transfer", "--largest", 300001, sessions=8)),
    ("reuse.connect", of("connect", "reuse", "--rounds", 4, connections=4, check=on_streams(0, 0, 0, 0))),
    ("reuse.listen", of("listen", "reuse", "--rounds", 5, "--outbound", 4, "--inbound", 4, connections=5,
                        check=on_streams(0, 2, 0, 2, 0))),
    ("reject.connect", of("connect", "reject", rnic=["--reject"], check=request_only)),
    ("reject-plain.connect", of("connect", "reject", "--plain", rnic=["--reject"], check=request_only)),
    ("reject.listen", of("listen", "reject", check=rejected_event)),
    ("errors.connect", of("connect", "errors", connections=9)),
    ("errors.listen", of("listen", "errors", connections=9)),
    ("ordered", of("connect", "transfer", "--ordered", "--largest", 300001, sessions=2)),
    ("fragmented", of("connect", "transfer", "--segment", 9000, "--largest", 300001, sessions=2)),
    ("fragmented-ordered", of("listen", "transfer", "--segment", 4000, "--ordered", "--largest", 300001)),
    ("streams-10.connect", of("connect", "transfer", "--outbound", 10, "--inbound", 10, "--largest", 5001,
                              sessions=10)),
    ("streams-10.listen", of("listen", "transfer", "--outbound", 10, "--inbound", 10, "--largest", 5001,
                             sessions=5)),
    ("streams-3-20.connect", of("connect", "transfer", "--outbound", 3, "--inbound", 20, "--largest", 5001,
                                sessions=3)),
    ("streams-20-4.listen", of("listen", "transfer", "--outbound", 20, "--inbound", 4, "--largest", 5001,
                               sessions=2)),
    *((f"peer-to-peer-{kind}.{role}", peer_to_peer(role, kind))
      for kind in ("send", "write", "read") for role in ("connect", "listen")),
    ("peer-to-peer-any.listen", peer_to_peer("listen", "read", "any")),
    ("peer-to-peer-mismatch.listen", of("listen", "mismatch", "--peer-to-peer", "send", check=no_matching_rtr,
                                        env={"SCTPIW_PEER_TO_PEER": "write"})),
    ("refused-none.connect", refused("connect", "none")),
    ("refused-other.connect", refused("connect", 7)),
    ("refused-none.listen", refused("listen", "none")),
    ("refused-other.listen", refused("listen", 7)),
    ("terminate.connect", of("connect", "terminate", sessions=3)),
    ("terminate.listen", of("listen", "terminate", sessions=3)),
    ("shutdown.connect", of("connect", "shutdown", sessions=3)),
    ("shutdown.listen", of("listen", "shutdown", sessions=3)),
    ("abort.connect", of("connect", "abort", sessions=3)),
    ("abort.listen", of("listen", "abort", sessions=3)),
    ("rping.connect", rping("connect")),
    ("rping-plain.connect", rping("connect", "--plain")),
    ("rping.listen", rping("listen")),
    ("idle", of("listen", "idle")),
    ("cookie-echo-lost.connect", of("connect", "transfer", "--largest", 5001,
                                    env={"SCTPIW_FAULTS": "packets in chunk cookie_echo: drop, at most 2 times"})),
    ("lossy.connect", of("connect", "transfer", "--largest", 65536, sessions=2)),
    ("lossy.listen", of("listen", "transfer", "--largest", 65536, sessions=2)),
    ("lossy-reuse", of("connect", "reuse", "--rounds", 3, connections=3, check=on_streams(0, 0, 0))),
]

KERNEL_CASES = [
    ("shutdown-often", often(of("connect", "shutdown", sessions=3))),
]

GUEST_CASES = [
    # Two associations, as one association has too few streams.
    ("streams-used-up", of("listen", "transfer", "--outbound", 10, "--inbound", 10, "--largest", 5001,
                           "--processes", 2, sessions=5, connections=10, rnic=["--at-once", 10])),
]


def main():
    kernel = any(arg.startswith("guest-kernel") for arg in sys.argv)
    guest = not kernel and any(arg.startswith("guest") for arg in sys.argv)
    binary = LKSCTP if guest else USRSCTP
    if not binary.exists():
        print(f"SKIP {binary.name} was not built: when cmake ran, its SCTP's development package was missing")
        return harness.EXIT_SKIPPED
    return harness.main(CASES + GUEST_CASES * guest + KERNEL_CASES * kernel)


if __name__ == "__main__":
    sys.exit(main())
