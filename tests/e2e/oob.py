#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Programs that connect their QPs out of band: GIDs and QP numbers go over the programs' own TCP connection."""
import ipaddress
import pathlib
import sys
import time

import harness
import perftest_run
from harness import DEVICE, Failure, Skip, free_port, start, version

GIDS = [f"/sys/class/infiniband/{DEVICE}/ports/1/gids/{i}" for i in range(32)]
# On iWARP devices, ib_send_bw has memory for credits. perftest 4.5 deregisters this memory only with -R. Otherwise it
# cannot free its PD, prints this after its result, and ends with status 1. perftest 25.01, which prints version 6.24,
# does not.
FORGETS_ITS_MR = "ib_send_bw", "Failed to deallocate PD", 1
REMEMBERS_ITS_MR = (6, 24)
AS_CA = {"SCTPIW_PERSONALITY": harness.CHANNEL_ADAPTER}
# ibv_xsrq_pingpong prints no times.
XSRQ_RESULT = "success"


def gid_index(link, side, link_local=False):
    """The first GID of the link's family, the loopback address if possible on loopback; or a link-local GID."""
    program = start(f"gids-{side}", ["cat", *GIDS], link, side)
    program.expect(10, 0)
    deadline = time.monotonic() + 10  # a link-local address is usable after duplicate detection
    while link_local and "fe80:" not in program.output() and time.monotonic() < deadline:
        time.sleep(0.2)
        program = start(f"gids-{side}", ["cat", *GIDS], link, side)
        program.expect(10, 0)
    any_of_family = None
    for index, line in enumerate(program.output().split()):
        address = ipaddress.ip_address(line)
        mapped = address.ipv4_mapped
        if link_local and address.is_link_local:
            return str(index)
        if link_local or not int(address) or (link.family == 4) != bool(mapped) or address.is_link_local:
            continue
        if (mapped or address).is_loopback == (link.address in ("127.0.0.1", "::1")):
            return str(index)
        any_of_family = any_of_family or str(index)
    if any_of_family and link.address in ("127.0.0.1", "::1"):
        return any_of_family
    raise (Skip if link_local else Failure)(f"no such GID on the {side}'s side")


def tcp_address(link):
    """The programs' own connections support only IPv4."""
    if link.family == 6 and link.address != "::1":
        raise Skip("no IPv4 there")
    return "127.0.0.1" if link.family == 6 else link.address


def pair(link, server, client, port, seconds, statuses=(0,), env=None):
    s = start(pathlib.Path(server[0]).name + "-server", server, link, "server", env=env)
    s.wait_listening_tcp(port)
    c = start(pathlib.Path(client[0]).name + "-client", client, link, "client", env=env)
    c.expect(seconds, *statuses)
    s.expect(10, *statuses)
    return s.output(), c.output()


def pingpong(*options, program="ibv_rc_pingpong", link_local=False):
    def case(link):
        port = free_port()
        argv = [program, "-d", DEVICE, "-p", str(port), *map(str, options)]
        server = [*argv, "-g", gid_index(link, "server", link_local)]
        client = [*argv, "-g", gid_index(link, "client", link_local), tcp_address(link)]
        for text in pair(link, server, client, port, 60):
            if (XSRQ_RESULT if program == "ibv_xsrq_pingpong" else "usec/iter") not in text or "invalid data" in text:
                raise Failure("no result, or data that is wrong")
    return case


def xsrq_clients(count):
    """Clients whose messages take their receives from SRQs of one domain of the server, in turns."""
    def case(link):
        port = free_port()
        argv = ["ibv_xsrq_pingpong", "-d", DEVICE, "-p", port, "-n", 200, "-c", count]
        programs = [start("server", [*argv, "-g", gid_index(link, "server")], link, "server")]
        programs[0].wait_listening_tcp(port)
        client = [*argv, "-g", gid_index(link, "client"), tcp_address(link)]
        programs += [start(f"client{i}", client, link, "client") for i in range(count)]
        for program in reversed(programs):
            program.expect(60)
            if XSRQ_RESULT not in program.output():
                raise Failure(f"no result of {program.name}: {program.output()}")
    return case


def by_lid(program):
    """Without a GID, as on InfiniBand: the LID identifies the host."""
    def case(link):
        if link.family == 6:
            raise Skip("the address of the first GID is of IPv4")
        port = free_port()
        argv = [program, "-d", DEVICE, "-p", str(port), "-c"]
        texts = pair(link, argv, [*argv, tcp_address(link)], port, 60, env={"SCTPIW_PERSONALITY": "ib"})
        for text in texts:
            if "usec/iter" not in text or "invalid data" in text or "GID ::\n" not in text or "LID 0x0000" in text:
                raise Failure("no result, data that is wrong, or another way to connect: " + text)
    return case


def perftest(tool, *options, rows=1, env=None):
    def case(link):
        port = free_port()
        argv = [tool, "-F", "-d", DEVICE, "-p", str(port), *map(str, options)]
        server = [*argv, "-x", gid_index(link, "server")]
        client = [*argv, "-x", gid_index(link, "client"), tcp_address(link)]
        as_iwarp = not env and harness.PERSONALITY == "iwarp"
        forgets = tool == FORGETS_ITS_MR[0] and as_iwarp and version(tool, "--version") < REMEMBERS_ITS_MR
        texts = pair(link, server, client, port, 120, (FORGETS_ITS_MR[2],) if forgets else (0,), env)
        for text in texts:
            if forgets and FORGETS_ITS_MR[1] not in text:
                raise Failure(f"{tool} failed, and not over the memory that it forgets")
            if "rdma_cm QPs\t : OFF" not in text:
                raise Failure(f"{tool} took another way to connect")
        found = perftest_run.rows(texts[1].replace(FORGETS_ITS_MR[1], "\n"))
        count = perftest_run.asked(options)
        if len(found) != rows or any(row[1] != count for row in found):
            raise Failure(f"{tool} printed {found}")
    return case


def cases():
    yield "rc_pingpong", pingpong("-c")
    yield "rc_pingpong.events", pingpong("-c", "-e")
    yield "rc_pingpong.large", pingpong("-c", "-s", 1000000, "-n", 50)
    yield "rc_pingpong.link-local", pingpong("-c", link_local=True)
    yield "rc_pingpong.few", pingpong("-c", "-n", 20)
    for program in "ibv_rc_pingpong", "ibv_srq_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong":
        yield f"{program[4:]}.by-lid", by_lid(program)
    yield "xsrq_pingpong", pingpong("-n", 500, program="ibv_xsrq_pingpong")
    yield "xsrq_pingpong.events", pingpong("-n", 500, "-e", program="ibv_xsrq_pingpong")
    yield "xsrq_pingpong.clients", xsrq_clients(3)
    yield "xsrq_pingpong.few", pingpong("-n", 20, program="ibv_xsrq_pingpong")
    yield "uc_pingpong.events", pingpong("-c", "-e", program="ibv_uc_pingpong")
    yield "uc_pingpong", pingpong("-c", program="ibv_uc_pingpong")
    yield "srq_pingpong", pingpong("-c", program="ibv_srq_pingpong")
    yield "srq_pingpong.events", pingpong("-c", "-e", program="ibv_srq_pingpong")
    yield "srq_pingpong.few", pingpong("-c", "-n", 20, "-q", 4, program="ibv_srq_pingpong")
    # A slow receiver loses messages, so few messages are under way at once.
    for name, options in ("", []), (".events", ["-e"]):
        yield f"ud_pingpong{name}", pingpong("-c", "-s", 1000, *options, program="ibv_ud_pingpong")
    yield "ud.ib_send_lat", perftest("ib_send_lat", "-c", "UD", "-s", 64, "-n", 300, env=AS_CA)
    yield "ud.ib_send_bw", perftest("ib_send_bw", "-c", "UD", "-s", 1000, "-n", 500, env=AS_CA)
    for name, options in ("qps", ["-q", 8]), ("both-ways", ["-b"]), ("events", ["-e"]):
        yield f"ud.ib_send_bw.{name}", perftest("ib_send_bw", "-c", "UD", *options, "-s", 1000, "-n", 200, env=AS_CA)
    for tool in "ib_write_bw", "ib_read_bw", "ib_send_bw":
        yield f"{tool}.basic", perftest(tool, "-n", 500)
        yield f"{tool}.qps", perftest(tool, "-q", 64, "-s", 4096, "-n", 200)
        yield f"{tool}.both-ways", perftest(tool, "-b", "-s", 16384, "-n", 300)
        yield f"{tool}.as-ca", perftest(tool, "-q", 4, "-s", 4096, "-n", 500, env={"SCTPIW_NODE_TYPE": "ca"})
        yield f"{tool}.as-roce", perftest(tool, "-q", 4, "-s", 4096, "-n", 500, env={"SCTPIW_PERSONALITY": "roce"})
    # As a CA: on iWARP devices perftest counts the credits of several QPs with one SRQ by the receive's number, and may
    # hang. Without credits, all Sends of a QP must fit into the 1 MiB that is kept for it while the receiver is slow.
    for name, options in ("srq", ["-q", 8]), ("srq-both-ways", ["-q", 2, "-b"]):
        yield f"ib_send_bw.{name}", perftest("ib_send_bw", "--use-srq", *options, "-s", 1024, "-n", 500,
                                             env={"SCTPIW_NODE_TYPE": "ca"})
    yield "ib_read_bw.events", perftest("ib_read_bw", "-e", "-s", 4096, "-n", 300)
    yield "ib_send_bw.events", perftest("ib_send_bw", "-e", "-s", 65536, "-n", 300, "-t", 4, "-Q", 1)
    for tool in "ib_write_lat", "ib_read_lat", "ib_send_lat":
        yield f"{tool}.basic", perftest(tool, "-s", 64, "-n", 300)
    for tool in "ib_write_bw", "ib_send_bw", "ib_write_lat", "ib_send_lat":
        yield f"{tool}.uc", perftest(tool, "-c", "UC", "-s", 4096, "-n", 300)
    yield "ib_send_bw.uc-srq", perftest("ib_send_bw", "-c", "UC", "--use-srq", "-s", 4096, "-n", 300, env=AS_CA)
    for tool in "ib_write_bw", "ib_send_bw":
        for kind in "UC", "XRC":
            yield f"{tool}.{kind.lower()}-qps", perftest(tool, "-c", kind, "-q", 8, "-s", 4096, "-n", 200, env=AS_CA)
            yield f"{tool}.{kind.lower()}-both-ways", perftest(tool, "-c", kind, "-b", "-s", 4096, "-n", 200,
                                                               env=AS_CA)
    for what in "write", "send", "read", "atomic":
        size = [] if what == "atomic" else ["-s", 4096]
        for tool in f"ib_{what}_bw", f"ib_{what}_lat":
            yield f"{tool}.xrc", perftest(tool, "-c", "XRC", *size, "-n", 300, env=AS_CA)
    for tool in "ib_read_lat", "ib_send_lat":
        yield f"{tool}.events", perftest(tool, "-e", "-s", 64, "-n", 300)


if __name__ == "__main__":
    sys.exit(harness.main(list(cases())))
