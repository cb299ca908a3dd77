# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The network links on which measurements run. Each link is made on first use. None means no link."""
import contextlib
import os
import pathlib
import subprocess

import harness
import names
import paths  # noqa: F401, which adds links to the harness

RMEM_MAX = pathlib.Path("/proc/sys/net/core/rmem_max")
SMALL = 212992  # bytes; the default value in distributions
KINDS = {  # name: (its name in tests/e2e/harness.py, whether net.core.rmem_max must be small)
    names.LO: ("lo", False),
    names.MTU_1500: ("veth1500", False),
    names.MTU_9000: ("veth9000", False),
    names.LOSS: ("loss", False),
    names.TWO_LINKS: ("twice", False),
    names.TWO_LINKS_9000: ("twice9000", False),
    names.SMALL_LO: ("lo", True),
    names.SMALL_1500: ("veth1500", True),
}


def enter_namespace():
    """Enters a user namespace as its root, who can make network namespaces. Does nothing if the host forbids this."""
    inside = "SCTPIW_BENCH_NETNS"
    if os.geteuid() and inside not in os.environ:
        os.environ[inside] = "1"
        with contextlib.suppress(harness.Skip):
            harness.unshare(*harness.AS_USER, "--net")
    if inside in os.environ:
        subprocess.run(["ip", "link", "set", "lo", "up"])


@contextlib.contextmanager
def _small_buffers():
    """Makes net.core.rmem_max small for the whole machine. Restores it when this program ends."""
    before = RMEM_MAX.read_text()
    try:
        RMEM_MAX.write_text(str(SMALL))
    except OSError as error:
        raise harness.Skip(f"cannot set net.core.rmem_max: {error.strerror}") from None
    try:
        yield
    finally:
        RMEM_MAX.write_text(before)


def _pin(link):
    """Pins the server to one half of the processors, and the client to the other half."""
    processors = sorted(os.sched_getaffinity(0))
    half = (len(processors) + 1) // 2
    sides = {"server": processors[:half], "client": processors[half:] or processors}
    enter = link.enter
    link.enter = lambda side: [*enter(side), "taskset", "-c", ",".join(map(str, sides[side]))]


class Links:
    def __init__(self, pin):
        self.pin = pin
        self.open = {}  # for each kind: the link, or a harness.Skip with the reason for its absence

    def _get(self, kind):
        if kind not in self.open:
            try:
                self.open[kind] = harness.LINKS[kind](kind, 4)
            except harness.Skip as skip:
                self.open[kind] = skip
            else:
                if self.pin:
                    _pin(self.open[kind])
        if isinstance(self.open[kind], harness.Skip):
            raise self.open[kind]
        return self.open[kind]

    @contextlib.contextmanager
    def use(self, name):
        """Yields the link, and the user who must run the programs, or None for the current user.

        A small rmem_max requires an ordinary user, since root's sockets may exceed it.
        """
        if name not in KINDS:
            yield None, None
            return
        kind, small = KINDS[name]
        with _small_buffers() if small else contextlib.nullcontext():
            yield self._get(kind), harness.NOBODY if small else None

    def close(self):
        for link in self.open.values():
            if not isinstance(link, harness.Skip):
                link.close()
