#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs with certificates, made by the commands of docs/security.md: which are served, and the messages for the
others."""
import pathlib
import re
import subprocess

import harness
from harness import free_port, need, start
from sealed import check, counter, perftest, pingpong

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = "IP:10.0.0.1,IP:fd00::1"  # the document's placeholder for the addresses of a host
LAB = "lab " + "0f" * 32 + "\n"
CA_SETTINGS = """[ca]
default_ca = own
[own]
database = index
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = names
copy_extensions = copy
[names]
commonName = supplied
"""


# ------------------------------------------------------------------ certificates

class Authority:
    """A directory with an authority, by the document's first command. The others make a host's certificates."""

    def __init__(self, name="pki"):
        need("openssl")
        self.path = harness.log_file(name)
        self.path.mkdir(exist_ok=True)
        text = (ROOT / "docs/security.md").read_text().replace("\\\n", " ")
        commands = [line.strip() for line in text.splitlines() if re.match(r" {4}openssl ", line)]
        check(len(commands) == 3 and EXAMPLE in commands[1], f"docs/security.md has other commands: {commands}")
        self.make_ca, *self.make_host = commands
        self.run(self.make_ca)

    def run(self, command):
        done = subprocess.run(command, shell=True, cwd=self.path, capture_output=True, text=True)
        check(done.returncode == 0, f"{command}: {done.stderr}")

    def host(self, name, addresses, change=lambda command: command):
        """The settings of a host with these addresses. change() may change the document's commands."""
        names = ",".join(f"IP:{a}" for a in addresses) or "DNS:nowhere.test"
        for command in self.make_host:
            self.run(change(command.replace("node1", name).replace(EXAMPLE, names)))
        return self.settings(name)

    def settings(self, cert, key=None, ca=None):
        return ["--cert", self.path / f"{cert}.pem", "--cert-key", self.path / f"{key or cert}.key",
                "--ca", ca or self.path / "ca.pem"]

    def early(self, name, addresses):
        """A certificate that is not valid yet. "openssl x509" has no option for this."""
        self.host(name, addresses)
        (self.path / "index").write_text("")
        (self.path / "ca.cnf").write_text(CA_SETTINGS)
        self.run(f"openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in {name}.csr"
                 f" -startdate 20400101000000Z -enddate 20410101000000Z -out {name}.pem")
        return self.settings(name)


def addresses(link, side):
    if not isinstance(link, harness.Veth):
        done = subprocess.run(["ip", "-o", "address"], capture_output=True, text=True, check=True)
        return re.findall(r" inet6? ([0-9a-f.:]+)", done.stdout)
    return [subnet.format(1 if side == "server" else 2) for subnet in link.subnets.values()]


def options(settings, *more):
    return [*settings, "--log", "info", *more]


def begin(link, settings, server, port, *more):
    s = start("server", server, link, "server", options=options(settings, *more))
    s.wait_listening(port)
    return s


def hosts(link, authority=None):
    authority = authority or Authority()
    return [authority.host(side, addresses(link, side)) for side in ("server", "client")]


def told(link):
    """The options of the two sides of a case: a certificate each, of one authority."""
    return [options(host) for host in hosts(link)]


def accepted(server, client):
    for program, peer in (server, "client"), (client, "server"):
        check(f'has the certificate "CN={peer}", and packets are sealed with' in program.output(),
              f"{program.name} does not say which certificate it was")


# ------------------------------------------------------------------ programs

def rping(link):
    port = free_port()
    server, client = hosts(link)
    s = begin(link, server, ["rping", "-s", "-V", "-C", "30", "-S", "50000", "-a", link.any, "-p", str(port)], port)
    c = start("client", ["rping", "-c", "-V", "-C", "30", "-S", "50000", "-a", link.address, "-p", str(port)], link, "client",
              options=options(client))
    c.expect(60)
    s.expect(10)
    accepted(s, c)


def personalities(link):
    """The server looks like an iWARP NIC, and the client like InfiniBand."""
    port = free_port()
    server, client = hosts(link)
    s = begin(link, server, ["rping", "-s", "-C", "3", "-a", link.any, "-p", str(port)], port, "--personality", "iwarp")
    c = start("client", ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, "client",
              options=options(client, "--personality", "ib"))
    c.expect(30)
    s.expect(10)
    accepted(s, c)


def long_chain(link):
    """Certificates of several KiB take several datagrams."""
    port = free_port()
    authority = Authority()
    more = ",".join(f"DNS:{i:060}.test" for i in range(50))
    server, client = (authority.host(side, addresses(link, side), lambda c: re.sub(r"(subjectAltName=\S+)", rf"\1,{more}", c))
                      for side in ("server", "client"))
    check(server[1].stat().st_size > 4500, "the certificate is shorter than it is to be")
    s = begin(link, server, ["rping", "-s", "-C", "3", "-a", link.any, "-p", str(port)], port)
    c = start("client", ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)], link, "client", options=options(client))
    c.expect(40)
    s.expect(10)
    accepted(s, c)


# ------------------------------------------------------------------ refused peers

def refused(make, server_says, client_says, bad="client"):
    """One side has the settings of make(authority, addresses). The client must fail in time; both sides log the reason
    once."""
    def case(link):
        port = free_port()
        authority = Authority()
        settings = dict(zip(("server", "client"), hosts(link, authority)))
        good = settings[bad]
        settings[bad] = make(authority, addresses(link, bad))
        s = begin(link, settings["server"], ["rping", "-s", "-P", "-a", link.any, "-p", str(port)], port)
        client = ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)]
        c = start("client", client, link, "client", options=options(settings["client"], "--silent-limit", "8"))
        check(c.wait(20), "a client that has to be refused was served")
        # The server acts on a cleartext alert of its client only after a while without other packets.
        s.wait_for_output(server_says)
        for program, text in (s, server_says), (c, client_says):
            check(program.output().count(text) == 1, f"{program.name} does not say '{text}' once")
            check("PRIVATE" not in program.output(), "a key is in a log")
        check(s.running(), "the server has ended")
        if settings["server"]:
            check(counter(s, "dtls_refused"), "the server has counted nothing that was refused")
        if bad == "client":
            start("friend", client, link, "client", options=options(good)).expect(20)
    return case


def key_file(*_):
    path = harness.log_file("key")
    path.write_text(LAB)
    path.chmod(0o600)
    return ["--key", path]


def expired(authority, of):
    return authority.host("bad", of, lambda command: command.replace("-days 365", "-days -1"))


def early(authority, of):
    return authority.early("bad", of)


def wrong_name(authority, of):
    return authority.host("bad", ["198.51.100.1"])


def other_ca(authority, of):
    other = Authority("other")
    other.host("bad", of)
    return other.settings("bad", ca=authority.path / "ca.pem")


def servers_only(authority, of):
    return authority.host("bad", of, lambda c: re.sub(r"-addext subj", "-addext extendedKeyUsage=serverAuth -addext subj", c))


OURS = 'has the certificate "CN=bad", which '
THEIRS = "refuses the certificate of this process, which "
CAUSES = [
    ("expired", expired, "has expired, or the clock of this host is wrong (", "has expired or is not valid yet"),
    ("early", early, "is not valid yet, or the clock of this host is wrong (2040-01-01 00:00 UTC)", "has expired or is not valid yet"),
    ("name", wrong_name, "has no subjectAltName of that IP address", "has no subjectAltName of the IP address seen there"),
    ("other-ca", other_ca, "is of no authority in the ca file", "is of no authority in its ca file"),
    ("purpose", servers_only, "is not for both servers and clients", "is not for both servers and clients"),
]


def others(link):
    """With cert-names = any, a certificate without the peer's address suffices. A server with a key too serves both
    kinds."""
    port = free_port()
    authority = Authority()
    server, client = hosts(link, authority)
    nowhere = authority.host("nowhere", [])
    s = begin(link, [*server, *key_file(), "--cert-names", "any"], ["rping", "-s", "-P", "-a", link.any, "-p", str(port)], port)
    client_of = ["rping", "-c", "-C", "3", "-a", link.address, "-p", str(port)]
    for name, settings, says in (("nowhere", nowhere, 'has the certificate "CN=nowhere"'), ("key", key_file(), 'has the key "lab" of our file'),
                                 ("both", [*client, *key_file()], 'has the certificate "CN=client"')):
        start(name, client_of, link, "client", options=options(settings)).expect(20)
        check(says in s.output(), f"the server does not say '{says}'")
    # Without key and certificate, packets are in the clear, if the server permits this.
    port = free_port()
    s = begin(link, server, ["rping", "-s", "-P", "-a", link.any, "-p", str(port)], port, "--key-optional")
    start("keyless", [*client_of[:-1], str(port)], link, "client", options=["--log", "info"]).expect(20)
    s.wait_for_output("it is served in the clear")


def files(link):
    """With unusable files, there is one log line and no device."""
    authority = Authority()
    good = authority.host("good", addresses(link, "client"))
    authority.host("other", addresses(link, "client"))
    text = harness.log_file("text")
    text.write_text("no certificate\n")
    for left_out in 0, 2, 4:
        c = start("part", ["true"], link, "client", options=good[:left_out] + good[left_out + 2:])
        check(c.wait(10) == 2 and "go together" in c.output(), f"without {good[left_out]}: {c.output()}")
    cases = [("missing", [*good[:4], "--ca", harness.log_file("nowhere")], "No such file"),
             ("text", ["--cert", text, *good[2:]], "as in PEM files"),
             ("llp", [*good, "--llp", "ip"], "only SCTP in UDP can be encrypted"),
             ("names", [*good, "--cert-names", "all"], "it is address or any")]
    for name, settings, says in cases:
        c = start(name, ["true"], link, "client", options=settings)
        lines = c.output().strip().splitlines() if c.wait(10) == 2 else []
        check(len(lines) == 1 and says in lines[0], f"{name}: {c.output()}")
    good[3].chmod(0o640)
    c = start("mode", ["true"], link, "client", options=good)
    check(c.wait(10) == 2 and "cert-key = " in c.output() and "chmod 600" in c.output(), f"mode 0640: {c.output()}")
    good[3].chmod(0o600)
    for name, settings, says in (("mismatch", authority.settings("good", key="other"), "not the private key of the certificate"),
                                 ("whole", good, None)):
        c = start(name, ["ibv_devinfo", "-d", harness.DEVICE], link, "client", options=settings)
        status = c.wait(10)
        check(bool(status) == bool(says) and (not says or c.output().count("no RDMA device: ") == 1 and says in c.output()),
              f"{name}: {c.output()}")


CASES = [
    ("rping", rping),
    ("ib_write_bw", perftest(told, accepted, "ib_write_bw", "-s", "65536", "-n", "300")),
    ("ibv_rc_pingpong", pingpong(told, "ibv_rc_pingpong")),
    ("ibv_ud_pingpong", pingpong(told, "ibv_ud_pingpong")),
    ("personalities", personalities),
    ("long-chain", long_chain),
    *((f"{name}-client", refused(make, OURS + ours, THEIRS + theirs)) for name, make, ours, theirs in CAUSES),
    *((f"{name}-server", refused(make, THEIRS + theirs, OURS + ours, "server")) for name, make, ours, theirs in CAUSES),
    ("client-key", refused(key_file, "does not connect with a certificate", "refuses: it does not take a key")),
    ("server-key", refused(key_file, "does not connect with a key", "refuses: it does not take a certificate", "server")),
    ("client-without", refused(lambda *_: [], "sends in the clear, and gets no answer: this process has a certificate",
                               "that program has a key or a certificate")),
    ("server-without", refused(lambda *_: [], "connects with a key, and gets no answer",
                               "has no certificate, while this one has one", "server")),
    ("others", others),
    ("files", files),
]

if __name__ == "__main__":
    raise SystemExit(harness.main(CASES))
