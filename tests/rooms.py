#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks the includes, the calls and the knots of each room of providers/sctpiw.

    tests/rooms.py [BUILD]

A room may include its own headers and those of the rooms in its row of ROOMS. The protocol rooms (PURE) may include
only the listed system headers, and, if a build directory BUILD is given, call only the listed functions of libc. So
they have no socket, no clock and no thread. With BUILD, the script also checks the knots of each room (knots.py).
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import knots  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parent.parent
PROVIDER = TOP / "providers" / "sctpiw"

# The rooms that each room may include. rnic_api.h is for the rooms that serve the stand-in.
ROOMS = {
    "util": [],
    "sys": ["util"],
    "log": ["util", "sys"],
    "faults": ["util"],
    "config": ["util", "sys", "log", "faults"],
    "wire": ["util"],
    "sctp": ["util", "wire"],
    "iwarp": ["util", "wire"],
    "conn": ["util", "wire", "sctp", "iwarp", "config", "log", "faults"],
    "net": ["util", "wire", "sctp", "iwarp", "conn", "config", "log", "sys", "faults"],
    "runtime": ["util", "wire", "sctp", "iwarp", "conn", "net", "config", "log", "sys", "faults"],
    "verbs": ["util", "wire", "sctp", "iwarp", "conn", "net", "runtime", "config", "log", "sys", "faults"],
}
API_USERS = {"conn", "net", "runtime"}

PURE = ("util", "faults", "wire", "sctp", "iwarp", "conn")
PURE_HEADERS = {
    "assert.h", "errno.h", "inttypes.h", "limits.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
    "string.h", "endian.h",
    # Types of addresses, and computations on bytes.
    "arpa/inet.h", "net/if.h", "netinet/in.h", "sys/socket.h", "sys/uio.h",
    "crc.h", "isa-l/crc.h", "isa-l.h", "immintrin.h", "nmmintrin.h", "arm_acle.h", "sys/auxv.h", "nettle/hmac.h", "nettle/memops.h",
    "sys/sdt.h",
}
PURE_CALLS = re.compile(
    r"^(mem(cpy|move|set|cmp|chr)|str(n?len|n?cmp|r?chr|c?spn|str|error|error_r)|v?snprintf|sscanf|__.*_chk|malloc|calloc|realloc|free|"
    r"aligned_alloc|posix_memalign|qsort|abort|inet_ntop|inet_pton|if_indextoname|__errno_location|__assert_fail|"
    r"__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|crc32_.*|getauxval|nettle_.*|__cpu_(model|features2|indicator_init)|__(asan|ubsan|tsan|sanitizer|gcov|llvm).*)$")


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


def check_includes(room, may):
    for path in sorted((PROVIDER / room).glob("*.[ch]")):
        for number, system, name in includes(path):
            where = f"{path.relative_to(TOP)}:{number}"
            if system:
                if room in PURE and name not in PURE_HEADERS:
                    yield f"{where}: {room}/ must not include <{name}>"
            elif name == "rnic_api.h":
                if room not in API_USERS:
                    yield f"{where}: {room}/ must not include rnic_api.h"
            elif name.split("/")[0] != room and name.split("/")[0] not in may:
                yield f"{where}: {room}/ must not include {name}"


def check_calls(room, may, build):
    # conn/ calls config and log, which make system calls themselves.
    known = {name for each in [room, *may] for unit in knots.units(build, each).values() for name in unit.defined}
    called = {name for unit in knots.units(build, room).values() for name in unit.undefined}
    for name in sorted(called - known):
        if not PURE_CALLS.match(name):
            yield f"{room}/ must not call {name}()"


def main():
    faults = []
    found = {path.name for path in PROVIDER.iterdir() if path.is_dir()}
    if found != set(ROOMS):
        faults.append(f"the rooms of providers/sctpiw are {sorted(found)}, not {sorted(ROOMS)}")
    for room, may in ROOMS.items():
        faults += check_includes(room, may)
        if len(sys.argv) > 1:
            faults += knots.check(sys.argv[1], room)
            if room in PURE:
                faults += check_calls(room, may, sys.argv[1])
    print("\n".join(faults) if faults else f"{len(ROOMS)} rooms keep to themselves")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
