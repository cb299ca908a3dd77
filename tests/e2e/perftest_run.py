# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs perftest programs in pairs, and reads the tables that they print."""
import math
import re

import harness

# What a perftest program complains of when the samples by which it measures the processor's clock do not agree, as on
# a machine that took the processor away meanwhile. The times that it prints then are infinite, and the rates zero.
UNCALIBRATED = "Correlation coefficient r^2"
CALIBRATIONS = 5  # runs that are made until one has measured its clock
# What other output begins with, which may come between a row and its newline.
INTERRUPTION = re.compile(f"sctpiw: |{re.escape(UNCALIBRATED)}")


def rows(output):
    """The table that a perftest program prints: a list of (bytes, iterations, [further columns])."""
    found = []
    for line in output.splitlines():
        fields = INTERRUPTION.split(line)[0].split()
        if len(fields) >= 4 and all(re.fullmatch(r"-?\d+(\.\d+)?|-?inf|-?nan", f) for f in fields):
            found.append((int(fields[0]), int(fields[1]), [float(f) for f in fields[2:]]))
    return found


def asked(options):
    """How many messages a perftest program has to report, so many for each QP; or None, if its options do not say it."""
    values = dict(zip(map(str, options), options[1:]))
    return int(values["-n"]) * int(values.get("-q", 1)) if "-n" in values else None


def speaks(link):
    if link.family == 6:
        raise harness.Skip("perftest speaks IPv4 only")


def measured_output(link, tool, options, seconds, user, env, side):
    """What this side of a perftest program printed that could measure its clock."""
    for _ in range(CALIBRATIONS):
        port = harness.free_port()
        common = [tool, "-R", "-F", "-d", harness.DEVICE, "-p", str(port), *options]
        outputs = harness.run_pair(link, common, [*common, link.address], port, seconds, user=user, env=env)
        if UNCALIBRATED not in outputs[side == "client"]:
            return outputs[side == "client"]
    raise harness.Failure(f"{tool} could not measure its clock in {CALIBRATIONS} runs")


def run(link, tool, options, seconds=20, user=None, env=None, side="client"):
    """Runs a perftest program with -R and returns the rows that this side printed."""
    speaks(link)
    # The receiver of ib_send_bw writes its progress into the sender's memory; the last such Write has to win.
    if link.lossy and tool == "ib_send_bw":
        env = dict(env or {}, SCTPIW_IN_ORDER="1")
    found = rows(measured_output(link, tool, options, seconds, user, env, side))
    if not found:
        raise harness.Failure(f"{tool} printed no result")
    for size, iterations, values in found:
        if tool.endswith("lat") and len(values) > 4 and math.isnan(values[4]):
            del values[4]  # the standard deviation; of latencies of 100 ms and more perftest sometimes finds none
        if not iterations or iterations != (asked(options) or iterations):
            raise harness.Failure(f"{tool} reported {iterations} messages of {size} bytes")
        if not values or any(v < 0 or not math.isfinite(v) for v in values) or values[-1] <= 0:
            raise harness.Failure(f"{tool} printed a result that cannot be: {size} {iterations} {values}")
    return found
