# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs perftest programs in pairs, and reads the tables of their output."""
import math
import re

import harness

# perftest prints this if its samples of the processor's clock disagree, as on a machine that took the processor away.
# The printed times are then infinite, and the rates zero.
UNCALIBRATED = "Correlation coefficient r^2"
CALIBRATIONS = 5  # maximum runs until one has measured its clock
# Other output that may come between a row and its newline.
INTERRUPTION = re.compile(f"sctpiw: |{re.escape(UNCALIBRATED)}")


def rows(output):
    """The table in a perftest program's output: a list of (bytes, iterations, [further columns])."""
    found = []
    for line in output.splitlines():
        fields = INTERRUPTION.split(line)[0].split()
        if len(fields) >= 4 and all(re.fullmatch(r"-?\d+(\.\d+)?|-?inf|-?nan", f) for f in fields):
            found.append((int(fields[0]), int(fields[1]), [float(f) for f in fields[2:]]))
    return found


def asked(options):
    """The number of messages that a perftest program must report, for all QPs; None without -n."""
    values = dict(zip(map(str, options), options[1:]))
    return int(values["-n"]) * int(values.get("-q", 1)) if "-n" in values else None


def speaks(link):
    if link.family == 6:
        raise harness.Skip("perftest speaks IPv4 only")


def measured_output(link, tool, options, seconds, user, env, side):
    """The output of this side of a perftest program, from a run that could measure its clock."""
    for _ in range(CALIBRATIONS):
        port = harness.free_port()
        common = [tool, "-R", "-F", "-d", harness.DEVICE, "-p", str(port), *options]
        outputs = harness.run_pair(link, common, [*common, link.address], port, seconds, user=user, env=env)
        if UNCALIBRATED not in outputs[side == "client"]:
            return outputs[side == "client"]
    raise harness.Failure(f"{tool} could not measure its clock in {CALIBRATIONS} runs")


def run(link, tool, options, seconds=20, user=None, env=None, side="client"):
    """Runs a perftest program with -R. Returns the rows in this side's output."""
    speaks(link)
    # The receiver of ib_send_bw writes its progress into the sender's memory. The last such Write must be placed last.
    if link.lossy and tool == "ib_send_bw":
        env = dict(env or {}, SCTPIW_IN_ORDER="1")
    found = rows(measured_output(link, tool, options, seconds, user, env, side))
    if not found:
        raise harness.Failure(f"{tool} printed no result")
    for size, iterations, values in found:
        if tool.endswith("lat") and len(values) > 4 and math.isnan(values[4]):
            del values[4]  # the standard deviation; perftest sometimes has none for latencies of 100 ms and more
        if not iterations or iterations != (asked(options) or iterations):
            raise harness.Failure(f"{tool} reported {iterations} messages of {size} bytes")
        if not values or any(v < 0 or not math.isfinite(v) for v in values) or values[-1] <= 0:
            raise harness.Failure(f"{tool} printed a result that cannot be: {size} {iterations} {values}")
    return found
