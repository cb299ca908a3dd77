#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""fio's rdma engine: a job that writes, reads or sends, and one that is its peer."""
import json
import sys

import harness
from harness import Failure, free_port, need, start

BLOCK = 65536
QUIET = ["--verify_state_save=0"]  # otherwise it leaves a file where it runs


def fio(verb, blocks, depth, server_depth, *options, server_options=()):
    """blocks: how many of BLOCK bytes; depth: how many the client has under way, and the server has room for."""
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
        # The peer of RDMA Writes and Reads has nothing to do.
        if verb == "send" and job(server)["read"]["io_bytes"] != size:
            raise Failure(f"the server received {job(server)['read']['io_bytes']} bytes, not {size}")
        return server
    return case


def job(program):
    """The results of the one job of a program, which must have no error."""
    text = program.output()
    if "{" not in text:
        raise Failure(f"{program.name} printed no results")
    result = json.loads(text[text.index("\n{") + 1:] if not text.startswith("{") else text)["jobs"][0]
    if result["error"]:
        raise Failure(f"{program.name} reports error {result['error']}")
    return result


def wrong_data(link):
    """Checks that verify looks at what arrives: a sender that writes another pattern is found out."""
    need("fio")
    port = free_port()
    common = ["fio", *QUIET, "--ioengine=rdma", f"--port={port}", f"--bs={BLOCK}", f"--size={8 * BLOCK}"]
    server = start("fio-server", [*common, "--name=server", "--rw=read", "--iodepth=16", "--verify=crc32c"], link, "server")
    server.wait_listening(port)
    start("fio-client", [*common, "--name=client", "--rw=write", f"--hostname={link.address}", "--verb=send"], link)
    server.wait_for_output("verify: bad")


VERIFY = ["--verify=crc32c", "--do_verify=0"]

# Its Sends do not wait for receives (rnr_retry_count 0), so the server has as many as there are Sends.
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
