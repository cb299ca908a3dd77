#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""libfabric's verbs provider: connected endpoints, and datagrams of any size, which ofi_rxm makes of them."""
import re
import sys

import harness
from harness import Failure, Skip, free_port, need, start


def info(link):
    """The device offers both kinds of endpoints, as an iWARP device."""
    need("fi_info")
    program = start("fi_info", ["fi_info", "-p", "verbs"], link)
    program.expect(20)
    for text in "domain: " + harness.DEVICE, "type: FI_EP_MSG", "type: FI_EP_RDM", "protocol: FI_PROTO_IWARP":
        if text not in program.output():
            raise Failure(f"fi_info does not say '{text}'")


def pingpong(kind, provider, size=None, count=100):
    """A case of fi_pingpong. size None: sizes of its own choice, from 64 bytes to a MiB."""
    def case(link):
        need("fi_pingpong")
        if link.family == 6:
            raise Skip("fi_pingpong takes no IPv6 address")
        # -c: each side checks what arrives
        common = ["fi_pingpong", "-c", "-e", kind, "-p", provider, "-I", str(count), *(["-S", str(size)] if size else [])]
        port = free_port()
        server = start("fi_pingpong-server", [*common, "-B", port], link, "server")
        server.wait_listening_tcp(port)
        client = start("fi_pingpong-client", [*common, "-P", port, link.address], link)
        client.expect(40)
        server.expect(20)
        for program in client, server:
            check_results(program, count, size)
    return case


def check_results(program, count, size):
    rows = re.findall(rf"^\S+\s+{count}\s+=?{count}\s", program.output(), re.M)
    if len(rows) < (1 if size else 6):
        raise Failure(f"{program.name} printed {len(rows)} results")


CASES = [
    ("info", info),
    ("msg", pingpong("msg", "verbs")),
    ("msg.odd", pingpong("msg", "verbs", 12345, 50)),
    ("rdm", pingpong("rdm", "verbs;ofi_rxm")),
    ("rdm.large", pingpong("rdm", "verbs;ofi_rxm", 3000001, 20)),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
