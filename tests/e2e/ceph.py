#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Ceph's messenger over RDMA: a monitor and an OSD on one host, clients on the other host that compare the data.

`./build.sh ceph` runs it, since Ceph's packages are large. No package has the messenger's own benchmark. The benchmark
of rados uses the messenger, too.
"""
import os
import re
import sys
import uuid

import harness
import ucx
from harness import BUILD, DEVICE, Failure, Skip, log_file, need, start

UNPACKED = BUILD / "ceph/usr"  # where build.sh unpacks it
PORT = 3300
POOL = "data"
OBJECT_BYTES = 3000001
BENCH_BYTES = 65536
# The only OSD has its objects in memory. Nothing is authenticated. Each process has few buffers, of 16 KiB.
CONFIG = """[global]
fsid = {fsid}
mon host = [v2:{address}:{port}]
public addr = {address}
cluster addr = {address}
auth cluster required = none
auth service required = none
auth client required = none
ms type = async+rdma
ms async rdma device name = {device}
ms async rdma buffer size = 16384
ms async rdma receive buffers = 4096
ms async rdma receive queue len = 512
ms async rdma send buffers = 512
osd objectstore = memstore
osd pool default size = 1
osd class dir = {libraries}/rados-classes
osd max object name len = 256
erasure code dir = {libraries}/ceph/erasure-code
plugin dir = {libraries}/ceph
mon allow pool size one = true
mon data avail crit = 1
run dir = {directory}
log file = {directory}/$name.log
[mon]
mon data = {directory}/mon
[osd]
osd data = {directory}/osd
"""


class Cluster:
    """The settings file and environment that the programs of a cluster share."""

    def __init__(self, link):
        triplet = f"{os.uname().machine}-linux-gnu"
        libraries = UNPACKED / "lib" / triplet
        if UNPACKED.exists():
            os.environ["PATH"] = f"{UNPACKED}/bin:{os.environ['PATH']}"
        need("ceph", "ceph-mon", "ceph-osd", "monmaptool", "rados")
        self.link = link
        self.directory = log_file("cluster")
        self.directory.mkdir()
        self.fsid = uuid.uuid4()
        self.config = self.directory / "ceph.conf"
        self.config.write_text(CONFIG.format(
            fsid=self.fsid, address=link.address, port=PORT, device=DEVICE, directory=self.directory,
            libraries=libraries if UNPACKED.exists() else f"/usr/lib/{triplet}"))
        self.env = {"LD_LIBRARY_PATH": f"{libraries}/ceph:{libraries}:{BUILD}/ceph/lib/{triplet}",
                    "PYTHONPATH": f"{UNPACKED}/lib/python3/dist-packages", "CEPH_CONF": str(self.config),
                    "LD_PRELOAD": str(BUILD / "lib/libe2e-counters.so"), "COUNTERS": str(log_file("counters"))}

    def start(self, argv, side, rdma=True):
        return start(argv[0], argv, self.link, side, rdma=rdma, env=self.env)

    def run(self, *argv, side="client", rdma=True, seconds=40):
        program = self.start(argv, side, rdma)
        program.expect(seconds)
        return program

    def serve(self):
        """Starts a monitor and an OSD, and waits until a pool can be used."""
        monmap = self.directory / "monmap"
        self.run("monmaptool", "--create", "--fsid", self.fsid, "--addv", "a", f"[v2:{self.link.address}:{PORT}]", monmap,
                 side="server", rdma=False)
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monmap, side="server", rdma=False)
        monitor = self.start(["ceph-mon", "-f", "-i", "a"], "server")
        monitor.wait_listening_tcp(PORT)
        osd = uuid.uuid4()
        (self.directory / "osd").mkdir()
        self.run("ceph", "osd", "new", osd)
        self.run("ceph-osd", "--mkfs", "-i", "0", "--osd-uuid", osd, side="server")
        servers = monitor, self.start(["ceph-osd", "-f", "-i", "0"], "server")
        self.run("ceph", "osd", "pool", "create", POOL, "1")
        return servers


def count(program, what):
    """The number of operations that `rados bench` reports, at least one."""
    found = re.search(rf"^Total {what} made: +(\d+)$", program.output(), re.M)
    if not found or not int(found[1]):
        raise Failure(f"no {what} were made: {program.output()}")
    return int(found[1])


def objects(link):
    """Puts an object, gets it back, and lets rados write and read many objects."""
    if not hasattr(link, "subnets"):
        raise Skip("one host")
    cluster = Cluster(link)
    servers = cluster.serve()
    source, copy = log_file("source"), log_file("copy")
    source.write_bytes(os.urandom(OBJECT_BYTES))
    rados = ["rados", "-p", POOL]
    ucx.by_device(cluster.run(*rados, "put", "object", source), OBJECT_BYTES)
    cluster.run(*rados, "get", "object", copy)
    if copy.read_bytes() != source.read_bytes():
        raise Failure("the object has come back with other bytes")
    written = cluster.run(*rados, "bench", 2, "write", "-b", BENCH_BYTES, "-t", 4, "--no-cleanup")
    ucx.by_device(written, count(written, "writes") * BENCH_BYTES)
    count(cluster.run(*rados, "bench", 2, "seq", "-t", 4), "reads")  # compares the read data with the written data
    for server in servers:
        if not server.running():
            raise Failure(f"{server.name} has ended")


CASES = [
    ("objects", objects),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
