# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs perftest programs in pairs, and reads the tables that they print."""
import math
import re

import harness


def rows(output):
    """The table that a perftest program prints: a list of (bytes, iterations, [further columns])."""
    found = []
    for line in output.splitlines():
        fields = line.split()
        if len(fields) >= 4 and all(re.fullmatch(r"-?\d+(\.\d+)?|-?inf|-?nan", f) for f in fields):
            found.append((int(fields[0]), int(fields[1]), [float(f) for f in fields[2:]]))
    return found


def speaks(link):
    if link.family == 6:
        raise harness.Skip("perftest speaks IPv4 only")


def _not_listening_yet(failure, link):
    """Whether the client came before the server listened a second time; perftest's client may crash then."""
    refused = any(re.search("CM event bl blka 8|CM_EVENT_REJECTED", t) for t in harness.logs("*-client.log"))
    return refused or (link.in_guest and "status -11" in str(failure))


def run(link, tool, options, seconds=20, user=None, client_options=(), env=None):
    """Runs a perftest program with -R and returns the rows that the client printed."""
    speaks(link)
    for tries in range(4):  # several tries, for a busy machine or a slow guest
        try:
            return _run_once(link, tool, options, seconds, user, client_options, tries / 2, env)
        except harness.Failure as failure:
            if not _not_listening_yet(failure, link):
                raise
            harness.kill_all()
            harness.restart_logs()
    return _run_once(link, tool, options, seconds, user, client_options, 2 * link.in_guest, env)


def _run_once(link, tool, options, seconds, user, client_options, pause, env):
    port = harness.free_port()
    # The receiver of ib_send_bw writes its progress into the sender's memory; the last such Write has to win.
    if link.lossy and tool == "ib_send_bw":
        env = dict(env or {}, SCTPIW_IN_ORDER="1")
    common = [tool, "-R", "-F", "-d", harness.DEVICE, "-p", str(port), *options]
    client = [*common, *client_options, link.address]
    _, output = harness.run_pair(link, common, client, port, seconds, user=user, env=env, pause=pause)
    found = rows(output)
    if not found:
        raise harness.Failure(f"{tool} printed no result")
    for size, iterations, values in found:
        if tool.endswith("lat") and len(values) > 4 and math.isnan(values[4]):
            del values[4]  # the standard deviation; of latencies of 100 ms and more perftest sometimes finds none
        if not iterations or not values or any(v < 0 or not math.isfinite(v) for v in values) or values[-1] <= 0:
            raise harness.Failure(f"{tool} printed a result that cannot be: {size} {iterations} {values}")
    return found
