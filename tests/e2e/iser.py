#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""tgt's target for iSER, whose disk is a file, and a client of libiscsi that writes and reads the whole disk."""
import os
import sys

import harness
from harness import Failure, Skip, need, start

TARGET, CLIENT = "iqn.2026-11.sctpiw:disk", "iqn.2026-11.sctpiw:client"
PORT = 3260  # tgtd 1.0.85 refuses other ports: it mistakes an old errno for an error of strtol()
SIZE = 8 << 20  # the same as in iser.c
UNPACKED = harness.BUILD / "tgt/usr/sbin"  # where build.sh unpacks it


def find():
    """Finds tgtd, installed or only unpacked."""
    if UNPACKED.exists() and str(UNPACKED) not in os.environ["PATH"]:
        os.environ["PATH"] += f":{UNPACKED}"
    need("tgtd", "tgtadm")


def disk(link):
    program = harness.BUILD / "bin/e2e-iser"
    if not program.exists():
        raise Skip("built without libiscsi")
    find()
    backing, source = harness.log_file("disk"), harness.log_file("source")
    backing.write_bytes(bytes(SIZE))
    source.write_bytes(os.urandom(SIZE))
    env = {"TGT_IPC_SOCKET": str(harness.log_file("socket"))}
    # By default, tgtd takes a GiB for its buffers.
    server = start("tgtd", ["tgtd", "-f", "-C", "1", "--iser", "pool_sz_mb=16"], link, "server", env=env)
    server.wait_listening(PORT)
    for words in (["--mode", "target", "--op", "new", "--tid", "1", "--targetname", TARGET],
                  ["--mode", "logicalunit", "--op", "new", "--tid", "1", "--lun", "1", "--backing-store", backing],
                  # With iSER, tgtd accepts only initiators whose address and name are both allowed.
                  ["--mode", "target", "--op", "bind", "--tid", "1", "-I", "ALL"],
                  ["--mode", "target", "--op", "bind", "--tid", "1", "-Q", CLIENT]):
        start("tgtadm", ["tgtadm", "-C", "1", "--lld", "iser", *words], link, "server", rdma=False, env=env).expect(10)
    client = start("client", [program, f"iser://{link.address}:{PORT}/{TARGET}/1", CLIENT, source], link)
    client.expect(30)
    if backing.read_bytes() != source.read_bytes():
        raise Failure("the disk has other bytes than were written")


CASES = [
    ("disk", disk),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
