# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Ports for the programs of a test script."""
import fcntl
import itertools
import os
import pathlib
import random
import socket
import tempfile

PORTS = range(20000, 32000)  # below the ephemeral range
SHARE = 250  # ports for each running script

_share = None  # an iterator over the ports of this script, and the file whose lock reserves them


def _take_share():
    """Reserves ports for this script: scripts on lo share a network, and could choose the same free port."""
    if "SCTPIW_E2E_GUEST" in os.environ:  # User-Mode Linux, with its own network
        return itertools.cycle(PORTS), None
    directory = pathlib.Path(tempfile.gettempdir()) / f"sctpiw-ports-{os.geteuid()}"
    directory.mkdir(exist_ok=True)
    for first in PORTS[::SHARE]:
        file = open(directory / str(first), "w", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        begin = random.randrange(SHARE)
        return itertools.cycle(first + (begin + i) % SHARE for i in range(SHARE)), file
    raise SystemExit(f"{len(PORTS) // SHARE} scripts run already")


def free_port():
    """A port that neither UDP nor TCP uses, a new one in each call."""
    global _share
    if _share is None:
        _share = _take_share()
    while True:
        port = next(_share[0])
        try:
            for kind in socket.SOCK_DGRAM, socket.SOCK_STREAM:
                with socket.socket(socket.AF_INET, kind) as s:
                    s.bind(("0.0.0.0", port))
            return port
        except OSError:
            continue
