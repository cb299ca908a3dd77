#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""libfabric's verbs provider: connected endpoints, and messages of any size over them by ofi_rxm. Except on iWARP
devices, also datagrams, and messages of any size over datagrams by ofi_rxd."""
import re
import sys

import harness
from harness import Failure, Skip, free_port, need, start


AS_CA = ["--personality", harness.CHANNEL_ADAPTER]


def info(options, lines):
    """A case: the device offers these kinds of endpoints."""
    def case(link):
        need("fi_info")
        program = start("fi_info", ["fi_info", "-p", "verbs"], link, options=options)
        program.expect(20)
        for text in lines:
            if text not in program.output():
                raise Failure(f"fi_info does not say '{text}'")
    return case


def pingpong(kind, provider, size=None, count=100, options=(), results=6):
    """A case of fi_pingpong. size None: fi_pingpong chooses sizes from 64 bytes to a MiB; results: their number."""
    def case(link):
        need("fi_pingpong")
        if link.family == 6:
            raise Skip("fi_pingpong takes no IPv6 address")
        # -c: each side checks received data
        common = ["fi_pingpong", "-c", "-e", kind, "-p", provider, "-I", str(count), *(["-S", str(size)] if size else [])]
        port = free_port()
        server = start("fi_pingpong-server", [*common, "-B", port], link, "server", options=options)
        server.wait_listening_tcp(port)
        client = start("fi_pingpong-client", [*common, "-P", port, link.address], link, options=options)
        client.expect(40)
        server.expect(20)
        for program in client, server:
            check_results(program, count, 1 if size else results)
    return case


def check_results(program, count, results):
    rows = re.findall(rf"^\S+\s+{count}\s+=?{count}\s", program.output(), re.M)
    if len(rows) < results:
        raise Failure(f"{program.name} printed {len(rows)} results")


CASES = [
    ("info", info(["--personality", "iwarp"], ["domain: " + harness.DEVICE, "type: FI_EP_MSG", "type: FI_EP_RDM",
                                               "protocol: FI_PROTO_IWARP"])),
    ("msg", pingpong("msg", "verbs")),
    ("msg.odd", pingpong("msg", "verbs", 12345, 50)),
    ("rdm", pingpong("rdm", "verbs;ofi_rxm")),
    ("rdm.large", pingpong("rdm", "verbs;ofi_rxm", 3000001, 20)),
    ("info.datagrams", info(AS_CA, ["domain: " + harness.DEVICE + "-dgram", "type: FI_EP_DGRAM", "protocol: FI_PROTO_IB_UD",
                                    "provider: verbs;ofi_rxd"])),
    # 64 and 256 bytes, 1 KiB and so on, up to the MTU
    ("dgram", pingpong("dgram", "verbs", options=AS_CA, results=3)),
    ("dgram.odd", pingpong("dgram", "verbs", 777, 50, options=AS_CA)),
    ("rxd", pingpong("rdm", "verbs;ofi_rxd", options=AS_CA)),
    ("rxd.odd", pingpong("rdm", "verbs;ofi_rxd", 123457, 20, options=AS_CA)),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
