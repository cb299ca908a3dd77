#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""QEMU's migration by RDMA: a guest of 256 MiB that continues to write, and a comparison of its memory afterwards.

The guest needs no KVM and no system: its BIOS is a loop that writes a counter to 64 KiB of memory, over and over. QEMU
before 9.0 clears the marks of changed pages without notifying the emulated processor. The processor then does not mark
these pages again, and later writes are lost, by TCP as by RDMA (see QEMU's commit 03bfc2188f). So the guest invalidates
the page's translation before each store; then each store is marked."""
import filecmp
import json
import os
import socket
import sys
import time

import harness
from harness import Failure, free_port, need, start

MEMORY = 256 << 20
FILLED_AT, FILLED = 16 << 20, 192 << 20
BIOS = 65536
WRITTEN_AT = 0x10000  # target of the loop
# mov $0x1000, %ax; mov %ax, %es; invlpg %es:(%di); stosl; inc %eax; jmp to invlpg. %di wraps at 64 KiB.
LOOP = bytes.fromhex("b80010 8ec0 260f013d 66ab 6640 ebf6")
RESET = 0xfff0  # where the processor starts, in the BIOS
TO_LOOP = bytes.fromhex("e9 0d00")  # jmp to 0x10000, the first byte of the BIOS


class Monitor:
    """Sends QMP commands to a QEMU."""

    def __init__(self, path, program):
        deadline = time.monotonic() + 20 * harness.SLOW
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                if not program.running() or time.monotonic() > deadline:
                    raise Failure(f"{program.name} has no monitor: {program.output()}") from None
                time.sleep(0.05)
        self.socket.settimeout(60 * harness.SLOW)
        self.lines = self.socket.makefile()
        self.lines.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        self.socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = json.loads(self.lines.readline() or '{"error": "it is gone"}')
            if "error" in answer:
                raise Failure(f"{command}: {answer['error']}")
            if "return" in answer:
                return answer["return"]

    def save(self, address, size, name):
        """Writes the guest's memory to a file. Returns its path."""
        path = harness.log_file(name)
        self.ask("pmemsave", val=address, size=size, filename=str(path))
        return path


def files():
    """The BIOS, and random bytes for the memory."""
    bios, fill = harness.log_file("bios"), harness.log_file("fill")
    code = bytearray(LOOP.ljust(BIOS, b"\xf4"))
    code[RESET:RESET + len(TO_LOOP)] = TO_LOOP
    bios.write_bytes(code)
    fill.write_bytes(os.urandom(FILLED))
    return bios, fill


def qemu(name, link, side, bios, *options):
    """Starts a QEMU without a guest system. Returns QEMU and its monitor."""
    path = harness.log_file(f"{name}.socket")
    program = start(name, ["qemu-system-x86_64", "-M", "pc,accel=tcg", "-m", MEMORY >> 20, "-nodefaults", "-display", "none",
                           "-bios", bios, "-qmp", f"unix:{path},server=on,wait=off", *options], link, side)
    return program, Monitor(path, program)


def must_come_to(state, monitor):
    """Waits for the end of the migration."""
    deadline = time.monotonic() + 60 * harness.SLOW
    while True:
        info = monitor.ask("query-migrate")
        if info.get("status") == state:
            return info
        if info.get("status") == "failed" or time.monotonic() > deadline:
            raise Failure(f"the migration is {info}")
        time.sleep(0.05)


def must_go_on(monitor):
    """Checks that the guest continues to write after the migration."""
    monitor.ask("cont")
    before = monitor.save(WRITTEN_AT, 65536, "before").read_bytes()
    deadline = time.monotonic() + 20 * harness.SLOW
    while monitor.save(WRITTEN_AT, 65536, "after").read_bytes() == before:
        if time.monotonic() > deadline:
            raise Failure("the guest does nothing after it has moved")


def must_be_written(here, there):
    """Checks that the guest's memory is the same on both sides after the guest was stopped."""
    ours, theirs = (monitor.save(0, 1 << 20, "written").read_bytes() for monitor in (here, there))
    if not any(theirs[WRITTEN_AT:WRITTEN_AT + 65536]):
        raise Failure("the guest has written nothing")
    apart = [at for at in range(0, 1 << 20, 4) if ours[at:at + 4] != theirs[at:at + 4]]
    if len(apart) > 1:  # one store may fall between QEMU's check of the marks and its copy of the page
        raise Failure(f"{len(apart)} words are not the same on both sides, from {apart[0]:#x} to {apart[-1]:#x}")


def precopy(link):
    need("qemu-system-x86_64")
    port = free_port()
    uri = f"rdma:{link.address}:{port}"
    bios, fill = files()
    destination, there = qemu("destination", link, "server", bios, "-S", "-incoming", uri)
    destination.wait_listening(port)
    _, here = qemu("source", link, "client", bios, "-device", f"loader,file={fill},addr={FILLED_AT},force-raw=on")
    here.ask("migrate-set-parameters", **{"max-bandwidth": 1 << 34})
    here.ask("migrate", uri=uri)
    info = must_come_to("completed", here)
    must_come_to("completed", there)
    if info["ram"]["transferred"] < FILLED:
        raise Failure(f"only {info['ram']['transferred']} bytes have moved")
    must_be_written(here, there)
    if not filecmp.cmp(there.save(FILLED_AT, FILLED, "filled"), fill, shallow=False):
        raise Failure("memory has other contents after it has moved")
    must_go_on(there)


CASES = [
    ("precopy", precopy),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
