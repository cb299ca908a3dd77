#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs programs in User-Mode Linux for a test on its host.

    guest.py serve              in the guest: accepts requests on a TCP port
    guest.py run -- ARG...      on the host: runs a program there, with its output here, and ends with its status

A request is a connection. It carries a line of JSON with the arguments, the environment and the pid of the requesting
process. The answer is pairs of a length and output of that length, and at the end length 0 and the status. If the
connection ends earlier, the program is killed. Another kind of request carries a signal for the program of that pid.
"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading

ADDRESS = "10.99.0.2", 2222  # the same as in uml-run --net tap

_programs = {}  # by the pid of the requesting process


def _serve_one(connection):
    with connection, connection.makefile("rb") as stream:
        request = json.loads(stream.readline())
        if "signal" in request:
            os.kill(_programs[request["pid"]].pid, request["signal"])
            return
        program = subprocess.Popen(request["argv"], env=request["env"], cwd="/", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        _programs[request["pid"]] = program
        try:
            output = program.stdout
            while True:
                ready, _, _ = select.select([output, connection], [], [])
                if connection in ready:
                    return
                data = os.read(output.fileno(), 65536)
                if not data:
                    break
                connection.sendall(struct.pack("!I", len(data)) + data)
            connection.sendall(struct.pack("!Ii", 0, program.wait()))
        except OSError:
            pass
        finally:
            try:
                os.killpg(program.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            program.wait()


def serve():
    listener = socket.create_server(ADDRESS)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve_one, args=(connection,), daemon=True).start()


def run(argv, env, out):
    """Runs the program, and returns its status, negative for a signal."""
    with socket.create_connection(ADDRESS) as connection, connection.makefile("rb") as stream:
        connection.sendall(json.dumps({"argv": argv, "env": env, "pid": os.getpid()}).encode() + b"\n")
        while True:
            head = stream.read(4)
            if len(head) < 4:
                raise ConnectionError("the guest is gone")
            length, = struct.unpack("!I", head)
            if not length:
                return struct.unpack("!i", stream.read(4))[0]
            out.write(stream.read(length))
            out.flush()


def signal_to(pid, number):
    """Sends a signal to the program that this pid has requested."""
    with socket.create_connection(ADDRESS) as connection:
        connection.sendall(json.dumps({"signal": number, "pid": pid}).encode() + b"\n")
        connection.recv(1)  # until the signal has been sent


def main():
    if sys.argv[1] == "serve":
        serve()
    status = run(sys.argv[3:], dict(os.environ), sys.stdout.buffer)
    if status < 0:
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(main())
