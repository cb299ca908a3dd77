# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Stock programs with encrypted packets, by keys or by certificates."""
import re
import subprocess

import harness
import perftest_run
from harness import BUILD, Failure, free_port, start


def check(ok, what):
    if not ok:
        raise Failure(what)


def counter(program, name):
    done = subprocess.run([BUILD / "bin/sctpiw", "counters", str(program.pid)], capture_output=True, text=True)
    found = re.search(rf"\b{name}:? +(\d+)", done.stdout)
    return int(found[1]) if found else None


def perftest(settings, accepted, tool, *more):
    """settings(link): the options of both sides. accepted(server, client) checks that both print the peer's name."""
    def case(link):
        perftest_run.speaks(link)
        port = free_port()
        common = [tool, "-R", "-F", "-d", harness.DEVICE, "-p", str(port), *more]
        order = ["--in-order"] * link.lossy
        server, client = settings(link)
        s = start("server", common, link, "server", options=[*server, *order])
        s.wait_listening(port)
        c = start("client", [*common, link.address], link, "client", options=[*client, *order])
        c.expect(90)
        s.expect(10)
        check(perftest_run.rows(c.output()), f"{tool} printed no result")
        accepted(s, c)
    return case


def pingpong(settings, tool):
    """As perftest(), for QPs that are connected by TCP."""
    def case(link):
        if link.family == 6:
            raise harness.Skip(f"{tool} waits for its peer in IPv4 only")
        if link.lossy and "ud" in tool:
            raise harness.Skip(f"{tool} waits for ever when a datagram is lost")
        port = free_port()
        common = [tool, "-g", "0", "-d", harness.DEVICE, "-p", str(port), "-n", "300"]
        server, client = settings(link)
        s = start("server", common, link, "server", options=server)
        s.wait_listening_tcp(port)
        c = start("client", [*common, link.address], link, "client", options=client)
        c.expect(60)
        s.expect(10)
        check("iters in" in c.output(), f"{tool} printed no result")
    return case
