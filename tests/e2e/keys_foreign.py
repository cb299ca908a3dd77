#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Keys with other SCTP and DTLS stacks: usrsctp in OpenSSL's DTLS 1.2 (tests/peers/usrsctp_dtls.c)."""
import re
import sys

import foreign
import harness
from foreign import PATIENCE, Peer, end_rnic, want
from harness import BUILD, free_port
from keys import FRESH, LAB, OTHER, key_file
from sealed import check

BINARY = BUILD / "bin/foreign-usrsctp-dtls"
CIPHERS = {"DHE-PSK-AES128-GCM-SHA256": "AES-128-GCM", "DHE-PSK-AES256-GCM-SHA384": "AES-256-GCM",
           "ECDHE-PSK-CHACHA20-POLY1305": "CHACHA20-POLY1305"}
FIRST = next(iter(CIPHERS))


def peer(link, role, port, scenario, *options, key, udp=None):
    return Peer(link, role, port, scenario, "--key", key, *options, udp=udp, binary=BINARY)


def rnic(link, role, port, *options, key, **settings):
    env = {f"SCTPIW_{name.upper()}": value for name, value in settings.items()}
    return foreign.start_rnic(link, role, port, *options, env={"SCTPIW_KEY": str(key), "SCTPIW_LOG": "debug", **env})


def said(output, role, cipher):
    """Checks both logs of the session. role: that of the peer."""
    check(f"a session by {cipher} as {'client' if role == 'connect' else 'server'}" in output[0], "the peer has another session")
    whose = "of our file" if role == "connect" else "that we asked with"
    check(re.search(rf'has the key "lab" {whose}, and packets are sealed with {CIPHERS[cipher]}\b', output[1]),
          "sctpiw says nothing of that session")


def pair(link, role, scenario, *options, sessions=1, cipher=FIRST):
    """Runs the foreign peer in this role, and rnic-side in the opposite role. Returns both outputs."""
    port = free_port()
    key = key_file("key", LAB)
    options = ["--sessions", sessions, "--cipher", cipher, *options]
    if role == "connect":
        other = rnic(link, "listen", port, "--connections", sessions, key=key)
        program = peer(link, role, port, scenario, *options, key=key)
    else:
        program = peer(link, role, port, scenario, *options, key=key)
        other = rnic(link, "connect", port, "--connections", sessions, "--at-once", sessions, key=key)
    if "that" in options:  # the peer ends after sctpiw
        end_rnic(other)
    program.expect()
    output = program.program.output(), other.output() if "that" in options else end_rnic(other)
    said(output, role, cipher)
    return output


def of(role, scenario, *options, sessions=1, **more):
    def case(link):
        want(pair(link, role, scenario, *options, sessions=sessions, **more)[1], "work requests completed", sessions)
    return case


def closed_there(link):
    """Other DTLS stacks understand sctpiw's close_notify. Without it, the peer would wait for ever."""
    pair(link, "listen", "transfer", "--largest", 5001, "--close", "that")


def closed_here(link):
    port = free_port()
    key = key_file("key", LAB)
    other = rnic(link, "listen", port, "--connections", 2, key=key)  # stays for the second connection
    peer(link, "connect", port, "transfer", "--largest", 5001, "--close", "this", key=key).expect()
    other.wait_for_output("a peer has closed its session")
    peer(link, "connect", port, "transfer", "--largest", 5001, key=key).expect()
    end_rnic(other)


def another_key_asks(text, here, there):
    """The peer is the client of the handshake, and has another key. A peer with the right key is still served."""
    def case(link):
        port = free_port()
        key = key_file("key", LAB)
        other = rnic(link, "listen", port, key=key)
        refused = peer(link, "connect", port, "transfer", key=key_file("wrong", text)).program
        check(refused.wait(PATIENCE) == 1, "the peer has not failed")
        check(there in refused.output(), f"the peer does not say '{there}'")
        other.wait_for_output(here)
        check("RDMA_CM_EVENT_CONNECT_REQUEST" not in other.output(), "a connection was asked for without the key")
        peer(link, "connect", port, "transfer", "--largest", 5001, key=key).expect()
        end_rnic(other)
    return case


def another_key_is_asked(text, says):
    """The peer is the server of the handshake, and has another key. OpenSSL does not report a Finished that it cannot
    open."""
    def case(link):
        port = free_port()
        refusing = peer(link, "listen", port, "transfer", key=key_file("wrong", text))
        output = end_rnic(rnic(link, "connect", port, key=key_file("key", LAB), silent_limit="4"))
        check("RDMA_CM_EVENT_ESTABLISHED" not in output, "a connection was established")
        check(says in output, f"sctpiw does not say '{says}'")
        check("a session by" not in refusing.program.output(), "there is a session without the key")
    return case


def again(link):
    """A peer restarts at the same UDP port, without a close_notify for its old session (RFC 6347 4.2.8)."""
    port, udp = free_port(), free_port()
    key = key_file("key", LAB)
    other = rnic(link, "listen", port, "--connections", 3, key=key)
    for _ in range(3):
        peer(link, "connect", port, "transfer", "--largest", 5001, key=key, udp=udp).expect()
    want(end_rnic(other), "work requests completed", 3)


CASES = [
    ("transfer.connect", of("connect", "transfer")),
    ("transfer.listen", of("listen", "transfer")),
    ("cookie.listen", of("listen", "transfer", "--cookie", "--largest", 65536)),
    *((f"{CIPHERS[cipher].lower()}.{role}", of(role, "transfer", "--largest", 65536, cipher=cipher))
      for cipher in CIPHERS for role in ("connect", "listen")),
    ("sessions.connect", of("connect", "transfer", "--largest", 65536, sessions=4)),
    ("abort.listen", of("listen", "abort", sessions=3)),
    ("idle.listen", of("listen", "idle")),
    ("closed-there", closed_there),
    ("closed-here", closed_here),
    ("another-key.connect", another_key_asks(OTHER, 'connects with another key of the name "lab"', "alert decrypt error")),
    ("another-name.connect", another_key_asks(FRESH, 'connects with the key "fresh"', "alert unknown psk identity")),
    ("another-key.listen", another_key_is_asked(OTHER, "RDMA_CM_EVENT_UNREACHABLE")),
    ("another-name.listen", another_key_is_asked(FRESH, 'refuses: its key file does not have the key "lab"')),
    ("again", again),
    ("lossy.connect", of("connect", "transfer", "--largest", 65536)),
    ("lossy.listen", of("listen", "transfer", "--largest", 65536, "--cookie")),
]


def main():
    if not BINARY.exists():
        print(f"SKIP {BINARY.name} was not built: when cmake ran, the development package of usrsctp or OpenSSL was missing")
        return harness.EXIT_SKIPPED
    return harness.main(CASES)


if __name__ == "__main__":
    sys.exit(main())
