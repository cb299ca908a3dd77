#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs programs in a User-Mode Linux guest from outside.

    foreign_guest.py serve              in the guest: serves as long as the guest lives
    foreign_guest.py boot               on the host's side of the link: waits until the guest serves
    foreign_guest.py run [--udp LOCAL REMOTE] CMD ARG...
                                        on the host's side: runs CMD in the guest as if it ran here; the UDP ports
                                        of the kernel's SCTP are LOCAL, and REMOTE at the peer, 0: none

A TCP connection carries the program's output, then a NUL and the exit status. SIGTERM is passed on. If the connection
breaks, because the requesting process was killed, the program is killed.
"""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

GUEST = "10.99.0.2"
PORT = 9
BOOT = 60  # seconds


def handle(connection):
    request = connection.makefile("rb").readline()
    if not request:  # the process only waits for the guest
        return
    argv, settings = json.loads(request)
    if argv[0] == "--udp":
        for name, port in zip(("udp_port", "encap_port"), argv[1:3]):
            with open(f"/proc/sys/net/sctp/{name}", "w") as f:
                f.write(port)
        del argv[:3]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=connection, stderr=connection,
                          start_new_session=True, env={**os.environ, **settings}) as program:
        while program.poll() is None:
            if select.select([connection], [], [], 0.02)[0]:
                os.killpg(program.pid, signal.SIGTERM if connection.recv(1) else signal.SIGKILL)
    connection.sendall(b"\0%d" % program.returncode)
    connection.close()


def serve():
    with socket.create_server(("", PORT)) as listener:
        while True:
            threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()


def connect(seconds):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((GUEST, PORT), timeout=1)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def run(argv):
    status = b""
    with connect(5) as connection:
        connection.settimeout(None)
        settings = {name: value for name, value in os.environ.items() if name.startswith("SCTPIW_")}
        connection.sendall(json.dumps([argv, settings]).encode() + b"\n")
        signal.signal(signal.SIGTERM, lambda *_: connection.sendall(b"T"))
        while True:
            data = connection.recv(65536)
            if not data:
                return int(status or 255)
            if status:
                status += data
                continue
            output, _, status = data.partition(b"\0")
            os.write(1, output)


def main():
    if sys.argv[1] == "serve":
        serve()
    elif sys.argv[1] == "boot":
        connect(BOOT).close()
    else:
        sys.exit(run(sys.argv[2:]) & 255)


main()
