# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs pairs of programs and finds the figures in their output."""
import re
import resource

import harness

BIN = harness.BUILD / "bin"


class At:
    """The place and the duration of a measurement.

    seconds: duration of one transfer. number: number of the round, starting at 1. user: the user who runs the programs;
    None is the current user.
    """

    def __init__(self, link, seconds, number, user=None):
        self.link, self.seconds, self.number, self.user = link, seconds, number, user


def processor_seconds():
    """Returns the processor time of all programs that have ended, with all their threads, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def start_server(at, argv, port, rdma=False, ready=None, env=None):
    server = harness.start("server", argv, at.link, "server", rdma=rdma, user=at.user, env=env)
    if ready:
        server.wait_for_output(ready)
    else:
        server.wait_listening(port)
    return server


def pair(at, server, client, port, rdma=False, ready=None, env=None, seconds=60):
    """Runs a server and a client, kills the server at the end, and returns the client's output."""
    s = start_server(at, server, port, rdma, ready, env)
    c = harness.start("client", client, at.link, "client", rdma=rdma, user=at.user, env=env)
    c.expect(seconds + at.seconds)
    s.kill()
    return c.output()


def numbers(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise harness.Failure("no result in: " + text.strip()[-200:])
    return [float(group) for group in found.groups()]
