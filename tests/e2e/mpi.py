#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""MPI: Open MPI over libfabric (mtl ofi) and over UCX (pml ucx), and MPICH as Debian builds it, over UCX.

Open MPI's openib, as Debian builds it, needs datagrams; it has not been tried."""
import re
import sys

import harness
from harness import Failure, Skip, need, start

OVER_OFI = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "verbs;ofi_rxm"]
# Debian's parameter file excludes ucx. UCX itself has its default settings.
OVER_UCX = ["--mca", "pml", "ucx", "--mca", "osc", "ucx"]
# libfabric offers no completion data (CQ data) on iWARP devices. Without CQ data, a synchronous send of Open MPI 4.1,
# and some barriers, do not end. This also happens over libfabric's TCP with mtl_ofi_tag_mode=ofi_tag_1. UCX takes no
# iWARP device.
AS_CA = ["--personality", harness.CHANNEL_ADAPTER]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
GROUPS = ["p2p", "unexpected", "collectives"]
# Open MPI 4 implements one-sided communication by messages. Open MPI 5 needs btl, which pml cm does not open.
ONE_SIDED = ["one-sided"], ["--mca", "osc", "pt2pt"]


def release():
    return harness.version("mpirun.openmpi", "--version", before=r"\((?:Open MPI|OpenRTE)\) ")[0]


def agent(link):
    """Replaces ssh by a shell on another host: the side at the end of the host's name, or the client."""
    script = harness.log_file("agent")
    cases = "\n".join(f"*{side}) enter='{' '.join(link.enter(side))}';;" for side in ("server", "client"))
    script.write_text(f"""#!/bin/sh
[ "$1" = -x ] && shift
host=$1
shift
case $host in
{cases}
*) enter='{' '.join(link.enter("client"))}';;
esac
exec $enter unshare --uts --ipc --mount sh -c "mount -t sysfs sysfs /sys; hostname $host; $*"
""")
    script.chmod(0o755)
    return script


def program_of(name, link):
    program = harness.BUILD / f"bin/{name}"
    if not program.exists():
        raise Skip(f"built without what {name} needs")
    if link.family == 6:
        raise Skip("libfabric takes the first address of the device, an IPv4 one, and for UCX one family will do")
    return program


def finish(p, ranks):
    """Every rank has checked its data, and the device has carried all data that the rank has sent."""
    p.expect(60)
    reports = re.findall(rf"^rank \d of {ranks}: sent (\d+) octets, the port (\d+)$", p.output(), re.M)
    if len(reports) != ranks:
        raise Failure(f"{len(reports)} of {ranks} ranks came to their end")
    for sent, by_port in reports:
        if not int(sent) or int(by_port) < int(sent):
            raise Failure(f"a rank has sent {sent} octets, of which {by_port} by the device")


def over_ofi(link, ranks, *where):
    program = program_of("e2e-mpi", link)
    need("mpirun.openmpi")
    groups, options = ONE_SIDED if release() < 5 else ([], [])
    finish(start("mpirun", ["mpirun.openmpi", "-np", ranks, "--oversubscribe", *where, *OVER_OFI, *options, program, *GROUPS,
                            *groups], link, "server", env=AS_ROOT, options=AS_CA), ranks)


def one_host(link):
    over_ofi(link, 2)


def two_sides(link):
    if not hasattr(link, "subnets"):
        raise Skip("one host")


def hosts(link):
    """Two ranks on one side, and a third rank on the other."""
    two_sides(link)
    over_ofi(link, 3, "--host", f"localhost:2,{link.subnets[4].format(2)}:1", "--mca", "plm_rsh_agent", agent(link),
             "--mca", "orte_keep_fqdn_hostnames", "1", "--mca", "oob_tcp_if_include", "veth0")


# A host name for each rank, since libraries use shared memory between ranks of a host. Two hosts share a network
# namespace.
HOSTS = ["a-server", "b-client", "c-server", "d-client"]


def ucx(link):
    two_sides(link)
    program = program_of("e2e-mpi", link)
    need("mpirun.openmpi")
    finish(start("mpirun", ["mpirun.openmpi", "-np", 4, "--host", ",".join(HOSTS), "--mca", "plm_rsh_agent", agent(link),
                            "--mca", "oob_tcp_if_include", "veth0", *OVER_UCX, program, *GROUPS, "one-sided"],
                 link, "server", env=AS_ROOT, options=AS_CA), 4)


def mpich(link):
    """-iface only concerns the launcher: the namespaces have no host names to look up."""
    two_sides(link)
    program = program_of("e2e-mpich", link)
    need("mpiexec.mpich")
    finish(start("mpiexec", ["mpiexec.mpich", "-n", 4, "-hosts", ",".join(HOSTS), "-iface", "veth0", "-launcher", "ssh",
                             "-launcher-exec", agent(link), program, *GROUPS, "one-sided"],
                 link, "server", options=AS_CA), 4)


CASES = [
    ("one-host", one_host),
    ("hosts", hosts),
    ("ucx", ucx),
    ("mpich", mpich),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
