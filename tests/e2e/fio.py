#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""fio's rdma engine: a job that writes, reads or sends, and a job as its peer."""
import json
import sys

import harness
from harness import Failure, free_port, need, start

BLOCK = 65536
QUIET = ["--verify_state_save=0"]  # otherwise fio leaves a file in its directory


def fio(verb, blocks, depth, server_depth, *options, server_options=()):
    """blocks: number of blocks of BLOCK bytes; depth: blocks under way at the client; server_depth: the server's."""
    def case(link):
        need("fio")
        port = free_port()
        size = blocks * BLOCK
        common = ["fio", *QUIET, "--output-format=json", "--ioengine=rdma", f"--port={port}", f"--bs={BLOCK}", f"--size={size}"]
        server = start("fio-server", [*common, "--name=server", "--rw=read", f"--iodepth={server_depth}", *server_options],
                       link, "server")
        server.wait_listening(port)
        client = start("fio-client", [*common, "--name=client", "--rw=write", f"--hostname={link.address}",
                                      f"--verb={verb}", f"--iodepth={depth}", *options], link)
        client.expect(30)
        server.expect(10)
        written = job(client)["write"]["io_bytes"]
        if written != size:
            raise Failure(f"the client moved {written} bytes, not {size}")
        # The peer of RDMA Writes and Reads is passive.
        if verb == "send" and job(server)["read"]["io_bytes"] != size:
            raise Failure(f"the server received {job(server)['read']['io_bytes']} bytes, not {size}")
        return server
    return case


def job(program):
    """The results of a program's only job, which must have no error."""
    text = program.output()
    if "{" not in text:
        raise Failure(f"{program.name} printed no results")
    result = json.loads(text[text.index("\n{") + 1:] if not text.startswith("{") else text)["jobs"][0]
    if result["error"]:
        raise Failure(f"{program.name} reports error {result['error']}")
    return result


def wrong_data(link):
    """Shows that verify checks the received data: it detects a sender that writes another pattern."""
    need("fio")
    port = free_port()
    common = ["fio", *QUIET, "--ioengine=rdma", f"--port={port}", f"--bs={BLOCK}", f"--size={8 * BLOCK}"]
    server = start("fio-server", [*common, "--name=server", "--rw=read", "--iodepth=16", "--verify=crc32c"], link, "server")
    server.wait_listening(port)
    start("fio-client", [*common, "--name=client", "--rw=write", f"--hostname={link.address}", "--verb=send"], link)
    server.wait_for_output("verify: bad")


VERIFY = ["--verify=crc32c", "--do_verify=0"]

# fio's Sends do not wait for receives (rnr_retry_count 0), so the server has a receive for each Send.
CASES = [
    ("write", fio("write", 256, 8, 8)),
    ("read", fio("read", 256, 8, 8)),
    ("read.one", fio("read", 64, 1, 16)),
    ("send", fio("send", 128, 4, 128)),
    ("send.verify", fio("send", 128, 1, 128, *VERIFY, server_options=["--verify=crc32c"])),
    ("send.wrong-data", wrong_data),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
