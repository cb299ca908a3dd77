#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The report of "sctpiw doctor HOST" on the way to HOST, where the listener runs, over links with known faults."""
import contextlib
import json
import re
import signal
import subprocess
import sys
import time

import harness
import mtu  # noqa: F401, for its links
from harness import Failure, Veth, free_port, need, start

DROP = """table inet doctor {{
 chain way {{
  type filter hook {hook} priority 0
  meta l4proto udp {what}
 }}
}}
"""


def listen(link, port):
    server = start("listener", [harness.BUILD / "bin/sctpiw", "doctor", "--listen", port], link, "server", rdma=False,
                   env={"COLUMNS": "1000"})
    server.wait_for_output("is free, and listens")
    return server


def ask(link, port, status, *options, **how):
    """The report on the way to the server's side. status: the expected exit status."""
    client = start("doctor", [harness.BUILD / "bin/sctpiw", "doctor", "--json", *options, f"[{link.address}]:{port}"], link,
                   rdma=False, **how)
    client.expect(60, status)
    return {line["check"]: line for line in json.loads(client.output())}


def must_say(lines, check, status, *words):
    line = lines.get(check, {})
    if line.get("status") != status or not all(re.search(word, line["text"] + line.get("remedy", "")) for word in words):
        raise Failure(f"{check}: not {status} and {words}, but {line}")
    return line


@contextlib.contextmanager
def filtered(link, side, hook, what):
    """Adds a rule for UDP on this side, for the duration of the block."""
    need("nft")
    Veth._run([*link.enter(side), "nft", "-f", "-"], DROP.format(hook=hook, what=what))
    try:
        yield
    finally:
        Veth._run([*link.enter(side), "nft", "delete", "table", "inet", "doctor"])


def passes(link):
    """Everything works, and the GID index equals that of sctpiw list."""
    port = free_port()
    server = listen(link, port)
    lines = ask(link, port, 0)
    must_say(lines, "probe", "ok", "200 datagrams passed")
    if must_say(lines, "path MTU", "ok")["bytes"] != 1500:
        raise Failure(f"packets of 1500 bytes do not pass: {lines['path MTU']}")
    must_say(lines, "rate", "ok")
    index = must_say(lines, "route", "ok", "by veth0, which takes 1500 bytes")["gid_index"]
    listed = start("list", [harness.BUILD / "bin/sctpiw", "list"], link, rdma=False)
    listed.expect(20)
    mine = re.search(rf"gid sctpiw0/1/{index} (\S+) netdev veth0", listed.output())
    if not mine or not mine[1].endswith(Veth.subnets[link.family].format(2)):
        raise Failure(f"GID index {index} is not the client's: {listed.output()}")
    server.wait_for_output("it sees the answers")
    if f"probes of {'[' * (link.family == 6)}{Veth.subnets[link.family].format(2)}" not in server.output():
        raise Failure(f"the listener names another guest: {server.output()}")


def closed_there(link):
    port = free_port()
    listen(link, port)
    with filtered(link, "server", "input", "drop"):
        line = must_say(ask(link, port, 1), "probe", "failure", "UDP does not arrive at", f"let UDP port {port} in there")
    if line["arrived"]:
        raise Failure(f"nothing can have arrived: {line}")


def closed_back(link):
    port = free_port()
    server = listen(link, port)
    with filtered(link, "client", "input", "drop"):
        must_say(ask(link, port, 1), "probe", "failure", "UDP arrives at .* but its answers do not come back")
        server.wait_for_output("it does not see the answers")


def own_firewall(link):
    port = free_port()
    listen(link, port)
    with filtered(link, "client", "output", "drop"):
        must_say(ask(link, port, 1), "probe", "failure", "this host's own firewall", "nft list ruleset")


def rejected(link):
    port = free_port()
    listen(link, port)
    with filtered(link, "server", "input", "reject with icmpx type admin-prohibited"):
        must_say(ask(link, port, 1), "probe", "failure", "No route to host|Permission denied", "firewalls that reject")


def all_closed(link):
    """TCP does not pass either: the cause is unknown."""
    port = free_port()
    listen(link, port)
    link.cut()
    try:
        must_say(ask(link, port, 1), "probe", "failure", "answers neither on UDP port|No route to host")
    finally:
        link.mend()


def nobody_listens(link):
    port = free_port()
    must_say(ask(link, port, 1), "probe", "failure", f"nobody listens on its UDP port {port}", "start the server",
             f"--listen {port}")


def rping_server(link, port, *options):
    server = start("rping-server", ["rping", "-s", "-C", 1, "-a", link.any, "-p", port], link, "server", options=options)
    server.wait_listening(port)
    return server


def serves(link):
    """A program listens, and still does after the doctor's run. A stopped program looks like a firewall."""
    port = free_port()
    server = rping_server(link, port)
    for _ in range(2):
        lines = ask(link, port, 0)
        must_say(lines, "server", "ok", f"port {port}: a program of sctpiw listens there")
        must_say(lines, "probe", "ok", "there and back")
    must_say(ask(link, port, 0, "--encap-port", port), "server", "ok", "listens there")
    start("rping", ["rping", "-c", "-C", 1, "-a", link.address, "-p", port], link).expect(20)
    server.expect(20)
    server = rping_server(link, port)
    server.signal(signal.SIGSTOP)
    must_say(ask(link, port, 1), "probe", "failure", "does not answer on UDP port", "start the server")
    server.signal(signal.SIGCONT)


def serves_otherwise(link):
    """The program at the port has other settings than the doctor."""
    port = free_port()
    server = rping_server(link, port, "--llp", "ip")
    must_say(ask(link, port, 1), "server", "failure", "refuses: sctpiw: llp = ip", "same settings")
    for user in None, harness.NOBODY:  # a raw socket needs a privilege
        lines = ask(link, port, int(user is not None), "--llp", "ip", user=user)
        must_say(lines, "server", "ok", "a program of sctpiw")
        must_say(lines, "probe", "ok", "there and back")
    server.kill()
    must_say(ask(link, port, 1, "--llp", "ip"), "server", "failure", "nobody answers SCTP without UDP")
    key = harness.log_file("key")
    key.write_text("lab " + "0f" * 32 + "\n")
    key.chmod(0o600)
    server = rping_server(link, port, "--key", key)
    must_say(ask(link, port, 1), "server", "failure", "serves nobody without one", "--key")
    server.kill()
    rping_server(link, port)
    lines = ask(link, port, 1, "--key", key)
    must_say(lines, "server", "failure", "has neither key nor certificate")
    must_say(ask(link, port, 0, "--key", key, "--key-optional"), "server", "ok", "listens there")


def no_listener(link):
    """UDP is dropped, and nobody listens: the host's TCP shows that the host is up."""
    port = free_port()
    with filtered(link, "server", "input", "drop"):
        must_say(ask(link, port, 1), "probe", "failure", "the host is up, since its TCP answers")


def lose(link, side, count, words):
    """This side loses a tenth of incoming packets: the line has these words, and this count is about 20 of 200."""
    port = free_port()
    listen(link, port)
    with filtered(link, side, "input", "numgen random mod 100 < 10 drop"):
        line = must_say(ask(link, port, 0), "probe", "warning", words)
    if not 2 < line[count] < 60:
        raise Failure(f"a tenth of 200 was lost: {line}")


def lost_there(link):
    lose(link, "server", "lost_there", "were lost on the way there, and 0 back")


def lost_back(link):
    lose(link, "client", "lost_back", "0 were lost on the way there")


def wait_for_addresses(link):
    """A router resolves its neighbours only after duplicate detection of its own addresses (RFC 4862)."""
    deadline = time.monotonic() + 20
    for side in link.holders:
        while subprocess.run([*link.enter(side), "ip", "-6", "address", "show", "tentative"], capture_output=True,
                             check=True).stdout:
            if time.monotonic() > deadline:
                raise Failure(f"the addresses of {side} remain tentative")
            time.sleep(0.1)


def starved(link):
    """Only the first datagrams pass, or only short ones. The doctor then skips the other checks."""
    port = free_port()
    listen(link, port)
    for what, words in (("limit rate over 1/minute burst 5 packets drop", "has ceased to answer.*limits the rate"),
                        ("udp length > 100 drop", "of 200 datagrams 200 were lost on the way there.*limits the rate")):
        with filtered(link, "server", "input", what):
            lines = ask(link, port, 1)
            must_say(lines, "probe", "failure", words)
            if "rate" in lines:
                raise Failure(f"more was asked of a link that is broken: {lines['rate']}")


def narrow(link):
    """A middle link has a smaller MTU than the hosts' links, whether routers report this or not.

    MTUs that the kernel learns in the first run do not change the second one.
    """
    wait_for_addresses(link)
    port = free_port()
    listen(link, port)
    most = int(re.search(r"\d+", link.name)[0])
    for _ in range(1 if "silent" in link.name else 2):
        line = must_say(ask(link, port, 0), "path MTU", "warning", "but not those of 1500")
        if not most - 8 <= line["bytes"] <= most:
            raise Failure(f"the link takes {most} bytes: {line}")


CASES = [("passes", passes), ("closed-there", closed_there), ("closed-back", closed_back), ("own-firewall", own_firewall),
         ("rejected", rejected), ("all-closed", all_closed), ("nobody-listens", nobody_listens), ("serves", serves), ("serves-otherwise", serves_otherwise),
         ("no-listener", no_listener), ("lost-there", lost_there), ("lost-back", lost_back),
         ("starved", starved), ("narrow", narrow)]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
