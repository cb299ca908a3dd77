# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Waits for events outside the programs that the harness runs."""
import time

from harness import SLOW, Failure


def wait_until(what, true, seconds=20):
    """Waits until the function returns a true value, or raises Failure(what)."""
    deadline = time.monotonic() + seconds * SLOW
    while not true():
        if time.monotonic() > deadline:
            raise Failure(what)
        time.sleep(0.05)
