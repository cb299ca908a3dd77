#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Open MPI over libfabric (mtl ofi). Its openib, as Debian builds it, needs datagrams, and so does UCX."""
import re
import sys

import harness
from harness import Failure, Skip, need, start

OVER_DEVICE = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "verbs;ofi_rxm"]
# libfabric offers no completion data (CQ data) on iWARP devices. Without it a synchronous send of Open MPI 4.1, and
# some barriers, do not end; it is the same over libfabric's TCP with mtl_ofi_tag_mode=ofi_tag_1.
AS_CA = ["--personality", "roce"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
GROUPS = ["p2p", "unexpected", "collectives"]
# Open MPI 4 has one-sided communication by messages. Open MPI 5 has it by btl alone, which pml cm does not open.
ONE_SIDED = ["one-sided"], ["--mca", "osc", "pt2pt"]


def release():
    return harness.version("mpirun.openmpi", "--version", before=r"\((?:Open MPI|OpenRTE)\) ")[0]


def agent(link):
    """Replaces ssh: a shell on the other side, which calls itself another host."""
    script = harness.log_file("agent")
    enter = " ".join(link.enter("client"))
    script.write_text(f'#!/bin/sh\nshift\nexec {enter} unshare --uts sh -c "hostname other; $*"\n')
    script.chmod(0o755)
    return script


def run(link, ranks, *where):
    program = harness.BUILD / "bin/e2e-mpi"
    if not program.exists():
        raise Skip("built without Open MPI")
    need("mpirun.openmpi")
    if link.family == 6:
        raise Skip("libfabric takes the first address of the device, an IPv4 one")
    groups, options = ONE_SIDED if release() < 5 else ([], [])
    p = start("mpirun", ["mpirun.openmpi", "-np", ranks, "--oversubscribe", *where, *OVER_DEVICE, *options, program, *GROUPS,
                         *groups], link, "server", env=AS_ROOT, options=AS_CA)
    p.expect(60)
    reports = re.findall(rf"^rank \d of {ranks}: sent (\d+) octets, the port (\d+)$", p.output(), re.M)
    if len(reports) != ranks:
        raise Failure(f"{len(reports)} of {ranks} ranks came to their end")
    for sent, by_port in reports:
        if not int(sent) or int(by_port) < int(sent):
            raise Failure(f"a rank has sent {sent} octets, of which {by_port} by the device")


def one_host(link):
    run(link, 2)


def hosts(link):
    """Two ranks on one side, and a third one on the other."""
    if not hasattr(link, "subnets"):
        raise Skip("one host")
    run(link, 3, "--host", f"localhost:2,{link.subnets[4].format(2)}:1", "--mca", "plm_rsh_agent", agent(link),
        "--mca", "orte_keep_fqdn_hostnames", "1", "--mca", "oob_tcp_if_include", "veth0")


CASES = [
    ("one-host", one_host),
    ("hosts", hosts),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
